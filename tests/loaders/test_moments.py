"""Ends of reservations: logged once, in order, in time, however late somebody looks."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from domain.activity import Activity, Change
from domain.times import Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.following.loop import Following
from loaders.following.registry import sweepers_of
from loaders.writes.moments import end_due_reservations
from tests.api import RENAME, RETIRE_LOCKER, UPDATE_STATUS, Api
from tests.conftest import Clock, Dump
from tests.invariants import check_invariants
from tests.logged import activities, told
from tests.migrating import delete, of_kind, run, strip
from tests.places import create_location, ulid
from tests.reservations import CANCEL, EXTEND, RELEASE, SHORTEN, START, sweep
from tests.table_state import OLDER, set_state
from tests.tables import PlainClient
from tests.wire import Lose, Wire

ENDS = {"reservation.ended", "reservation.overdue"}
CODES = ["RESERVATION_OVER"]


def at(hour: int, minute: int = 0, second: int = 0) -> str:
    return f"2026-03-01T{hour:02d}:{minute:02d}:{second:02d}.000Z"


def r(number: int, locker: str = "l1") -> dict[str, Any]:
    return {"lockerId": locker, "reservationId": f"r{number}"}


async def ends(dump: Dump) -> list[Activity]:
    return [one for one in activities(await dump()) if one.happening.kind in ENDS]


async def outcomes(dump: Dump) -> list[tuple[str, str | None]]:
    return [(str(one.happening.reservation_id), one.happening.outcome) for one in await ends(dump)]


def codes(payload: dict[str, Any]) -> list[str]:
    return [error["code"] for error in payload["userErrors"]]


@pytest_asyncio.fixture
async def reserved(api: Api) -> Api:
    """Ada's locker at a location, reserved at noon by Bob from 12 to 14 and from 15 to 16."""
    for name in ("ada", "bob"):
        await api.owner(name)
    await create_location(api)
    await api.locker("l1", "ada", locationId=ulid(0))
    await api.reservation("r1", "l1", "bob", at(12), at(14))
    await api.reservation("r2", "l1", "bob", at(15), at(16))
    return api


@pytest.mark.usefixtures("reserved")
async def test_a_reservation_that_nobody_used_expires_ten_seconds_after_its_end_and_once(
    backend: Backend, clock: Clock, dump: Dump
) -> None:
    clock.now = Instant(at(14, 0, 9))
    await sweep(backend)
    assert await ends(dump) == []
    before = await dump()
    clock.now = Instant(at(14, 0, 10))
    await sweep(backend)
    await sweep(backend)
    (ended,) = await ends(dump)
    assert ended.actor is None
    happening = ended.happening
    assert (happening.kind, happening.outcome, happening.version) == ("reservation.ended", "EXPIRED", 1)
    assert (happening.locker_id, happening.location_id, happening.owner_id) == ("l1", ulid(0), "bob")
    assert (happening.locker_owner_id, happening.start_at) == ("ada", at(12))
    after = await dump()
    record, live = ("LOCKER#l1", f"RES#{at(12)}#r1"), ("LOCKER#l1", f"LIVE#{at(12)}#r1")
    assert after[record] == before[record] | {"endedAs": "EXPIRED"}
    index = {"GSI1PK": f"DUE#{keys.log_shard(ulid(0))}", "GSI1SK": f"{at(14)}#l1#r1"}
    assert before[live].items() >= index.items()
    assert {**after[live], **index} == before[live] | {"endedAs": "EXPIRED"}
    assert not after[live].keys() & index.keys()
    changed = {key for key in after if after[key] != before.get(key)} - {record, live}
    assert [key[0] for key in changed] == [f"LOG#{keys.log_shard(ulid(0))}"]
    check_invariants(after, clock.now)


