"""The production profile: what strangers do not learn."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from domain.principal import Principal, Role
from tests.api import CREATE_OWNER
from tests.principals import owner

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    import httpx

    from tests.api import Api
    from tests.wire import Wire

    Opener = Callable[..., AbstractAsyncContextManager[Api]]

ADMIN = Principal(subject="root", role=Role.ADMIN)
INTROSPECTIONS = [
    "{ __schema { types { name } } }",
    '{ __type(name: "Owner") { name } }',
    "{ ...F } fragment F on Query { ... { a: __schema { queryType { name } } } }",
]
# Each is near enough to something that is there.
MISTAKES: list[tuple[str, dict[str, Any]]] = [
    ("{ ownr(ownerId: 1) { name } }", {}),
    ('{ owner(ownrId: "a") { name } }', {}),
    ('{ owner(ownerId: "a") { nam } }', {}),
    ('{ owner(ownerId: "a") { ... on Ownr { name } } }', {}),
    ("mutation { createOwner(input: { kind: USR, name: 1 }) { owner { name } } }", {}),
    ('mutation { createOwner(input: { kind: USER, nam: "a" }) { owner { name } } }', {}),
    (CREATE_OWNER, {"input": {"kind": "USR", "name": "Ada"}}),
    (CREATE_OWNER, {"input": {"kind": "USER", "nam": "Ada"}}),
    ("query ($a: Ownr) { __typename }", {}),
]


@pytest.mark.parametrize("document", INTROSPECTIONS)
async def test_strangers_may_not_introspect(open_api: Opener, wire: Wire, document: str) -> None:
    async with open_api(profile="production") as api:
        response = await api.client.post("/graphql", json={"query": document})
        (error,) = response.json()["errors"]
        assert (response.status_code, error["extensions"]["code"]) == (401, "UNAUTHENTICATED")
        assert "data" not in response.json()
    assert not wire.calls


@pytest.mark.parametrize("document", INTROSPECTIONS)
async def test_those_who_are_known_may_introspect_and_that_opens_it_for_nobody_else(
    open_api: Opener, document: str
) -> None:
    async with open_api(profile="production") as api:
        assert "data" in await api.by(owner("ada")).send(document)
        assert (await api.send(document))["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("document", INTROSPECTIONS)
async def test_in_development_everybody_may_introspect(api: Api, document: str) -> None:
    assert "data" in await api.send(document)


@pytest.mark.parametrize(("document", "variables"), MISTAKES)
async def test_a_mistake_is_told_without_a_suggestion(
    open_api: Opener, document: str, variables: dict[str, Any]
) -> None:
    async with open_api(profile="production") as api:
        answer = await api.by(ADMIN).send(document, **variables)
        assert answer["errors"][0]["extensions"]["status"] == 400
        assert "did you mean" not in json.dumps(answer).lower()


@pytest.mark.parametrize(("document", "variables"), MISTAKES)
async def test_a_plan_is_refused_without_a_suggestion(
    open_api: Opener, document: str, variables: dict[str, Any]
) -> None:
    content = {"query": document, "variables": variables, "extensions": {"explain": "plan"}}
    async with open_api(profile="production") as api:
        response = await api.client.post("/graphql", json=content, headers=api.by(ADMIN).headers)
        assert response.json()["errors"][0]["extensions"]["status"] == 400
        assert "did you mean" not in response.text.lower()


async def test_in_development_a_mistake_is_told_with_a_suggestion(api: Api) -> None:
    for document, variables in MISTAKES:
        assert "Did you mean" in json.dumps(await api.send(document, **variables)), document


@pytest.mark.parametrize(
    ("settings", "is_shown"),
    [
        ({}, True),
        ({"graphiql": "off"}, False),
        ({"profile": "production"}, False),
        ({"profile": "production", "graphiql": "on"}, True),
    ],
)
async def test_browsers_get_graphiql_in_development_or_where_it_is_asked_for(
    open_api: Opener, settings: dict[str, Any], *, is_shown: bool
) -> None:
    async with open_api() as api:
        page = (await api.client.get("/graphql", headers={"Accept": "text/html"})).text
    asset = page.split("/graphql/assets/")[1].split('"')[0]
    async with open_api(**settings) as api:
        response = await api.client.get("/graphql", headers={"Accept": "text/html,*/*;q=0.8"})
        assert response.headers["content-type"].startswith("text/html" if is_shown else "application/json")
        assert (await api.client.get(f"/graphql/assets/{asset}")).status_code == (200 if is_shown else 404)


@asynccontextmanager
async def damaged(open_api: Opener, plain_client: Any, table: str, profile: str) -> Any:
    async with open_api(profile=profile) as opened:
        api = opened.by(ADMIN)
        await api.owner("ada")
        await plain_client.update_item(
            TableName=table,
            Key={"PK": {"S": "OWNER#ada"}, "SK": {"S": "META"}},
            UpdateExpression="SET kind = :bad",
            ExpressionAttributeValues={":bad": {"S": "secret-of-the-table"}},
        )
        yield api


@pytest.mark.parametrize("profile", ["development", "production"])
async def test_a_fault_of_ours_is_masked_in_every_profile(
    open_api: Opener, plain_client: Any, table: str, profile: str
) -> None:
    async with damaged(open_api, plain_client, table, profile) as api:
        response: httpx.Response = await api.client.post(
            "/graphql", json={"query": '{ owner(ownerId: "ada") { kind } }'}, headers=api.headers
        )
    (error,) = response.json()["errors"]
    assert error["message"].startswith("Something went wrong here.")
    for hidden in ("secret-of-the-table", "OWNER#", "META", "Damaged", "Traceback"):
        assert hidden not in response.text
