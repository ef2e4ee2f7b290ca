"""From the store's answers to our own classes: reasons by position become steps by name."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import UnavailableError
from loaders.table.errors import (
    BusyError,
    ConditionFailedError,
    StoreError,
    TableMissingError,
    TransactionRefusedError,
    translated,
)
from loaders.table.keys import Key
from loaders.table.operations import Action, Get, Step, Transact
from loaders.table.transport import RefusedRequestError

GET = Get("QC-01", Key("LOCKER#l1", "META"))
STEPS = tuple(Step(name, Action.CHECK, Key(name, "META"), condition="x") for name in ("locker", "copy", "owner"))
TRANSACTION = Transact("QC-11", STEPS)
FAILED, CONFLICT, NONE = "ConditionalCheckFailed", "TransactionConflict", "None"


def answer(code: str, status: int = 400, **body: Any) -> RefusedRequestError:
    return RefusedRequestError(code, "why", status, body, 0)


def cancelled(*reasons: str | dict[str, Any]) -> Exception:
    spelled = [{"Code": reason} if isinstance(reason, str) else reason for reason in reasons]
    return translated(answer("TransactionCanceledException", CancellationReasons=spelled), TRANSACTION)


@pytest.mark.parametrize(
    ("reasons", "failed"),
    [
        ((FAILED, NONE, NONE), {"locker": None}),
        ((NONE, FAILED, NONE), {"copy": None}),
        ((NONE, NONE, FAILED), {"owner": None}),
        ((FAILED, NONE, FAILED), {"locker": None, "owner": None}),
        ((FAILED, FAILED, FAILED), {"locker": None, "copy": None, "owner": None}),
    ],
)
def test_a_reason_belongs_to_the_step_at_its_position(reasons: tuple[str, ...], failed: dict[str, None]) -> None:
    refusal = cancelled(*reasons)
    assert isinstance(refusal, TransactionRefusedError)
    assert refusal.failed == failed
    assert str(refusal) == f"the conditions failed of: {', '.join(failed)}"


def test_a_refused_step_brings_the_item_as_it_is() -> None:
    item = {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "META"}, "version": {"N": "4"}}
    refusal = cancelled({"Code": FAILED, "Item": item}, NONE, {"Code": FAILED})
    assert isinstance(refusal, TransactionRefusedError)
    assert refusal.refused == [(STEPS[0], {"PK": "LOCKER#l1", "SK": "META", "version": 4}), (STEPS[2], None)]


@pytest.mark.parametrize("busy", [CONFLICT, "ThrottlingError", "ProvisionedThroughputExceeded"])
def test_a_transaction_that_only_met_others_may_be_sent_again(busy: str) -> None:
    error = cancelled(NONE, busy, NONE)
    assert type(error) is BusyError
    assert str(error) == busy


def test_several_ways_of_being_busy_are_busy() -> None:
    error = cancelled("ThrottlingError", CONFLICT, NONE)
    assert type(error) is BusyError
    assert str(error) == "ThrottlingError, TransactionConflict"


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        ((CONFLICT, FAILED, NONE), "ConditionalCheckFailed, TransactionConflict"),
        ((FAILED, FAILED, CONFLICT), "ConditionalCheckFailed, TransactionConflict"),
        ((FAILED, "ThrottlingError", NONE), "ConditionalCheckFailed, ThrottlingError"),
        ((NONE, FAILED, "ProvisionedThroughputExceeded"), "ConditionalCheckFailed, ProvisionedThroughputExceeded"),
        ((CONFLICT, "ValidationError", NONE), "TransactionConflict, ValidationError"),
        (
            ("ItemCollectionSizeLimitExceeded", CONFLICT, CONFLICT),
            "ItemCollectionSizeLimitExceeded, TransactionConflict",
        ),
    ],
)
def test_meeting_others_outweighs_every_other_reason(reasons: tuple[str, ...], said: str) -> None:
    error = cancelled(*reasons)
    assert type(error) is BusyError
    assert str(error) == said


@pytest.mark.parametrize(
    "reasons",
    [
        ("ValidationError", NONE, NONE),
        ("ValidationError", FAILED, NONE),
        ("ItemCollectionSizeLimitExceeded", NONE, NONE),
        ("AccessDenied", NONE, NONE),
        (NONE, NONE, NONE),
        (FAILED, NONE),
        (FAILED, NONE, NONE, NONE),
        (),
    ],
)
def test_a_transaction_cancelled_for_our_own_fault_is_not_sent_again(reasons: tuple[str, ...]) -> None:
    assert type(cancelled(*reasons)) is StoreError


def test_a_reason_without_a_code_is_none() -> None:
    refusal = cancelled({}, {"Code": FAILED}, {})
    assert isinstance(refusal, TransactionRefusedError)
    assert refusal.failed == {"copy": None}


def test_a_put_that_was_refused_brings_the_item_as_it_is() -> None:
    item = {"PK": {"S": "p"}, "SK": {"S": "s"}}
    refusal = translated(answer("ConditionalCheckFailedException", Item=item), GET)
    assert isinstance(refusal, ConditionFailedError)
    assert refusal.item == {"PK": "p", "SK": "s"}
    bare = translated(answer("ConditionalCheckFailedException"), GET)
    assert isinstance(bare, ConditionFailedError)
    assert bare.item is None


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("ResourceNotFoundException", 400, TableMissingError),
        ("TransactionConflictException", 400, BusyError),
        ("TransactionInProgressException", 400, BusyError),
        ("ProvisionedThroughputExceededException", 400, UnavailableError),
        ("RequestLimitExceeded", 400, UnavailableError),
        ("ThrottlingException", 400, UnavailableError),
        ("InternalServerError", 500, UnavailableError),
        ("ServiceUnavailable", 503, UnavailableError),
        ("SomethingNew", 500, UnavailableError),
        ("", 502, UnavailableError),
        ("ValidationException", 400, StoreError),
        ("IdempotentParameterMismatchException", 400, StoreError),
        ("AccessDeniedException", 400, StoreError),
        ("SomethingNew", 400, StoreError),
    ],
)
def test_an_error_of_the_store_has_one_class(code: str, status: int, kind: type[Exception]) -> None:
    assert type(translated(answer(code, status), GET)) is kind


def test_the_message_of_a_busy_store_is_our_own_and_a_bug_keeps_that_of_the_store() -> None:
    assert str(translated(answer("ThrottlingException"), GET)) == "The store is busy or down: try again in a moment."
    assert "ValidationException" in str(translated(answer("ValidationException"), GET))
