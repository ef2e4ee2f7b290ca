from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaders.table.values import from_wire, item_from_wire, item_to_wire, to_wire

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


@pytest.mark.parametrize("value", [1.5, float("nan"), b"x", {1}, object()])
def test_a_value_that_cannot_be_stored_exactly_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{type(value).__name__} cannot be stored exactly$"):
        to_wire({"a": [value]})


@pytest.mark.parametrize("wire", [{"B": "eA=="}, {"SS": ["a"]}, {"NS": ["1"]}, {"BS": ["eA=="]}])
def test_a_type_that_no_item_of_ours_has_is_refused(wire: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"^no item of this table has a value of type "):
        from_wire(wire)


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
