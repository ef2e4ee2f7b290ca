import json
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.metadata import check_metadata

MAX_BYTES = 16 * 1024
DEPTH = "must not be nested deeper than 5 levels"
KEYS = "must have at most 50 keys, counting all levels"
KEY_LENGTH = "must have keys of 1 to 255 characters"
NUMBER = "must contain only numbers of at most 38 digits and with exponents from -130 to 125"
OBJECT = "must be a JSON object"
SURROGATE = "must not contain unpaired surrogates"


def nested(levels: int, *, innermost: Any) -> Any:
    """An object with so many levels, alternating lists and objects, around the innermost value."""
    value = innermost
    for level in range(levels - 1):
        value = [value] if level % 2 else {"a": value}
    return {"a": value}


def keys(count: int) -> dict[str, Any]:
    return {f"k{number}": number for number in range(count)}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": None, "b": True, "c": False},
        {"a": 0, "b": -1, "c": Decimal("0.1"), "d": Decimal("-1.50")},
        {"a": "", "b": "text", "c": "\x00", "d": "日本語 😀"},
        {"a": [], "b": {}, "c": [1, "a", None, [True]]},
        {"key with # and ~": 1, "k" * 255: 1},
        keys(50),
        {**keys(42), "list": [{"a": 1, "b": 2}, {"a": 1, "b": {"c": 1, "d": 2}}], "x": 1},  # 50 keys
        nested(5, innermost="text"),
        *[nested(4, innermost=innermost) for innermost in ({}, [], {"a": 1}, [1])],
    ],
)
def test_metadata_within_the_limits_is_returned_unchanged(value: Any) -> None:
    assert check_metadata(value) == value


@pytest.mark.parametrize(
    ("message", "values"),
    [
        (OBJECT, [[], [1, 2], [["a", 1]], "text", "", 5, 0, True, Decimal("1.5"), None, 1.5]),
        (KEYS, [keys(51), {**keys(43), "list": [{"a": 1, "b": 2}, {"a": 1, "b": {"c": 1, "d": 2}}], "x": 1}]),
        (KEY_LENGTH, [{"a": [{"": 1}]}, {"a": [{"k" * 256: 1}]}]),
        (SURROGATE, [{"\ud800": 1}, {"a": "\udfff"}, {"a": ["x", "\ud83d"]}]),
        (DEPTH, [nested(5, innermost=innermost) for innermost in ({}, [], {"a": 1}, [1])]),
        (DEPTH, [nested(100_000, innermost=1)]),
        # Too large, so the float inside it is not reported.
        ("must be at most 16 KB; it is 20007 bytes", [{"a": [1.5, *[1] * 9998]}]),
        *[
            (f"must contain only JSON values, not {type(value).__name__}", [{"a": [value]}])
            for value in (1.5, float("nan"), b"x", (1,), {1}, 1j)
        ],
    ],
)
def test_metadata_beyond_a_limit_is_rejected(message: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            check_metadata(value)


@pytest.mark.parametrize("char", ["x", "é", "日", "😀"])
def test_the_size_of_metadata_is_counted_in_bytes_of_utf_8(char: str) -> None:
    room = MAX_BYTES - len('{"a":""}')
    width = len(char.encode())
    value = {"a": "x" * (room % width) + char * (room // width)}
    assert len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) == MAX_BYTES
    assert check_metadata(value) == value

    value["a"] += "x"
    with pytest.raises(ValueError, match=r"^must be at most 16 KB; it is 16385 bytes$"):
        check_metadata(value)


@pytest.mark.parametrize(
    "number",
    [
        *[int("9" * 38), -int("9" * 38), int("1" + "0" * 36 + "1"), 10**125],
        *map(Decimal, ["9" * 38, "0." + "9" * 38, "1." + "0" * 36 + "1", "1." + "0" * 60, "9." + "9" * 37 + "E+125"]),
        *map(Decimal, ["1E-130", "-1E-130", "0.00"]),
    ],
)
def test_a_number_that_the_table_stores_exactly_is_accepted(number: int | Decimal) -> None:
    assert check_metadata({"a": number}) == {"a": number}


@pytest.mark.parametrize(
    "number",
    [
        *[int("1" * 39), -int("1" * 39), int("1" + "0" * 37 + "1"), 10**126, int("1" * 4000)],
        *map(Decimal, ["1" * 39, "0." + "1" * 39, "1." + "0" * 37 + "1", "1E+126", "1E-131", "1E+9999999"]),
        *map(Decimal, ["1E-9999999", "NaN", "sNaN", "Infinity", "-Infinity"]),
    ],
)
def test_a_number_that_the_table_would_round_is_rejected(number: int | Decimal) -> None:
    with pytest.raises(ValueError, match=f"^{NUMBER}$"):
        check_metadata({"a": [number]})


@given(st.integers(1, 10**50), st.integers(-40, 40))
def test_a_number_is_accepted_if_it_has_at_most_38_significant_digits(digits: int, exponent: int) -> None:
    number = Decimal(f"{digits}E{exponent}")
    try:
        accepted = check_metadata({"a": number}) == {"a": number}
    except ValueError:
        accepted = False
    assert accepted == (len(str(digits).rstrip("0")) <= 38)
