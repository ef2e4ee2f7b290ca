"""The request log: one line for each request."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from hashlib import sha256
from ipaddress import ip_address
from typing import Any

from domain.api_keys import KEY_SUBJECT
from domain.authorization import Principal
from loaders.trace import Trace
from server.telemetry.logs import json_line
from server.telemetry.observation import REQUEST_ID, Observation

logger = logging.getLogger(__name__)

_NO_TRACE = Trace()
_LINE = logging.LogRecord(logger.name, logging.INFO, "", 0, "request", None, None).__dict__
"""Attributes of every line; to create a record takes a tenth of a small query's time."""
_HEAD: dict[str, Any] = {"event": "request", "level": "info", "timestamp": None, "logger": logger.name}
"""The beginning of a line in JSON."""
_MAX_SUBJECT_LENGTH = 128
_MOST_RECIPIENTS = 100
# Clients send many requests from the same address, and many with the same document.
_ADDRESSES = 1024
_DOCUMENTS = 64


@dataclass(slots=True, eq=False)
class RequestLog:
    """Logs the operation, result, cost and caller of each request, and nothing of its content."""

    names_callers: bool
    write: Callable[[str], None] | None
    """Takes the lines of a log in JSON; without it, each is a record of `logging`, which takes three times as long."""

    def watch(self, observation: Observation) -> Callable[[], None]:
        observation.wants_units = True
        return partial(self._finished, observation)

    def _finished(self, observation: Observation) -> None:
        if observation.is_page or not logger.isEnabledFor(logging.INFO):
            return
        operation, trace = observation.operation_name, observation.trace or _NO_TRACE
        now = time.time()
        line = _HEAD.copy()
        if trace.operation_type is not None:
            line["operation_type"] = trace.operation_type
        if operation is not None:
            line["operation"] = operation
        elif observation.document is not None:
            line["document"] = _hash(observation.document)
        line["code"] = observation.code
        if observation.status is not None:
            line["status"] = observation.status
        line["duration_ms"] = round(observation.duration / 1_000_000, 3)
        line["operations"] = len(trace.records)
        line["read_units"], line["write_units"] = trace.units()
        recipients = trace.recipients()
        if recipients:
            line["recipients_read"], line["recipients"] = len(recipients), recipients[:_MOST_RECIPIENTS]
        if self.names_callers:
            line |= _caller(observation.principal, _address(observation.client))
        client_request_id = observation.client_request_id
        if client_request_id is not None:
            line["client_request_id"] = client_request_id
        if self.write is None:
            record = logging.LogRecord.__new__(logging.LogRecord)
            fields = {name: value for name, value in line.items() if name not in _HEAD}
            record.__dict__ = _LINE | {"created": now, "fields": fields}
            logger.handle(record)
        else:
            line["timestamp"] = datetime.fromtimestamp(now, UTC)
            line["request_id"] = REQUEST_ID.get()
            self.write(json_line(line))


@lru_cache(_DOCUMENTS)
def _hash(document: str) -> str:
    """The SHA-256 hash of a document whose operation has no name, as automatic persisted queries use it."""
    return sha256(document.encode(errors="replace")).hexdigest()


def _caller(principal: Principal | None, client: str | None) -> dict[str, str]:
    where = {} if client is None else {"client": client}
    if principal is None:
        return where
    # A subject comes from the issuer, who may put anything in it.
    subject = principal.subject[:_MAX_SUBJECT_LENGTH]
    if not subject.isprintable():
        subject = "".join(letter if letter.isprintable() else "?" for letter in subject)
    name, shown = ("key_id", subject.removeprefix(KEY_SUBJECT)) if principal.by_key else ("subject", subject)
    return {name: shown, "role": principal.role, **where}


@lru_cache(_ADDRESSES)
def _address(client: str | None) -> str | None:
    """The address; None for anything else that a proxy passed on."""
    try:
        return None if client is None else str(ip_address(client))
    except ValueError:
        return None
