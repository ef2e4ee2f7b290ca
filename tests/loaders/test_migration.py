"""The migration of a table that an older version wrote: complete, and can be run again."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.lockers import UpdateLockerStatus
from domain.commands.reservations import CancelReservation, CreateReservation
from domain.models import LockerId, LockerStatus, ReservationId
from domain.times import Instant
from loaders import keys
from loaders.table.client import StoreConnection, open_store
from loaders.table.values import item_to_wire
from loaders.tools.definition import check_table, create_table
from loaders.tools.demo import DemoShape, load_demo, locker_id, owner_id
from loaders.tools.table_state import CURRENT_STATE, TableProblemError, read_state, require_current
from loaders.writes.lockers import update_locker_status
from loaders.writes.reservations import (
    cancel_reservation,
    create_reservation,
)
from tests.api import unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.loaders.migrations import FORMAT_ITEM, delete, migration, run
from tests.old_items import put
from tests.races.holding import Held
from tests.wire import Answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from domain.models import Reservation
    from loaders.backend import Backend
    from loaders.tools.migration import Migrated
    from tests.conftest import Prepared
    from tests.invariants import Items
    from tests.wire import Call, Wire

    Check = Callable[[], Awaitable[Items]]

LOCKERS = 60
COPIES = {"OWNER_LOCKER", "LOCATION_LOCKER"}


def of_kind(items: Items, *kinds: str) -> list[dict[str, Any]]:
    return [item for item in items.values() if item["entityType"] in kinds]


async def strip(plain_client: Any, table: str, item: dict[str, Any], *attributes: str) -> None:
    """Removes attributes of an item."""
    names = {f"#{name}": name for name in attributes}
    await plain_client.update_item(
        TableName=table,
        Key=item_to_wire({"PK": item["PK"], "SK": item["SK"]}),
        UpdateExpression=f"REMOVE {', '.join(names)}",
        ExpressionAttributeNames=names,
    )


async def reserve(backend: Backend, locker: LockerId, name: str | None, start: Instant, end: Instant) -> Reservation:
    command = CreateReservation(
        locker_id=locker,
        reservation_id=ReservationId(name) if name else None,
        owner_id=owner_id(0),
        start_at=start,
        end_at=end,
    )
    return await create_reservation(backend, command, DEVELOPMENT_ADMIN)


async def cancel(backend: Backend, reservation: Reservation) -> None:
    command = CancelReservation(locker_id=reservation.locker_id, reservation_id=reservation.reservation_id)
    await cancel_reservation(backend, command, DEVELOPMENT_ADMIN)


async def change_status(backend: Backend, locker: dict[str, Any]) -> LockerStatus:
    """Gives a locker, as it was read, another status."""
    wanted = LockerStatus.AVAILABLE if locker["status"] != "AVAILABLE" else LockerStatus.OCCUPIED
    command = UpdateLockerStatus(
        locker_id=LockerId(locker["lockerId"]), new_status=wanted, expected_version=int(locker["version"])
    )
    await update_locker_status(backend, command, DEVELOPMENT_ADMIN)
    return wanted


async def write_old(backend: Backend, plain_client: Any, table: str, dump: Callable[[], Any]) -> None:
    await load_demo(backend.store, DemoShape(4, LOCKERS, 300), NOW, lambda _: None)
    for item in of_kind(await dump(), *COPIES, "RESERVATION_ACTIVE"):
        await strip(plain_client, table, item, "GSI1PK", "GSI1SK", "lastEndAt")


@pytest_asyncio.fixture
async def old(
    backend: Backend, plain_client: Any, table: str, dump: Callable[[], Any], wire: Wire, prepared: Prepared
) -> Backend:
    """A table of format 1: copies without index attributes, pointers without the latest end."""
    await prepared(write_old, backend, plain_client, table, dump)
    await delete(plain_client, table, FORMAT_ITEM)
    wire.reset()
    return backend


async def indexed(plain_client: Any, table: str, within: str) -> list[str]:
    answer = await plain_client.query(
        TableName=table,
        IndexName="GSI1",
        KeyConditionExpression="GSI1PK = :pk",
        ExpressionAttributeValues={":pk": {"S": within}},
    )
    return [item["lockerId"]["S"] for item in answer["Items"]]


@pytest.fixture
def check_migrated(dump: Callable[[], Any], plain_client: Any, table: str) -> Check:
    """The invariants hold, and the index by status holds exactly the copies of the owners and locations."""

    async def check() -> Items:
        items: Items = await dump()
        check_invariants(items, NOW, is_counted=False)
        for place in of_kind(items, "OWNER", "LOCATION"):
            copies = [item for item in of_kind(items, *COPIES) if item["PK"] == place["PK"]]
            for status in LockerStatus:
                wanted = sorted(item["lockerId"] for item in copies if item["status"] == status)
                assert await indexed(plain_client, table, f"{place['PK']}#LOCKER#{status}") == wanted
        pointers = of_kind(items, "RESERVATION_ACTIVE")
        assert pointers
        assert all("lastEndAt" in item for item in pointers)
        return items

    return check


async def test_copies_are_in_the_index_by_status_when_the_table_is_migrated(
    old: Backend, plain_client: Any, table: str, check_migrated: Check
) -> None:
    within = keys.owner_lockers_by_status(owner_id(0), LockerStatus.AVAILABLE).pk
    assert await indexed(plain_client, table, within) == []
    seen: list[Migrated] = []
    migrated = await run(old, seen.append)
    items = await check_migrated()
    assert migrated == seen[-1]
    assert migrated.read == len(items) + 1  # the format is an item too
    assert migrated.changed >= 2 * LOCKERS + len(of_kind(items, "RESERVATION_ACTIVE"))


async def test_the_latest_end_is_that_of_the_last_reservation_that_is_not_cancelled(
    old: Backend, dump: Callable[[], Any], check_migrated: Check
) -> None:
    pointer = of_kind(await dump(), "RESERVATION_ACTIVE")[0]
    key = pointer["PK"], "RES#ACTIVE"
    far = (Instant("2026-04-01T12:00:00.000Z"), Instant("2026-04-02T12:00:00.000Z"))
    await cancel(old, await reserve(old, pointer["lockerId"], "far", *far))
    assert (await dump())[key] == pointer
    await run(old)
    items = await check_migrated()
    own = [item for item in of_kind(items, "RESERVATION") if item["PK"] == pointer["PK"]]
    assert items[key]["lastEndAt"] == max(item["endAt"] for item in own if item["status"] == "ACTIVE")


async def test_a_migration_that_was_interrupted_is_finished_by_the_next(
    old: Backend, dump: Callable[[], Any], check_migrated: Check
) -> None:
    class StoppedError(Exception):
        pass

    def stop(_: Migrated) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        await run(old, stop)
    with pytest.raises(TableProblemError, match="is being migrated"):
        await require_current(old.store)
    migrated = await run(old)
    assert migrated.read == len(await dump()) + 1
    await require_current(old.store)
    await check_migrated()


async def test_a_migrated_table_is_read_again_and_not_changed(old: Backend, dump: Callable[[], Any]) -> None:
    await run(old)
    async with unchanged(dump):
        migrated = await run(old)
    assert (migrated.read, migrated.changed) == (len(await dump()) + 1, 0)


async def test_status_changes_while_the_table_is_migrated_are_in_the_index(
    old: Backend, dump: Callable[[], Any], check_migrated: Check
) -> None:
    async def changes() -> None:
        for number in range(LOCKERS):
            await change_status(old, (await dump())[f"LOCKER#{locker_id(number)}", "META"])

    await asyncio.gather(run(old), changes())
    await check_migrated()


async def test_a_copy_that_changes_between_its_scan_and_its_update_is_not_overwritten(
    old: Backend, dump: Callable[[], Any], wire: Wire, check_migrated: Check
) -> None:
    wanted = f"LOCKER#{locker_id(0)}"
    held = Held(lambda call: call.operation == "TransactWriteItems" and call.keys[0] == (wanted, "META"))
    wire.fault = held
    migrating = asyncio.create_task(run(old))
    await held.reached()
    read = (await dump())[wanted, "META"]
    status = await change_status(old, read)
    held.release()
    await migrating
    items = await check_migrated()
    assert items[f"OWNER#{read['ownerId']}", wanted]["GSI1PK"] == f"OWNER#{read['ownerId']}#LOCKER#{status}"


async def test_a_scan_that_shows_an_earlier_status_does_not_leave_a_copy_out(
    old: Backend, wire: Wire, check_migrated: Check
) -> None:
    def stale(call: Call) -> None:
        for item in call.response.get("Items", ()) if call.operation == "Scan" else ():
            if item["entityType"]["S"] in COPIES:
                item["status"] = {"S": "MAINTENANCE"}

    wire.amend = stale
    await run(old)
    await check_migrated()


async def test_a_conflict_with_a_transaction_is_retried(old: Backend, wire: Wire, check_migrated: Check) -> None:
    conflicts = iter([Answer.error("TransactionConflictException")] * 5)
    wire.fault = lambda call: next(conflicts, None) if call.operation == "TransactWriteItems" else None
    await run(old)
    await check_migrated()


async def test_two_migrations_at_once_do_not_undo_each_other(old: Backend, check_migrated: Check) -> None:
    results = await asyncio.gather(run(old), run(old), return_exceptions=True)
    problems = [str(result) for result in results if isinstance(result, TableProblemError)]
    assert all("is running: let it finish" in problem for problem in problems)
    assert len(problems) < 2
    await check_migrated()


async def test_a_new_table_needs_no_migration(store_url: str, wire: Wire) -> None:
    connection = StoreConnection(f"{wire.url[-5:]}-new", "eu-central-1", store_url, local=True)
    assert await create_table(connection)

    async with open_store(connection) as store:
        assert await read_state(store) == CURRENT_STATE


@pytest.mark.parametrize("newer", [{"formatVersion": 6}, {"formatVersion": 5, "migratingTo": 6}])
async def test_a_table_of_a_newer_format_is_refused(
    store_url: str, backend: Backend, plain_client: Any, table: str, newer: dict[str, int]
) -> None:
    await put(plain_client, table, FORMAT_ITEM | {"revision": 9, **newer})
    refusal = rf"^table {table} has format 6, and this version of SmartLocker supports formats up to 5: "
    with pytest.raises(TableProblemError, match=refusal):
        await check_table(StoreConnection(table, "eu-central-1", store_url, local=True))
    with pytest.raises(TableProblemError, match=refusal):
        await run(backend)


async def test_a_server_starts_on_a_table_that_is_not_migrated_and_logs_it(
    old: Backend, store_url: str, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert old
    await check_table(StoreConnection(table, "eu-central-1", store_url, local=True))
    assert f"table {table} cannot be served: The table is not migrated yet: run `smartlocker migrate`." in caplog.text


async def test_older_lockers_get_offers_and_say_who_may_reserve_them(
    old: Backend, plain_client: Any, table: str, dump: Callable[[], Any]
) -> None:
    for item in (await dump()).values():
        if item["entityType"] == "LOCKER_OFFER":
            await delete(plain_client, table, item)
        elif item["entityType"] in {"LOCKER", *COPIES}:
            await strip(plain_client, table, item, "reservableBy", "size", "features")
    await run(old)
    items = await dump()
    check_invariants(items, NOW, is_counted=False)
    lockers = of_kind(items, "LOCKER")
    assert {(item["reservableBy"], item["size"]) for item in lockers} == {("MEMBERS", "M")}
    in_service = [item["lockerId"] for item in lockers if item["status"] != "MAINTENANCE"]
    offered = [item["lockerId"] for item in of_kind(items, "LOCKER_OFFER")]
    assert sorted(offered) == sorted(in_service * 2)  # to the owner and to the members


async def write_format_3(backend: Backend, plain_client: Any, table: str, dump: Callable[[], Any]) -> None:
    """What the version before live copies and slots wrote."""
    await load_demo(backend.store, DemoShape(3, 20, 0), NOW, lambda _: None)
    for item in (await dump()).values():
        if item["entityType"] in {"LIVE_RESERVATION", "RESERVATION_SLOT"}:
            await delete(plain_client, table, item)
        elif item["entityType"] in {"RESERVATION", "OWNER_RESERVATION", "RESERVATION_ACTIVE", "RESERVATION_GUARD"}:
            await strip(plain_client, table, item, "hasLive", "changedRemoved", "slot", "version", "lastChange")
    await put(plain_client, table, FORMAT_ITEM | {"revision": 1, "formatVersion": 3})


@pytest_asyncio.fixture
async def of_format_3(
    backend: Backend, plain_client: Any, table: str, dump: Callable[[], Any], prepared: Prepared
) -> Backend:
    await prepared(write_format_3, backend, plain_client, table, dump)
    return backend


async def test_a_migration_gives_live_reservations_their_copies_and_slots_and_finds_nothing_to_do_again(
    of_format_3: Backend, dump: Callable[[], Any]
) -> None:
    migrated = await run(of_format_3)
    items = await dump()
    check_invariants(items, NOW, is_counted=False)
    kinds = Counter(item["entityType"] for item in items.values())
    assert kinds["LIVE_RESERVATION"] == kinds["RESERVATION"] > 0
    unended = [item for item in of_kind(items, "RESERVATION") if item["endAt"] > NOW]
    assert len(unended) == kinds["RESERVATION_SLOT"]
    assert all("slot" in item for item in unended)
    assert all(item["hasLive"] for item in of_kind(items, "RESERVATION_GUARD"))
    assert migrated.left == 0
    again = await migration(of_format_3).count(items_per_second=1e9, progress=lambda _: None)
    assert again.kinds == {}
