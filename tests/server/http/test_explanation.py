"""Asking for an explanation: how, who may, and what it never costs those who do not ask."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.authorization import Principal, Role, Scope
from resolvers.bindings.nodes import to_global_id
from server.http.explanation import check_explain
from server.http.request import GraphQLRequest
from server.http_errors import HttpError
from tests.explained import get, timeless
from tests.principals import owner, partner

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from server.http.explanation import Explainers
    from tests.api import Api
    from tests.wire import Wire

DOCS = Path(__file__).parents[3] / "docs"
JSON = "application/json"
GRAPHQL = "application/graphql-response+json"
OWNER = '{ owner(ownerId: "ada") { name } }'
ASKED = [get("QC-20", "OWNER#ada", path="owner")]
COST = {"operations": 1, "items": 1, "readUnits": 0.5, "writeUnits": 0}


async def extensions(api: Api, headers: dict[str, str] | None = None, **content: Any) -> Any:
    """The answer's extensions, if it has any."""
    response = await api.client.post("/graphql", json={"query": OWNER, **content}, headers=headers)
    assert (response.status_code, response.json()["data"]) == (200, {"owner": {"name": "ada"}})
    return response.json().get("extensions")


async def test_an_explanation_is_requested_by_header_or_extension(api: Api) -> None:
    await api.owner("ada")
    by_header = await extensions(api, {"SmartLocker-Explain": "1"})
    by_extension = await extensions(api, extensions={"explain": True})
    assert list(by_header) == list(by_extension) == ["explain"]
    assert timeless(by_header["explain"]) == timeless(by_extension["explain"]) == ASKED


async def test_the_cost_is_requested_by_header_or_extension(api: Api) -> None:
    await api.owner("ada")
    reported = {
        "cost": {
            "expected": COST,
            "maximum": COST,
            "actual": COST,
            "limit": {"readUnits": 25_000, "operations": 1500, "items": 20_000},
        }
    }
    assert await extensions(api, {"SmartLocker-Cost": "1"}) == reported
    assert await extensions(api, extensions={"cost": True}) == reported
    both = await extensions(api, {"SmartLocker-Cost": "1"}, extensions={"explain": True})
    assert (list(both), both["cost"]["actual"]) == (["explain", "cost"], COST)


async def test_the_cost_of_a_mutation_is_in_write_units(api: Api, wire: Wire) -> None:
    document = 'mutation { createOwner(input: {kind: USER, name: "Eve"}) { owner { name } } }'
    response = await api.client.post("/graphql", json={"query": document, "extensions": {"cost": True}})
    assert wire.calls[0].units == 2
    assert response.json()["extensions"]["cost"]["actual"] == {
        "operations": 1,
        "items": 0,
        "readUnits": 0,
        "writeUnits": 2,
    }


async def test_an_explanation_can_be_requested_by_url(api: Api) -> None:
    await api.owner("ada")
    for parameters, headers in (
        ({"query": OWNER, "extensions": '{"explain": true}'}, {}),
        ({"query": OWNER}, {"SmartLocker-Explain": "1"}),
    ):
        response = await api.client.get("/graphql", params=parameters, headers=headers)
        assert timeless(response.json()["extensions"]["explain"]) == ASKED


async def test_a_persisted_document_is_explained_like_any_other(api: Api) -> None:
    await api.owner("ada")
    given = {"persistedQuery": {"version": 1, "sha256Hash": sha256(OWNER.encode()).hexdigest()}, "explain": True}
    unknown = await api.client.post("/graphql", json={"extensions": given})
    assert unknown.json()["errors"][0]["message"] == "PersistedQueryNotFound"
    assert "extensions" not in unknown.json()
    for query in (OWNER, None):
        response = await api.client.post("/graphql", json={"query": query, "extensions": given})
        assert timeless(response.json()["extensions"]["explain"]) == ASKED


@pytest.mark.parametrize(
    ("headers", "given"),
    [
        ({}, {}),
        ({"SmartLocker-Explain": "0", "SmartLocker-Cost": "0"}, {}),
        ({}, {"explain": False, "cost": False}),
        ({}, {"explain": None, "cost": None}),
        ({"SmartLocker-Explain": "1", "SmartLocker-Cost": "1"}, {"explain": False, "cost": False}),
    ],
)
async def test_without_a_request_for_it_there_are_no_extensions_and_no_capacity_is_requested(
    open_api: Callable[..., AbstractAsyncContextManager[Api]],
    wire: Wire,
    headers: dict[str, str],
    given: dict[str, Any],
) -> None:
    async with open_api(observer=None) as api:
        await api.owner("ada")
        wire.reset()
        assert await extensions(api, headers, extensions=given) is None
    assert [sorted(call.request) for call in wire.calls] == [["ConsistentRead", "Key", "TableName"]]


