import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import Principal, Role, Scope
from resolvers.bindings.nodes import to_global_id
from server.http.explanation import Explainers, check_explain
from server.http.request import GraphQLRequest
from server.http_errors import HttpError
from tests.api import CREATE_OWNER, Api
from tests.conftest import OpenApi
from tests.explained import get, timeless
from tests.over_http import GRAPHQL, JSON, assert_rejected, post
from tests.principals import owner, partner
from tests.wire import Wire

DOCS = Path(__file__).parents[3] / "docs"
OWNER = '{ owner(ownerId: "ada") { name } }'
ASKED = [get("QC-20", "OWNER#ada", path="owner")]
COST = {"operations": 1, "items": 1, "readUnits": 0.5, "writeUnits": 0}
BY_HEADER = {"SmartLocker-Explain": "1"}
BY_EXTENSION = {"explain": True}


async def extensions(api: Api, headers: dict[str, str] | None = None, **content: Any) -> Any:
    response = await post(api, OWNER, headers=headers, **content)
    assert (response.status_code, response.json()["data"]) == (200, {"owner": {"name": "ada"}})
    return response.json().get("extensions")


async def test_an_explanation_is_requested_by_header_or_extension_in_the_body_or_the_url(api: Api) -> None:
    await api.owner("ada")
    reported = [await extensions(api, BY_HEADER), await extensions(api, extensions=BY_EXTENSION)]
    for parameters, headers in (({"extensions": json.dumps(BY_EXTENSION)}, {}), ({}, BY_HEADER)):
        response = await api.client.get("/graphql", params={"query": OWNER, **parameters}, headers=headers)
        reported.append(response.json()["extensions"])
    for each in reported:
        assert list(each) == ["explain"]
        assert timeless(each["explain"]) == ASKED


async def test_the_cost_is_requested_by_header_or_extension(api: Api) -> None:
    await api.owner("ada")
    limit = {"readUnits": 25_000, "operations": 1500, "items": 20_000}
    reported = {"cost": {"expected": COST, "maximum": COST, "actual": COST, "limit": limit}}
    assert await extensions(api, {"SmartLocker-Cost": "1"}) == reported
    assert await extensions(api, extensions={"cost": True}) == reported
    both = await extensions(api, {"SmartLocker-Cost": "1"}, extensions=BY_EXTENSION)
    assert (list(both), both["cost"]["actual"]) == (["explain", "cost"], COST)
    values = {"input": {"kind": "USER", "name": "Eve"}}
    made = await post(api, CREATE_OWNER, variables=values, extensions={"cost": True})
    written = {"operations": 1, "items": 0, "readUnits": 0, "writeUnits": 8}
    assert made.json()["extensions"]["cost"]["actual"] == written


async def test_a_persisted_document_is_explained_like_any_other(api: Api) -> None:
    await api.owner("ada")
    given = {"persistedQuery": {"version": 1, "sha256Hash": sha256(OWNER.encode()).hexdigest()}, **BY_EXTENSION}
    unknown = await post(api, None, extensions=given)
    assert unknown.json()["errors"][0]["message"] == "PersistedQueryNotFound"
    assert "extensions" not in unknown.json()
    for query in (OWNER, None):
        response = await post(api, query, extensions=given)
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
    open_api: OpenApi, wire: Wire, headers: dict[str, str], given: dict[str, Any]
) -> None:
    async with open_api(observer=None) as api:
        await api.owner("ada")
        wire.reset()
        assert await extensions(api, headers, extensions=given) is None
    assert [sorted(call.request) for call in wire.calls] == [["ConsistentRead", "Key", "TableName"]]


async def test_a_value_that_requests_nothing_known_is_rejected(api: Api, wire: Wire) -> None:
    invalid: list[Any] = ["yes", "after", "PLAN", "", 1, 0, 1.5, [], {}, [True]]
    for value in invalid:
        for name, allowed in (("explain", 'true, "plan" or false'), ("cost", "true or false")):
            response = await post(api, OWNER, extensions={name: value})
            assert_rejected(response, "BAD_USER_INPUT", 400, f"extensions.{name} must be {allowed}.")
    for value in ("true", "yes", "2", "", "1,1"):
        for name in ("SmartLocker-Explain", "SmartLocker-Cost"):
            response = await post(api, OWNER, headers={name: value})
            assert_rejected(response, "BAD_USER_INPUT", 400, f"{name} must be 1 or 0.")
    assert not wire.calls


@pytest.mark.parametrize("query", ["{", "{ unknown }", "query ($id: ID!) { owner(ownerId: $id) { name } }"])
@pytest.mark.parametrize("value", [True, "plan"])
async def test_a_request_that_did_not_run_has_no_explanation(api: Api, wire: Wire, query: str, value: object) -> None:
    response = await post(api, query, GRAPHQL, extensions={"explain": value})
    assert (response.status_code, set(response.json())) == (400, {"errors"})
    assert not wire.calls


async def test_if_explanations_are_off_they_are_forbidden_and_the_cost_is_shown(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(explain="nobody") as api:
        for accept, value in ((JSON, True), (GRAPHQL, "plan")):
            response = await post(api, OWNER, accept, extensions={"explain": value})
            message = "You are not allowed to request explanations: see SMARTLOCKER_EXPLAIN."
            assert_rejected(response, "FORBIDDEN", 403, message, accept)
            assert list(response.json()) == ["errors"]
        assert not wire.calls
        await api.owner("ada")
        reported = await extensions(api, {"SmartLocker-Cost": "1"})
        assert (list(reported), reported["cost"]["actual"]) == (["cost"], COST)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("explainers", ["everyone", "admins", "nobody"])
@pytest.mark.parametrize("asked", ["off", "after", "plan"])
def test_explanations_are_allowed_by_setting_and_role(role: Role, explainers: Explainers, asked: Any) -> None:
    operation = GraphQLRequest(OWNER, None, None, None, None, explain=asked, cost=True)
    principal = Principal(subject="somebody", role=role)
    if asked == "off" or explainers == "everyone" or (explainers == "admins" and role is Role.ADMIN):
        check_explain(operation, explainers, principal)
    else:
        with pytest.raises(HttpError):
            check_explain(operation, explainers, principal)


@pytest_asyncio.fixture
async def tenants(api: Api) -> Api:
    """Ada and Bob, an organization, and a locker of each; Ada's was opened, and the organization's she reserved."""
    for name in ("ada", "bob", "org"):
        await api.owner(name, email=f"{name}@example.com")
    await api.locker("l1", "ada")
    await api.locker("l2", "bob")
    await api.locker("l3", "org")
    await api.reservation("r1", "l3", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await api.event("l1")
    return api


async def sent_extensions(api: Api, query: str) -> dict[str, Any]:
    response = await post(api, query, extensions={"explain": True, "cost": True})
    return dict(response.json()["extensions"])


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
async def test_a_forbidden_requests_cost_tells_nothing(tenants: Api, query: str, foreign: str, missing: str) -> None:
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
async def test_a_caller_who_may_see_all_that_a_query_reads_sees_its_cost(tenants: Api, principal: Principal) -> None:
    seen = await sent_extensions(tenants.by(principal), '{ locker(lockerId: "l2") { alias } }')
    assert timeless(seen["explain"]) == [get("QC-01", "LOCKER#l2", path="locker")]
    assert seen["cost"]["actual"] == COST


async def test_every_part_of_an_explanation_is_documented(api: Api) -> None:
    await api.owner("ada")
    explanation = (await extensions(api, BY_HEADER))["explain"]
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
