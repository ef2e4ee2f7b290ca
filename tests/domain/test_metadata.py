"""An event's metadata: a JSON object within its limits, every one of them tried on both sides."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.text import check_metadata

LONGEST = 16 * 1024


def nested(levels: int, *, innermost: Any) -> Any:
    """An object with so many levels, lists and objects by turns."""
    value = innermost
    for level in range(levels - 1):
        value = [value] if level % 2 else {"a": value}
    return {"a": value}


def spelled(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": None},
        {"a": True, "b": False},
        {"a": 0, "b": -1, "c": Decimal("0.1"), "d": Decimal("-1.50")},
        {"a": "", "b": "text", "c": "\x00", "d": "日本語 😀"},
        {"a": [], "b": {}, "c": [1, "a", None, [True]]},
        {"key with # and ~": 1},
        {"k" * 255: 1},
    ],
)
def test_metadata_within_the_limits_is_kept_as_it_is(value: Any) -> None:
    assert check_metadata(value) == value


@pytest.mark.parametrize("value", [[], [1, 2], [["a", 1]], "text", "", 5, 0, True, Decimal("1.5"), None, 1.5])
def test_metadata_that_is_no_object_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^must be a JSON object$"):
        check_metadata(value)


@pytest.mark.parametrize("char", ["x", "é", "日", "😀"])
def test_metadata_of_exactly_16_kb_is_taken_and_a_byte_more_is_refused(char: str) -> None:
    room = LONGEST - len('{"a":""}')
    width = len(char.encode())
    value = {"a": "x" * (room % width) + char * (room // width)}
    assert spelled(value) == LONGEST
    assert check_metadata(value) == value

    value["a"] += "x"
    with pytest.raises(ValueError, match=r"^must be 16 KB at most, it has 16385 bytes$"):
        check_metadata(value)


def test_metadata_counts_its_keys_in_all_levels_together() -> None:
    value: dict[str, Any] = {f"k{number}": number for number in range(40)}
    value["list"] = [{"a": 1, "b": 2}, {"a": 1, "b": {"c": 1, "d": 2}}]
    value["x"] = value["y"] = 1
    assert check_metadata(value | {"last": 1}) == value | {"last": 1}
    with pytest.raises(ValueError, match=r"^must have 50 keys at most, in all its levels together$"):
        check_metadata(value | {"last": 1, "one more": 1})


def test_metadata_of_50_keys_is_taken_and_51_are_refused() -> None:
    check_metadata({f"k{number}": number for number in range(50)})
    with pytest.raises(ValueError, match=r"^must have 50 keys at most"):
        check_metadata({f"k{number}": number for number in range(51)})


@pytest.mark.parametrize("innermost", [{}, [], {"a": 1}, [1], "text"])
def test_metadata_of_five_levels_is_taken(innermost: Any) -> None:
    levels = 5 if innermost == "text" else 4
    value = nested(levels, innermost=innermost)
    assert check_metadata(value) == value


@pytest.mark.parametrize("innermost", [{}, [], {"a": 1}, [1]])
def test_metadata_of_six_levels_is_refused(innermost: Any) -> None:
    with pytest.raises(ValueError, match=r"^must not be nested deeper than 5 levels$"):
        check_metadata(nested(5, innermost=innermost))


def test_metadata_that_is_too_large_is_not_looked_at_any_further() -> None:
    with pytest.raises(ValueError, match=r"^must be 16 KB at most, it has 20007 bytes$"):
        check_metadata({"a": [1.5, *[1] * 9998]})


def test_metadata_nested_beyond_all_measure_is_refused_like_any_other() -> None:
    with pytest.raises(ValueError, match=r"^must not be nested deeper than 5 levels$"):
        check_metadata(nested(100_000, innermost=1))


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_a_key_of_metadata_is_neither_empty_nor_endless(key: str) -> None:
    with pytest.raises(ValueError, match=r"^must have keys of 1 to 255 characters$"):
        check_metadata({"a": [{key: 1}]})


@pytest.mark.parametrize("value", [{"\ud800": 1}, {"a": "\udfff"}, {"a": ["x", "\ud83d"]}])
def test_metadata_has_no_half_of_a_surrogate_pair(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^must not contain half of a surrogate pair$"):
        check_metadata(value)


@pytest.mark.parametrize(
    ("value", "name"),
    [(1.5, "float"), (float("nan"), "float"), (b"x", "bytes"), ((1,), "tuple"), ({1}, "set"), (1j, "complex")],
)
def test_metadata_that_json_does_not_have_is_refused_floats_among_it(value: Any, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^must be JSON, which has no {name}$"):
        check_metadata({"a": [value]})


@pytest.mark.parametrize(
    "number",
    [
        int("9" * 38),
        -int("9" * 38),
        int("1" + "0" * 36 + "1"),
        10**125,
        Decimal("9" * 38),
        Decimal("0." + "9" * 38),
        Decimal("1." + "0" * 36 + "1"),
        Decimal("1." + "0" * 60),
        Decimal("9." + "9" * 37 + "E+125"),
        Decimal("1E-130"),
        Decimal("-1E-130"),
        Decimal("0.00"),
    ],
)
def test_a_number_that_the_table_keeps_exactly_is_taken(number: int | Decimal) -> None:
    assert check_metadata({"a": number}) == {"a": number}


@pytest.mark.parametrize(
    "number",
    [
        int("1" * 39),
        -int("1" * 39),
        int("1" + "0" * 37 + "1"),
        10**126,
        int("1" * 4000),
        Decimal("1" * 39),
        Decimal("0." + "1" * 39),
        Decimal("1." + "0" * 37 + "1"),
        Decimal("1E+126"),
        Decimal("1E-131"),
        Decimal("1E+9999999"),
        Decimal("1E-9999999"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("-Infinity"),
    ],
)
def test_a_number_that_the_table_would_round_is_refused(number: int | Decimal) -> None:
    with pytest.raises(ValueError, match=r"^must have numbers of 38 digits at most$"):
        check_metadata({"a": [number]})


@given(st.integers(1, 10**50), st.integers(-40, 40))
def test_a_number_is_taken_exactly_if_it_has_38_significant_digits_at_most(digits: int, exponent: int) -> None:
    number = Decimal(f"{digits}E{exponent}")
    try:
        taken = check_metadata({"a": number}) == {"a": number}
    except ValueError:
        taken = False
    assert taken == (len(str(digits).rstrip("0")) <= 38)
