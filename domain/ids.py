"""Validation of ids and location codes.

Each function returns the value or raises ValueError with a message for the client.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from domain.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Callable

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CODE = re.compile(r"[a-z0-9-]{3,40}")
_FEATURE = re.compile(r"[a-z0-9-]{1,32}")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def check_id(value: str) -> str:
    """Checks an id. Ids become part of table keys, where `#` separates parts and `~` ends a range."""
    if _ID.fullmatch(value) is None:
        raise ValueError("must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
    return value


def check_notification_id(value: str) -> str:
    """Checks the id of a notification: that of its booking, reservation or event, and what became of it."""
    subject_id, _, decision = value.rpartition("-")
    if decision not in {"approved", "rejected", "cancelled", "completed", "lockout"}:
        raise ValueError("must be the id of a notification")
    check_id(subject_id)
    return value


def check_code(value: str) -> str:
    """Checks a location code, which can be used in a URL."""
    if _CODE.fullmatch(value) is None:
        raise ValueError("must be 3 to 40 characters of a-z, 0-9 and -")
    return value


def check_feature(value: str) -> str:
    """Checks the name of a feature of a locker."""
    if _FEATURE.fullmatch(value) is None:
        raise ValueError("must be 1 to 32 characters of a-z, 0-9 and -")
    return value


def check_ulid(value: str) -> str:
    """Checks a ULID: an id that sorts by its time of creation."""
    if _ULID.fullmatch(value) is None:
        raise ValueError("must be a ULID such as 01ARZ3NDEKTSV4RRFFQ69G5FAV")
    return value


def argument(check: Callable[[str], str]) -> Callable[[str, str], str]:
    """Returns a check of a value that is passed as the argument `name`; it raises BadInputError at its path."""

    def parse(value: str, name: str) -> str:
        try:
            return check(value)
        except ValueError as error:
            raise BadInputError(f"{name} {error}", (name,)) from error

    return parse


require_id = argument(check_id)
