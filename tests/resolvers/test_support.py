"""Support: what it sees of what admins see, and the one thing it changes."""

from typing import Any

from loaders.backend import Backend
from tests import codes, places
from tests.api import Api, mutation, unchanged
from tests.conftest import Dump
from tests.history import keep_history
from tests.principals import SUPPORT, owner
from tests.wire import Wire

CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
SET_BUDGET = mutation("setCallerBudget", "callerBudget { burst }")
LOG = "{ activity(orderBy: ASC, first: 100) { nodes { id kind keyId actor { role subject } } } }"
OF_LOCKER = '{ locker(lockerId: "l1") { activity(first: 1) { nodes { kind actor { role subject } } } } }'
DETAILS = """{ reservation(lockerId: "l1", reservationId: "r1") {
  reference owner { email } details { recipient { name email } } } }"""


async def log_of(api: Api) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = (await api.run(LOG))["activity"]["nodes"]
    return nodes


async def test_support_clears_the_lockout_of_every_door_and_the_log_names_its_role(
    api: Api, backend: Backend, dump: Dump
) -> None:
    place = await places.prepare(api)
    await api.locker("l1", "ada")
    support = api.by(SUPPORT)
    for door in ({"lockerId": "l1"}, {"locationId": place}):
        await api.mutate(codes.VERIFY, **door, digits="000000", attemptId="guess")
        cleared = await support.done(codes.CLEAR, **door)
        assert cleared["lockout"]["failures"] == []
        assert (await log_of(support))[-1]["actor"] == {"role": "SUPPORT", "subject": "sue"}
    async with unchanged(dump):
        (missing,) = (await support.mutate(codes.CLEAR, lockerId="none"))["userErrors"]
        (refused,) = (await support.mutate(codes.PROVISION, lockerId="l1", generation=1))["userErrors"]
    assert (missing["code"], refused["code"]) == ("NOT_FOUND", "FORBIDDEN")
    await keep_history(backend.store)
    seen = (await api.by(owner("ada")).run(OF_LOCKER))["locker"]["activity"]["nodes"]
    assert seen == [{"kind": "DOOR_LOCKOUT_CLEARED", "actor": {"role": "SUPPORT", "subject": None}}]


async def test_support_does_not_see_what_happened_to_api_keys_and_budgets(api: Api, backend: Backend) -> None:
    await api.owner("ada")
    await api.mutate(CREATE_KEY, keyId="key-1", name="Door", role="DEVICE", lockerId="l1")
    await api.locker("l1", "ada")
    await api.mutate(SET_BUDGET, subject="ada", unitsPerMinute=1)
    await keep_history(backend.store)
    of_admin, support = await log_of(api), api.by(SUPPORT)
    assert [entry["kind"] for entry in of_admin[:3]] == ["OWNER_CREATED", "API_KEY_CREATED", "LOCKER_REGISTERED"]
    assert [entry["kind"] for entry in of_admin[3:]] == ["CALLER_BUDGET_CHANGED"]
    of_support = await log_of(support)
    assert of_support == [of_admin[0], of_admin[2]]
    query = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    answer = await support.send(query, ids=[entry["id"] for entry in of_admin])
    assert [entry and entry["id"] for entry in answer["data"]["nodes"]] == [
        *(of_admin[0]["id"], None),
        *(of_admin[2]["id"], None),
    ]
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"] * 2
    hidden = await api.client.post(
        "/graphql", json={"query": LOG}, headers={**support.headers, "SmartLocker-Cost": "1"}
    )
    assert hidden.json()["extensions"]["cost"]["actual"] is None


async def test_support_reads_a_reservation_but_not_who_it_is_for(api: Api, wire: Wire) -> None:
    await api.owner("ada", email="ada@example.com")
    await api.locker("l1", "ada")
    window = {"startAt": "2026-04-01T00:00:00Z", "endAt": "2026-04-02T00:00:00Z"}
    recipient = {"name": "Rita", "email": "rita@example.com"}
    reserve = mutation("createReservation", "reservation { status }")
    about = {"lockerId": "l1", "reservationId": "r1", "ownerId": "ada", "reference": "order-1", "recipient": recipient}
    await api.done(reserve, **about, **window)
    assert (await api.run(DETAILS))["reservation"]["details"] == {"recipient": recipient}
    wire.reset()
    answer = await api.by(SUPPORT).send(DETAILS)
    assert answer["data"]["reservation"] == {
        "reference": "order-1",
        "owner": {"email": "ada@example.com"},
        "details": None,
    }
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["reservation", "details"], "FORBIDDEN")
    assert error["extensions"]["requiredRoles"] == ["OWNER", "PARTNER", "ADMIN"]
    assert not [key for call in wire.calls for key in call.keys if "DETAILS" in key[1]]


async def test_what_is_missing_is_missing_to_support(api: Api) -> None:
    queries = ['{ locker(lockerId: "l9") { alias } }', '{ reservation(lockerId: "l9", reservationId: "r9") { endAt } }']
    for query in queries:
        (error,) = (await api.by(SUPPORT).send(query))["errors"]
        assert error["extensions"]["code"] == "NOT_FOUND"
