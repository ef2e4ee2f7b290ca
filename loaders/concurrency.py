"""How several coroutines run at the same time and, within a request, how many of them do.

Only this module starts coroutines of a request beside one another, so that the number is exact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

_OTHERS: ContextVar[list[int] | None] = ContextVar("_OTHERS", default=None)
"""How many coroutines run beside the one that counts, as a number that all of them share; None if none counts."""


class counting:  # noqa: N801  # used as a function; a generator would take three times as long
    """Counts, inside, the coroutines that run beside this one."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _OTHERS.set([0])

    def __exit__(self, *_: object) -> None:
        _OTHERS.reset(self._token)


def is_only_one() -> bool:
    """Whether it is known that no other coroutine runs beside this one."""
    return _OTHERS.get() == [0]


async def together(works: Iterable[Coroutine[Any, Any, T]], permits: asyncio.Semaphore | None = None) -> list[T]:
    """All results; where one fails, the others are canceled and its error is raised. `permits` bounds how many run."""
    given = list(works)
    every = given if permits is None else [_within(permits, work) for work in given]
    others = _OTHERS.get() or [0]
    more = max(0, len(every) - 1)
    others[0] += more
    try:
        if not more:  # no task for one
            return [await every[0]] if every else []
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in every]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    finally:
        others[0] -= more
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


def started(work: Coroutine[Any, Any, T], group: asyncio.TaskGroup) -> asyncio.Task[T]:
    """A task that runs beside the coroutine that starts it."""
    others = _OTHERS.get() or [0]
    others[0] += 1

    def ended(_: asyncio.Task[T]) -> None:
        others[0] -= 1

    task = group.create_task(work)
    task.add_done_callback(ended)
    return task


def _close(works: Iterable[Coroutine[Any, Any, Any]]) -> None:
    """Ends those that a cancellation has kept from beginning; the others have ended."""
    for work in works:
        work.close()


async def _outcome(work: Awaitable[T], permits: asyncio.Semaphore | None) -> T | Exception:
    try:
        return await (work if permits is None else _within(permits, work))
    except Exception as error:  # noqa: BLE001  # an error is a value here
        return error


async def _within(permits: asyncio.Semaphore, work: Awaitable[T]) -> T:
    async with permits:
        return await work