async def test_one_that_has_left_its_locker_is_completed(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump
) -> None:
    await reserved.done(START, **r(1))
    await reserved.done(UPDATE_STATUS, lockerId="l1", newStatus="AVAILABLE", expectedVersion=2)
    clock.now = Instant(at(14, 1))
    await sweep(backend)
    assert await outcomes(dump) == [("r1", "COMPLETED")]
    assert "overdueSince" not in (await dump())["LOCKER#l1", "META"]
    check_invariants(await dump(), clock.now)


async def test_one_that_still_occupies_its_locker_is_ended_and_overdue_in_one_item_of_the_log(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump
) -> None:
    await reserved.done(START, **r(1))
    clock.now = Instant(at(14, 1))
    before = (await dump())["LOCKER#l1", "META"]
    await sweep(backend)
    ended, overdue = await ends(dump)
    assert (ended.happening.kind, ended.happening.outcome) == ("reservation.ended", "OCCUPIED")
    assert (overdue.happening.kind, overdue.happening.outcome) == ("reservation.overdue", None)
    assert ended.activity_id[:-2] == overdue.activity_id[:-2]
    assert (await dump())["LOCKER#l1", "META"] == before | {"overdueSince": at(14)}
    shown = await reserved.run('{ locker(lockerId: "l1") { overdueSince } }')
    assert shown == {"locker": {"overdueSince": at(14)}}
    check_invariants(await dump(), clock.now)


LEAVE: dict[str, tuple[str, dict[str, Any]]] = {
    "release": (RELEASE, r(1)),
    "status": (UPDATE_STATUS, {"lockerId": "l1", "newStatus": "AVAILABLE", "expectedVersion": 2}),
    "maintenance": (UPDATE_STATUS, {"lockerId": "l1", "newStatus": "MAINTENANCE", "expectedVersion": 2}),
    "start of another": (START, r(2)),
}


@pytest.mark.parametrize("way", LEAVE)
async def test_whatever_ends_an_overdue_stay_says_so(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump, way: str
) -> None:
    await reserved.done(START, **r(1))
    clock.now = Instant(at(15, 1))
    await sweep(backend)
    mutation, values = LEAVE[way]
    await reserved.done(mutation, **values)
    last = [one.happening for one in activities(await dump()) if one.happening.kind == "locker.status_changed"][-1]
    assert Change("overdue", "true", "false") in last.changes
    assert last.is_overdue is None
    items = await dump()
    assert "overdueSince" not in items["LOCKER#l1", "META"]
    check_invariants(items, clock.now)


async def test_an_overdue_locker_that_is_renamed_stays_overdue(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump
) -> None:
    await reserved.done(START, **r(1))
    clock.now = Instant(at(14, 1))
    await sweep(backend)
    await reserved.done(RENAME, lockerId="l1", expectedVersion=2, alias="Left")
    assert (await dump())["LOCKER#l1", "META"]["overdueSince"] == at(14)
    changed = next(one.happening for one in activities(await dump()) if one.happening.kind == "locker.changed")
    assert (changed.is_overdue, changed.changes) == (True, (Change("alias"),))


async def test_retiring_an_overdue_locker_ends_that_too(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump
) -> None:
    await reserved.done(CANCEL, **r(2))
    await reserved.done(START, **r(1))
    clock.now = Instant(at(14, 16))
    await sweep(backend)
    await reserved.done(RETIRE_LOCKER, lockerId="l1", expectedVersion=2)
    retired = next(one.happening for one in activities(await dump()) if one.happening.kind == "locker.retired")
    assert Change("overdue", "true", "false") in retired.changes


async def test_a_release_after_the_end_was_logged_is_a_change_and_no_second_end(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump
) -> None:
    await reserved.done(START, **r(1))
    clock.now = Instant(at(14, 1))
    await sweep(backend)
    await reserved.done(RELEASE, **r(1))
    assert told(await dump(), "r1") == ["CREATED", "STARTED", "ENDED", "OVERDUE", "CHANGED"]


