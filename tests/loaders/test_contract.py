import re
from dataclasses import replace
from typing import Any

import pytest

from domain.models import Locker
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import LOCKER, OWNER, OWNER_LOCKER
from loaders.contracts.base import Consistency, ContractError, PageRule, registry
from loaders.contracts.cost import Cost, Part
from loaders.contracts.lockers import LOCKER_BY_ID, OWNER_LOCKERS, REGISTER_LOCKER
from loaders.contracts.owners import SAVE_OWNER
from loaders.contracts.write_parts import BatchRead, ItemRead, RangeRead, StepRule
from loaders.conversion import Codec
from loaders.table.operations import Action, BatchGet, Put, Query, Step
from loaders.table.positions import Key, Prefix
from tests.wire import Answer, Wire

ONE, PAGE = LOCKER_BY_ID, OWNER_LOCKERS
NEW = StepRule(name="locker", action=Action.PUT, item=LOCKER, condition="attribute_not_exists(#PK)")
WRITE = replace(REGISTER_LOCKER, steps=(NEW,), most_steps=1, emits=(), silent="It is a test.")
READ = ItemRead(name="locker", codec=LOCKER)
STATED_PURPOSE = "must state its purpose, expected cardinality and hot-partition risk"
UNCONDITIONAL = [replace(NEW, name="copy", action=action, condition=None) for action in (Action.UPDATE, Action.CHECK)]


@pytest.mark.parametrize(
    ("good", "changes", "problem"),
    [
        *(
            (WRITE, {"operation": operation}, f"QC-11 must not use {operation}")
            for operation in ("Scan", "Query", "GetItem", "ExecuteStatement", "DeleteItem", "BatchWriteItem", "")
        ),
        *(
            (ONE, {"id": bad}, f"{bad!r} is not an id such as QC-01")
            for bad in ("", "QC-1", "QC-001", "QC-1a", "AP-01", "qc-01", "QC-01\n", "QC-\u0660\u0661")
        ),
        *(
            (good, {name: ""}, f"{good.id} {STATED_PURPOSE}")
            for good in (ONE, PAGE, WRITE)
            for name in ("purpose", "cardinality", "hot_partition")
        ),
        (WRITE, {"steps": (replace(NEW, item=keys.locker),)}, "QC-11 must state the size of its items"),
        *(
            (
                good,
                {"codec": Codec(Locker, "LOCKER", largest=largest, usual=usual)},
                f"{good.id} must read items whose largest and usual sizes are stated",
            )
            for good in (ONE, PAGE)
            for largest, usual in ((0, 0), (1500, 0), (1500, 1501))
        ),
        *((PAGE, {"page_rule": rule}, "QC-02 must have a page: no list is unbounded") for rule in (None, 25)),
        (PAGE, {"orders": ()}, "QC-02 must state its order"),
        *(
            (WRITE, {"steps": (NEW, rule)}, "QC-11 must state a condition for copy: it would create a missing item")
            for rule in UNCONDITIONAL
        ),
        *(
            (WRITE, {"steps": steps}, "QC-11 must name each of its steps once")
            for steps in ((), (NEW, NEW), (NEW, replace(NEW, action=Action.DELETE)))
        ),
        (WRITE, {"silent": ""}, "QC-11 must state what it emits, or why nothing"),
        (WRITE, {"emits": REGISTER_LOCKER.emits}, "QC-11 must state what it emits, or why nothing"),
        *((WRITE, {"most_steps": most}, "QC-11 must write 1 to 100 items at once") for most in (0, -1, 101)),
        (WRITE, {"reads": (READ, READ)}, "QC-11 must name each of its reads once"),
        (WRITE, {"variants": ("cancel",), "reads": (replace(READ, only=("extend",)),)}, "QC-11 has no variant extend"),
    ],
)
def test_a_contract_that_breaks_a_principle_is_refused(good: Any, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ContractError, match=f"^{re.escape(problem)}$"):
        replace(good, **changes)


def test_the_operation_of_a_read_cannot_be_chosen() -> None:
    for good, operation in ((ONE, "GetItem"), (PAGE, "Query")):
        assert good.operation == operation
        with pytest.raises((ValueError, TypeError), match="operation"):  # a TypeError from Python 3.13 on
            replace(good, operation="Scan")


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("default", "maximum"),
    [(1, 1), (25, 100), (100, 100), (25, 101), (200, 200), (201, 201), (0, 100), (-1, 100), (26, 25), (0, 0)],
)
def test_a_page_has_1_to_100_items_or_200_where_it_is_read_whole(default: int, maximum: int, *, whole: bool) -> None:
    most = 200 if whole else 100
    if 1 <= default <= maximum <= most:
        assert PageRule(default, maximum, whole=whole).look_ahead == 1
    else:
        with pytest.raises(ContractError, match=rf"^a page has 1 to {most} items, and its default must not exceed "):
            PageRule(default, maximum, whole=whole)


async def test_a_read_that_the_contract_does_not_allow_cannot_be_sent(backend: Backend, wire: Wire) -> None:
    eventual, either, strong = (replace(ONE, consistency=consistency) for consistency in Consistency)
    with pytest.raises(ContractError, match=r"^QC-01 has no strong read$"):
        await eventual.read(backend.store, "l1", consistent=True)
    for count in (0, 101):
        with pytest.raises(ContractError, match=rf"^QC-01 reads 1 to 100 items at once, not {count}$"):
            await eventual.read_many(backend.store, [(f"l{number}",) for number in range(count)])
    assert not wire.calls
    for contract, consistent in ((eventual, False), (either, False), (either, True), (strong, False)):
        assert await contract.read(backend.store, "l1", consistent=consistent) is None
    assert [call.request["ConsistentRead"] for call in wire.calls] == [False, False, True, True]


