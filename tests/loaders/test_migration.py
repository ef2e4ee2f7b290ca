import asyncio
from collections import Counter
from typing import Any

import pytest
import pytest_asyncio

from domain.times import Instant
from loaders.backend import Backend
from loaders.table.client import DynamoStore, StoreConnection, open_store
from loaders.tools.definition import check_table, create_table
from loaders.tools.demo import DemoShape, load_demo
from loaders.tools.table_state import CURRENT_STATE, TableProblemError, read_state, require_current
from loaders.tools.target import Report
from tests.api import CREATE_RESERVATION, Api, unchanged
from tests.conftest import NOW, RING, Clock, Dump, Prepared
from tests.invariants import check_invariants
from tests.migrating import delete, migration, no_wait, of_kind, run, strip
from tests.places import approve, book, prepare
from tests.reservations import START, sweep
from tests.source_items import EXAMPLES, LOCATION
from tests.table_state import KEY, OLDER, set_state
from tests.tables import put
from tests.wire import Wire

COPIES = {"OWNER_LOCKER", "LOCATION_LOCKER"}
WRITES = {"TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}


@pytest_asyncio.fixture
async def examples(backend: Backend, plain_client: Any, table: str, wire: Wire) -> Backend:
    """A table of today's format, as `serve` makes it, in which other programs wrote."""
    await put(plain_client, table, *EXAMPLES)
    wire.reset()
    return backend


async def test_a_second_migration_writes_nothing_but_the_state(examples: Backend, dump: Dump, wire: Wire) -> None:
    first = await run(examples, location=LOCATION)
    wire.reset()
    async with unchanged(dump):
        second = await run(examples, location=LOCATION)
    assert (second.written, second.converted) == (0, {})
    assert (second.unplaced, second.unknown) == (first.unplaced, first.unknown)
    written = {key for call in wire.calls if call.operation in WRITES for key in call.keys}
    assert written == {(KEY["PK"], KEY["SK"])}


async def test_a_dry_run_reports_a_migration_and_changes_nothing(examples: Backend, dump: Dump, wire: Wire) -> None:
    async with unchanged(dump):
        counted = await migration(examples.store).count(NOW)
    assert WRITES & wire.operations.keys() == set()
    report = await run(examples, location=LOCATION)
    assert (counted.converted, counted.unplaced, counted.new_owners) == (
        report.converted,
        report.unplaced,
        report.new_owners,
    )


class StoppedError(Exception):
    """As if the process had been killed."""


class Stopping(DynamoStore):
    """Stops at a write, before the store has applied it or after."""

    def __init__(self, transport: Any, table: str, write: int, *, applied: bool) -> None:
        super().__init__(transport, table)
        self.left = write
        self.applied = applied

    async def transact(self, request: Any) -> None:
        self.left -= 1
        if self.left > 0 or self.applied:
            await super().transact(request)
        if self.left <= 0:
            raise StoppedError


@pytest.mark.parametrize("applied", [False, True])
async def test_a_migration_that_stops_at_any_write_is_finished_by_the_next_with_the_same_result(
    examples: Backend, plain_client: Any, dump: Dump, *, applied: bool
) -> None:
    assert isinstance(examples.store, DynamoStore)
    transport = examples.store.transport
    await run(examples, location=LOCATION)
    expected = await dump()
    for write in range(1, 100):
        other = await plain_client.new_table()
        await put(plain_client, other, *EXAMPLES)
        try:
            await migration(Stopping(transport, other, write, applied=applied)).run(NOW, no_wait)
            break
        except StoppedError:
            await migration(DynamoStore(transport, other)).run(NOW, no_wait)
        assert await plain_client.records(other) == expected
    assert write > 5


async def test_an_interrupted_migration_goes_on_with_the_time_at_which_it_began(examples: Backend, dump: Dump) -> None:
    def stop(_: Report) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        await run(examples, location=LOCATION, progress=stop)
    with pytest.raises(TableProblemError, match="is being migrated"):
        await require_current(examples.store)
    await run(examples, now=Instant("2026-03-09T12:00:00.000Z"), location=LOCATION)
    items = await dump()
    assert items["OWNER#999", "META"]["createdAt"] == NOW
    assert items["LOCKER#123", "RES#ACTIVE"]["reservationId"] == "r-now"
    await require_current(examples.store)


async def test_a_location_that_does_not_exist_is_refused_without_a_write(examples: Backend, dump: Dump) -> None:
    async with unchanged(dump):
        with pytest.raises(TableProblemError, match="location nowhere does not exist"):
            await migration(examples.store, location="nowhere").count(NOW)
        with pytest.raises(TableProblemError, match="location nowhere does not exist"):
            await migration(examples.store, location="nowhere").run(NOW, no_wait)


async def test_a_migration_that_another_has_overtaken_writes_nothing_more(examples: Backend, dump: Dump) -> None:
    runs: list[asyncio.Task[Any]] = []

    def overtake(_: Report) -> None:
        if not runs:
            runs.append(asyncio.create_task(run(examples)))

    class Slow(DynamoStore):
        async def transact(self, operation: Any) -> None:
            if runs:
                await runs[0]
            await super().transact(operation)

    assert isinstance(examples.store, DynamoStore)
    slow = Slow(examples.store.transport, examples.store.table)
    with pytest.raises(TableProblemError, match="another migration of table"):
        await migration(slow, overtake).run(NOW, no_wait)
    await require_current(examples.store)
    async with unchanged(dump):
        await run(examples)


async def test_large_items_are_several_transactions(plain_client: Any, table: str, store_url: str, dump: Dump) -> None:
    text = "x" * 390_000
    lockers = [
        {"PK": f"LOCKER#l{n}", "SK": "META", "ownerId": "o", "status": "AVAILABLE", "x": text} for n in range(12)
    ]
    for locker in lockers:
        await put(plain_client, table, locker)
    async with open_store(StoreConnection(table, "eu-central-1", store_url, local=True)) as store:
        await migration(store, location=None).run(NOW, no_wait)
    items = await dump()
    assert [items[f"LOCKER#l{n}", "META"]["version"] for n in range(12)] == [1] * 12


async def test_two_items_that_become_one_are_written_one_after_another(
    backend: Backend, plain_client: Any, table: str, dump: Dump
) -> None:
    place = {"PK": "USER#u", "message": "m"}
    times = ("2026-02-01T10:00:00Z", "2026-02-01T10:00:00.000Z")
    await put(plain_client, table, *({**place, "SK": f"NOTIFICATION#{time}#n1"} for time in times))
    report = await run(backend)
    assert report.converted["Notification"] == 2
    (made,) = of_kind(await dump(), "NOTIFICATION")
    assert made["createdAt"] == times[1]


async def test_events_with_one_id_share_a_claim(backend: Backend, plain_client: Any, table: str, dump: Dump) -> None:
    place = {"PK": "LOCKER#l", "action": "OPEN", "actorId": "a", "result": "SUCCESS"}
    times = [f"2026-02-{day:02d}T{hour:02d}:00:00Z" for day in range(1, 21) for hour in range(24)]
    events = [{**place, "SK": f"EVT#{time}#e{min(number, 470)}"} for number, time in enumerate(times)]
    await put(plain_client, table, *events, {**events[0], "SK": "EVT#2026-02-01T00:00:00.000Z#e0", "actorId": "b"})
    report = await run(backend)
    assert report.converted == {"ACCESS_EVENT": 481}
    items = await dump()
    assert Counter(item["entityType"] for item in items.values()) == {"ACCESS_EVENT": 480, "ACCESS_EVENT_CLAIM": 471}
    assert items["LOCKER#l", "EID#e470"]["timestamp"] == times[470].replace("Z", ".000Z")
    assert {
        items["LOCKER#l", "EVT#2026-02-01T00:00:00.000Z#e0"][name] for name in ("actorId", "ACCESS_EVENT.actorId")
    } == {"a", "b"}
    assert (await run(backend)).written == 0


async def write_old_version(backend: Backend, plain_client: Any, table: str, dump: Dump) -> None:
    """Writes items of the versions before formats 2, 4 and 5 to one table."""
    await load_demo(backend.store, DemoShape(3, 20, 30), NOW, lambda _: None, RING)
    for item in (await dump()).values():
        match item["entityType"]:
            case "LIVE_RESERVATION" | "RESERVATION_SLOT" | "LOCKER_OFFER" | "OVERDUE_STAY":
                await delete(plain_client, table, item)
            case "OWNER_LOCKER" | "LOCATION_LOCKER":
                await strip(plain_client, table, item, "GSI1PK", "GSI1SK", "reservableBy", "size", "features")
            case "LOCKER":
                await strip(plain_client, table, item, "reservableBy", "size", "features", "overdueSince")
            case "RESERVATION" | "OWNER_RESERVATION" | "RESERVATION_GUARD":
                new = ("slot", "version", "dueShard", "endedAs", "revision" if "endAt" in item else "lastChange")
                await strip(plain_client, table, item, *new)
            case "RESERVATION_ACTIVE":
                await strip(plain_client, table, item, "lastEndAt", "version")


@pytest_asyncio.fixture
async def old_version(backend: Backend, plain_client: Any, table: str, dump: Dump, prepared: Prepared) -> Backend:
    await prepared(write_old_version, backend, plain_client, table, dump)
    await set_state(plain_client, table, None)
    return backend


async def test_a_table_of_an_earlier_version_gets_everything_that_todays_has(old_version: Backend, dump: Dump) -> None:
    before = Counter(item["entityType"] for item in (await dump()).values())
    report = await run(old_version)
    assert (report.left, report.unplaced, report.unknown) == ({}, {}, {})
    items = await dump()
    check_invariants(items, NOW)
    kinds = Counter(item["entityType"] for item in items.values())
    assert before.items() <= kinds.items()
    live = [item for item in of_kind(items, "RESERVATION") if item["status"] == "ACTIVE"]
    assert kinds["LIVE_RESERVATION"] == len(live)
    assert kinds["RESERVATION_SLOT"] == sum(item["endAt"] > NOW for item in live)
    assert all("GSI1PK" in item for item in of_kind(items, *COPIES))
    assert all("lastEndAt" in item for item in of_kind(items, "RESERVATION_ACTIVE"))
    in_service = [item["lockerId"] for item in of_kind(items, "LOCKER") if item["status"] != "MAINTENANCE"]
    offered = [item["lockerId"] for item in of_kind(items, "LOCKER_OFFER")]
    assert sorted(offered) == sorted(in_service * 2)  # to the owner and to the members
    assert (await run(old_version)).written == 0


@pytest.mark.parametrize("applied", [False, True])
async def test_a_table_of_format_6_gets_its_lists_wherever_a_migration_stopped(
    api: Api, backend: Backend, clock: Clock, plain_client: Any, table: str, dump: Dump, *, applied: bool
) -> None:
    place = await prepare(api)
    await api.locker("l1", "ada", locationId=place)
    await api.owner("eve", phone="+39 06 1")
    late = {"reservationId": "late", "lockerId": "l1", "ownerId": "ada", "reference": "order 1"}
    await api.done(CREATE_RESERVATION, **late, startAt="2026-03-01T11:00:00Z", endAt="2026-03-01T12:01:00Z")
    await api.done(START, lockerId="l1", reservationId="late")
    await book(api, "b1")
    await approve(api, "b1")
    clock.move(minutes=2)
    await sweep(backend)
    expected = await dump()
    claims = ("RESERVATION_CLAIM", "REFERENCE_CLAIM")
    listed = of_kind(expected, "OWNER", "LOCKER", "RESERVATION", "OWNER_BOOKING", *claims)
    for item in listed:
        await strip(plain_client, table, item, "GSI1PK", "GSI1SK")
    new = of_kind(expected, "OVERDUE_STAY", "OWNER_NAME", "OWNER_PHONE")
    for item in new:
        await delete(plain_client, table, item)
    await set_state(plain_client, table, OLDER)
    before = await plain_client.items(table)
    assert isinstance(backend.store, DynamoStore)
    transport = backend.store.transport
    for write in range(1, 100):
        other = await plain_client.new_table()
        await plain_client.fill(other, before)
        stopping = Stopping(transport, other, write, applied=applied)
        try:
            report = await migration(stopping, location=None).run(clock.now, no_wait)
            break
        except StoppedError:
            await migration(DynamoStore(transport, other), location=None).run(clock.now, no_wait)
        assert await plain_client.records(other) == expected
        await require_current(DynamoStore(transport, other))
    assert (write > 3, report.written) == (True, len(listed) + len(new))


async def test_flags_of_old_versions_go(old_version: Backend, plain_client: Any, table: str, dump: Dump) -> None:
    guards = of_kind(await dump(), "RESERVATION_GUARD")
    await put(
        plain_client, table, *({**guard, "hasLive": True, "lacksEnded": True, "hasOld": True} for guard in guards)
    )
    report = await run(old_version)
    assert report.unplaced == {}
    assert of_kind(await dump(), "RESERVATION_GUARD") == guards


async def test_demo_data_needs_no_migration(backend: Backend) -> None:
    await load_demo(backend.store, DemoShape(), NOW, lambda _: None, RING)
    assert (await run(backend)).written == 0


async def test_a_new_table_needs_no_migration(store_url: str, wire: Wire) -> None:
    connection = StoreConnection(f"{wire.url[-5:]}-new", "eu-central-1", store_url, local=True)
    assert await create_table(connection)
    async with open_store(connection) as store:
        assert await read_state(store) == CURRENT_STATE


@pytest.mark.parametrize("newer", [{"formatVersion": 8}, {"formatVersion": 7, "migratingTo": 8}])
async def test_a_table_of_a_newer_format_is_refused(
    store_url: str, backend: Backend, plain_client: Any, table: str, newer: dict[str, int]
) -> None:
    await put(plain_client, table, {**KEY, "entityType": "TABLE_FORMAT", "revision": 9, "isDrained": False, **newer})
    refusal = rf"^table {table} has format 8, and this version of SmartLocker supports formats up to 7: "
    with pytest.raises(TableProblemError, match=refusal):
        await check_table(StoreConnection(table, "eu-central-1", store_url, local=True))
    with pytest.raises(TableProblemError, match=refusal):
        await run(backend)


async def test_a_server_starts_on_a_table_that_is_not_migrated_and_logs_it(
    old_version: Backend, store_url: str, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert old_version
    await check_table(StoreConnection(table, "eu-central-1", store_url, local=True))
    assert f"table {table} cannot be served: The table is not migrated yet: run `smartlocker migrate`." in caplog.text
