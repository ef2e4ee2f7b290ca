"""Migrates an existing table to the current format: adds what older versions did not write.

This is the only code that scans the table. It is run from the command line; no request of the API reaches it. It may
run while servers of this version write, may be interrupted and run again, and changes nothing twice.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from domain.errors import UnavailableError
from domain.models import ActivePointer, ReservationStatus
from loaders import keys
from loaders.codecs import TableFormat
from loaders.contracts.maintenance import INDEX_LOCKER_COPY, SET_LATEST_END
from loaders.contracts.table_format import FORMAT_VERSION
from loaders.table.definition import TableProblemError, check_format
from loaders.table.errors import BusyError, ConditionFailedError, TransactionRefusedError, translated
from loaders.table.keys import Key
from loaders.table.retry import attempts
from loaders.table.values import Item, item_from_wire
from loaders.table_format import CURRENT_FORMAT, read_format, saving
from loaders.writes.timeline import MovedError, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.models import LockerId
    from loaders.codecs import Guard
    from loaders.table.client import DynamoStore
    from loaders.table.operations import Transact
    from loaders.table.updates import Update

__all__ = ["Migrated", "migrate", "migration_cost"]

_PAGE = 200
_AT_ONCE = 8
_ROUNDS = 24
_READ_UNIT = 4096
_ATTRIBUTES = ("PK", "SK", "entityType", "ownerId", "lockerId", "status", "GSI1PK", "lastEndAt")


@dataclass(frozen=True, slots=True)
class Migrated:
    """The progress of a migration: the items that were read, and those that were changed."""

    read: int = 0
    changed: int = 0


def migration_cost(description: dict[str, Any]) -> str:
    """What a migration of the described table costs, in words."""
    items, size = description.get("ItemCount", 0), description.get("TableSizeBytes", 0)
    units = -(-size // _READ_UNIT) / 2 + -(-items // _PAGE) / 2
    return (
        f"reads the whole table once: about {items:,} items, {units:,.0f} read units; "
        "each copy of a locker that is not in the index yet takes up to 4 write units, "
        "each active pointer of an older version up to 4 write units and a Query"
    )


async def migrate(store: DynamoStore, *, items_per_second: float, progress: Callable[[Migrated], None]) -> Migrated:
    """Migrates the table to the current format, from where an interrupted run stopped.

    Raises:
        TableProblemError: where the table has a newer format, or another migration of it is running.
    """
    found = await read_format(store)
    check_format(store.table, found)
    migrated = Migrated()
    if found.format_version == FORMAT_VERSION:
        return migrated
    if found.migrating_to != FORMAT_VERSION:
        started = TableFormat(format_version=found.format_version, revision=0, migrating_to=FORMAT_VERSION)
        found = await _save(store, found, started)
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        position = None if found.position_pk is None else Key(found.position_pk, str(found.position_sk))
        items, position = await _scan(store, position)
        migrated = Migrated(migrated.read + len(items), migrated.changed + await _backfill(store, items))
        if position is None:
            await _save(store, found, CURRENT_FORMAT)
            progress(migrated)
            return migrated
        found = await _save(store, found, replace(found, position_pk=position.pk, position_sk=position.sk))
        progress(migrated)
        await asyncio.sleep(max(0.0, began + len(items) / items_per_second - loop.time()))


async def _scan(store: DynamoStore, start: Key | None) -> tuple[list[Item], Key | None]:
    """The next items of the table, and where to go on."""
    request: dict[str, Any] = {
        "TableName": store.table,
        "Limit": _PAGE,
        "ProjectionExpression": ", ".join(f"#{name}" for name in _ATTRIBUTES),
        "ExpressionAttributeNames": {f"#{name}": name for name in _ATTRIBUTES},
    }
    if start is not None:
        request["ExclusiveStartKey"] = start.wire
    try:
        answer = await store.client.scan(**request)
    except ClientError as error:
        raise translated(error, None) from error
    except BotoCoreError as error:
        raise UnavailableError("The store did not answer. Run the migration again.") from error
    last = answer.get("LastEvaluatedKey")
    position = None if not last else Key(last["PK"]["S"], last["SK"]["S"])
    return [item_from_wire(item) for item in answer["Items"]], position


async def _save(store: DynamoStore, read: TableFormat, becomes: TableFormat) -> TableFormat:
    request, written = saving(read, becomes)
    try:
        await store.transact(request)
    except TransactionRefusedError:
        raise TableProblemError(f"another migration of table {store.table} is running: let it finish") from None
    return written


async def _backfill(store: DynamoStore, items: list[Item]) -> int:
    """Changes what needs it of these items, and returns how many were changed."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def change(item: Item) -> bool:
        async with slots:
            if item["entityType"] == "RESERVATION_ACTIVE":
                return await _set_latest_end(store, str(item["lockerId"]))  # type: ignore[arg-type]
            return await _index_copy(store, item)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(change(item)) for item in items if _is_old(item)]
    return sum(task.result() for task in tasks)


