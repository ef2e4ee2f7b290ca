"""How several coroutines run at the same time."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Iterable

T = TypeVar("T")


async def together(works: Iterable[Coroutine[Any, Any, T]], permits: asyncio.Semaphore | None = None) -> list[T]:
    """All results; where one fails, the others are cancelled and its error is raised. `permits` bounds how many run."""
    every = list(works if permits is None else (_within(permits, work) for work in works))
    if len(every) <= 1:  # no task for one
        return [await every[0]] if every else []
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in every]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


async def outcomes(
    works: Iterable[Coroutine[Any, Any, T]], permits: asyncio.Semaphore | None = None
) -> list[T | Exception]:
    """All results, with errors in the places of those that failed. `permits` bounds how many run."""
    every = [_outcome(work, permits) for work in works]
    return [await every[0]] if len(every) == 1 else await together(every)


async def _outcome(work: Awaitable[T], permits: asyncio.Semaphore | None) -> T | Exception:
    try:
        async with permits or nullcontext():
            return await work
    except Exception as error:  # noqa: BLE001  # an error is a value here
        return error


async def _within(permits: asyncio.Semaphore, work: Awaitable[T]) -> T:
    async with permits:
        return await work
