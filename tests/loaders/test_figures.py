"""Figures agree with the table once the log is quiet, in whichever portions and however often they were told."""

import asyncio
import os
from datetime import timedelta
from functools import partial

from domain.times import EARLIEST
from loaders import keys
from loaders.backend import Backend
from loaders.following.figures import FiguresFollower
from loaders.following.followers import Fence
from loaders.table.client import DynamoStore
from loaders.table.clock import utc_now
from loaders.table.values import any_item_from_wire
from loaders.tools.doctor import Doctor, Table
from loaders.tools.figures import figure_violations
from loaders.tools.findings import Finding
from tests import figures, migrating, places
from tests.api import UPDATE_STATUS, Api
from tests.conftest import Clock, Dump
from tests.history import logged
from tests.loaders.racing import OWNERS, Followers, StoppedStore, Writers
from tests.migrating import delete, strip
from tests.tables import PlainClient, put

IS_FULL = "FIGURES_CHANGES" in os.environ
CHANGES = int(os.environ.get("FIGURES_CHANGES", "240"))
KILLS = 25 if IS_FULL else 3


async def test_the_figures_of_a_location_and_its_owners_are_counted(room: Api, backend: Backend, dump: Dump) -> None:
    await room.owner("bob")
    await places.create_location(room, 1)
    for number, size in enumerate(["S", "S", "M"]):
        await room.locker(f"l{number}", "ada", locationId=places.ulid(0), size=size)
    await room.reservation("r1", "l0", "bob", "2026-03-02T08:00:00Z", "2026-03-02T10:00:00Z")
    await room.done(places.MOVE, lockerId="l0", newLocationId=places.ulid(1), expectedVersion=1)

    await figures.follow(backend)

    items = (await dump()).values()
    assert figures.stored(items) == figures.counted(items)
    assert figures.stored(items) == {
        f"LOCATION#{places.ulid(0)}": {"AVAILABLE.S": 1, "AVAILABLE.M": 1, "reservations": 1},
        f"LOCATION#{places.ulid(1)}": {"AVAILABLE.S": 1},
        "OWNER#ada": {"AVAILABLE.S": 2, "AVAILABLE.M": 1},
        "OWNER#bob": {"reservations": 1},
    }


def wrong_figures(checked: tuple[list[Finding], Table]) -> list[Finding]:
    return [finding for finding in checked[0] if finding.invariant == "I9"]


