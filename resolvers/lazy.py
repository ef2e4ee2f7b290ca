"""An entity whose record may still be on its way, so that what hangs below it can be read at the same time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from graphql import GraphQLError

from domain.errors import ForbiddenError, MissingError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

__all__ = ["AbsentError", "HiddenError", "Lazy", "collapse_absent", "there"]

R = TypeVar("R")
T = TypeVar("T")


class AbsentError(MissingError):
    """What a query's field looks up does not exist; a field below it found out."""


class HiddenError(ForbiddenError):
    """What a query's field looks up is not for who asks; a field below it found out."""


def there(record: R | None, name: str = "such thing") -> R:
    """What was found, where whoever asks may see it in any case."""
    if record is None:
        raise AbsentError(f"There is no {name}.")
    return record


class Lazy(Generic[R]):
    """A record that is known, or that is being read; `found` then takes it, or says why not."""

    __slots__ = ("_beside", "_found", "_known", "_loading")

    def __init__(
        self,
        known: R | None = None,
        loading: Awaitable[R | None] | None = None,
        found: Callable[[R | None], R] = there,
    ) -> None:
        self._known = known
        self._loading = loading
        self._found = found
        self._beside: list[asyncio.Future[Any]] = []

    def attribute(self, name: str) -> Any:
        """The value at once where it is known, else something to await: the executor takes either."""
        return self._later(name) if self._known is None else getattr(self._known, name)

    async def record(self) -> R:
        """The record.

        Raises:
            AbsentError: where there is none.
            HiddenError: where it is not for who asks.
        """
        if self._known is None:
            try:
                self._known = self._found(None if self._loading is None else await self._loading)
            finally:
                if self._known is None:
                    # This field's failure ends the others, and no read may outlive its request.
                    await asyncio.gather(*self._beside, return_exceptions=True)
        return self._known

    async def beside(self, reading: Coroutine[Any, Any, T]) -> T:
        """The result of a read that needs only this entity's id; both are read at the same time."""
        if self._loading is None:
            return await reading
        task = asyncio.ensure_future(reading)
        self._beside.append(task)
        # Both are waited for, whichever fails first: that the entity is hidden says more than what is wrong below it.
        await asyncio.gather(task, self.record(), return_exceptions=True)
        await self.record()
        return await task

    async def _later(self, name: str) -> Any:
        return getattr(await self.record(), name)


def collapse_absent(data: dict[str, Any] | None, errors: Sequence[GraphQLError]) -> list[GraphQLError]:
    """Makes what does not exist, or is hidden, null as a whole, with one error at the field that looks it up.

    Each field below found out for itself, and the nullable ones among them would leave an entity of nulls.
    """
    absent = {error.path[0]: error for error in reversed(errors) if error.path and _is_absence(error)}
    for name in absent if data is not None else ():
        data[name] = None  # type: ignore[index]
    kept = [error for error in errors if not error.path or error.path[0] not in absent]
    return kept + [
        GraphQLError(error.message, error.nodes, path=[name], original_error=error.original_error)
        for name, error in absent.items()
    ]


def _is_absence(error: GraphQLError) -> bool:
    return isinstance(error.original_error, AbsentError | HiddenError)
