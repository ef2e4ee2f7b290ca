from typing import Any

import pytest

from loaders.table.errors import BusyError, ConditionFailedError, StoreError, TransactionRefusedError, translated
from loaders.table.operations import Action, Get, Step, Transact
from loaders.table.positions import Key
from loaders.table.transport import RefusedRequestError

GET = Get("QC-01", Key("LOCKER#l1", "META"))
STEPS = tuple(Step(name, Action.CHECK, Key(name, "META"), condition="x") for name in ("locker", "copy", "owner"))
FAILED, CONFLICT, NONE = "ConditionalCheckFailed", "TransactionConflict", "None"
SLOW, FULL, LARGE = "ThrottlingError", "ProvisionedThroughputExceeded", "ItemCollectionSizeLimitExceeded"
ITEM = {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}, "version": {"N": "4"}}


def answer(code: str, **body: Any) -> RefusedRequestError:
    return RefusedRequestError(code, "why", 400, body, 0)


def canceled(*reasons: str | dict[str, Any]) -> Exception:
    spelled = [{"Code": reason} if isinstance(reason, str) else reason for reason in reasons]
    return translated(answer("TransactionCanceledException", CancellationReasons=spelled), Transact("QC-11", STEPS))


@pytest.mark.parametrize(
    ("reasons", "failed"),
    [
        ((FAILED, NONE, NONE), ["locker"]),
        ((NONE, FAILED, NONE), ["copy"]),
        (({}, {"Code": FAILED}, {}), ["copy"]),
        ((NONE, NONE, FAILED), ["owner"]),
        ((FAILED, NONE, FAILED), ["locker", "owner"]),
        ((FAILED, FAILED, FAILED), ["locker", "copy", "owner"]),
    ],
)
def test_a_reason_belongs_to_the_step_at_its_position(reasons: tuple[Any, ...], failed: list[str]) -> None:
    refusal = canceled(*reasons)
    assert isinstance(refusal, TransactionRefusedError)
    assert refusal.failed == dict.fromkeys(failed)
    assert str(refusal) == f"the conditions failed of: {', '.join(failed)}"


def test_a_refused_step_brings_the_item_as_it_is() -> None:
    refusal = canceled({"Code": FAILED, "Item": ITEM}, NONE, {"Code": FAILED})
    assert isinstance(refusal, TransactionRefusedError)
    assert refusal.refused == [(STEPS[0], {"PK": "LOCKER#l1", "SK": "META", "version": 4}), (STEPS[2], None)]


@pytest.mark.parametrize(
    "reasons",
    [
        *((NONE, busy, NONE) for busy in (CONFLICT, SLOW, FULL)),
        (SLOW, CONFLICT, NONE),
        (CONFLICT, FAILED, NONE),
        (FAILED, FAILED, CONFLICT),
        (FAILED, SLOW, NONE),
        (NONE, FAILED, FULL),
        (CONFLICT, "ValidationError", NONE),
        (LARGE, CONFLICT, CONFLICT),
    ],
)
def test_meeting_others_outweighs_every_other_reason_and_may_be_sent_again(reasons: tuple[str, ...]) -> None:
    error = canceled(*reasons)
    assert type(error) is BusyError
    assert str(error) == ", ".join(sorted({*reasons} - {NONE}))


@pytest.mark.parametrize(
    "reasons",
    [
        *((fault, NONE, NONE) for fault in ("ValidationError", LARGE, "AccessDenied", NONE)),
        ("ValidationError", FAILED, NONE),
        (FAILED, NONE),
        (FAILED, NONE, NONE, NONE),
        (),
    ],
)
def test_a_transaction_canceled_for_our_own_fault_is_not_sent_again(reasons: tuple[str, ...]) -> None:
    assert type(canceled(*reasons)) is StoreError


def test_a_put_that_was_refused_without_its_item_has_none() -> None:
    refusal = translated(answer("ConditionalCheckFailedException"), GET)
    assert isinstance(refusal, ConditionFailedError)
    assert refusal.item is None


def test_the_message_of_a_busy_store_is_our_own_and_a_bug_keeps_that_of_the_store() -> None:
    assert str(translated(answer("ThrottlingException"), GET)) == "The store is busy or down: try again in a moment."
    assert "ValidationException" in str(translated(answer("ValidationException"), GET))
