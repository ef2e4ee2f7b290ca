"""The answer to a write is lost: every mutation has one effect and tells its true outcome, also when it is repeated."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import pytest
import pytest_asyncio

from domain.bookings import BookingStatus
from loaders.backend import Backend
from loaders.table.client import Connection, open_store
from loaders.table.embedded import find_binary, run_embedded
from loaders.table.http_client import Timeouts
from loaders.tools.definition import create_table
from resolvers.schema import build_schema
from server.app import new_id
from tests.api import UPDATE_STATUS, mutation
from tests.codes import Device
from tests.conftest import RING
from tests.contracts.samples import SHORT
from tests.contracts.scenarios import BOOKED, PLACED, RENAME, api_key, approve, record_events
from tests.e2e.serving import offspring_of
from tests.e2e.test_crashes import is_there
from tests.faults.test_faults import once
from tests.inputs import GOOD
from tests.invariants import check_invariants
from tests.places import DAY, DEACTIVATE, book, create_location, prepare, refusal, ulid
from tests.places import approve as approve_booking
from tests.principals import owner
from tests.races.test_lockers import RENAME as RENAME_LOCKER
from tests.races.test_lockers import TRANSFER
from tests.races.test_reservations import hours
from tests.wire import Lose, Until, open_wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.api import Api
    from tests.conftest import Clock, Prepared
    from tests.contracts.scenarios import Call as Scenario
    from tests.wire import Call, Wire

WRITES = {"TransactWriteItems", "PutItem"}
SCHEMA = build_schema().bound.graphql_schema
assert SCHEMA.mutation_type is not None
VERSION = {"expectedVersion": 1}
CHANGE = {"changeId": "c1"}
EVENT = {"lockerId": "l1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
DECISION = {"bookingId": "open", **VERSION}
LOCATION = {"code": "rome", "name": "Rome", "timeZone": "Europe/Rome"}
FULL_DAY = {"locationId": ulid(0), "date": DAY, "duration": "FULL_DAY"}


class Mutation(NamedTuple):
    """What is shown of the result, the input, and the ids with which a client can repeat it."""

    shown: str
    content: dict[str, Any]
    chosen: dict[str, Any] = {}  # noqa: RUF012  # never changed


MUTATIONS = {
    "createOwner": Mutation("owner { ownerId version }", {"kind": "USER", "name": "E"}, {"ownerId": "eve"}),
    "updateOwner": Mutation("owner { version }", {"ownerId": "ada", "email": "a@b.example", **VERSION}, CHANGE),
    "registerLocker": Mutation("locker { lockerId version }", {"ownerId": "ada"}, {"lockerId": "l9"}),
    "renameLocker": Mutation("locker { version }", {"lockerId": "l1", "alias": "Back", **VERSION}, CHANGE),
    "configureLocker": Mutation("locker { version }", {"lockerId": "l1", "size": "XL", **VERSION}, CHANGE),
    "moveLocker": Mutation("locker { version }", {"lockerId": "l1", "newLocationId": ulid(1), **VERSION}, CHANGE),
    "updateLockerStatus": Mutation(
        "locker { version }", {"lockerId": "l1", "newStatus": "OCCUPIED", **VERSION}, CHANGE
    ),
    "transferLocker": Mutation("locker { version }", {"lockerId": "l1", "newOwnerId": "root", **VERSION}, CHANGE),
    "createReservation": Mutation(
        "reservation { reservationId status }",
        {"lockerId": "l1", "ownerId": "ada", **hours(3, 4)},
        {"reservationId": "r9"},
    ),
    "cancelReservation": Mutation("reservation { status }", {"lockerId": "l1", "reservationId": "r1"}),
    "reserveAnyLocker": Mutation(
        "reservation { reservationId lockerId }",
        {"locationId": ulid(0), "ownerId": "ada", **hours(5, 6)},
        {"reservationId": "r9"},
    ),
    "extendReservation": Mutation(
        "reservation { endAt }", {"lockerId": "l1", "reservationId": "r1", "newEndAt": hours(1, 3)["endAt"]}
    ),
    "shortenReservation": Mutation(
        "reservation { endAt version }", {"lockerId": "l1", "reservationId": "r1", "newEndAt": hours(1, 1.5)["endAt"]}
    ),
    "startReservation": Mutation("reservation { startedAt version }", {"lockerId": "l1", "reservationId": "now"}),
    "releaseReservation": Mutation("reservation { endedAt version }", {"lockerId": "l1", "reservationId": "now"}),
    "recordAccessEvent": Mutation("accessEvent { eventId }", EVENT, {"eventId": "e1"}),
    "recordAccessEvents": Mutation(
        "accessEvents { eventId }",
        {"events": [EVENT, EVENT]},
        {"events": [EVENT | {"eventId": "e1"}, EVENT | {"eventId": "e2"}]},
    ),
    "createLocation": Mutation("location { locationId version }", LOCATION, {"locationId": ulid(9)}),
    "updateLocation": Mutation("location { version }", {"locationId": ulid(0), "name": "New", **VERSION}, CHANGE),
    "deactivateLocation": Mutation("location { version }", {"locationId": ulid(0), **VERSION}, CHANGE),
    "reactivateLocation": Mutation("location { version }", {"locationId": ulid(2), "expectedVersion": 2}, CHANGE),
    "requestBooking": Mutation(
        "booking { bookingId version }",
        {**FULL_DAY, "ownerId": "ada", "description": "Chess", "attendees": 5},
        {"bookingId": "b9"},
    ),
    "cancelBooking": Mutation("booking { status version }", {"bookingId": "approved"}),
    "approveBooking": Mutation("booking { status version }", DECISION, CHANGE),
    "rejectBooking": Mutation("booking { status version }", {**DECISION, "reason": "No"}, CHANGE),
    "recordPayment": Mutation(
        "payment { paymentId }",
        {"bookingId": "open", "amount": {"amount": "1.5", "currency": "EUR"}},
        {"paymentId": "p1"},
    ),
    "createCalendarEvent": Mutation("calendarEvent { eventId }", {**FULL_DAY, "title": "Works"}, {"eventId": "e9"}),
    "deleteCalendarEvent": Mutation("deletedEventId", {"locationId": ulid(1), "eventId": "works"}),
    "createApiKey": Mutation(
        "apiKey { keyId } secret", {"name": "Hall", "role": "DEVICE", "lockerId": "l1"}, {"keyId": "k9"}
    ),
    "revokeApiKey": Mutation("apiKey { keyId revokedAt }", {"keyId": "k1"}),
    "createAccessCode": Mutation(
        "accessCode { codeId } digits",
        {"kind": "RESERVATION", "lockerId": "l1", "reservationId": "r1"},
        {"codeId": "c9"},
    ),
    "rotateAccessCode": Mutation("accessCode { rotation } digits", GOOD["rotateAccessCode"]),
    "revealAccessCode": Mutation("accessCode { codeId } digits", GOOD["revealAccessCode"]),
    "revokeAccessCode": Mutation("accessCode { revokedAt }", GOOD["revokeAccessCode"]),
    "verifyAccessCode": Mutation("decision", GOOD["verifyAccessCode"]),
    "clearLockout": Mutation("__typename", GOOD["clearLockout"]),
    "provisionDevice": Mutation("generation deviceKey", GOOD["provisionDevice"]),
    "acknowledgeAccessCodes": Mutation("acknowledgedRevision", {"lockerId": "l1", "revision": "2.2.7824f57da673"}),
    "reportAccessCodeUse": Mutation("accessCode { codeId }", GOOD["reportAccessCodeUse"]),
}


def test_every_mutation_is_tested_here() -> None:
    assert SCHEMA.mutation_type is not None
    assert MUTATIONS.keys() == SCHEMA.mutation_type.fields.keys()


async def stock(api: Api) -> None:
    """Creates what each of the mutations needs to succeed."""
    await prepare(api)
    await create_location(api, 1)
    await create_location(api, 2)
    await api.mutate(DEACTIVATE, locationId=ulid(2), **VERSION)
    await api.locker("l1", "ada", locationId=ulid(0))
    window = hours(1, 2)
    await api.reservation("r1", "l1", "ada", window["startAt"], window["endAt"])
    await api.reservation("now", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await book(api, "open")
    await book(api, "approved", date="2026-03-11")
    await approve_booking(api, "approved")
    works = MUTATIONS["createCalendarEvent"].content | {"locationId": ulid(1), "eventId": "works"}
    key = MUTATIONS["createApiKey"].content | {"keyId": "k1"}
    for name, content in (
        ("createCalendarEvent", works),
        ("createApiKey", key),
        ("createAccessCode", MUTATIONS["createAccessCode"].content | {"codeId": "c1"}),
        ("provisionDevice", {"lockerId": "l1", "generation": 1}),
        ("verifyAccessCode", GOOD["verifyAccessCode"] | {"attemptId": "a1"}),
    ):
        assert (await api.mutate(mutation(name, MUTATIONS[name].shown), **content))["userErrors"] == []


@pytest_asyncio.fixture
async def ready(api: Api, wire: Wire, prepared: Prepared) -> Api:
    await prepared(stock, api)
    wire.reset()
    return api


def lost_then_forgotten() -> Callable[[Call], Lose | None]:
    """The first answer is lost, and then the store has forgotten the tokens that it knew, as after a restart."""
    lose = once(Lose(), *WRITES)

    def fault(call: Call) -> Lose | None:
        lost: Lose | None = lose(call)
        if lost is None and "ClientRequestToken" in call.request:
            call.request["ClientRequestToken"] = str(uuid4())
        return lost

    return fault


def writes(wire: Wire) -> set[str]:
    """The different writes that were sent, whatever their tokens."""
    sent = [call.request | {"ClientRequestToken": None} for call in wire.calls if call.operation in WRITES]
    return {json.dumps(request, sort_keys=True) for request in sent}


def is_complete(payload: dict[str, Any]) -> bool:
    return payload["userErrors"] == [] and None not in payload.values()


@pytest.mark.parametrize("with_ids", [False, True])
@pytest.mark.parametrize("is_forgotten", [False, True])
@pytest.mark.parametrize("name", MUTATIONS)
async def test_a_lost_answer_is_found_again_within_the_request(
    ready: Api, wire: Wire, dump: Callable[[], Any], clock: Clock, name: str, *, is_forgotten: bool, with_ids: bool
) -> None:
    shown, content, chosen = MUTATIONS[name]
    wire.fault = lost_then_forgotten() if is_forgotten else once(Lose(), *WRITES)
    payload = await ready.mutate(mutation(name, shown), **content | (chosen if with_ids else {}))
    assert is_complete(payload)
    assert len(writes(wire)) == 1
    assert len([call for call in wire.calls if call.operation in WRITES]) == 2
    check_invariants(await dump(), clock.now)


@pytest.mark.parametrize("name", MUTATIONS)
async def test_a_mutation_that_was_never_answered_is_repeated_by_its_client_much_later(
    ready: Api, wire: Wire, dump: Callable[[], Any], clock: Clock, name: str
) -> None:
    shown, content, chosen = MUTATIONS[name]
    before = await dump()
    wire.fault = lambda call: Lose() if call.operation in WRITES else None
    (error,) = (await ready.send(mutation(name, shown), input=content | chosen))["errors"]
    assert error["extensions"]["code"] == "UNAVAILABLE"
    after = await dump()
    assert after != before
    check_invariants(after, clock.now)
    wire.reset()
    clock.move(minutes=11)  # the store knows a token for ten minutes
    payload = await ready.mutate(mutation(name, shown), **content | chosen)
    if name == "createApiKey":
        assert payload.pop("secret") is None
    assert is_complete(payload)
    assert await dump() == after


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("verifyAccessCode", {"digits": "000000", "attemptId": "a9"}),
        ("clearLockout", {}),
        ("provisionDevice", {"generation": 2}),
        ("acknowledgeAccessCodes", {"revision": None}),
        ("reportAccessCodeUse", {"codeId": "booked", "eventId": "u1", "usedAt": "2026-03-01T11:00:00Z"}),
    ],
)
async def test_a_lost_answer_at_the_door_of_a_location_leaves_one_effect(
    ready: Api, wire: Wire, dump: Callable[[], Any], clock: Clock, name: str, more: dict[str, Any]
) -> None:
    door = {"locationId": ulid(0)}
    for field, values in (
        ("createAccessCode", {"kind": "BOOKING", "bookingId": "approved", "codeId": "booked"}),
        ("provisionDevice", door | {"generation": 1}),
        ("verifyAccessCode", door | {"digits": "000000", "attemptId": "a1"}),
    ):
        assert (await ready.mutate(mutation(field, MUTATIONS[field].shown), **values))["userErrors"] == []
    if "revision" in more:
        more = {"revision": (await Device(ready, "00", **door).listed())["revision"]}
    wire.reset()
    wire.fault = lost_then_forgotten()
    payload = await ready.mutate(mutation(name, MUTATIONS[name].shown), **door | more)
    assert is_complete(payload)
    assert len(writes(wire)) == 1
    after = await dump()
    assert is_complete(await ready.mutate(mutation(name, MUTATIONS[name].shown), **door | more))
    assert await dump() == after
    check_invariants(after, clock.now)


async def test_a_change_id_belongs_to_one_change(ready: Api, dump: Callable[[], Any]) -> None:
    change = {"lockerId": "l1", "newStatus": "OCCUPIED", **VERSION, **CHANGE}
    first = await ready.mutate(UPDATE_STATUS, **change)
    after = await dump()
    assert await ready.mutate(UPDATE_STATUS, **change) == first
    for other in ({"newStatus": "MAINTENANCE"}, {"expectedVersion": 2}):
        payload = await ready.mutate(UPDATE_STATUS, **change | other)
        assert refusal(payload) == ("ID_TAKEN", 409, ["input", "changeId"])
    payload = await ready.mutate(RENAME_LOCKER, lockerId="l1", alias="A", **VERSION, **CHANGE)
    assert [error["code"] for error in payload["userErrors"]] == ["ID_TAKEN"]
    assert await dump() == after
    payload = await ready.mutate(RENAME_LOCKER, lockerId="l1", alias="A", expectedVersion=2, changeId="c2")
    assert payload["userErrors"] == []
    # Only the latest change is known.
    assert refusal(await ready.mutate(UPDATE_STATUS, **change))[0] == "VERSION_CONFLICT"


async def test_a_member_who_gave_a_locker_to_its_organisation_may_repeat_that_and_nobody_else_may(
    ready: Api, dump: Callable[[], Any]
) -> None:
    await ready.owner("acme", kind="ORGANIZATION")
    change = {"lockerId": "l1", "newOwnerId": "acme", **VERSION, **CHANGE}
    first = await ready.by(owner("ada", "acme")).mutate(TRANSFER, **change)
    assert first["userErrors"] == []
    after = await dump()
    assert await ready.by(owner("ada", "acme")).mutate(TRANSFER, **change) == first
    for other, expected in ((owner("bob", "acme"), "FORBIDDEN"), (owner("acme"), "ID_TAKEN")):
        payload = await ready.by(other).mutate(TRANSFER, **change)
        assert [error["code"] for error in payload["userErrors"]] == [expected]
        assert payload["locker"] is None
    assert await dump() == after


@asynccontextmanager
async def mortal_store(directory: Path, clock: Clock) -> AsyncIterator[tuple[Backend, Wire, Connection]]:
    """A store of the test's own, through a proxy, with all the time that a restart takes."""
    async with run_embedded(find_binary(None), directory) as url, open_wire(url) as wire:
        direct = Connection("own", "eu-central-1", url, local=True)
        await create_table(direct)
        patient = replace(direct, endpoint_url=wire.url, timeouts=Timeouts(connect=60, read=60))
        async with open_store(patient) as store:
            yield Backend(store, clock, new_id, timedelta(days=30), code_ring=lambda: RING), wire, direct


