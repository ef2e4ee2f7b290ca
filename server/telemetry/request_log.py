"""The request log: one line for each request."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from ipaddress import ip_address

from loaders.contracts.cost import Cost
from server.telemetry.observation import Observation

logger = logging.getLogger(__name__)

_NOTHING = Cost()
_LINE = logging.LogRecord(logger.name, logging.INFO, "", 0, "request", None, None).__dict__
"""Attributes of every line; to create a record takes a tenth of a small query's time."""
_KEY_SUBJECT = "key:"
_MAX_SUBJECT_LENGTH = 128
# A client sends many requests from the same address.
_REMEMBERED = 1024


@dataclass(slots=True, eq=False)
class RequestLog:
    """Logs the operation, result, cost and caller of each request, and nothing of its content."""

    names_callers: bool

    def watch(self, observation: Observation) -> Callable[[], None]:
        observation.wants_units = True
        return partial(self._finished, observation)

    def _finished(self, observation: Observation) -> None:
        if observation.is_page or not logger.isEnabledFor(logging.INFO):
            return
        spent = _NOTHING if observation.trace is None else observation.trace.spent()
        fields = {
            "operation_type": observation.operation_type,
            "operation": observation.operation_name,
            "document": _document_hash(observation),
            "code": observation.code,
            "status": observation.status,
            "duration_ms": round(observation.duration / 1_000_000, 3),
            "operations": spent.operations,
            "read_units": spent.read_units,
            "write_units": spent.write_units,
            **(_caller(observation) if self.names_callers else {}),
            "client_request_id": observation.client_request_id,
        }
        record = logging.LogRecord.__new__(logging.LogRecord)
        known = {name: value for name, value in fields.items() if value is not None}
        record.__dict__ = _LINE | {"created": time.time(), "fields": known}
        logger.handle(record)


def _document_hash(observation: Observation) -> str | None:
    """The SHA-256 hash of a document whose operation has no name, as automatic persisted queries use it."""
    if observation.operation_name is not None or observation.document is None:
        return None
    return sha256(observation.document.encode(errors="replace")).hexdigest()


def _caller(observation: Observation) -> dict[str, str | None]:
    principal = observation.principal
    client = {"client": _address(observation.client)}
    if principal is None:
        return client
    # A subject comes from the issuer, who may put anything in it.
    subject = principal.subject[:_MAX_SUBJECT_LENGTH]
    if not subject.isprintable():
        subject = "".join(letter if letter.isprintable() else "?" for letter in subject)
    name = {"key_id": subject.removeprefix(_KEY_SUBJECT)} if principal.by_key else {"subject": subject}
    return {**name, "role": principal.role, **client}


@lru_cache(_REMEMBERED)
def _address(client: str | None) -> str | None:
    """The address; None for anything else that a proxy passed on."""
    try:
        return None if client is None else str(ip_address(client))
    except ValueError:
        return None
