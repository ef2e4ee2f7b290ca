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
    given = list(works)
    every = given if permits is None else [_within(permits, work) for work in given]
    try:
        if len(every) <= 1:  # no task for one
            return [await every[0]] if every else []
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in every]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    finally:
        _close(given)
    return [task.result() for task in tasks]


async def outcomes(
    works: Iterable[Coroutine[Any, Any, T]], permits: asyncio.Semaphore | None = None
) -> list[T | Exception]:
    """All results, with errors in the places of those that failed. `permits` bounds how many run."""
    given = list(works)
    every = [_outcome(work, permits) for work in given]
    try:
        return [await every[0]] if len(every) == 1 else await together(every)
    finally:
        _close(given)


def _close(works: Iterable[Coroutine[Any, Any, Any]]) -> None:
    """Ends those that a cancellation has kept from beginning; the others have ended."""
    for work in works:
        work.close()


async def _outcome(work: Awaitable[T], permits: asyncio.Semaphore | None) -> T | Exception:
    try:
        async with permits or nullcontext():
            return await work
    except Exception as error:  # noqa: BLE001  # an error is a value here
        return error


async def _within(permits: asyncio.Semaphore, work: Awaitable[T]) -> T:
    async with permits:
        return await work