async def test_a_store_that_dies_after_a_write_and_forgets_its_tokens_makes_no_false_conflict(
    tmp_path: Path, clock: Clock
) -> None:
    others = offspring_of(os.getpid())
    names = replace(SHORT, change=None)
    async with mortal_store(tmp_path, clock) as (backend, wire, connection):

        def store() -> set[int]:
            found = offspring_of(os.getpid())
            return {number for number, program in found.items() if program == "dynoxide" and number not in others}

        async def dies_after(call: Scenario) -> Any:
            """What comes of a call whose write is applied, and not answered, by a store that is killed then."""
            restarted = asyncio.Event()

            async def wait_for_the_next(dead: set[int]) -> None:
                while not store() - dead or not await is_there(connection):  # noqa: ASYNC110  # a store has no event
                    await asyncio.sleep(0.05)
                restarted.set()

            def kill() -> None:
                wire.amend = lambda _: None
                dead = store()
                for number in dead:
                    os.kill(number, signal.SIGKILL)
                waiting.append(asyncio.create_task(wait_for_the_next(dead)))

            waiting: list[asyncio.Task[None]] = []
            wire.reset()
            lose = once(Lose(), *WRITES)
            wire.fault = lambda call: lose(call) or (Until(restarted) if call.operation in WRITES else None)
            wire.amend = lambda call: kill() if call.operation in WRITES else None
            result = await call(backend, names)
            first, second = [call for call in wire.calls if call.operation in WRITES]
            assert (first.status, second.status) == (200, 400)
            wire.reset()
            return result

        for prepare_one in (*PLACED, *BOOKED):
            await prepare_one(backend, names)
        renamed = await dies_after(RENAME)
        assert (renamed.alias, renamed.version) == ("b NAME", 2)
        approved = await dies_after(approve)
        assert (approved.status, approved.version) == (BookingStatus.APPROVED, 2)
        assert (await dies_after(api_key)).secret is not None
        assert len(await dies_after(record_events(None, None))) == 2
