"""What no contract may be: each principle, broken once, is refused when the contract is made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.models import LockerSummary
from loaders import keys
from loaders.codecs import LOCKER, OWNER, OWNER_LOCKER, Codec
from loaders.contracts.base import Consistency, ContractError, PageRule, registry
from loaders.contracts.cost import Cost
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.writing import BatchRead, ItemRead, RangeRead, StepRule, WriteContract
from loaders.table.keys import Key, Prefix
from loaders.table.operations import Action, BatchGet, Get, Put, Query

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.wire import Wire

STATED: dict[str, Any] = {"cardinality": "A few.", "hot_partition": "Low."}
ONE: dict[str, Any] = {
    "id": "QC-91",
    "purpose": "A locker",
    "codec": LOCKER,
    **STATED,
}
PAGE: dict[str, Any] = {
    "id": "QC-92",
    "purpose": "Lockers",
    "range": keys.owner_lockers,
    "codec": Codec(LockerSummary, "OWNER_LOCKER", largest=1500, usual=300),
    "page_rule": PageRule(),
    **STATED,
}
NEW = StepRule(name="locker", action=Action.PUT, item=keys.locker, condition="attribute_not_exists(#PK)")
WRITE: dict[str, Any] = {
    "id": "QC-93",
    "purpose": "Write a locker",
    "operation": "TransactWriteItems",
    "steps": (NEW,),
    "most_steps": 1,
    "item_bytes": 1500,
    **STATED,
}
KINDS = [(ReadOne, ONE), (ReadPage, PAGE), (WriteContract, WRITE)]


def test_an_update_without_a_transaction_costs_its_size_once_for_each_step_that_is_tried() -> None:
    rules = tuple(
        StepRule(name=name, action=Action.UPDATE, item=keys.locker, condition="#a = :a") for name in ("first", "second")
    )
    plain = {**WRITE, "operation": "UpdateItem", "steps": rules, "item_bytes": 300}
    assert [WriteContract(**{**plain, "most_steps": most}).write_units for most in (1, 2)] == [1, 2]


@pytest.mark.parametrize(
    "operation", ["Scan", "Query", "GetItem", "ExecuteStatement", "DeleteItem", "BatchWriteItem", ""]
)
def test_no_write_scans_or_uses_an_operation_of_another_kind(operation: str) -> None:
    with pytest.raises(ContractError, match=rf"^QC-93 must not use {operation}$"):
        WriteContract(**{**WRITE, "operation": operation})


def test_the_operation_of_a_read_cannot_be_chosen() -> None:
    assert (ReadOne(**ONE).operation, ReadPage(**PAGE).operation) == ("GetItem", "Query")
    for kind, good in KINDS[:2]:
        with pytest.raises(TypeError, match="operation"):
            kind(**{**good, "operation": "Scan"})


@pytest.mark.parametrize("bad", ["", "QC-1", "QC-001", "QC-1a", "AP-01", "qc-01", "QC-01\n", "QC-\u0660\u0661"])
def test_a_contract_has_an_id_of_the_one_form(bad: str) -> None:
    with pytest.raises(ContractError, match=r" is not an id such as QC-01$"):
        ReadOne(**{**ONE, "id": bad})


@pytest.mark.parametrize(("kind", "good"), KINDS)
def test_a_contract_states_its_purpose_cardinality_hot_partition_risk_and_the_size_of_its_items(
    kind: type[Any], good: dict[str, Any]
) -> None:
    for name in ("purpose", "cardinality", "hot_partition"):
        with pytest.raises(
            ContractError, match=r"must state its purpose, expected cardinality and hot-partition risk$"
        ):
            kind(**{**good, name: ""})
    if kind is WriteContract:
        with pytest.raises(ContractError, match=r"must state the size of its items$"):
            kind(**{**good, "item_bytes": 0})
        return
    for largest, usual in ((0, 0), (1500, 0), (1500, 1501)):
        with pytest.raises(ContractError, match=r"must read items whose largest and usual sizes are stated$"):
            kind(**{**good, "codec": Codec(LockerSummary, "OWNER_LOCKER", largest=largest, usual=usual)})


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("default", "maximum"),
    [(1, 1), (25, 100), (100, 100), (25, 101), (200, 200), (201, 201), (0, 100), (-1, 100), (26, 25), (0, 0)],
)
def test_a_page_has_1_to_100_items_or_200_where_it_is_read_as_a_whole(
    default: int, maximum: int, *, whole: bool
) -> None:
    most = 200 if whole else 100
    if 1 <= default <= maximum <= most:
        assert PageRule(default, maximum, whole=whole).look_ahead == 1
    else:
        with pytest.raises(ContractError, match=rf"^a page has 1 to {most} items, and its default must not exceed "):
            PageRule(default, maximum, whole=whole)


def test_a_list_without_a_page_or_without_an_order_is_refused() -> None:
    for page in (None, 25):
        with pytest.raises(ContractError, match=r"^QC-92 must have a page: no list is unbounded$"):
            ReadPage(**{**PAGE, "page_rule": page})
    with pytest.raises(ContractError, match=r"^QC-92 must state its order$"):
        ReadPage(**{**PAGE, "orders": ()})


async def test_a_read_that_the_contract_does_not_allow_cannot_be_sent(backend: Backend, wire: Wire) -> None:
    eventual, either, strong = (ReadOne(**ONE, consistency=consistency) for consistency in Consistency)
    with pytest.raises(ContractError, match=r"^QC-91 has no strong read$"):
        await eventual.read(backend.store, "l1", consistent=True)
    for count in (0, 101):
        with pytest.raises(ContractError, match=rf"^QC-91 reads 1 to 100 items at once, not {count}$"):
            await eventual.read_many(backend.store, [(f"l{number}",) for number in range(count)])
    assert not wire.calls
    for contract, consistent in ((eventual, False), (either, False), (either, True), (strong, False)):
        assert await contract.read(backend.store, "l1", consistent=consistent) is None
    assert [call.request["ConsistentRead"] for call in wire.calls] == [False, False, True, True]


@pytest.mark.parametrize("action", [Action.UPDATE, Action.CHECK])
def test_a_step_that_updates_or_checks_must_have_a_condition(action: Action) -> None:
    rule = StepRule(name="copy", action=action, item=keys.locker, condition=None)
    with pytest.raises(ContractError, match=r"^QC-93 must state a condition for copy: it would create a missing item$"):
        WriteContract(**{**WRITE, "steps": (NEW, rule)})


@pytest.mark.parametrize("steps", [(), (NEW, NEW), (NEW, replace(NEW, action=Action.DELETE))])
def test_a_write_without_steps_or_with_one_name_for_two_is_refused(steps: tuple[StepRule, ...]) -> None:
    with pytest.raises(ContractError, match=r"^QC-93 must name each of its steps once$"):
        WriteContract(**{**WRITE, "steps": steps})


@pytest.mark.parametrize("most_steps", [0, -1, 101])
def test_a_write_of_more_than_100_items_or_of_none_is_refused(most_steps: int) -> None:
    with pytest.raises(ContractError, match=r"^QC-93 must write 1 to 100 items at once$"):
        WriteContract(**{**WRITE, "most_steps": most_steps})


def test_the_registry_has_each_id_once_in_order() -> None:
    contracts = [WriteContract(**WRITE), ReadOne(**ONE), ReadPage(**PAGE)]
    assert list(registry(contracts)) == ["QC-91", "QC-92", "QC-93"]
    with pytest.raises(ContractError, match=r"^QC-91 is defined twice$"):
        registry([*contracts, ReadOne(**{**ONE, "purpose": "Another"})])


def test_a_write_reads_only_what_it_declares() -> None:
    read = ItemRead(name="locker", codec=LOCKER)
    together = BatchRead(items=(read, replace(read, name="owner", codec=OWNER)))
    ranged = RangeRead(name="lockers", range=keys.owner_lockers, codec=OWNER_LOCKER, limit=10, forward=False)
    write = WriteContract(**{**WRITE, "reads": (replace(read, name="two", at_once=2), together, ranged)})
    assert write.item_operation("two", [("l1",)]) == Get("QC-93", Key("LOCKER#l1", "META"), consistent=True)
    assert write.item_operation("two", [("l1",), ("l2",)]) == BatchGet(
        "QC-93", (Key("LOCKER#l1", "META"), Key("LOCKER#l2", "META")), consistent=True
    )
    assert write.batch_operation(owner=("o",), locker=("l1",)) == BatchGet(
        "QC-93", (Key("LOCKER#l1", "META"), Key("OWNER#o", "META")), consistent=True
    )
    assert write.range_operation("lockers", "o") == Query(
        "QC-93", Prefix("OWNER#o", "LOCKER#"), 10, forward=False, start=None, consistent=True
    )
    with pytest.raises(ContractError, match=r"^QC-93 reads 1 to 2 of two at once, not 3$"):
        write.item_operation("two", [("l1",), ("l2",), ("l3",)])
    with pytest.raises(ContractError, match=r"^QC-93 declares no read locker$"):
        write.item_operation("locker", [("l1",)])
    with pytest.raises(ContractError, match=r"^QC-93 declares no batch of locker$"):
        write.batch_operation(locker=("l1",))
    with pytest.raises(ContractError, match=r"^QC-93 declares no read two$"):
        write.range_operation("two", "o")


def test_a_write_sends_only_what_it_declares() -> None:
    write = WriteContract(**WRITE)
    step = write.step("locker", ("l1",))
    with pytest.raises(ContractError, match=r"^QC-93 declares no step owner$"):
        write.step("owner", ("o",))
    with pytest.raises(ContractError, match=r"^QC-93 does not write 2 items in a transaction$"):
        write.transact(step, step)
    with pytest.raises(ContractError, match=r"^QC-93 does not write 2 items of locker$"):
        WriteContract(**{**WRITE, "most_steps": 2}).transact(step, step)
    with pytest.raises(ContractError, match=r"^QC-93 declares no step owner$"):
        write.transact(replace(step, name="owner"))
    with pytest.raises(ContractError, match=r"^QC-93 declares another step locker$"):
        write.transact(replace(step, condition=None))
    with pytest.raises(ContractError, match=r"^QC-93 does not put locker alone$"):
        write.put(step)
    with pytest.raises(ContractError, match=r"^QC-93 does not update locker alone$"):
        write.update(step)
    assert WriteContract(**{**WRITE, "operation": "PutItem"}).put(write.step("locker", ("l1",), {"a": 1})) == Put(
        "QC-93", Key("LOCKER#l1", "META"), {"a": 1}, "attribute_not_exists(#PK)"
    )


def test_two_reads_of_one_name_or_a_read_of_an_unknown_variant_are_refused() -> None:
    read = ItemRead(name="locker", codec=LOCKER)
    with pytest.raises(ContractError, match=r"^QC-93 must name each of its reads once$"):
        WriteContract(**{**WRITE, "reads": (read, read)})
    with pytest.raises(ContractError, match=r"^QC-93 has no variant extend$"):
        WriteContract(**{**WRITE, "variants": ("cancel",), "reads": (replace(read, only=("extend",)),)})


def test_a_page_costs_its_items_and_the_one_it_looks_ahead_to() -> None:
    page = ReadPage(**PAGE)
    assert page.maximum(100) == Cost(1, 101, 18.5)  # 101 items of 1500 bytes: 36.99 times 4 KB, rounded up, half
    assert page.expected(100) == Cost(1, 101, 4)
    one = PageRule(default=1, maximum=1, look_ahead=0)
    assert ReadPage(**{**PAGE, "page_rule": one}).maximum(1) == Cost(1, 1, 0.5)


def test_a_write_costs_its_most_expensive_steps_and_a_transaction_twice_that() -> None:
    small = replace(NEW, name="claim", item_bytes=100)
    many = replace(NEW, name="event", most=3)
    assert WriteContract(**WRITE).write_units == 4
    assert WriteContract(**{**WRITE, "operation": "PutItem"}).write_units == 2
    assert WriteContract(**{**WRITE, "steps": (small, NEW)}).write_units == 4
    assert WriteContract(**{**WRITE, "steps": (small, NEW), "most_steps": 2}).write_units == 6
    assert WriteContract(**{**WRITE, "steps": (small, many), "most_steps": 4, "operation": "PutItem"}).write_units == 14


@pytest.mark.parametrize(("index_writes", "units"), [(0, 4), (1, 6), (2, 8)])
def test_a_write_of_the_index_costs_its_size_once_beside_the_tables_twice(index_writes: int, units: int) -> None:
    rule = replace(NEW, index_writes=index_writes)
    assert WriteContract(**{**WRITE, "steps": (rule,)}).write_units == units
    small = replace(NEW, name="claim", item_bytes=100)
    assert WriteContract(**{**WRITE, "steps": (small, rule)}).write_units == units
    assert WriteContract(**{**WRITE, "steps": (small, rule), "most_steps": 2}).write_units == units + 2


def test_a_step_is_expensive_by_its_index_too() -> None:
    large = replace(NEW, name="large", item_bytes=2049)
    indexed = replace(NEW, name="indexed", index_writes=2)
    assert WriteContract(**{**WRITE, "steps": (large, indexed)}).write_units == 8
    assert WriteContract(**{**WRITE, "steps": (large,)}).write_units == 6
