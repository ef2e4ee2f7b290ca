import json
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.table.transport import Transport
from loaders.table.values import item_from_wire, item_to_wire
from loaders.tools.demo import DemoShape, load_demo
from loaders.tools.transfer import TransferError, check_export, export_cost, export_table, import_cost, import_table
from tests.conftest import NOW, Prepared
from tests.invariants import check_invariants
from tests.wire import Lose, Wire

SHAPE = DemoShape(3, 20, 40)
FAST = 1e9
BUDGET = {"PK": {"S": "RATE#x"}, "SK": {"S": "META"}, "fullAt": {"N": "1"}}


async def stock(backend: Backend, plain_client: Any, table: str) -> None:
    await load_demo(backend.store, SHAPE, NOW, lambda _: None)
    odd: dict[str, Any] = {"PK": "ODD", "SK": "META", "values": [1, True, None, "é\n", {"b": [], "a": {}}]}
    await plain_client.put_item(TableName=table, Item=item_to_wire(odd))
    await plain_client.put_item(TableName=table, Item=BUDGET)


@pytest.fixture
async def source(backend: Backend, plain_client: Any, table: str, wire: Wire, prepared: Prepared) -> DynamoStore:
    """A table with demo data, something of every type, and a budget."""
    await prepared(stock, backend, plain_client, table)
    wire.reset()
    assert isinstance(backend.store, DynamoStore)
    return backend.store


@pytest.fixture
async def target(plain_client: Any, transport: Transport) -> DynamoStore:
    """An empty table."""
    return DynamoStore(transport, await plain_client.new_table())


@pytest.fixture
async def path(source: DynamoStore, tmp_path: Path) -> Path:
    """An export of it."""
    exported = tmp_path / "export.jsonl"
    await export(source, exported)
    return exported


@pytest.fixture
def dump_of(plain_client: Any) -> Callable[[DynamoStore], Awaitable[dict[str, Any]]]:
    async def items(store: DynamoStore) -> dict[str, Any]:
        found = await plain_client.items(store.table)
        return {
            f"{item['PK']['S']} {item['SK']['S']}": item for item in found if item["PK"]["S"] not in {"TABLE", "RATE#x"}
        }

    return items


async def export(store: DynamoStore, path: Path, progress: Callable[[int], None] = lambda _: None) -> int:
    return (await export_table(store, path, items_per_second=FAST, progress=progress)).items


async def import_(
    store: DynamoStore, path: Path, progress: Callable[[int], None] = lambda _: None, *, overwrite: bool = False
) -> int:
    return await import_table(store, path, overwrite=overwrite, items_per_second=FAST, progress=progress)


class StoppedError(Exception):
    """Stands for whatever interrupts a command."""


def stop(_: int) -> None:
    raise StoppedError


