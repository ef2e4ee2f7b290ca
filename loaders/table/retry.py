"""How operations are repeated, with exponential backoff and full jitter, and how several run at once."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterable

T = TypeVar("T")

_BASE_SECONDS = 0.01
_CAP_SECONDS = 0.25


async def attempts(most: int) -> AsyncIterator[int]:
    """Counts the attempts, with a pause of random length before each but the first."""
    for attempt in range(most):
        if attempt:
            await pause(attempt)
        yield attempt


async def pause(attempt: int) -> None:
    """Waits before an attempt; the first is 0 and has no pause."""
    await asyncio.sleep(random.uniform(0, min(_CAP_SECONDS, _BASE_SECONDS * 2**attempt)))


async def together(works: Iterable[Coroutine[Any, Any, T]], slots: asyncio.Semaphore | None = None) -> list[T]:
    """All results; where one fails, the others are cancelled and its error is raised. `slots` bounds how many run."""
    every = list(works if slots is None else (_within(slots, work) for work in works))
    if len(every) <= 1:  # no task for one
        return [await work for work in every]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in every]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


async def _within(slots: asyncio.Semaphore, work: Coroutine[Any, Any, T]) -> T:
    async with slots:
        return await work