def test_the_registry_has_each_id_once_in_order() -> None:
    contracts = [WRITE, ONE, PAGE]
    assert list(registry(contracts)) == ["QC-01", "QC-02", "QC-11"]
    with pytest.raises(ContractError, match=r"^QC-01 is defined twice$"):
        registry([*contracts, replace(ONE, purpose="Another")])


async def test_a_write_reads_only_what_it_declares(backend: Backend, wire: Wire) -> None:
    together = BatchRead(items=(READ, replace(READ, name="owner", codec=OWNER)))
    ranged = RangeRead(name="lockers", range=keys.owner_lockers, codec=OWNER_LOCKER, limit=10, forward=False)
    write = replace(WRITE, reads=(replace(READ, name="two", at_once=2), together, ranged))
    assert await write.read(backend.store, "two", "l1") is None
    assert await write.read_many(backend.store, "two", [("l1",), ("l2",)]) == [None, None]
    assert [len(call.keys) for call in wire.calls] == [1, 2]
    assert wire.operations == {"GetItem": 1, "BatchGetItem": 1}
    assert all("'ConsistentRead': True" in str(call.request) for call in wire.calls)
    assert write.batch_operation(owner=("o",), locker=("l1",)) == BatchGet(
        "QC-11", (Key("LOCKER#l1", "META"), Key("OWNER#o", "META")), consistent=True
    )
    assert write.range_operation("lockers", "o") == Query(
        "QC-11", Prefix("OWNER#o", "LOCKER#"), 10, forward=False, start=None, consistent=True
    )
    with pytest.raises(ContractError, match=r"^QC-11 reads 1 to 2 of two at once, not 3$"):
        await write.read_many(backend.store, "two", [("l1",), ("l2",), ("l3",)])
    with pytest.raises(ContractError, match=r"^QC-11 declares no read locker$"):
        await write.read(backend.store, "locker", "l1")
    with pytest.raises(ContractError, match=r"^QC-11 declares no batch of locker$"):
        write.batch_operation(locker=("l1",))
    with pytest.raises(ContractError, match=r"^QC-11 declares no read two$"):
        write.range_operation("two", "o")


async def test_several_writes_share_reads_of_100_keys_and_fail_one_by_one(backend: Backend, wire: Wire) -> None:
    write = replace(WRITE, reads=(replace(READ, at_once=2),))
    places = [(f"l{number}",) for number in range(160)]
    with pytest.raises(ContractError, match=r"^QC-11 reads at most 158 of locker for 79 writes, not 160$"):
        await write.read_together(backend.store, 79, "locker", places)
    assert await write.read_together(backend.store, 80, "locker", []) == {}
    assert not wire.calls
    wire.fault = lambda call: Answer.error("ValidationException") if ("LOCKER#l159", "META") in call.keys else None
    found = await write.read_together(backend.store, 80, "locker", [*places, *places])
    assert sorted(len(call.keys) for call in wire.calls) == [60, 100]
    assert list(found) == [("locker", place) for place in places]
    assert [record is None for record in found.values()] == [True] * 100 + [False] * 60
    assert isinstance(found["locker", ("l159",)], Exception)


def test_a_write_sends_only_what_it_declares() -> None:
    write = WRITE
    step = write.step("locker", ("l1",))
    with pytest.raises(ContractError, match=r"^QC-11 declares no step owner$"):
        write.step("owner", ("o",))
    with pytest.raises(ContractError, match=r"^QC-11 does not write 2 items in a transaction$"):
        write.transact(step, step)
    with pytest.raises(ContractError, match=r"^QC-11 does not write 2 items of locker$"):
        replace(write, most_steps=2).transact(step, step)
    alone = replace(write, operation="PutItem")
    for send in (write.transact, alone.put):
        with pytest.raises(ContractError, match=r"^QC-11 declares no step owner$"):
            send(replace(step, name="owner"))
        with pytest.raises(ContractError, match=r"^QC-11 declares another step locker$"):
            send(replace(step, condition="attribute_exists(#PK)"))
    with pytest.raises(ContractError, match=r"^QC-11 does not put locker alone$"):
        write.put(step)
    with pytest.raises(ContractError, match=r"^QC-11 does not update locker alone$"):
        write.update(step)
    step = write.step("locker", ("l1",), {"a": 1})
    assert step == Step("locker", Action.PUT, Key("LOCKER#l1", "META"), {"a": 1}, "attribute_not_exists(#PK)")
    assert alone.put(step) == Put("QC-11", step)


def test_a_price_is_for_a_variant_that_the_contract_has_and_for_the_entries_of_the_request() -> None:
    for variant in ("extend", "remove", None):
        with pytest.raises(ContractError, match=rf"^QC-22 has no variant {variant}$"):
            SAVE_OWNER.costs(variant, 1)
    together = Part(operation="BatchGetItem", sizes=(100,) * 25)
    one_by_one = Part(operation="GetItem", sizes=(100,), most=50)
    assert (together.cost(2, 25), one_by_one.cost(2, 25)) == (Cost(1, 2, 2), Cost(4, 4, 4))
    assert replace(together, most=5).cost(1, 25) == Cost(5, 5, 5), "it is repeated as a whole"