async def test_an_imported_table_is_identical_to_the_exported_one(
    source: DynamoStore, target: DynamoStore, dump_of: Any, path: Any, tmp_path: Path
) -> None:
    original = await dump_of(source)
    assert len(original) == await import_(target, path)
    copy = await dump_of(target)
    assert copy == original
    items = {(item["PK"]["S"], item["SK"]["S"]): item_from_wire(item) for item in copy.values()}
    del items["ODD", "META"]
    check_invariants(items, NOW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = tmp_path / "again.jsonl"
    assert await export(target, again) == len(original)
    assert sorted(path.read_text().splitlines()) == sorted(again.read_text().splitlines())


async def test_an_export_has_a_header_items_and_a_summary(source: DynamoStore, dump_of: Any, path: Any) -> None:
    header, *items, summary = map(json.loads, path.read_text().splitlines())
    assert header == {"SmartLockerExport": {"version": 1, "tableFormat": 7}}
    assert [item["Item"] for item in items] == list((await dump_of(source)).values())
    assert summary["Summary"]["items"] == len(items)
    assert len(summary["Summary"]["digest"]) == 64


async def test_an_interrupted_export_goes_on_later(source: DynamoStore, path: Any, wire: Wire, tmp_path: Path) -> None:
    second = tmp_path / "second.jsonl"
    with pytest.raises(StoppedError):
        await export(source, second, stop)
    assert not second.exists()
    partial = tmp_path / "second.jsonl.partial"
    last = json.loads(partial.read_text().splitlines()[-1])["Item"]
    with partial.open("a") as file:
        file.write('{"Item": {"PK": {"S": "cut o')  # as a killed process leaves it
    wire.reset()
    await export(source, second)
    assert wire.of("Scan")[0].request["ExclusiveStartKey"] == {"PK": last["PK"], "SK": last["SK"]}
    assert second.read_bytes() == path.read_bytes()
    assert not partial.exists()


async def test_an_interrupted_import_writes_only_what_is_missing_when_it_runs_again(
    source: DynamoStore, target: DynamoStore, dump_of: Any, wire: Wire, path: Any
) -> None:
    count = check_export(path).items
    with pytest.raises(StoppedError):
        await import_(target, path, stop)
    there = len(await dump_of(target))
    assert 0 < there < count
    wire.reset()
    seen: list[int] = []
    assert await import_(target, path, seen.append) == count - there
    assert seen[-1] == count
    assert wire.operations["PutItem"] == count - there
    assert await dump_of(target) == await dump_of(source)
    wire.reset()
    assert await import_(target, path) == 0
    assert "PutItem" not in wire.operations


async def test_an_answer_that_is_lost_is_no_conflict(
    source: DynamoStore, target: DynamoStore, dump_of: Any, wire: Wire, path: Any
) -> None:
    lost = iter([Lose()] * 5)
    wire.fault = lambda call: next(lost, None) if call.operation == "PutItem" else None
    await import_(target, path)
    assert await dump_of(target) == await dump_of(source)


@pytest.mark.parametrize("change", ["differs", "is not in the export"])
async def test_a_table_with_other_items_is_refused_before_anything_is_written(
    source: DynamoStore, target: DynamoStore, plain_client: Any, dump_of: Any, path: Any, change: str
) -> None:
    key = "OWNER#owner-0001" if change == "differs" else "OWNER#another"
    other = {"PK": {"S": key}, "SK": {"S": "META"}, "name": {"S": "other"}}
    await plain_client.put_item(TableName=target.table, Item=other)
    with pytest.raises(TransferError, match="has 1 items that differ from the export or are not in it"):
        await import_(target, path)
    assert await dump_of(target) == {f"{key} META": other}
    if change == "differs":
        await import_(target, path, overwrite=True)
        assert await dump_of(target) == await dump_of(source)
    else:
        with pytest.raises(TransferError, match="differs from the export after the import"):
            await import_(target, path, overwrite=True)
        assert (await dump_of(target))[f"{key} META"] == other


async def test_an_item_that_appears_during_an_import_is_not_overwritten(
    target: DynamoStore, plain_client: Any, dump_of: Any, path: Any
) -> None:
    *_, last = (json.loads(line)["Item"] for line in path.read_text().splitlines()[1:-1])
    other = {"PK": last["PK"], "SK": last["SK"], "name": {"S": "other"}}

    class Meanwhile(DynamoStore):
        async def put(self, operation: Any) -> None:
            await plain_client.put_item(TableName=self.table, Item=other)
            await super().put(operation)

    with pytest.raises(TransferError, match="is written to: stop its servers first"):
        await import_(Meanwhile(target.transport, target.table), path)
    assert other in (await dump_of(target)).values()


def without_line(text: str, number: int) -> str:
    lines = text.splitlines(keepends=True)
    del lines[number]
    return "".join(lines)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda text: without_line(text, -1), "is incomplete: export the table again"),
        (lambda text: without_line(text, 1), "is damaged: its items do not match its summary"),
        (lambda text: text.replace("Metro Parcel 1", "Metro Parcel 2", 1), "is damaged: its items do not match its"),
        (lambda text: text + text, "is damaged: it goes on after its summary"),
        (lambda text: text[: len(text) // 2], "is damaged: a line of it is not JSON"),
        (lambda text: text.replace('"tableFormat":7', '"tableFormat":4'), "is not an export of a table with format 7"),
        (lambda _: "", "is not an export of a table with format 7"),
    ],
)
async def test_a_damaged_export_is_refused_before_anything_is_written(
    target: DynamoStore, dump_of: Any, path: Any, damage: Callable[[str], str], problem: str
) -> None:
    text = path.read_text()
    assert damage(text) != text
    path.write_text(damage(text))
    with pytest.raises(TransferError, match=problem):
        await import_(target, path)
    assert await dump_of(target) == {}


async def test_an_export_overwrites_no_file(source: DynamoStore, path: Any) -> None:
    path.write_text("precious")
    with pytest.raises(TransferError, match="exists: name a new file"):
        await export(source, path)
    assert path.read_text() == "precious"


async def test_the_cost_is_at_least_what_the_store_measures(target: DynamoStore, plain_client: Any, path: Any) -> None:
    tally = check_export(path)
    description = {"ItemCount": 1000, "TableSizeBytes": 819200}
    assert export_cost(description) == "reads the whole table once: about 1,000 items, 205 read units"
    assert import_cost(tally).startswith(f"writes {tally.items:,} items, at most {tally.write_units:,} write units; ")
    measured = 0.0
    for line in path.read_text().splitlines()[1:-1]:
        answer = await plain_client.put_item(
            TableName=target.table, Item=json.loads(line)["Item"], ReturnConsumedCapacity="TOTAL"
        )
        measured += answer["ConsumedCapacity"]["CapacityUnits"]
    assert measured <= tally.write_units <= measured * 2
