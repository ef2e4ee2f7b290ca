"""Values on the wire: tagged with their type, numbers exact to the last digit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.models import LockerStatus
from loaders.table.values import WireItem, from_wire, item_from_wire, item_to_wire, to_wire

NUMBERS = st.integers(-(10**38) + 1, 10**38 - 1) | st.builds(
    lambda digits, exponent: Decimal(digits).scaleb(exponent),
    st.integers(-(10**28) + 1, 10**28 - 1),
    st.integers(-60, 60),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.text() | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        ("", {"S": ""}),
        ("text", {"S": "text"}),
        (True, {"BOOL": True}),
        (False, {"BOOL": False}),
        (None, {"NULL": True}),
        (0, {"N": "0"}),
        (-7, {"N": "-7"}),
        (10**37 + 1, {"N": "10000000000000000000000000000000000001"}),
        (Decimal("0.1"), {"N": "0.1"}),
        (Decimal("3.1415926535897932384626433832795028841"), {"N": "3.1415926535897932384626433832795028841"}),
        ([], {"L": []}),
        ([1, "a", None], {"L": [{"N": "1"}, {"S": "a"}, {"NULL": True}]}),
        ({}, {"M": {}}),
        ({"a": {"b": [True]}}, {"M": {"a": {"M": {"b": {"L": [{"BOOL": True}]}}}}}),
    ],
)
def test_a_value_goes_to_the_wire_and_comes_back_as_itself(value: Any, wire: dict[str, Any]) -> None:
    assert to_wire(value) == wire
    back = from_wire(wire)
    assert back == value
    assert type(back) is type(value)


@given(VALUES)
def test_any_json_value_survives_the_wire_exactly(value: Any) -> None:
    assert from_wire(to_wire(value)) == value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.0", 1),
        ("100", 100),
        ("1E+2", 100),
        ("-0", 0),
        ("99999999999999999999999999999999999999", int("9" * 38)),
        ("1.5", Decimal("1.5")),
        ("1.50", Decimal("1.5")),
        ("1E-130", Decimal("1E-130")),
        ("0.00000000000000000000000000000000000001", Decimal("1E-38")),
    ],
)
def test_a_number_is_a_whole_one_or_a_decimal_and_never_a_float(text: str, number: int | Decimal) -> None:
    value = from_wire({"N": text})
    assert value == number
    assert type(value) is type(number)


def test_an_enums_member_is_stored_as_its_plain_text() -> None:
    stored = to_wire(LockerStatus.AVAILABLE)["S"]
    assert stored == "AVAILABLE"
    assert type(stored) is str


def test_a_tuple_is_stored_as_a_list() -> None:
    assert to_wire((1, 2)) == {"L": [{"N": "1"}, {"N": "2"}]}


@pytest.mark.parametrize("value", [1.5, float("nan"), b"x", {1}, object()])
def test_what_cannot_be_stored_exactly_is_refused_floats_first_of_all(value: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{type(value).__name__} cannot be stored exactly$"):
        to_wire({"a": [value]})


@pytest.mark.parametrize("wire", [{"B": "eA=="}, {"SS": ["a"]}, {"NS": ["1"]}, {"BS": ["eA=="]}])
def test_a_type_that_no_item_of_ours_has_is_refused(wire: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"^no item of this table has a value of type "):
        from_wire(wire)


def test_a_whole_item_is_translated_attribute_by_attribute() -> None:
    item = {"PK": "LOCKER#l1", "version": 3, "metadata": {"a": Decimal("0.5")}}
    wire: WireItem = {"PK": {"S": "LOCKER#l1"}, "version": {"N": "3"}, "metadata": {"M": {"a": {"N": "0.5"}}}}
    assert item_to_wire(item) == wire
    assert item_from_wire(wire) == item


async def test_numbers_of_38_digits_are_kept_exactly_by_the_store(plain_client: Any, table: str) -> None:
    numbers = [
        int("9" * 38),
        -int("9" * 38),
        10**125,
        Decimal("1E-130"),
        Decimal("0." + "1234567890" * 3 + "12345678"),
        Decimal("9." + "9" * 37 + "E+125"),
    ]
    item = item_to_wire({"PK": "p", "SK": "s", "numbers": numbers})
    await plain_client.put_item(TableName=table, Item=item)
    answer = await plain_client.get_item(TableName=table, Key={"PK": {"S": "p"}, "SK": {"S": "s"}})
    assert item_from_wire(answer["Item"])["numbers"] == numbers
