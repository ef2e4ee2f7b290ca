"""Token-bucket budgets: how much a caller may spend, how much remains, and when to retry."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from domain.api_keys import KEY_SUBJECT, ApiKeyId
from domain.times import Instant

_MINUTE = 60_000_000
_SECOND = 1_000_000


class BudgetState(NamedTuple):
    limit: int
    """Capacity in units."""
    remaining: int
    reset_seconds: int
    """Seconds until the budget is full."""
    retry_seconds: int
    """Seconds until there are enough units for the request; 0 if it was accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerBudget:
    """Another budget than the usual one, which an admin has set for an API key or for the subject of tokens."""

    key_id: ApiKeyId | None = None
    subject: str | None = None
    units_per_minute: int
    burst: int
    set_at: Instant
    set_by: str

    @property
    def caller(self) -> str:
        """The name by which its requests are charged."""
        if self.key_id is not None:
            return caller_name(f"{KEY_SUBJECT}{self.key_id}", by_key=True)
        return caller_name(self.subject or "", by_key=False)

    @property
    def caller_id(self) -> str | None:
        """The id that the log has for the subject of tokens, which is often an email address; None for an API key."""
        return None if self.subject is None else sha256(self.subject.encode()).hexdigest()

    @property
    def payer(self) -> str:
        """Who is charged, in a key of the table, where a subject may be too long."""
        return f"token:{self.caller_id}" if self.key_id is None else f"key:{self.key_id}"


def caller_name(subject: str, *, by_key: bool) -> str:
    """Names a caller with a budget: the holders of a token and of an API key with the same subject are two."""
    return f"{'key' if by_key else 'token'} {subject}"


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget of `burst` units that refills at `per_minute` units a minute.

    The only state to store per caller is `full_at`, the time at which the budget is full again. Times are microseconds
    since 1970, durations microseconds.
    """

    per_minute: int
    burst: int
    window: int = field(init=False)
    """Time in which an empty budget becomes full."""
    _unit: int = field(init=False)
    """Time in which one unit refills."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_unit", math.ceil(_MINUTE / self.per_minute))
        object.__setattr__(self, "window", self.burst * self._unit)

    def refill_time(self, units: float) -> int:
        """Time in which these units refill, at most the whole window: a larger request empties the budget."""
        return min(math.ceil(units * self._unit), self.window)

    def charge(
        self, full_at: int, now: int, units: float, taken: float, *, may_owe: bool = False
    ) -> tuple[int, BudgetState]:
        """When the budget is full after a request, and its state; `taken` is what the request was charged before.

        If the budget is too low, nothing is charged, unless it `may_owe` what has been used already.
        """
        whole = self.refill_time(units)
        price = whole - self.refill_time(taken) if taken else whole
        full_at = max(full_at, now)
        if may_owe or full_at + price <= now + self.window:
            return full_at + price, self.accepted(full_at + price, now)
        return full_at, self.rejected(full_at, now, whole)

    def accepted(self, full_at: int, now: int) -> BudgetState:
        """State after a request that was accepted; `full_at` includes its units."""
        return self._state(full_at, now, 0)

    def rejected(self, full_at: int, now: int, refill_time: int) -> BudgetState:
        """State after a request that was rejected and spent nothing; `refill_time` is that of its units."""
        return self._state(full_at, now, full_at + refill_time - self.window - now)

    def _state(self, full_at: int, now: int, wait: int) -> BudgetState:
        missing = max(full_at - now, 0)
        return BudgetState(
            self.burst,
            max((self.window - missing) // self._unit, 0),
            math.ceil(missing / _SECOND),
            math.ceil(wait / _SECOND),
        )


NO_OTHERS: Mapping[str, Budget] = {}
"""Where every caller has the usual budget."""


def account_of(caller: str, usual: Budget, others: Mapping[str, Budget]) -> tuple[str, Budget]:
    """The budget of a caller, and the name under which its state is kept.

    A budget that an admin sets begins whole: what is owed is a time, which another budget would make too much of.
    """
    other = others.get(caller)
    return (caller, usual) if other is None else (f"{other.per_minute} {other.burst} {caller}", other)
