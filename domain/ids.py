"""Validation of ids and location codes.

Each function returns the value or raises ValueError with a message for the client.
"""

import re
from collections.abc import Callable

from domain.errors import BadInputError

_MAX_SUBJECT_LENGTH = 255


def matching(pattern: str, rule: str) -> Callable[[str], str]:
    """Returns a check that a whole value matches; `rule` is the message for the client."""
    form = re.compile(pattern)

    def check(value: str) -> str:
        if form.fullmatch(value) is None:
            raise ValueError(rule)
        return value

    return check


check_id = matching(r"[A-Za-z0-9_-]{1,64}", "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
"""Ids become part of table keys, where `#` separates parts and `~` ends a range."""
check_code = matching(r"[a-z0-9-]{3,40}", "must be 3 to 40 characters of a-z, 0-9 and -")
"""The code of a location can be used in a URL."""
check_feature = matching(r"[a-z0-9-]{1,32}", "must be 1 to 32 characters of a-z, 0-9 and -")
check_notification_id = matching(r"[A-Za-z0-9_-]{1,80}", "must be the id of a notification")
"""The id of its booking, reservation or event, and its kind; or that of a notification that was migrated."""
check_ulid = matching(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", "must be a ULID such as 01ARZ3NDEKTSV4RRFFQ69G5FAV")


def check_subject(value: str) -> str:
    """The subject of a token, of any characters that can be shown."""
    if not (value.isprintable() and 1 <= len(value) <= _MAX_SUBJECT_LENGTH):
        raise ValueError(f"must have 1 to {_MAX_SUBJECT_LENGTH} printable characters")
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
