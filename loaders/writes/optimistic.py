"""The loop of all writes: read, decide, and write on the condition that what was read still holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from domain.activity import Happening
from domain.errors import IdTakenError, TooManyChangesError
from domain.models import LockerId
from loaders import keys
from loaders.contracts.reservations import GUARD_RULES, LAST_CHANGE_RULES
from loaders.contracts.writing import WriteContract
from loaders.conversion import Codec
from loaders.reads.live_reservations import MovedError
from loaders.table.client import Store
from loaders.table.errors import TransactionRefusedError
from loaders.table.retry import pause
from loaders.table.stamps import TooLateError
from loaders.writes.log import Log
from loaders.writes.timeline import settle

if TYPE_CHECKING:
    from loaders.table.operations import Step

T = TypeVar("T")

_PATIENCE = 6
"""How often the same change is not visible before its items are written once more."""
_LAST_CHANGE = frozenset(rule.name for rule in LAST_CHANGE_RULES)
_GUARD = frozenset(rule.name for rule in GUARD_RULES)


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """The result of a write, the steps that lead to it, and what it means if they are refused.

    There are no steps where nothing is left to write. `happenings` is what they do, as the log tells it. `on_refusal`
    returns the result where the same request was made before, raises an error that another round cannot change, or
    returns None to begin another round.
    """

    result: T
    steps: Sequence[Step] = ()
    happenings: Sequence[Happening] = ()
    on_refusal: Callable[[TransactionRefusedError], T | None] = lambda _: None


async def optimistic_write(
    store: Store,
    contract: WriteContract,
    decide: Callable[[Counter[str]], Awaitable[Decision[T]]],
    *,
    log: Log | None = None,
    changed: tuple[str, ...] = (),
) -> T:
    """The result of a write that is decided on what is read, in as many rounds as its contract has.

    `decide` reads and decides; it is told how often each step was refused in earlier rounds, and raises MovedError
    where a concurrent write is only partly visible. `log` logs what a write does that others see. `changed` names the
    object, and the field of the input that names it, for the error after the last round.
    """
    refused: Counter[str] = Counter()
    unseen: Counter[tuple[LockerId, int]] = Counter()
    for attempt in range(contract.rounds):
        await pause(attempt)
        try:
            decision = await decide(refused)
        except MovedError as moved:
            await _wait_for(store, moved, unseen)
            continue
        if not decision.steps:
            return decision.result
        try:
            await _send(store, contract, decision, log)
        except TooLateError:
            if contract.rounds == 1:
                raise
        except TransactionRefusedError as refusal:
            made = decision.on_refusal(refusal)
            if made is not None:
                return made
            if contract.rounds == 1:
                raise
            refused.update(refusal.failed.keys())
            await _settle_lost(store, refusal)
        else:
            return decision.result
    raise TooManyChangesError(*changed)


async def _send(store: Store, contract: WriteContract, decision: Decision[Any], log: Log | None) -> None:
    if log is None:
        await store.transact(contract.transact(*decision.steps))
    else:
        await log.transact(contract, decision.steps, *decision.happenings)


async def _wait_for(store: Store, moved: MovedError, unseen: Counter[tuple[LockerId, int]]) -> None:
    """Writes a change once more that has not become visible for long."""
    if moved.last_change is not None:
        unseen[moved.last_change] += 1
        if unseen[moved.last_change] == _PATIENCE:
            await settle(store, moved.last_change[0])


async def _settle_lost(store: Store, refusal: TransactionRefusedError) -> None:
    lost = [step.key for step, _ in refusal.refused if step.name in _LAST_CHANGE]
    if lost and not refusal.failed.keys() & _GUARD:  # the guard is as it was read, and its change is not there
        await settle(store, keys.locker_of(lost[0].pk))


def created_before(
    refusal: TransactionRefusedError, step: str, codec: Codec[T], content: str, taken: IdTakenError
) -> T | None:
    """The record that a request with the same content created under the same id; None where there is none.

    Raises `taken` where the content was another.
    """
    existing = refusal.failed.get(step)
    if existing is None:
        return None
    if existing.get("fingerprint") != content:
        raise taken from None
    return codec.decode(existing)
