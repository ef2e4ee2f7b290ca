"""What a request may take: time, a place among others, of the store, and of its caller's budget."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final

from domain.errors import SmartLockerError
from server.incoming import RefusedError, refusal_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from domain.principal import Principal
    from resolvers.plan import Maximum, Plan
    from server.rates import Rates

__all__ = ["RequestBudget", "RequestLimits"]

_FIRST_UNIT: Final = 1


class RequestLimits:
    """Counts the requests that run, and ends those that run too long.

    Args:
        seconds: how long a request may take, from its header to its answer.
        most_running: how many may run at the same time; whoever still sends its body, or idles, is not running.
        maximum: what a request may take of the store.
        rates: where budgets are kept; None where nobody has one.
    """

    def __init__(self, seconds: float, most_running: int, maximum: Maximum, rates: Rates | None) -> None:
        self._seconds = seconds
        self._most_running = most_running
        self._rates = rates
        self._running = 0
        self.maximum = maximum

    @asynccontextmanager
    async def deadline(self) -> AsyncIterator[None]:
        """Ends what is inside when its time is over."""
        timeout = asyncio.timeout(self._seconds)
        try:
            async with timeout:
                yield
        except TimeoutError as error:
            if not timeout.expired():
                raise
            message = (
                f"The request took more than {self._seconds:g} s and was given up. Whether a mutation was done is not "
                "known: sent again with the same id, it has one effect."
            )
            raise RefusedError(504, message, "TIMEOUT") from error

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place among those that run; refused at once where there is none, since a queue would only grow."""
        if self._running >= self._most_running:
            raise RefusedError(
                503, "Too many requests run here already: try again in a moment.", "UNAVAILABLE", {"Retry-After": "1"}
            )
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    def budget(self, principal: Principal) -> RequestBudget:
        """What one request takes of its caller's budget."""
        return RequestBudget(self._rates, principal)


class RequestBudget:
    """Charges one request to its caller, and remembers what to tell of that in the answer."""

    def __init__(self, rates: Rates | None, principal: Principal) -> None:
        self._rates = rates
        self._caller = f"{'key' if principal.by_key else 'token'} {principal.subject}"
        self.told: dict[str, Any] = {}

    async def begin(self) -> None:
        """Takes one unit before anything of the request is read, so that refusing it costs next to nothing.

        Raises:
            RefusedError: where there is none left.
        """
        await self._take(_FIRST_UNIT)

    async def charge(self, plan: Plan) -> None:
        """Takes the rest of what a plan always needs of the store.

        Raises:
            RefusedError: where there is not enough left.
        """
        if plan.expected_units > _FIRST_UNIT:
            await self._take(plan.expected_units, _FIRST_UNIT)

    async def _take(self, units: float, taken: int = 0) -> None:
        if self._rates is None:
            return
        try:
            state = await self._rates.take(self._caller, units, taken)
        except SmartLockerError as problem:  # the framework would make an error of the document's of it
            raise refusal_of(problem) from problem
        self.told = {
            "rateLimit": {"limit": state.limit, "remaining": state.remaining, "resetSeconds": state.reset_seconds}
        }
        if state.retry_seconds:
            raise RefusedError(
                429,
                f"The budget is spent: there is enough of it again in {state.retry_seconds} s.",
                "RATE_LIMITED",
                {"Retry-After": str(state.retry_seconds)},
            )
