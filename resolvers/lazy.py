"""An entity whose record may still be on its way, so that what hangs below it can be read at the same time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from domain.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

__all__ = ["Lazy"]

R = TypeVar("R")
T = TypeVar("T")


class Lazy(Generic[R]):
    """A record that is known, or that is being read."""

    __slots__ = ("_known", "_loading", "_name")

    def __init__(self, known: R | None = None, loading: Awaitable[R | None] | None = None, name: str = "") -> None:
        self._known = known
        self._loading = loading
        self._name = name

    def attribute(self, name: str) -> Any:
        """The value at once where it is known, else something to await: the executor takes either."""
        return self._later(name) if self._known is None else getattr(self._known, name)

    async def record(self) -> R:
        """The record.

        Raises:
            MissingError: where there is none.
        """
        if self._known is None:
            self._known = None if self._loading is None else await self._loading
            if self._known is None:
                raise MissingError(f"There is no {self._name}.")
        return self._known

    async def beside(self, reading: Coroutine[Any, Any, T]) -> T:
        """The result of a read that needs only this entity's id; both are read at the same time."""
        if self._loading is None:
            return await reading
        both: tuple[T, R] = await asyncio.gather(reading, self.record())
        return both[0]

    async def _later(self, name: str) -> Any:
        return getattr(await self.record(), name)
