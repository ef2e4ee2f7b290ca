import asyncio
from typing import Any

import pytest
import pytest_asyncio

from tests import codes
from tests.api import (
    CREATE_RESERVATION,
    REGISTER_LOCKER,
    RENAME,
    RETIRE_LOCKER,
    TRANSFER,
    UPDATE_STATUS,
    Api,
    mutation,
    refused,
    user_error,
)
from tests.conftest import NOW, Clock, Dump
from tests.invariants import check_invariants, live_reservations
from tests.places import MOVE, prepare, refusal, ulid
from tests.principals import device, owner
from tests.races.holding import Held
from tests.wire import Wire

CANCEL, RELEASE = (mutation(f"{verb}Reservation", "reservation { status }") for verb in ("cancel", "release"))
CONFIGURE = mutation("configureLocker", "locker { size }")
ANY = mutation("reserveAnyLocker", "reservation { lockerId }")
WINDOW = {"startAt": "2026-03-02T11:00:00Z", "endAt": "2026-03-02T12:00:00Z"}
FIRST = {"lockerId": "l1", "expectedVersion": 1}
RETIRED = user_error("LOCKER_RETIRED", "Locker l1 was retired.", 409, "lockerId")


@pytest_asyncio.fixture
async def one(api: Api) -> Api:
    await prepare(api)
    await api.locker("l1", "ada", locationId=ulid(0), reservableBy="EVERYONE")
    return api


async def test_a_locker_is_retired_once_and_leaves_all_offers(one: Api, clock: Clock, dump: Dump) -> None:
    shown = {"status": "RETIRED", "version": 2, "updatedAt": NOW}
    payload = await one.mutate(RETIRE_LOCKER, **FIRST, changeId="c1")
    assert payload == {"locker": shown, "userErrors": []}
    clock.move(minutes=1)
    assert await one.mutate(RETIRE_LOCKER, **FIRST, changeId="c1") == payload
    stale = await refused(one, dump, RETIRE_LOCKER, **FIRST)
    assert (refusal(stale)[0], stale["locker"]) == ("VERSION_CONFLICT", shown)
    assert await one.mutate(RETIRE_LOCKER, lockerId="l1", expectedVersion=2) == payload
    items = await dump()
    check_invariants(items, NOW)
    assert not [item for item in items.values() if item["entityType"] == "LOCKER_OFFER"]


async def test_a_retired_locker_stays_in_the_lists_of_its_owner_and_location_with_its_status(one: Api) -> None:
    await one.done(RETIRE_LOCKER, **FIRST)
    found = await one.run(
        """query ($place: ID!) {
          owner(ownerId: "ada") {
            all: lockers { nodes { lockerId status } } retired: lockers(status: RETIRED) { nodes { lockerId } }
          }
          location(locationId: $place) {
            lockers { nodes { lockerId status } }
            availableLockers(window: {from: "2026-03-02T11:00:00Z", to: "2026-03-02T12:00:00Z"}) {
              lockers { lockerId }
            }
          }
        }""",
        place=ulid(0),
    )
    listed = {"nodes": [{"lockerId": "l1", "status": "RETIRED"}]}
    assert found["owner"] == {"all": listed, "retired": {"nodes": [{"lockerId": "l1"}]}}
    assert found["location"] == {"lockers": listed, "availableLockers": {"lockers": []}}


@pytest.mark.parametrize(
    ("document", "values"),
    [
        (CREATE_RESERVATION, {"lockerId": "l1", "ownerId": "ada", **WINDOW}),
        (UPDATE_STATUS, {"newStatus": "AVAILABLE"}),
        (RENAME, {"alias": "New"}),
        (CONFIGURE, {"size": "XL"}),
        (MOVE, {"newLocationId": None}),
        (TRANSFER, {"newOwnerId": "root"}),
    ],
)
async def test_a_retired_locker_is_not_changed(one: Api, dump: Dump, document: str, values: dict[str, Any]) -> None:
    await one.done(RETIRE_LOCKER, **FIRST)
    versioned = {} if "ownerId" in values else {"lockerId": "l1", "expectedVersion": 2}
    payload = await refused(one, dump, document, **versioned, **values)
    error = payload["userErrors"][0]
    assert {name: error[name] for name in ("code", "message", "path")} == {
        name: RETIRED[name] for name in ("code", "message", "path")
    }


async def test_only_retiring_leads_to_the_status_and_the_id_stays_taken(one: Api, dump: Dump) -> None:
    payload = await refused(one, dump, UPDATE_STATUS, **FIRST, newStatus="RETIRED")
    assert payload["userErrors"][0]["allowedStatuses"] == ["OCCUPIED", "MAINTENANCE"]
    await one.done(RETIRE_LOCKER, **FIRST)
    payload = await refused(one, dump, REGISTER_LOCKER, lockerId="l1", ownerId="root")
    assert refusal(payload)[0] == "ID_TAKEN"
    payload = await refused(one, dump, ANY, locationId=ulid(0), size="M", ownerId="ada", **WINDOW)
    assert refusal(payload)[0] == "NO_LOCKER_AVAILABLE"