@pytest.mark.parametrize("value", ["yes", "after", "PLAN", "", 1, 0, 1.5, [], {}, [True]])
async def test_an_extension_that_is_neither_true_nor_plan_is_refused(api: Api, wire: Wire, value: object) -> None:
    for name, message in (
        ("explain", 'extensions.explain must be true, "plan" or false.'),
        ("cost", "extensions.cost must be true or false."),
    ):
        response = await api.client.post("/graphql", json={"query": OWNER, "extensions": {name: value}})
        (error,) = response.json()["errors"]
        assert (response.status_code, error["message"]) == (400, message)
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert not wire.calls


@pytest.mark.parametrize("name", ["SmartLocker-Explain", "SmartLocker-Cost"])
@pytest.mark.parametrize("value", ["true", "yes", "2", "", "1,1"])
async def test_a_header_that_is_neither_1_nor_0_is_refused(api: Api, wire: Wire, name: str, value: str) -> None:
    response = await api.client.post("/graphql", json={"query": OWNER}, headers={name: value})
    (error,) = response.json()["errors"]
    assert (response.status_code, error["message"]) == (400, f"{name} must be 1 or 0.")
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert not wire.calls


@pytest.mark.parametrize("query", ["{", "{ unknown }", "query ($id: ID!) { owner(ownerId: $id) { name } }"])
async def test_a_request_that_was_refused_before_it_ran_has_no_explanation(api: Api, wire: Wire, query: str) -> None:
    content = {"query": query, "extensions": {"explain": True, "cost": True}}
    answer = (await api.client.post("/graphql", json=content)).json()
    assert ("data" in answer, "explain" in answer.get("extensions", {})) == (False, False)
    assert not wire.calls


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
@pytest.mark.parametrize("value", [True, "plan"])
async def test_if_explanations_are_off_a_request_for_one_is_forbidden_and_nothing_runs(
    open_api: Callable[..., AbstractAsyncContextManager[Api]], wire: Wire, accept: str, value: object
) -> None:
    async with open_api(explain="nobody") as api:
        content = {"query": OWNER, "extensions": {"explain": value}}
        response = await api.client.post("/graphql", json=content, headers={"Accept": accept})
        (error,) = response.json()["errors"]
        assert response.status_code == 403
        assert error["message"] == "You are not allowed to request explanations: see SMARTLOCKER_EXPLAIN."
        assert (error["extensions"]["code"], error["extensions"]["status"]) == ("FORBIDDEN", 403)
        assert list(response.json()) == ["errors"]
        assert not wire.calls


async def test_the_cost_is_shown_even_if_explanations_are_off(
    open_api: Callable[..., AbstractAsyncContextManager[Api]],
) -> None:
    async with open_api(explain="nobody") as api:
        await api.owner("ada")
        reported = await extensions(api, {"SmartLocker-Cost": "1"})
        assert (list(reported), reported["cost"]["actual"]) == (["cost"], COST)


async def test_the_development_admin_may_request_explanations_if_admins_may(
    open_api: Callable[..., AbstractAsyncContextManager[Api]],
) -> None:
    async with open_api(explain="admins") as api:
        await api.owner("ada")
        assert timeless((await extensions(api, {"SmartLocker-Explain": "1"}))["explain"]) == ASKED


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("explainers", ["everyone", "admins", "nobody"])
@pytest.mark.parametrize("asked", ["off", "after", "plan"])
def test_explanations_are_allowed_by_setting_and_role(role: Role, explainers: Explainers, asked: Any) -> None:
    operation = GraphQLRequest(OWNER, None, None, None, None, explain=asked, cost=True)
    principal = Principal(subject="somebody", role=role)
    if asked == "off" or explainers == "everyone" or (explainers == "admins" and role is Role.ADMIN):
        check_explain(operation, explainers, principal)
    else:
        with pytest.raises(HttpError) as refusal:
            check_explain(operation, explainers, principal)
        assert (refusal.value.status, refusal.value.code) == (403, "FORBIDDEN")


