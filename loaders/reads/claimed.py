"""What a claim names."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from loaders import keys
from loaders.codecs import DamagedItemError
from loaders.contracts.cost import LOOKS_FOR_CLAIMED
from loaders.table.retry import attempts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from loaders.table.positions import Key

T = TypeVar("T")


async def claimed(key: Key, read: Callable[[], Awaitable[T | None]]) -> T:
    """The record with this key, which a claim names and which may be visible a moment after the claim."""
    async for _ in attempts(LOOKS_FOR_CLAIMED):
        record = await read()
        if record is not None:
            return record
    raise DamagedItemError(f"a claim names {keys.masked(key)}, which does not exist")