async def test_a_live_reservation_is_named_and_keeps_the_locker_in_service(one: Api, clock: Clock, dump: Dump) -> None:
    await one.reservation("first", "l1", "root", "2026-03-01T11:00:00Z", "2026-03-01T12:30:00Z")
    await one.reservation("last", "l1", "root", WINDOW["startAt"], WINDOW["endAt"])
    payload = await refused(one, dump, RETIRE_LOCKER, **FIRST)
    (error,) = payload["userErrors"]
    assert (error["code"], error["path"]) == ("RESERVATION_OVERLAP", ["input", "lockerId"])
    assert error["reservation"]["reservationId"] == "last"
    await one.done(CANCEL, lockerId="l1", reservationId="last")
    (error,) = (await refused(one, dump, RETIRE_LOCKER, **FIRST))["userErrors"]
    assert error["reservation"]["reservationId"] == "first"
    clock.move(minutes=44)  # its codes open the locker until 15 minutes after its end
    assert refusal(await refused(one, dump, RETIRE_LOCKER, **FIRST))[0] == "RESERVATION_OVERLAP"
    clock.move(minutes=1)
    await one.done(RETIRE_LOCKER, **FIRST)
    check_invariants(await dump(), clock.now)
    history = '{ locker(lockerId: "l1") { reservations { nodes { reservationId status } } } }'
    assert (await one.run(history))["locker"]["reservations"]["nodes"] == [
        {"reservationId": "first", "status": "EXPIRED"},
        {"reservationId": "last", "status": "CANCELLED"},
    ]


async def test_a_reservation_that_was_released_does_not_keep_the_locker(one: Api, dump: Dump) -> None:
    await one.reservation("r1", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await one.done(RELEASE, lockerId="l1", reservationId="r1")
    await one.done(RETIRE_LOCKER, **FIRST)
    check_invariants(await dump(), NOW)


async def test_no_code_opens_a_retired_locker_and_none_is_created(one: Api, dump: Dump) -> None:
    standing = {"lockerId": "l1", "kind": "STANDING", "length": 8}
    digits = (await one.done(codes.CREATE, **standing))["digits"]
    door = one.by(device("l1"))
    entered = {"lockerId": "l1", "digits": digits}
    assert (await door.done(codes.VERIFY, **entered, attemptId="before"))["decision"] == "GRANTED"
    await one.done(RETIRE_LOCKER, **FIRST)
    assert (await door.done(codes.VERIFY, **entered, attemptId="after"))["decision"] == "DENIED"
    payload = await refused(one, dump, codes.CREATE, **standing)
    assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", "lockerId"])


async def test_a_stranger_learns_nothing_and_changes_nothing(one: Api, wire: Wire, dump: Dump) -> None:
    wire.reset()
    for locker_id in ("l1", "missing"):
        payload = await refused(one.by(owner("eve")), dump, RETIRE_LOCKER, lockerId=locker_id, expectedVersion=1)
        assert refusal(payload)[0] == "FORBIDDEN"
    assert not wire.of("TransactWriteItems")


@pytest.mark.parametrize("has_history", [False, True], ids=["first reservation", "another reservation"])
@pytest.mark.parametrize("first", ["retired", "reserved"])
async def test_of_a_retirement_and_a_reservation_at_once_one_is_made(
    one: Api, wire: Wire, dump: Dump, first: str, *, has_history: bool
) -> None:
    if has_history:
        await one.reservation("r1", "l1", "ada", "2026-02-01T11:00:00Z", "2026-03-01T13:00:00Z")
        await one.done(RELEASE, lockerId="l1", reservationId="r1")
    held = Held(lambda call: call.operation == "TransactWriteItems")
    wire.fault = held
    requests = {
        "retired": lambda: one.mutate(RETIRE_LOCKER, **FIRST),
        "reserved": lambda: one.mutate(CREATE_RESERVATION, lockerId="l1", ownerId="ada", **WINDOW),
    }
    last = "reserved" if first == "retired" else "retired"
    late = asyncio.ensure_future(requests[last]())
    await held.reached()  # it has read everything
    assert (await requests[first]())["userErrors"] == []
    held.release()
    code = "LOCKER_RETIRED" if first == "retired" else "RESERVATION_OVERLAP"
    assert [error["code"] for error in (await late)["userErrors"]] == [code]
    items = await dump()
    check_invariants(items, NOW)
    assert items["LOCKER#l1", "META"]["status"] == ("RETIRED" if first == "retired" else "AVAILABLE")
    assert len(live_reservations(items, "l1")) == (first == "reserved")