@pytest_asyncio.fixture
async def tenants(api: Api) -> Api:
    """Ada and Bob, an organisation, and a locker of each; Ada's was opened, and the organisation's she reserved."""
    for name in ("ada", "bob", "org"):
        await api.owner(name, email=f"{name}@example.com")
    await api.locker("l1", "ada")
    await api.locker("l2", "bob")
    await api.locker("l3", "org")
    await api.reservation("r1", "l3", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await api.event("l1")
    return api


async def sent_extensions(api: Api, query: str) -> dict[str, Any]:
    """The extensions of a response."""
    content = {"query": query, "extensions": {"explain": True, "cost": True}}
    answer = (await api.client.post("/graphql", json=content, headers=api.headers)).json()
    extensions: dict[str, Any] = answer["extensions"]
    return extensions


def node(kind: str, plain_id: str) -> str:
    return f'"{to_global_id(kind, plain_id)}"'


@pytest.mark.parametrize(
    ("query", "foreign", "missing"),
    [
        ('{ ownerByEmail(email: "%s@example.com") { name } }', "ada", "nobody"),
        ('{ locker(lockerId: "%s") { accessEvents(first: 100) { nodes { action } } } }', "l1", "l9"),
        ('{ own: owner(ownerId: "bob") { name } locker(lockerId: "%s") { alias } }', "l1", "l9"),
        ('{ a: locker(lockerId: "l2") { alias } b: locker(lockerId: "%s") { latestEvent { action } } }', "l1", "l9"),
        (f"{{ nodes(ids: [{node('Locker', 'l2')}, %s]) {{ id }} }}", node("Locker", "l1"), node("Locker", "l9")),
        (
            f"{{ node(id: {node('Locker', 'l2')}) {{ id }} n: node(id: %s) {{ id }} }}",
            node("Owner", "ada"),
            node("Owner", "eve"),
        ),
        ('{ reservation(lockerId: "l3", reservationId: "%s") { endAt } }', "r1", "r9"),
        ('{ booking(bookingId: "%s") { date } }', "b1", "b9"),
    ],
)
async def test_the_cost_of_a_forbidden_request_does_not_show_whether_the_entity_exists(
    tenants: Api, query: str, foreign: str, missing: str
) -> None:
    seen = [await sent_extensions(tenants.by(owner("bob")), query % name) for name in (foreign, missing)]
    assert seen[0] == seen[1]
    assert (list(seen[0]), seen[0]["cost"]["actual"]) == (["cost"], None)
    by_admin = await sent_extensions(tenants, query % foreign)
    assert by_admin["cost"]["actual"]["items"] == by_admin["explain"]["totals"]["measured"]["items"]


@pytest.mark.parametrize("day", ["2026-03-01", "2026-02-01"])
async def test_the_reads_of_a_mutation_are_explained_to_admins_only(tenants: Api, day: str) -> None:
    reserve = """mutation { createReservation(input: {
      lockerId: "l3", ownerId: "bob", startAt: "%sT14:00:00Z", endAt: "2026-03-01T15:00:00Z"
    }) { reservation { status } userErrors { code } } }"""
    seen = await sent_extensions(tenants.by(owner("bob", "org")), reserve % day)
    assert (list(seen), seen["cost"]["actual"]) == (["cost"], None)
    assert (await sent_extensions(tenants, reserve % day))["cost"]["actual"]["items"] > 0


@pytest.mark.parametrize("principal", [owner("bob"), partner(Scope.LOCKERS_READ, of="bob")])
async def test_a_caller_who_may_see_everything_that_a_query_reads_sees_its_cost(
    tenants: Api, principal: Principal
) -> None:
    seen = await sent_extensions(tenants.by(principal), '{ locker(lockerId: "l2") { alias } }')
    assert timeless(seen["explain"]) == [get("QC-01", "LOCKER#l2", path="locker")]
    assert seen["cost"]["actual"] == COST


async def test_every_part_of_an_explanation_is_documented(api: Api) -> None:
    await api.owner("ada")
    explanation = (await extensions(api, {"SmartLocker-Explain": "1"}))["explain"]
    (operation,) = explanation["operations"]
    page = (DOCS / "http.md").read_text()
    described = page.split("\n## Explanations\n")[1].split("\nEach of `operations`")[1]
    for name in operation:
        assert f"`{name}`" in described, name
    page = (DOCS / "explain.md").read_text()
    (node,) = explanation["tree"]
    (read,) = node["reads"]
    for name in (*explanation, *node, *read, *explanation["totals"], *explanation["totals"]["measured"]):
        assert f"`{name}`" in page or f'"{name}"' in page, name