def _is_old(item: Item) -> bool:
    match item.get("entityType"):
        case "OWNER_LOCKER" | "LOCATION_LOCKER":
            return "GSI1PK" not in item
        case "RESERVATION_ACTIVE":
            return "lastEndAt" not in item
    return False


async def _index_copy(store: DynamoStore, copy: Item) -> bool:
    """Adds a copy to the index under its status; the scan may have read an earlier status."""
    found: Item | None = copy
    async for _ in attempts(_ROUNDS):
        if found is None or "GSI1PK" in found:
            return False  # it was moved, or changed by a server of this version
        try:
            await store.update(_indexing(found))
        except ConditionFailedError as failure:
            found = failure.item
        except BusyError:
            continue
        else:
            return True
    raise UnavailableError("Too many concurrent changes to a locker. Run the migration again.")


def _indexing(copy: Item) -> Update:
    status: Any = copy["status"]
    locker_id: Any = copy["lockerId"]
    if copy["entityType"] == "OWNER_LOCKER":
        owner_id: Any = copy["ownerId"]
        index = keys.owner_locker_index(owner_id, status, locker_id)
        return INDEX_LOCKER_COPY.update("owner copy", (owner_id, locker_id), index, readStatus=status)
    location_id = keys.location_of(str(copy["PK"]))
    index = keys.location_locker_index(location_id, status, locker_id)
    return INDEX_LOCKER_COPY.update("location copy", (location_id, locker_id), index, readStatus=status)


async def _set_latest_end(store: DynamoStore, locker_id: LockerId) -> bool:
    async for _ in attempts(SET_LATEST_END.rounds):
        read = await SET_LATEST_END.read_batch(store, guard=(locker_id,), pointer=(locker_id,))
        pointer: ActivePointer | None = read["pointer"]
        if pointer is None or pointer.last_end_at is not None:
            return False
        try:
            await store.transact(await _setting_latest_end(store, pointer, read["guard"]))
        except (MovedError, TransactionRefusedError):
            continue
        return True
    raise UnavailableError("Too many concurrent changes to a locker's reservations. Run the migration again.")


async def _setting_latest_end(store: DynamoStore, pointer: ActivePointer, guard: Guard | None) -> Transact:
    """Reservations that are not cancelled do not overlap, so the one with the latest start has the latest end."""
    pointed = pointer.reservation
    last_end = pointed.end_at
    async for reservation in walk(store, SET_LATEST_END, "latest", (pointed.locker_id,), guard):
        if reservation.status is not ReservationStatus.CANCELLED:
            last_end = max(last_end, reservation.end_at)
            break
    place = (pointed.locker_id,)
    return SET_LATEST_END.transact(
        SET_LATEST_END.step("no guard", place)
        if guard is None
        else SET_LATEST_END.step("guard", place, readRevision=guard.revision),
        SET_LATEST_END.step(
            "pointer",
            place,
            {"lastEndAt": last_end},
            pointed=pointed.reservation_id,
            pointedEnd=pointed.end_at,
        ),
    )
