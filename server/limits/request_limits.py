"""Limits of a request: its deadline, the number of concurrent requests, and the budget of its caller."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from domain.authorization import Principal
from domain.budgets import BudgetState, caller_name
from domain.errors import SmartLockerError, UnavailableError
from resolvers.limits import Limit
from resolvers.plan.price import Price
from resolvers.request_state import RequestState
from server.http_errors import HttpError, to_http_error
from server.limits.caller_budgets import CallerBudgets
from server.limits.deadlines import Deadlines

_FIRST_UNIT: Final = 1


@dataclass(slots=True, eq=False)
class RequestLimits:
    seconds: float
    """The deadline of a request, from its headers to its response."""
    max_concurrent: int
    """How many requests run at the same time; a request whose body is being sent does not count."""
    max_per_caller: int | None
    """How many of them may be of one caller; None for no such limit."""
    limit: Limit
    budgets: CallerBudgets | None
    """The callers' budgets; None if there is no rate limit."""
    deadlines: Deadlines = field(init=False)
    _running: int = 0
    _running_by: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.deadlines = Deadlines(self.seconds)

    def timeout_error(self) -> HttpError:
        message = (
            f"The request took longer than {self.seconds:g} s and was canceled. A mutation may or may not have been "
            "applied: send it again with the same id, it then has one effect."
        )
        return HttpError(504, message, "TIMEOUT")

    def take_permit(self, principal: Principal) -> str:
        """Takes one of the permits for running requests, and returns the key to give it back with.

        Raises:
            UnavailableError: if none is free. There is no queue, since under overload it would only grow.
            HttpError: 429 if the caller has its share of them.
        """
        caller = caller_key(principal)
        if self._running >= self.max_concurrent:
            raise UnavailableError("Too many requests are running on this server: try again in a moment.")
        if self.max_per_caller is not None and self._running_by[caller] >= self.max_per_caller:
            raise rate_limited(
                f"You have {self.max_per_caller} requests running, as many as one caller may "
                "(SMARTLOCKER_MAX_CONCURRENT_PER_CALLER): try again when one has ended.",
                1,
            )
        self._running += 1
        self._running_by[caller] += 1
        return caller

    def return_permit(self, caller: str) -> None:
        self._running -= 1
        self._running_by[caller] -= 1
        if not self._running_by[caller]:
            del self._running_by[caller]


class RequestBudget:
    def __init__(self, budgets: CallerBudgets | None, principal: Principal) -> None:
        self._budgets = budgets
        self._caller = caller_key(principal)
        self._charged: float = _FIRST_UNIT
        self.state: BudgetState | None = None

    @property
    def is_limited(self) -> bool:
        return self._budgets is not None

    @property
    def extensions(self) -> dict[str, Any]:
        """The entry of the response's extensions: the state of the budget, once the request was charged."""
        state = self.state
        if state is None:
            return {}
        return {"rateLimit": {"limit": state.limit, "remaining": state.remaining, "resetSeconds": state.reset_seconds}}

    async def begin(self) -> None:
        """Charges one unit before the body is read, so that rejecting the request takes little work."""
        await self._take(_FIRST_UNIT)

    async def charge(self, price: Price) -> None:
        """Charges the rest of what a request is expected to need, with its allowance for fallbacks."""
        expected = max(_FIRST_UNIT, price.admitted.read_units + price.admitted.write_units)
        if expected > _FIRST_UNIT:
            await self._take(expected, _FIRST_UNIT)
            self._charged = expected

    async def settle(self, state: RequestState) -> None:
        """Charges a request that has been executed what it took, in place of what it was expected to need.

        The difference is given back only if the store told the units of every operation: an error does not tell them.
        """
        if self._budgets is None or state.trace is None:
            return
        actual = max(_FIRST_UNIT, sum(state.trace.units()))
        if actual > self._charged or (actual < self._charged and state.trace.is_measured):
            with suppress(HttpError):  # the budget cannot be reached: the request has its answer
                await self._take(actual, self._charged, may_owe=True)

    async def spend(self, units: float) -> None:
        """Charges work that is done in any case; the caller may owe it."""
        if units > 0:
            with suppress(HttpError):  # the budget cannot be reached: the request goes on
                await self._take(units, may_owe=True)

    async def _take(self, units: float, taken: float = 0, *, may_owe: bool = False) -> None:
        if self._budgets is None:
            return
        try:
            self.state = state = await self._budgets.take(self._caller, units, taken, may_owe=may_owe)
        except SmartLockerError as error:
            raise to_http_error(error) from error
        if state.retry_seconds:
            seconds = state.retry_seconds
            raise rate_limited(f"The rate limit is exceeded: try again in {seconds} s.", seconds)


def rate_limited(message: str, retry_seconds: int) -> HttpError:
    return HttpError(429, message, "RATE_LIMITED", {"Retry-After": str(retry_seconds)})


def caller_key(principal: Principal) -> str:
    """Identifies a caller: a token and an API key of the same name are two."""
    return caller_name(principal.subject, by_key=principal.by_key)
