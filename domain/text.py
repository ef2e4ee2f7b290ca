"""What clients may write: ids, names, e-mail addresses and event metadata, each with one rule.

Each checker returns the canonical value or raises ValueError with a message for the client.
"""

from __future__ import annotations

import json
import re
import unicodedata
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from domain.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.models import Json

__all__ = [
    "check_code",
    "check_currency",
    "check_email",
    "check_id",
    "check_metadata",
    "check_name",
    "check_phone",
    "check_text",
    "check_time_zone",
    "check_ulid",
    "normalised_email",
    "require_id",
]

_CODE = re.compile(r"[a-z0-9-]{3,40}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_PHONE = re.compile(r"\+?[0-9][0-9 ()./-]{4,29}")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_TEXT_LONGEST = 2000
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_EMAIL = re.compile(r"[!-?A-~]{1,64}@[!-?A-~]+\.[!-?A-~]+")  # printable ASCII without a space; one @
_EMAIL_LONGEST = 254
_NAME_LONGEST = 200
_LINE_BREAKERS = frozenset({"Cc", "Zl", "Zp"})  # control characters, line and paragraph separators
_METADATA_BYTES = 16 * 1024
_METADATA_KEYS = 50
_METADATA_DEPTH = 5
_KEY_LONGEST = 255
_NUMBER_DIGITS = 38
_NUMBER_EXPONENTS = range(-130, 126)
_SMALL = 10**_NUMBER_DIGITS  # no integer below it has too many digits


def check_id(value: str) -> str:
    """An id enters a key, so a `#` or a character above `~` in it would make two keys read alike."""
    if _ID.fullmatch(value) is None:
        raise ValueError("must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
    return value


def require_id(value: str, name: str) -> str:
    """An id that a query's argument names; refused like any other bad input."""
    try:
        return check_id(value)
    except ValueError as error:
        raise BadInputError(f"{name} {error}", (name,)) from error


def check_name(value: str) -> str:
    """A name for people: trimmed, one line, neither empty nor endless."""
    name = value.strip()
    if not 1 <= len(name) <= _NAME_LONGEST:
        raise ValueError(f"must have 1 to {_NAME_LONGEST} characters")
    if any(unicodedata.category(char) in _LINE_BREAKERS for char in name):
        raise ValueError("must not contain control characters")
    return _encodable(name)


def check_email(value: str) -> str:
    """An address of the usual form; kept as it was written."""
    email = value.strip()
    if len(email) > _EMAIL_LONGEST or _EMAIL.fullmatch(email) is None:
        raise ValueError("must be an e-mail address such as ada@example.com")
    return email


def check_text(value: str) -> str:
    """A longer text for people: trimmed, neither empty nor endless; it may have lines."""
    text = value.strip()
    if not 1 <= len(text) <= _TEXT_LONGEST:
        raise ValueError(f"must have 1 to {_TEXT_LONGEST} characters")
    if any(unicodedata.category(char) == "Cc" and char not in "\n\r\t" for char in text):
        raise ValueError("must not contain control characters")
    return _encodable(text)


def check_code(value: str) -> str:
    """A location's code: short, in small letters, fit for a URL."""
    if _CODE.fullmatch(value) is None:
        raise ValueError("must be 3 to 40 characters of a-z, 0-9 and -")
    return value


def check_ulid(value: str) -> str:
    """An id that sorts by when it was made."""
    if _ULID.fullmatch(value) is None:
        raise ValueError("must be a ULID such as 01ARZ3NDEKTSV4RRFFQ69G5FAV")
    return value


def check_phone(value: str) -> str:
    """A telephone number as people write it."""
    phone = value.strip()
    if _PHONE.fullmatch(phone) is None:
        raise ValueError("must be a telephone number such as +39 123 456 7890")
    return phone


def check_currency(value: str) -> str:
    """A currency of ISO 4217."""
    if _CURRENCY.fullmatch(value) is None:
        raise ValueError("must be a currency of three letters such as EUR")
    return value


def check_time_zone(value: str) -> str:
    """A zone of the IANA database."""
    if value not in _time_zones():
        raise ValueError("must be an IANA time zone such as Europe/Rome")
    return value


def normalised_email(email: str) -> str:
    """The form in which two spellings of one address are the same."""
    return email.lower()


def check_metadata(value: Any) -> dict[str, Json]:
    """A JSON object within the limits, its numbers exact."""
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")  # noqa: TRY004  # a client's mistake like any other
    # Its size first: what is too large is not looked at value by value.
    size = _count_bytes(value)
    if size > _METADATA_BYTES:
        raise ValueError(f"must be {_METADATA_BYTES // 1024} KB at most, it has {size} bytes")
    keys = _check_level(value, depth=1)
    if keys > _METADATA_KEYS:
        raise ValueError(f"must have {_METADATA_KEYS} keys at most, in all its levels together")
    return value


@cache
def _time_zones() -> frozenset[str]:
    """Read from disk once: it takes long. Neither the host's own zone nor a placeholder is a place's."""
    return frozenset(available_timezones()) - {"localtime", "Factory"}


def _count_bytes(value: dict[str, Any]) -> int:
    try:
        text = json.dumps(value, default=str, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise _too_deep() from None
    return len(text.encode(errors="surrogatepass"))


def _too_deep() -> ValueError:
    return ValueError(f"must not be nested deeper than {_METADATA_DEPTH} levels")


def _check_level(value: dict[str, Any] | list[Any], depth: int) -> int:
    """Counts the keys below a value; refuses what cannot be stored exactly."""
    if depth > _METADATA_DEPTH:
        raise _too_deep()
    keys = 0
    children: Iterable[Any] = value
    if isinstance(value, dict):
        _check_keys(value)
        keys, children = len(value), value.values()
    for child in children:
        match child:
            case str():
                _encodable(child)
            case int() if -_SMALL < child < _SMALL:
                pass
            case int() | Decimal():
                _check_number(Decimal(child))
            case dict() | list():
                keys += _check_level(child, depth + 1)
            case None:
                pass
            case _:
                raise ValueError(f"must be JSON, which has no {type(child).__name__}")
    return keys


def _check_keys(value: dict[str, Any]) -> None:
    for key in value:
        if not 1 <= len(_encodable(key)) <= _KEY_LONGEST:
            raise ValueError(f"must have keys of 1 to {_KEY_LONGEST} characters")


def _check_number(number: Decimal) -> None:
    # Counted on the digits themselves: arithmetic, normalize() included, rounds to the context's precision first.
    # They take long to get, so not those of a number that is short to write.
    is_long = len(str(number)) > _NUMBER_DIGITS and _count_digits(number) > _NUMBER_DIGITS
    if is_long or not number.is_finite() or number.adjusted() not in _NUMBER_EXPONENTS:
        raise ValueError(f"must have numbers of {_NUMBER_DIGITS} digits at most")


def _count_digits(number: Decimal) -> int:
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain half of a surrogate pair") from None
    return text
