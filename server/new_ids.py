"""The ids of what is created: ULIDs."""

import os
import time
from functools import lru_cache

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DIGIT_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
"""Of a ULID, for ten bits each."""
_DIGIT_OF_BYTE = (_DIGITS * 8).encode()
_RANDOM_DIGITS = 16
_RANDOM_ENDS: list[str] = []
"""Random ends of ULIDs that are not used yet: the system is asked for many at once."""


def new_id() -> str:
    """A new ULID: unique, and sorted by its creation time."""
    if not _RANDOM_ENDS:
        digits = os.urandom(256 * _RANDOM_DIGITS).translate(_DIGIT_OF_BYTE).decode()
        _RANDOM_ENDS.extend(digits[i : i + _RANDOM_DIGITS] for i in range(0, len(digits), _RANDOM_DIGITS))
    millisecond = time.time_ns() // 1_000_000
    return f"{_second(millisecond >> 10)}{_DIGIT_PAIRS[millisecond & 1023]}{_RANDOM_ENDS.pop()}"


@lru_cache(1)
def _second(number: int) -> str:
    """The digits that the ULIDs of 1.024 seconds share."""
    return "".join([_DIGIT_PAIRS[number >> shift & 1023] for shift in (30, 20, 10, 0)])
