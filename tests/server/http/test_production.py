import base64
import json
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from loaders.following.leases import LeaseTimes
from loaders.following.registry import FollowingParts
from loaders.following.webhooks import Pace, Webhooks
from tests import webhooks
from tests.api import CREATE_OWNER, Api
from tests.conftest import OpenApi
from tests.issuer import bearer, production, sign
from tests.wire import Wire

ROOT = Path(__file__).parents[3]
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
    ('mutation { createOwner(input: { kind: USER, nam: "a" }) { owner { name } } }', {}),
    (CREATE_OWNER, {"input": {"kind": "USER", "nam": "Ada"}}),
    ("query ($a: Ownr) { __typename }", {}),
]


@pytest.mark.parametrize("document", INTROSPECTIONS)
async def test_introspection_needs_credentials(open_api: OpenApi, wire: Wire, document: str, tmp_path: Path) -> None:
    async with open_api(authenticator=None, **production(tmp_path)) as api:
        for headers, status in (({}, 401), (bearer(sign(role="owner", ownerId="ada")), 200), ({}, 401)):
            response = await api.client.post("/graphql", json={"query": document}, headers=headers)
            codes = [error["extensions"]["code"] for error in response.json().get("errors", [])]
            assert (response.status_code, codes) == (status, ["UNAUTHENTICATED"] if status == 401 else [])
            assert ("data" in response.json()) == (status == 200)
    assert not wire.calls


async def test_errors_and_plans_suggest_no_names(open_api: OpenApi) -> None:
    async with open_api(profile="production") as api:
        for (document, variables), extensions in product(MISTAKES, ({}, {"explain": "plan"})):
            content = {"query": document, "variables": variables, "extensions": extensions}
            response = await api.client.post("/graphql", json=content)
            assert response.json()["errors"][0]["extensions"]["status"] == 400
            assert "did you mean" not in response.text.lower()


async def test_in_development_an_unknown_field_is_refused_with_a_suggestion(api: Api) -> None:
    for document, variables in MISTAKES:
        assert "Did you mean" in json.dumps(await api.send(document, **variables)), document


async def test_webhooks_of_this_machine_are_for_development_also_where_one_was_created(open_api: OpenApi) -> None:
    keys = "k1:" + base64.b64encode(b"1" * 32).decode()
    pace = partial(Webhooks, pace=Pace(0.05, 0.2))
    parts = FollowingParts(lambda _: [], lambda _: [], LeaseTimes(0.2, 5, 6), timedelta(0), pace)
    async with open_api(code_keys=keys) as api:
        await webhooks.create(api, all=True, url="http://127.0.0.1:1/")
    async with open_api(profile="production", code_keys=keys, following=parts) as api:
        for url in ("http://127.0.0.1:1/", "https://localhost/", "http://hooks.example/"):
            (refused,) = (await api.mutate(webhooks.CREATE, all=True, url=url))["userErrors"]
            assert refused["code"] == "BAD_USER_INPUT"
        await api.owner("ada")
        (told, *_) = await webhooks.until(partial(failed, api))
        assert (told["statusCode"], told["error"]) == (None, "url")


async def failed(api: Api) -> list[dict[str, Any]]:
    return [one for one in await webhooks.deliveries(api) if one["attempts"]]


@pytest.mark.parametrize("profile", ["development", "production"])
async def test_the_values_of_an_enum_are_listed_in_both_profiles(open_api: OpenApi, profile: str) -> None:
    literal = "mutation { createOwner(input: { kind: USR }) { owner { name } } }"
    async with open_api(profile=profile) as api:
        for document, variables in ((literal, {}), (CREATE_OWNER, {"input": {"kind": "USR", "name": "Ada"}})):
            (error, *_) = (await api.send(document, **variables))["errors"]
            assert error["message"].endswith("' has invalid value at .kind: Expected USER or ORGANIZATION.")
            assert error["extensions"]["inputPath"] == ["input", "kind"]


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
    open_api: OpenApi, settings: dict[str, Any], *, is_shown: bool
) -> None:
    asset = next((ROOT / "server/static/graphiql/assets").iterdir()).name.removesuffix(".gz")
    async with open_api(**settings) as api:
        response = await api.client.get("/graphql", headers={"Accept": "text/html,*/*;q=0.8"})
        assert response.headers["content-type"].startswith("text/html" if is_shown else "application/json")
        assert (await api.client.get(f"/graphql/assets/{asset}")).status_code == (200 if is_shown else 404)
