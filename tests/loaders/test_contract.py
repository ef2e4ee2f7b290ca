"""What no contract may be: each principle, broken once, is refused when the contract is made."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from domain.models import LockerId, OwnerId
from loaders import keys
from loaders.contract import (
    Consistency,
    ContractError,
    GetContract,
    Order,
    Page,
    QueryContract,
    StepRule,
    WriteContract,
    registry,
)
from loaders.table.operations import Action, Key

GET: dict[str, Any] = {
    "id": "QC-91",
    "purpose": "A locker",
    "operation": "GetItem",
    "key": keys.locker,
    "fields": ("Query.locker",),
    "item_bytes": 5000,
}
QUERY: dict[str, Any] = {
    "id": "QC-92",
    "purpose": "Lockers",
    "operation": "Query",
    "range": keys.owner_lockers,
    "page": Page(),
    "fields": ("Owner.lockers",),
    "item_bytes": 1500,
}
NEW = StepRule(name="locker", action=Action.PUT, key=keys.locker, condition="attribute_not_exists(#PK)")
WRITE: dict[str, Any] = {
    "id": "QC-93",
    "purpose": "Write a locker",
    "operation": "TransactWriteItems",
    "steps": (NEW,),
    "most_steps": 1,
    "fields": ("Mutation.registerLocker",),
    "item_bytes": 1500,
}
KINDS = [(GetContract, GET), (QueryContract, QUERY), (WriteContract, WRITE)]


@pytest.mark.parametrize(("kind", "good"), KINDS)
def test_a_contract_that_keeps_the_principles_can_be_made(kind: type[Any], good: dict[str, Any]) -> None:
    assert kind(**good).id == good["id"]


@pytest.mark.parametrize(("kind", "good"), KINDS[:2])
def test_no_read_may_update(kind: type[Any], good: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match=r"may not use UpdateItem$"):
        kind(**{**good, "operation": "UpdateItem"})


def test_an_update_without_a_transaction_costs_its_size_once_for_each_step_that_is_tried() -> None:
    rules = tuple(
        StepRule(name=name, action=Action.UPDATE, key=keys.locker, condition="#a = :a") for name in ("first", "second")
    )
    plain = {**WRITE, "operation": "UpdateItem", "steps": rules, "item_bytes": 300}
    assert [WriteContract(**{**plain, "most_steps": most}).write_units for most in (1, 2)] == [1, 2]


@pytest.mark.parametrize(("kind", "good"), KINDS)
@pytest.mark.parametrize("operation", ["Scan", "ExecuteStatement", "DeleteItem", "BatchWriteItem", ""])
def test_no_contract_may_scan_or_use_an_operation_that_is_not_its_kinds(
    kind: type[Any], good: dict[str, Any], operation: str
) -> None:
    with pytest.raises(ContractError, match=rf"^{good['id']} may not use {operation}$"):
        kind(**{**good, "operation": operation})


@pytest.mark.parametrize(
    ("kind", "good", "operation"),
    [(GetContract, GET, "Query"), (QueryContract, QUERY, "GetItem"), (WriteContract, WRITE, "Query")],
)
def test_a_contract_uses_no_operation_of_another_kind(kind: type[Any], good: dict[str, Any], operation: str) -> None:
    with pytest.raises(ContractError, match=rf"may not use {operation}$"):
        kind(**{**good, "operation": operation})


@pytest.mark.parametrize("bad", ["", "QC-1", "QC-001", "QC-1a", "AP-01", "qc-01", "QC-01\n", "QC-\u0660\u0661"])
def test_a_contract_has_an_id_of_the_one_form(bad: str) -> None:
    with pytest.raises(ContractError, match=r" is not an id such as QC-01$"):
        GetContract(**{**GET, "id": bad})


@pytest.mark.parametrize("missing", [{"purpose": ""}, {"fields": ()}, {"item_bytes": 0}, {"item_bytes": -1}])
@pytest.mark.parametrize(("kind", "good"), KINDS)
def test_a_contract_says_its_purpose_its_fields_and_its_items_size(
    kind: type[Any], good: dict[str, Any], missing: dict[str, Any]
) -> None:
    with pytest.raises(ContractError, match=r" must say its purpose, the fields that use it and its items' size$"):
        kind(**{**good, **missing})


@pytest.mark.parametrize(("default", "maximum"), [(1, 1), (25, 100), (100, 100)])
def test_a_page_of_1_to_100_items_is_allowed(default: int, maximum: int) -> None:
    page = Page(default, maximum)
    assert (page.default, page.maximum, page.look_ahead) == (default, maximum, 1)


def test_a_page_is_25_by_default_and_100_at_most() -> None:
    assert Page() == Page(default=25, maximum=100, look_ahead=1)


@pytest.mark.parametrize(("default", "maximum"), [(25, 101), (101, 101), (0, 100), (-1, 100), (26, 25), (0, 0)])
def test_a_page_of_more_than_100_items_or_of_none_is_refused(default: int, maximum: int) -> None:
    with pytest.raises(ContractError, match=r"^a page holds 1 to 100 items, its default no more than its maximum$"):
        Page(default, maximum)


def test_a_page_that_is_read_as_a_whole_may_hold_200_items() -> None:
    assert Page(200, 200, look_ahead=0, whole=True).maximum == 200
    assert not Page().whole


@pytest.mark.parametrize(("default", "maximum"), [(201, 201), (1, 201), (0, 200), (-1, 200), (200, 184)])
def test_even_a_page_that_is_read_as_a_whole_has_a_bound(default: int, maximum: int) -> None:
    with pytest.raises(ContractError, match=r"^a page holds 1 to 200 items, its default no more than its maximum$"):
        Page(default, maximum, look_ahead=0, whole=True)


@pytest.mark.parametrize("maximum", [101, 184, 200])
def test_a_page_of_more_than_100_items_must_say_that_it_is_read_as_a_whole(maximum: int) -> None:
    with pytest.raises(ContractError, match=r"^a page holds 1 to 100 items, "):
        Page(25, maximum)


@pytest.mark.parametrize("page", [None, 25])
def test_a_list_without_a_page_is_refused(page: object) -> None:
    with pytest.raises(ContractError, match=r"^QC-92 must have a page: no list is unbounded$"):
        QueryContract(**{**QUERY, "page": page})


def test_a_list_without_an_order_is_refused() -> None:
    with pytest.raises(ContractError, match=r"^QC-92 must say its order$"):
        QueryContract(**{**QUERY, "orders": ()})


@pytest.mark.parametrize("consistency", [Consistency.STRONG, Consistency.EVENTUAL_OR_STRONG])
def test_a_strong_read_on_an_index_is_refused(consistency: Consistency) -> None:
    with pytest.raises(ContractError, match=r"^QC-92 asks for a strong read on an index, which has none$"):
        QueryContract(**{**QUERY, "index": "GSI1", "consistency": consistency})
    QueryContract(**{**QUERY, "index": "GSI1"})
    QueryContract(**{**QUERY, "consistency": consistency})


@pytest.mark.parametrize("action", [Action.UPDATE, Action.CHECK])
def test_a_step_that_updates_or_checks_must_say_what_it_assumes(action: Action) -> None:
    rule = StepRule(name="copy", action=action, key=keys.locker, condition=None)
    with pytest.raises(ContractError, match=r"^QC-93 must say what copy assumes: without it a ghost is made$"):
        WriteContract(**{**WRITE, "steps": (NEW, rule)})


@pytest.mark.parametrize("action", [Action.PUT, Action.DELETE])
def test_a_step_that_puts_or_deletes_may_do_so_whatever_is_there(action: Action) -> None:
    rule = StepRule(name="copy", action=action, key=keys.locker, condition=None)
    assert WriteContract(**{**WRITE, "steps": (NEW, rule)}).step("copy", Key("p", "s")).condition is None


@pytest.mark.parametrize("steps", [(), (NEW, NEW), (NEW, dataclasses.replace(NEW, action=Action.DELETE))])
def test_a_write_without_steps_or_with_one_name_for_two_is_refused(steps: tuple[StepRule, ...]) -> None:
    with pytest.raises(ContractError, match=r"^QC-93 must name each of its steps once$"):
        WriteContract(**{**WRITE, "steps": steps})


@pytest.mark.parametrize("most_steps", [0, -1, 101])
def test_a_write_of_more_than_100_items_or_of_none_is_refused(most_steps: int) -> None:
    with pytest.raises(ContractError, match=r"^QC-93 must write 1 to 100 items at once$"):
        WriteContract(**{**WRITE, "most_steps": most_steps})


def test_a_write_of_100_items_is_allowed() -> None:
    assert WriteContract(**{**WRITE, "most_steps": 100}).most_steps == 100


def test_an_id_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ContractError, match=r"^QC-91 is there twice$"):
        registry([GetContract(**GET), QueryContract(**QUERY), GetContract(**{**GET, "purpose": "Another"})])


def test_the_registry_is_in_the_order_of_the_ids() -> None:
    contracts = [WriteContract(**WRITE), GetContract(**GET), QueryContract(**QUERY)]
    assert list(registry(contracts)) == ["QC-91", "QC-92", "QC-93"]


def test_every_operation_carries_the_id_of_its_contract() -> None:
    get, query, write = GetContract(**GET), QueryContract(**QUERY), WriteContract(**WRITE)
    key = keys.locker(LockerId("l1"))
    assert get.get(key).contract == "QC-91"
    assert get.batch([key]).contract == "QC-91"
    assert query.query(keys.owner_lockers(OwnerId("acme")), limit=1).contract == "QC-92"
    assert write.transact(write.step("locker", key)).contract == "QC-93"


def test_a_step_takes_its_action_and_condition_from_its_rule_and_its_values_from_the_call() -> None:
    rule = StepRule(name="locker", action=Action.UPDATE, key=keys.locker, condition="#version = :expected")
    step = WriteContract(**{**WRITE, "steps": (rule,)}).step("locker", Key("p", "s"), {"version": 2}, expected=1)
    assert (step.name, step.action, step.key) == ("locker", Action.UPDATE, Key("p", "s"))
    assert (step.attributes, step.condition, step.values) == ({"version": 2}, "#version = :expected", {":expected": 1})


def test_a_read_by_key_costs_half_a_unit_for_every_4_kb_and_twice_that_through_a_claim() -> None:
    assert GetContract(**{**GET, "item_bytes": 4096}).read_units == 0.5
    assert GetContract(**GET).read_units == 1
    through_claim = GetContract(**GET, claim=keys.email_claim)
    assert (through_claim.operations, through_claim.read_units) == (2, 2)
    assert GetContract(**GET).operations == 1


def test_a_claim_that_is_smaller_than_its_item_costs_its_own_size() -> None:
    assert GetContract(**GET, claim=keys.email_claim, claim_bytes=600).read_units == 1.5
    assert GetContract(**GET, claim=keys.email_claim, claim_bytes=4097).read_units == 2
    assert GetContract(**GET, claim_bytes=600).read_units == 1


def test_a_list_costs_its_largest_page_and_the_item_it_looks_ahead_to() -> None:
    assert QueryContract(**QUERY).read_units == 18.5  # 101 items of 1500 bytes: 36.99 times 4 KB, rounded up, half
    one = Page(default=1, maximum=1, look_ahead=0)
    assert QueryContract(**{**QUERY, "page": one, "orders": (Order.DESC,)}).read_units == 0.5


def test_a_write_costs_its_dearest_steps_and_a_transaction_twice_that() -> None:
    small = dataclasses.replace(NEW, name="claim", item_bytes=100)
    many = dataclasses.replace(NEW, name="event", most=3)
    assert WriteContract(**WRITE).write_units == 4
    assert WriteContract(**{**WRITE, "operation": "PutItem"}).write_units == 2
    assert WriteContract(**{**WRITE, "steps": (small, NEW)}).write_units == 4
    assert WriteContract(**{**WRITE, "steps": (small, NEW), "most_steps": 2}).write_units == 6
    assert WriteContract(**{**WRITE, "steps": (small, many), "most_steps": 4, "operation": "PutItem"}).write_units == 14


@pytest.mark.parametrize(("index_writes", "units"), [(0, 4), (1, 6), (2, 8)])
def test_a_write_of_the_index_costs_its_size_once_beside_the_tables_twice(index_writes: int, units: int) -> None:
    rule = dataclasses.replace(NEW, index_writes=index_writes)
    assert WriteContract(**{**WRITE, "steps": (rule,)}).write_units == units
    small = dataclasses.replace(NEW, name="claim", item_bytes=100)
    assert WriteContract(**{**WRITE, "steps": (small, rule)}).write_units == units
    assert WriteContract(**{**WRITE, "steps": (small, rule), "most_steps": 2}).write_units == units + 2


def test_a_step_is_dear_by_its_index_too() -> None:
    large = dataclasses.replace(NEW, name="large", item_bytes=2049)
    indexed = dataclasses.replace(NEW, name="indexed", index_writes=2)
    assert WriteContract(**{**WRITE, "steps": (large, indexed)}).write_units == 8
    assert WriteContract(**{**WRITE, "steps": (large,)}).write_units == 6
