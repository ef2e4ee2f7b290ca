"""The search for support: the meanings that a text may have, and the ways in which something is found by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from domain.enums import DescribedEnum
from domain.ids import check_code, check_id
from domain.text import check_email, check_name, check_reference, check_sought_phone, normalize_email, phone_digits

MOST_HITS = 25


class SearchMatch(DescribedEnum):
    """Part of an object that a searched text is, from the most to the least certain."""

    ID = "ID", "Id of the object, or its global id."
    EMAIL = "EMAIL", "Email address of the owner."
    PHONE = "PHONE", "Phone number of the owner."
    LOCATION_CODE = "LOCATION_CODE", "Code of the location."
    REFERENCE = "REFERENCE", "Reference of the reservation."
    NAME = "NAME", "Beginning of the name of the owner."


@dataclass(frozen=True, slots=True, kw_only=True)
class Meanings:
    """A text as it is looked for: None for everything that it cannot be."""

    name: str
    id: str | None
    email: str | None
    phone: str | None
    code: str | None
    reference: str | None


def meanings_of(text: str) -> Meanings:
    """The meanings of a text; raises ValueError where it can have none."""
    name = check_name(text)
    email, phone = _checked(check_email, name), _checked(check_sought_phone, name)
    return Meanings(
        name=name,
        id=_checked(check_id, name),
        email=None if email is None else normalize_email(email),
        phone=None if phone is None else phone_digits(phone),
        code=_checked(check_code, name.lower()),
        reference=_checked(check_reference, name),
    )


def _checked(check: Callable[[str], str], text: str) -> str | None:
    try:
        return check(text)
    except ValueError:
        return None
