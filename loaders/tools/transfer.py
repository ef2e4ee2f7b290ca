"""Exports the table to a file and imports it into another one, through any DynamoDB endpoint.

The file has JSON lines: a header, then `{"Item": …}` in DynamoDB's JSON for each item, then a summary. The format item
is in the header only. The budgets of rate limits expire by themselves, and leases of the log are renewed all the time:
both are left out, so followers of an imported log begin with its start.
"""

import asyncio
import math
import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from domain.errors import OperatorError
from loaders import keys
from loaders.concurrency import together
from loaders.contracts.maintenance import IMPORT_ITEM, TRANSFER_SCAN
from loaders.contracts.table_state import FORMAT_VERSION
from loaders.table.client import DynamoStore
from loaders.table.embedded import open_private
from loaders.table.errors import ConditionFailedError
from loaders.table.positions import Key
from loaders.table.values import WireItem, item_from_wire
from loaders.tools.pace import Pace

export_cost = TRANSFER_SCAN.cost_text
_HEADER = {"SmartLockerExport": {"version": 1, "tableFormat": FORMAT_VERSION}}
_BATCH = 100
_AT_ONCE = 16
_WRITE_UNIT = 1024
_MODULUS = 2**256


class TransferError(OperatorError):
    """The table cannot be exported or imported; the message says what to do."""


class Tally:
    """Number and digest of items. The digest does not depend on their order: it is the sum of their SHA-256 digests."""

    def __init__(self) -> None:
        self.items = 0
        self.write_units = 0
        """Upper bound of the units that writing the items takes."""
        self._sum = 0

    def add(self, item: WireItem) -> bytes:
        """Counts an item and returns its own digest."""
        line = _line({"Item": item})
        digest = sha256(line).digest()
        self.items += 1
        self.write_units += math.ceil(len(line) / _WRITE_UNIT) * (2 if "GSI1PK" in item else 1)
        self._sum = (self._sum + int.from_bytes(digest)) % _MODULUS
        return digest

    @property
    def summary(self) -> dict[str, Any]:
        return {"Summary": {"items": self.items, "digest": f"{self._sum:064x}"}}


def import_cost(export: Tally) -> str:
    return (
        f"writes {export.items:,} items, at most {export.write_units:,} write units; the table is read once before "
        "and once after that"
    )


async def export_table(
    store: DynamoStore, path: Path, *, items_per_second: float, progress: Callable[[int], None]
) -> Tally:
    """Writes all items to a file; an interrupted export goes on where it stopped."""
    partial = _partial(path)
    tally, last = _continue(partial)
    pace = Pace(items_per_second)
    with open_private(partial, "ab") as file:
        if not file.tell():
            file.write(_line(_HEADER))
        async for page in TRANSFER_SCAN.pages(store, last):
            for item in page.items:
                if _is_data(item):
                    tally.add(item)
                    file.write(_line({"Item": item}))
            file.flush()
            progress(tally.items)
            await pace.keep(len(page.items))
        file.write(_line(tally.summary))
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
    return tally


def check_export(path: Path) -> Tally:
    """Reads a whole export and compares its items with its summary; refuses an incomplete or damaged one."""
    tally = Tally()
    summary = None
    for line in _lines(path):
        if summary is not None:
            raise TransferError(f"{path} is damaged: it goes on after its summary")
        if "Item" in line:
            tally.add(line["Item"])
        else:
            summary = line
    if summary is None:
        raise TransferError(f"{path} is incomplete: export the table again")
    if summary != tally.summary:
        raise TransferError(f"{path} is damaged: its items do not match its summary")
    return tally


def exported_items(path: Path) -> Iterator[WireItem]:
    return (line["Item"] for line in _lines(path) if "Item" in line)


async def import_table(
    store: DynamoStore, path: Path, *, overwrite: bool, items_per_second: float, progress: Callable[[int], None]
) -> int:
    """Writes all items of an export that the table does not have, and returns how many; then compares all.

    A table with other items is refused, unless they may be overwritten.
    """
    expected = check_export(path)
    pages = TRANSFER_SCAN.pages(store)
    there = {Tally().add(item) async for page in pages for item in page.items if _is_data(item)}
    if not overwrite:
        _refuse_others(store, path, there)
    pace = Pace(items_per_second)
    seen = written = 0
    for batch in _batches(path):
        missing = [item for item in batch if Tally().add(item) not in there]
        await _write(store, missing, overwrite=overwrite)
        seen += len(batch)
        written += len(missing)
        progress(seen)
        await pace.keep(len(missing))
    found = Tally()
    async for page in TRANSFER_SCAN.pages(store):
        for item in filter(_is_data, page.items):
            found.add(item)
    if found.summary != expected.summary:
        raise TransferError(
            f"table {store.table} differs from the export after the import: it has {found.items:,} items, the export "
            f"{expected.items:,}"
        )
    return written


def _partial(path: Path) -> Path:
    if path.exists():
        raise TransferError(f"{path} exists: name a new file")
    return path.with_name(f"{path.name}.partial")


def _continue(partial: Path) -> tuple[Tally, Key | None]:
    """Counts what an interrupted export has written and cuts off an unfinished line; also the key of its last item."""
    tally = Tally()
    last = None
    if not partial.exists():
        return tally, last
    content = partial.read_bytes()
    with partial.open("r+b") as file:
        file.truncate(content.rfind(b"\n") + 1)
    for line in _lines(partial) if partial.stat().st_size else ():
        if "Item" in line:
            tally.add(line["Item"])
            last = _key(line["Item"])
    return tally, last


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            header = orjson.loads(next(file, b"{}"))
            if header != _HEADER:
                raise TransferError(f"{path} is not an export of a table with format {FORMAT_VERSION}")
            yield from map(orjson.loads, file)
    except OSError as error:
        raise TransferError(f"{path} cannot be read ({error.strerror})") from error
    except orjson.JSONDecodeError as error:
        raise TransferError(f"{path} is damaged: a line of it is not JSON") from error


def _batches(path: Path) -> Iterator[list[WireItem]]:
    items = exported_items(path)
    while batch := list(islice(items, _BATCH)):
        yield batch


def _refuse_others(store: DynamoStore, path: Path, there: set[bytes]) -> None:
    others = there.difference(map(Tally().add, exported_items(path))) if there else there
    if others:
        raise TransferError(
            f"table {store.table} has {len(others):,} items that differ from the export or are not in it: import it "
            "into an empty table, or replace differing items with --overwrite"
        )


async def _write(store: DynamoStore, items: list[WireItem], *, overwrite: bool) -> None:
    permits = asyncio.Semaphore(_AT_ONCE)

    async def write(item: WireItem) -> None:
        key = _key(item)
        attributes = {name: value for name, value in item_from_wire(item).items() if name not in {"PK", "SK"}}
        async with permits:
            try:
                await store.put(IMPORT_ITEM.put(IMPORT_ITEM.step("new item", key, attributes)))
            except ConditionFailedError as failure:
                if failure.item == item_from_wire(item):
                    return  # an answer was lost, and the item was sent again
                if not overwrite:
                    raise TransferError(f"table {store.table} is written to: stop its servers first") from None
                await store.put(IMPORT_ITEM.put(IMPORT_ITEM.step("differing item", key, attributes)))

    await together(map(write, items))


def _is_data(item: WireItem) -> bool:
    return not keys.is_of_its_table(item["PK"]["S"])


def _key(item: WireItem) -> Key:
    return Key(item["PK"]["S"], item["SK"]["S"])


def _line(content: dict[str, Any]) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
