"""Budgets in the table: those that all servers share, and those that admins set for callers."""

from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from domain.activity import ActivityKind, Change, Happening
from domain.api_keys import KEY_SUBJECT
from domain.authorization import Principal
from domain.budgets import NO_OTHERS, Budget, BudgetState, CallerBudget, account_of
from domain.commands.budgets import SetCallerBudget
from domain.errors import BadInputError, NotFoundError, UnavailableError
from domain.times import Instant
from loaders.backend import Backend
from loaders.contracts.budgets import SET_CALLER_BUDGET, SPEND_BUDGET
from loaders.table.client import DynamoStore
from loaders.table.errors import ConditionFailedError
from loaders.table.recording import RecordedStore
from loaders.table.values import Item
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write

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
        account, budget = account_of(caller, self._usual, self._others)
        whole = budget.refill_time(units)
        price = whole - budget.refill_time(taken)
        # A caller's name may have any length, and it is not stored in clear.
        place = (sha256(account.encode()).hexdigest(),)
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
    """Sets the budget of a caller, or removes it (QC-64). One that is the same already stays."""
    wanted = _named(command, backend.clock(), principal)
    units, burst = command.units_per_minute, command.burst or command.units_per_minute
    sets_key = units is not None and command.key_id is not None
    if sets_key and await SET_CALLER_BUDGET.read(backend.store, "key", command.key_id) is None:
        raise NotFoundError(f"API key {command.key_id} does not exist.", ("input", "keyId"))

    async def decide(_: Counter[str]) -> Decision[CallerBudget | None]:
        current: CallerBudget | None = await SET_CALLER_BUDGET.read(backend.store, "budget", wanted.payer)
        has = (None, None) if current is None else (current.units_per_minute, current.burst)
        if has == (units, burst):
            return Decision(current)
        read: dict[str, Any] = {"readUnits": has[0], "readBurst": has[1]}
        if current is None:
            step = SET_CALLER_BUDGET.record_step("new", wanted)
        elif units is None:
            step = SET_CALLER_BUDGET.step("removed", (wanted.payer,), **read)
        else:
            step = SET_CALLER_BUDGET.change_step("changed", current, wanted, **read)
        return Decision(None if units is None else wanted, [step], [_happening(wanted, has, (units, burst))])

    return await optimistic_write(
        backend.store, SET_CALLER_BUDGET, decide, log=Log(backend, principal), changed=("budget",)
    )


def _named(command: SetCallerBudget, now: Instant, principal: Principal) -> CallerBudget:
    """The budget that an input asks for, of one caller; its units are 0 if the caller is to have the usual one."""
    if (command.key_id is None) is (command.subject is None):
        raise BadInputError("Name either keyId or subject.", ("input",))
    units = command.units_per_minute
    if units is not None and (command.subject or "").startswith(KEY_SUBJECT):
        raise BadInputError("This is the subject of an API key: give its id as keyId.", ("input", "subject"))
    if units is None and command.burst is not None:
        raise BadInputError("burst needs unitsPerMinute", ("input", "burst"))
    return CallerBudget(
        key_id=command.key_id,
        subject=command.subject,
        units_per_minute=units or 0,
        burst=command.burst or units or 0,
        set_at=now,
        set_by=principal.subject,
    )


def _happening(budget: CallerBudget, before: tuple[int | None, ...], after: tuple[int | None, ...]) -> Happening:
    told = zip(("unitsPerMinute", "burst"), map(_text, before), map(_text, after), strict=True)
    return Happening(
        kind=ActivityKind.CALLER_BUDGET_CHANGED,
        api_key_id=budget.key_id,
        caller_id=budget.caller_id,
        changes=tuple(Change(name, was, now) for name, was, now in told if was != now),
    )


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def _full_at(item: Item | None) -> int:
    return int(str(item["fullAt"])) if item else 0
