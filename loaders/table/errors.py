"""From a wire error to a class: one flat table."""

from collections.abc import Mapping, Sequence
from typing import Any

from domain.errors import InternalError, UnavailableError
from loaders.table.operations import Step, Transact
from loaders.table.transport import RefusedRequestError
from loaders.table.values import FoundItem, Item, item_from_wire


class StoreError(InternalError):
    """The store refused a request that we should not have sent, or failed: a fault that no client can mend.

    `detail` is the store's own words, which may quote what it was sent: the log has the message alone.
    """

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(f"{message}: {detail}" if detail else message)
        self._message = message

    @property
    def log_text(self) -> str:
        return self._message


class BusyError(StoreError):
    """Nothing was applied; the same operation, sent again in a moment, may be."""


class UnreadKeysError(UnavailableError):
    """The store left keys of a batch unread however often it was asked; `found` is what it read of the others."""

    def __init__(self, unread: frozenset[tuple[str, str]], found: Mapping[tuple[str, str], FoundItem]) -> None:
        super().__init__("The store did not answer: try again in a moment.")
        self.unread = unread
        self.found = found


class ConditionFailedError(StoreError):
    """The item is not as the write assumed; `item` is what it is."""

    def __init__(self, item: Item | None) -> None:
        super().__init__("the condition of a write failed")
        self.item = item


class TransactionRefusedError(StoreError):
    """Steps of a transaction whose conditions failed, each with the item as it is."""

    def __init__(self, refused: Sequence[tuple[Step, Item | None]]) -> None:
        super().__init__(f"the conditions failed of: {', '.join(step.name for step, _ in refused)}")
        self.refused = refused

    @property
    def failed(self) -> dict[str, Item | None]:
        return {step.name: item for step, item in self.refused}


_BY_CODE: dict[str, type[Exception]] = {
    "TransactionConflictException": BusyError,
    "TransactionInProgressException": BusyError,
    "ProvisionedThroughputExceededException": UnavailableError,
    "RequestLimitExceeded": UnavailableError,
    "ThrottlingException": UnavailableError,
    "InternalServerError": UnavailableError,
    "ServiceUnavailable": UnavailableError,
}
_ABOUT_ACCESS = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "ResourceNotFoundException",
        "UnrecognizedClientException",
    }
)
_SERVER_FAULT = 500
_BUSY_REASONS = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
_CONDITION_FAILED = "ConditionalCheckFailed"


def translated(error: RefusedRequestError, operation: object) -> Exception:
    code = error.code
    if code == "TransactionCanceledException":
        return _canceled(error.body.get("CancellationReasons", []), operation)  # type: ignore[arg-type]
    if code == "ConditionalCheckFailedException":
        return ConditionFailedError(_item(error.body))
    kind = _BY_CODE.get(code) or (UnavailableError if error.status >= _SERVER_FAULT else StoreError)
    if kind is UnavailableError:
        return UnavailableError("The store is busy or down: try again in a moment.")
    named = f"{code} (request {error.request_id})" if error.request_id else code
    return kind(f"{named}: {error.message}") if code in _ABOUT_ACCESS else kind(named, error.message)


def is_trouble(error: RefusedRequestError) -> bool:
    """Whether the store refuses all such requests, or fails; throttling and conflicts pass by themselves."""
    return error.status >= _SERVER_FAULT or error.code in _ABOUT_ACCESS


def _canceled(reasons: list[Mapping[str, Any]], transaction: Transact) -> Exception:
    """Reasons stand in the order of the steps.

    A conflict outweighs a failed condition: another transaction, perhaps our own twin, is half way through these items,
    and only when it is done do the conditions tell the truth.
    """
    codes = {reason.get("Code") for reason in reasons} - {"None", None}
    if codes & _BUSY_REASONS:
        return BusyError(", ".join(sorted(map(str, codes))))
    if codes != {_CONDITION_FAILED} or len(reasons) != len(transaction.steps):
        return StoreError(f"a transaction was canceled: {codes}")
    refused = [
        (step, _item(reason))
        for step, reason in zip(transaction.steps, reasons, strict=True)
        if reason.get("Code") == _CONDITION_FAILED
    ]
    return TransactionRefusedError(refused)


def _item(answer: Mapping[str, Any]) -> Item | None:
    item = answer.get("Item")
    return item_from_wire(item) if item else None
