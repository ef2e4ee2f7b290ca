"""Mutations that write several objects one by one, each with a result or an error of its own."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from domain.errors import BadInputError, SmartLockerError, UnavailableError
from loaders.concurrency import outcomes

T = TypeVar("T")


def check_distinct(entries: str, field: str, ids: Iterable[str | None]) -> None:
    """Refuses a list of the input that names an id twice: the second write would meet the first."""
    seen: set[str | None] = set()
    for position, given in enumerate(ids):
        if given is not None and given in seen:
            raise BadInputError(f"{field} is repeated in this request", ("input", entries, str(position), field))
        seen.add(given)


async def written_each(
    entries: str, writes: Sequence[Callable[[], Awaitable[T]]], has_time: Callable[[], bool], *, at_once: int
) -> list[T | Exception]:
    """The result of each write, or its error, whose path leads to the entry of the input.

    None begins once there is no time left for it, so that what the others have done can be told.
    """

    async def written(position: int, write: Callable[[], Awaitable[T]]) -> T:
        try:
            if not has_time():
                raise UnavailableError(
                    "Nothing was written for this entry: the time of the request was over. Try again."
                )
            return await write()
        except SmartLockerError as error:
            error.path = ("input", entries, str(position), *error.path[1:])
            raise

    works = [written(position, write) for position, write in enumerate(writes)]
    return await outcomes(works, asyncio.Semaphore(at_once))
