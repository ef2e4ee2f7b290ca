"""Validation of the metadata of an access event."""

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from domain.models import Json
from domain.text import check_encodable

_MAX_BYTES = 16 * 1024
_MAX_KEYS = 50
_MAX_DEPTH = 5
_MAX_KEY_LENGTH = 255
_MAX_DIGITS = 38
_EXPONENTS = range(-130, 126)
_SMALL = 10**_MAX_DIGITS  # integers below it have at most 38 digits


def check_metadata(value: Any) -> dict[str, Json]:
    """Checks that a value is a JSON object within the limits whose numbers the table stores exactly."""
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")  # noqa: TRY004  # invalid input, as every other failed check
    # Size first, so that the values of an oversized object are never visited.
    size = _count_bytes(value)
    if size > _MAX_BYTES:
        raise ValueError(f"must be at most {_MAX_BYTES // 1024} KB; it is {size} bytes")
    keys = _check_level(value, depth=1)
    if keys > _MAX_KEYS:
        raise ValueError(f"must have at most {_MAX_KEYS} keys, counting all levels")
    return value


def _count_bytes(value: dict[str, Any]) -> int:
    try:
        text = json.dumps(value, default=str, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise _too_deep() from None
    return len(text.encode(errors="surrogatepass"))


def _too_deep() -> ValueError:
    return ValueError(f"must not be nested deeper than {_MAX_DEPTH} levels")


def _check_level(value: dict[str, Any] | list[Any], depth: int) -> int:
    """Checks a value and everything below it; returns the number of keys."""
    if depth > _MAX_DEPTH:
        raise _too_deep()
    keys = 0
    children: Iterable[Any] = value
    if isinstance(value, dict):
        _check_keys(value)
        keys, children = len(value), value.values()
    for child in children:
        match child:
            case str():
                check_encodable(child)
            case int() if -_SMALL < child < _SMALL:
                pass
            case int() | Decimal():
                _check_number(Decimal(child))
            case dict() | list():
                keys += _check_level(child, depth + 1)
            case None:
                pass
            case _:
                raise ValueError(f"must contain only JSON values, not {type(child).__name__}")
    return keys


def _check_keys(value: dict[str, Any]) -> None:
    for key in value:
        if not 1 <= len(check_encodable(key)) <= _MAX_KEY_LENGTH:
            raise ValueError(f"must have keys of 1 to {_MAX_KEY_LENGTH} characters")


def _check_number(number: Decimal) -> None:
    # Digits are counted on the tuple: Decimal arithmetic, normalize() included, rounds to the context's precision.
    # Building the tuple is slow, so a number with a short text is not counted.
    is_long = len(str(number)) > _MAX_DIGITS and _count_digits(number) > _MAX_DIGITS
    if is_long or not number.is_finite() or number.adjusted() not in _EXPONENTS:
        raise ValueError(
            f"must contain only numbers of at most {_MAX_DIGITS} digits "
            f"and with exponents from {_EXPONENTS[0]} to {_EXPONENTS[-1]}"
        )


def _count_digits(number: Decimal) -> int:
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))