async def test_figures_are_exact_after_racing_changes_and_kills(
    room: Api, backend: Backend, clock: Clock, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    for owner in OWNERS[1:]:
        await room.owner(owner)
    for number in (1, 2):
        await places.create_location(room, number)
    backend = backend.with_store(DynamoStore(plain_client.transport, table))  # past the proxy, which keeps all requests
    writers, kills = Writers(backend, clock, lockers=max(8, CHANGES // 200)), 0
    await writers.register()
    assert isinstance(backend.store, DynamoStore)
    check = partial(Doctor(backend.store, clock).check_table, items_per_second=1e9, progress=lambda _: None)
    if IS_FULL:  # everything at once, with a horizon that these writers, which share a process, never exceed
        followers = Followers(backend, timedelta(seconds=10), pause=0.2)
        writing = asyncio.create_task(writers.run(CHANGES))
        while not writing.done():
            kills += await followers.rivals(12, until=lambda: EARLIEST if writing.done() else None)
            assert wrong_figures(await check()) == []  # while all of them write
    else:
        followers = Followers(backend, timedelta(0))
        for _ in range(2 * KILLS):
            _, checked = await asyncio.gather(writers.run(CHANGES // (2 * KILLS)), check())
            assert wrong_figures(checked) == []
            last = backend.stamp().at
            kills += await followers.rivals(10, until=lambda last=last: last)  # type: ignore[misc]
    last = backend.stamp().at
    await followers.run(100 * CHANGES, until=lambda: last)

    items = (await dump()).values()
    assert kills >= KILLS
    ended = {item["endedAs"] for item in items if item["entityType"] == "RESERVATION" and "endedAs" in item}
    assert ended >= ({"EXPIRED", "OCCUPIED"} if IS_FULL else {"EXPIRED"})
    assert figures.stored(items) == figures.counted(items)
    opened = sum(item["entityType"] == "ACCESS_EVENT" and item["action"] == "OPEN" for item in items)
    used = [item["counts"].get("opens", 0) for item in items if item["entityType"] == "LOCATION_USAGE"]
    assert 0 < sum(used) <= opened


async def test_a_follower_that_was_stopped_adds_nothing_that_another_has_counted(
    room: Api, backend: Backend, dump: Dump
) -> None:
    shard = keys.log_shard(places.ulid(0))
    await room.locker("l1", "ada", locationId=places.ulid(0))
    await figures.follow(backend)
    for version, status in enumerate(["OCCUPIED", "AVAILABLE"], start=1):  # of which nothing remains
        await room.done(UPDATE_STATUS, lockerId="l1", newStatus=status, expectedVersion=version)
    *_, occupied, freed = await logged(backend.store, shard)
    stopped = StoppedStore(backend)
    slow = FiguresFollower(backend.with_store(stopped))
    late = asyncio.create_task(slow.apply(shard, [occupied], occupied.occurred_at, Fence(shard, 1)))
    await stopped.at_write.wait()

    await FiguresFollower(backend).apply(shard, [occupied, freed], freed.occurred_at, Fence(shard, 2))
    stopped.goes_on.set()
    await late

    items = (await dump()).values()
    assert figures.stored(items) == figures.counted(items)


async def test_doctor_finds_and_repairs_wrong_figures_while_others_change(
    room: Api, backend: Backend, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    await room.owner("bob")
    for number in range(3):
        await room.locker(f"l{number}", "ada", locationId=places.ulid(0))
    await figures.follow(backend)
    items = await dump()
    wrong, lost = items["FIGURES", f"LOCATION#{places.ulid(0)}"], figures.of_owner(items, "ada")
    await put(plain_client, table, dict(wrong) | {"counts": {"AVAILABLE.S": 7}})
    await delete(plain_client, table, lost)
    await room.locker("l3", "bob", locationId=places.ulid(0))  # logged, and not counted yet
    assert isinstance(backend.store, DynamoStore)
    doctor = Doctor(backend.store, utc_now)

    found, _ = await doctor.check_table(items_per_second=1e9, progress=lambda _: None)

    assert [(finding.invariant, finding.key.pk) for finding in found] == [("I9", "FIGURES"), ("I9", "OWNER#ada")]
    await figures.follow(backend)  # counted between the check and its repair
    assert await doctor.repair(found) == []
    left = (await dump()).values()
    assert figures.stored(left) == figures.counted(left)
    again, _ = await doctor.check_table(items_per_second=1e9, progress=lambda _: None)
    assert again == []


async def test_figures_are_right_in_whatever_order_doctor_reads_them(
    room: Api, backend: Backend, plain_client: PlainClient, table: str
) -> None:
    """A scan sees each item at another time, while servers write and figures are counted."""
    await room.locker("l1", "ada", locationId=places.ulid(0))
    await figures.follow(backend)
    early = await plain_client.items(table)
    await room.done(UPDATE_STATUS, lockerId="l1", newStatus="OCCUPIED", expectedVersion=1)
    await figures.follow(backend)
    late = await plain_client.items(table)
    first = [item for item in early if item["PK"]["S"].startswith("LEASE#")]
    last = [item for item in late if item["PK"]["S"].startswith("LOG#")]

    for order in ([early, late], [late, early]):
        seen = {(item["PK"]["S"], item["SK"]["S"]): item for item in order[0]}
        for item in order[1]:
            if item["PK"]["S"] in {"FIGURES", "OWNER#ada"}:
                seen[item["PK"]["S"], item["SK"]["S"]] = item
        items = map(any_item_from_wire, [*seen.values(), *first, *last])
        assert list(figure_violations(items)) == []


async def test_a_migration_counts_a_table_that_has_no_log(
    room: Api, backend: Backend, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    await room.locker("l1", "ada", locationId=places.ulid(0))
    await room.reservation("r1", "l1", "ada", "2026-03-02T08:00:00Z", "2026-03-02T10:00:00Z")
    for item in (await dump()).values():
        if item["entityType"] == "LOG_ENTRY":
            await delete(plain_client, table, item)
        elif item["entityType"] in {"RESERVATION", "LIVE_RESERVATION"}:
            await strip(plain_client, table, item, "locationId", "dueShard", "GSI1PK", "GSI1SK")

    await migrating.run(backend)
    await room.locker("l2", "ada", locationId=places.ulid(0))
    await figures.follow(backend)

    items = (await dump()).values()
    assert figures.stored(items) == figures.counted(items)
    assert figures.stored(items)[f"LOCATION#{places.ulid(0)}"] == {"AVAILABLE.M": 2, "reservations": 1}
    before = await dump()
    await migrating.run(backend)
    assert await dump() == before


async def test_a_migration_leaves_figures_as_they_are_once_the_log_has_expired(
    room: Api, backend: Backend, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    await places.create_location(room, 1)
    for number in (0, 1):  # in two parts of the log, which share the figures of the owner
        await room.locker(f"l{number}", "ada", locationId=places.ulid(number))
    await figures.follow(backend)
    for item in (await dump()).values():
        if item["entityType"] == "LOG_ENTRY":
            await delete(plain_client, table, item)
    before = await dump()

    await migrating.run(backend)

    assert await dump() == before
