"""Budgets in the table: those that all servers share, and those that admins set for callers."""

from collections.abc import Callable, Mapping
from hashlib import sha256

from domain.authorization import Principal
from domain.budgets import NO_OTHERS, Budget, BudgetState, CallerBudget
from domain.commands.budgets import SetCallerBudget
from domain.errors import BadInputError, UnavailableError
from loaders.backend import Backend
from loaders.codecs import CALLER_BUDGET
from loaders.contracts.budgets import SET_CALLER_BUDGET, SPEND_BUDGET
from loaders.table.client import DynamoStore
from loaders.table.errors import ConditionFailedError, TransactionRefusedError
from loaders.table.recording import RecordedStore
from loaders.table.values import Item

# The budget of a caller with many requests at once may be whole again and spent again between two steps of a charge.
_ROUNDS = 10
_SECOND = 1_000_000
# Of whole budgets: a record must not expire while something is owed.
_MOST_OWED = 1000


class TableBudgets:
    """Charges budgets with conditional updates of the table.

    `store` returns the store once it is open, `now` microseconds since 1970 by a clock that agrees with other servers'.
    """

    def __init__(
        self,
        store: Callable[[], DynamoStore | RecordedStore],
        usual: Budget,
        now: Callable[[], int],
        others: Mapping[str, Budget] = NO_OTHERS,
    ) -> None:
        self._store = store
        self._usual = usual
        self._now = now
        self._others = others

    async def take(self, caller: str, units: float, taken: float = 0, *, may_owe: bool = False) -> BudgetState:
        """Charges a caller's budget with units, less those that the same request was charged before.

        Where the budget does not suffice, the state says when it will, for the request as a whole. With `may_owe` it
        is charged nevertheless.
        """
        budget = self._others.get(caller, self._usual)
        whole = budget.refill_time(units)
        price = whole - budget.refill_time(taken)
        # A caller's name may have any length, and it is not stored in clear.
        place = (sha256(caller.encode()).hexdigest(),)
        # One time for all rounds: only what others give back can make the budget whole again by then.
        now = self._now()
        span = budget.window * (_MOST_OWED if may_owe else 1)
        latest = now + span - price
        expires = {"expiresAt": (now + span) // _SECOND + 1}
        for _ in range(_ROUNDS):
            try:
                owing = SPEND_BUDGET.step("spent", place, expires, added={"fullAt": price}, now=now, latest=latest)
                item = await self._store().update(SPEND_BUDGET.update(owing))
                return budget.accepted(_full_at(item), now)
            except ConditionFailedError as error:
                owed = _full_at(error.item)
            if owed > latest:
                return budget.rejected(owed, now, whole)
            if price <= 0:
                return budget.accepted(owed, now)  # it is whole by now: there is nothing to give back
            try:
                whole_again = SPEND_BUDGET.step("whole", place, {"fullAt": now + price, **expires}, now=now)
                await self._store().update(SPEND_BUDGET.update(whole_again))
                return budget.accepted(now + price, now)
            except ConditionFailedError:
                continue  # a concurrent request was charged first
        raise UnavailableError("The rate limit cannot be checked. Try again.")


async def set_caller_budget(backend: Backend, command: SetCallerBudget, principal: Principal) -> CallerBudget | None:
    """Sets the budget of a caller (QC-64), or removes it; one that is the same or was set later stays."""
    units, now = command.units_per_minute, backend.clock()
    budget: CallerBudget | None = None
    if units is not None:
        budget = CallerBudget(
            subject=command.subject,
            units_per_minute=units,
            burst=command.burst or units,
            set_at=now,
            set_by=principal.subject,
        )
        step = SET_CALLER_BUDGET.record_step("budget", budget, now=now, units=units, most=budget.burst)
    elif command.burst is None:
        step = SET_CALLER_BUDGET.step("no budget", (command.subject,), now=now)
    else:
        raise BadInputError("burst needs unitsPerMinute", ("input", "burst"))
    try:
        await backend.store.transact(SET_CALLER_BUDGET.transact(step))
    except TransactionRefusedError as refusal:
        later = refusal.failed[step.name]
        if later is None:
            raise
        return CALLER_BUDGET.decode(later)
    return budget


def _full_at(item: Item | None) -> int:
    return int(str(item["fullAt"])) if item else 0
