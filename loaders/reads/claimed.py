"""Reads the records that claims refer to, with retries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from loaders import keys
from loaders.contracts.cost import LOOKS_FOR_CLAIMED
from loaders.conversion import DamagedItemError
from loaders.table.positions import Key
from loaders.table.retry import pause

T = TypeVar("T")


async def claimed(key: Key, read: Callable[[], Awaitable[T | None]]) -> T:
    """The record with this key, which a claim names and which may be visible a moment after the claim."""

    async def read_all() -> list[T | None]:
        return [await read()]

    (record,) = await all_claimed([key], read_all)
    return record


async def all_claimed(wanted: Sequence[Key], read: Callable[[], Awaitable[list[T | None]]]) -> list[T]:
    """The records with these keys, each of which a claim names."""
    missing = wanted[0]
    for attempt in range(LOOKS_FOR_CLAIMED):
        await pause(attempt)
        records = await read()
        found = [record for record in records if record is not None]
        if len(found) == len(wanted):
            return found
        missing = wanted[records.index(None)]
    raise DamagedItemError(f"a claim names {keys.masked(missing)}, which does not exist")