@pytest.mark.parametrize(("mutation", "kind"), [(RELEASE, "RELEASED"), (CANCEL, "CANCELLED")])
async def test_one_that_somebody_ended_is_not_due(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump, mutation: str, kind: str
) -> None:
    if mutation is CANCEL:
        clock.now = Instant(at(11))
    await reserved.done(mutation, **r(1))
    clock.now = Instant(at(14, 1))
    await sweep(backend)
    assert told(await dump(), "r1") == ["CREATED", kind]


@pytest.mark.parametrize(("mutation", "end"), [(EXTEND, at(14, 30)), (SHORTEN, at(13, 30))])
async def test_the_end_is_due_when_it_was_moved_to(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump, mutation: str, end: str
) -> None:
    await reserved.done(mutation, **r(1), newEndAt=end)
    clock.now = shift(Instant(end), timedelta(seconds=9))
    await sweep(backend)
    assert await ends(dump) == []
    clock.move(seconds=1)
    await sweep(backend)
    assert await outcomes(dump) == [("r1", "EXPIRED")]


async def test_what_was_marked_can_be_neither_extended_nor_started_by_a_server_whose_clock_is_behind(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump
) -> None:
    clock.now = Instant(at(14, 1))
    await sweep(backend)
    clock.now = Instant(at(13, 59))
    before = await dump()
    assert codes(await reserved.mutate(EXTEND, **r(1), newEndAt=at(14, 30))) == CODES
    assert codes(await reserved.mutate(START, **r(1))) == CODES
    assert codes(await reserved.mutate(RELEASE, **r(1))) == CODES
    assert await dump() == before


async def test_after_a_day_without_any_server_every_end_is_told_late_in_order_and_once(
    api: Api, backend: Backend, clock: Clock, dump: Dump
) -> None:
    """Of two locations and of a locker without one; in the order of the ends within each part of the log."""
    await api.owner("ada")
    for number in range(2):
        await create_location(api, number)
    wanted = []
    for number in range(9):
        place = {} if number % 3 == 2 else {"locationId": ulid(number % 3)}
        await api.locker(f"l{number}", "ada", **place)
        for hour in (13, 14):
            name, end = f"r{number}-{hour}", at(hour, (7 * number) % 9)
            await api.reservation(name, f"l{number}", "ada", at(hour - 1, 30), end)
            wanted.append((end, name))
    clock.move(days=1)
    await asyncio.gather(*(end_due_reservations(backend, shard, clock.now) for shard in range(keys.LOG_SHARDS)))
    found = await ends(dump)
    assert sorted(str(one.happening.reservation_id) for one in found) == sorted(name for _, name in wanted)
    ends_at = {name: end for end, name in wanted}
    for shard in range(keys.LOG_SHARDS):
        own = [one for one in found if keys.log_shard(one.happening.place) == shard]
        in_order = sorted(own, key=lambda one: (one.occurred_at, one.activity_id))
        told_ends = [ends_at[str(one.happening.reservation_id)] for one in in_order]
        assert told_ends == sorted(told_ends)
    check_invariants(await dump(), clock.now)


@pytest.mark.usefixtures("reserved")
async def test_a_page_that_cannot_be_ended_does_not_keep_others_from_their_turn(
    backend: Backend, clock: Clock, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    """More live copies than a page has whose reservations do not exist."""
    clock.now = Instant(at(14, 1))
    live = await plain_client.items(table)
    copy = next(item for item in live if item["SK"]["S"] == f"LIVE#{at(12)}#r1")
    stray = [
        copy
        | {"SK": {"S": f"LIVE#{at(10)}#s{number}"}, "startAt": {"S": at(10)}, "reservationId": {"S": f"s{number}"}}
        | {"GSI1SK": {"S": f"{at(11)}#l1#s{number}"}, "endAt": {"S": at(11)}}
        for number in range(26)
    ]
    await plain_client.fill(table, stray)
    await sweep(backend)
    assert await outcomes(dump) == [("r1", "EXPIRED")]


@pytest.mark.usefixtures("reserved")
async def test_a_sweep_that_finds_nothing_is_one_query_of_half_a_unit(backend: Backend, wire: Wire) -> None:
    wire.reset()
    assert not await end_due_reservations(backend, keys.log_shard(ulid(0)), backend.clock())
    (call,) = wire.calls
    assert (call.operation, call.units) == ("Query", 0.5)


async def test_the_end_costs_eight_write_units_and_six_more_if_it_is_overdue(
    reserved: Api, backend: Backend, clock: Clock, wire: Wire
) -> None:
    clock.now = Instant(at(15, 1))
    await reserved.done(START, **r(2))
    wire.reset()
    await sweep(backend)
    clock.now = Instant(at(16, 1))
    await sweep(backend)
    assert [call.units for call in wire.of("TransactWriteItems")] == [8, 14]


@pytest.mark.usefixtures("reserved")
async def test_a_lost_answer_ends_nothing_twice(backend: Backend, clock: Clock, wire: Wire, dump: Dump) -> None:
    clock.now = Instant(at(14, 1))
    lost = iter([True])
    wire.fault = lambda call: Lose() if call.operation == "TransactWriteItems" and next(lost, False) else None
    await sweep(backend)
    await sweep(backend)
    assert await outcomes(dump) == [("r1", "EXPIRED")]


async def test_a_server_that_follows_the_log_ends_what_is_due(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump
) -> None:
    await reserved.done(START, **r(1))
    clock.now = Instant(at(14, 1))
    async with Following(backend, [], sweepers_of(backend)).running(), asyncio.timeout(60):
        while not await ends(dump):
            pass
    assert told(await dump(), "r1") == ["CREATED", "STARTED", "ENDED", "OVERDUE"]


async def test_migrate_tells_old_ends_to_nobody_except_where_a_locker_is_overdue_now(
    reserved: Api, backend: Backend, clock: Clock, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    """At l1 one has expired and one is to come, at l2 one was completed, at l3 one still occupies its locker."""
    for number in (2, 3):
        await reserved.locker(f"l{number}", "ada", locationId=ulid(0))
        await reserved.reservation(f"r{number}", f"l{number}", "bob", at(12), at(14))
        await reserved.done(START, **r(number, f"l{number}"))
    await reserved.done(UPDATE_STATUS, lockerId="l2", newStatus="AVAILABLE", expectedVersion=2)
    for item in of_kind(await dump(), "RESERVATION", "LIVE_RESERVATION"):
        await strip(plain_client, table, item, "dueShard", "locationId", "GSI1PK", "GSI1SK")
    for entry in of_kind(await dump(), "LOG_ENTRY"):  # that format had no log
        await delete(plain_client, table, entry)
    await set_state(plain_client, table, OLDER)
    clock.now = Instant(at(14, 30))
    await run(backend, clock.now)
    items = await dump()
    marks = {item["endAt"] + item["lockerId"]: item.get("endedAs") for item in of_kind(items, "RESERVATION")}
    assert marks == {f"{at(14)}l1": "EXPIRED", f"{at(16)}l1": None, f"{at(14)}l2": "COMPLETED", f"{at(14)}l3": None}
    places = {item["lockerId"]: item["GSI1PK"] for item in of_kind(items, "LIVE_RESERVATION") if "GSI1PK" in item}
    assert places == dict.fromkeys(("l1", "l3"), f"DUE#{keys.log_shard(ulid(0))}")
    check_invariants(items, clock.now)
    await sweep(backend)
    assert await outcomes(dump) == [("r3", "OCCUPIED"), ("r3", None)]
    check_invariants(await dump(), clock.now)


@pytest.mark.usefixtures("reserved")
async def test_migrate_takes_no_end_away_that_is_due(backend: Backend, clock: Clock, dump: Dump) -> None:
    clock.now = Instant(at(14, 30))
    assert (await run(backend, clock.now)).written == 0
    await sweep(backend)
    assert await outcomes(dump) == [("r1", "EXPIRED")]
