"""The record of one request for telemetry; if telemetry is off, there is none."""

import re
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field

from domain.authorization import Principal
from loaders.table.recording import Recorder
from loaders.trace import Trace

OK = "OK"
_UNANSWERED = "CANCELLED"
_SERVER_ERROR = 500
# The length of an operation's name is up to the client.
_MAX_NAME_LENGTH = 64
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}")


@dataclass(slots=True, eq=False)
class Observation:
    """Filled while the request runs, and read by telemetry when it has ended."""

    method: str
    headers: Iterable[tuple[bytes, bytes]]
    client: str | None = None
    """Address of the client, as the server or a trusted proxy says; it is checked where it is used."""
    principal: Principal | None = None
    document: str | None = None
    recorder: Recorder | None = None
    """Called for every operation of the store when it ends."""
    wants_units: bool = False
    started_at: int = field(default_factory=time.time_ns)
    started_ns: int = field(default_factory=time.perf_counter_ns)
    duration: int = 0
    """Nanoseconds until the response started; the time that the client takes to receive it does not count."""
    status: int | None = None
    is_page: bool = False
    """Whether the response is an HTML page, which is not a request of the API."""
    error: tuple[str, int] | None = None
    """Code and status of the response's first error."""
    trace: Trace | None = None
    finishers: list[Callable[[], None]] = field(default_factory=list)
    """Called when the request has ended; a stream of events, when it begins."""

    def open_trace(self, *, wants_units: bool) -> Trace:
        self.trace = Trace(self.recorder, wants_units=wants_units or self.wants_units)
        return self.trace

    def response_started(self, status: int, content_type: bytes) -> None:
        self.status = status
        self.is_page = content_type.startswith(b"text/html")
        self.duration = time.perf_counter_ns() - self.started_ns
        if content_type.startswith(b"text/event-stream"):
            self.finished()

    def finished(self) -> None:
        """Tells those who watch; harmless if they were told."""
        self.duration = self.duration or time.perf_counter_ns() - self.started_ns
        finishers, self.finishers = self.finishers, []
        for finish in finishers:
            finish()

    @property
    def code(self) -> str:
        """`OK` or the code of the first error; user errors of mutations count too."""
        if self.error is not None:
            return self.error[0]
        if self.status is None:
            return _UNANSWERED
        return (self.trace and self.trace.user_error) or OK

    @property
    def is_server_error(self) -> bool:
        return self.error is not None and self.error[1] >= _SERVER_ERROR

    @property
    def operation_type(self) -> str | None:
        """`query` or `mutation`; None if the document is not valid."""
        return None if self.trace is None else self.trace.operation_type

    @property
    def operation_name(self) -> str | None:
        name = None if self.trace is None else self.trace.operation_name
        return None if name is None else name[:_MAX_NAME_LENGTH]

    @property
    def client_request_id(self) -> str | None:
        """The id that the client gave the request, if it is a plain one of at most 128 characters."""
        sent = self.header(b"x-request-id")
        return sent if _REQUEST_ID.fullmatch(sent) else None

    def header(self, name: bytes) -> str:
        """A header of the request; empty if there is none."""
        for found, value in self.headers:
            if found == name:
                return value.decode("latin-1")
        return ""


OBSERVATION: ContextVar[Observation | None] = ContextVar("OBSERVATION", default=None)
REQUEST_ID: ContextVar[str | None] = ContextVar("REQUEST_ID", default=None)
"""The id of the current request, which every log line of the request contains."""


def record_caller(principal: Principal) -> None:
    observation = OBSERVATION.get()
    if observation is not None:
        observation.principal = principal


def record_document(text: str) -> None:
    observation = OBSERVATION.get()
    if observation is not None:
        observation.document = text


def record_error(code: str, status: int) -> None:
    """Records an error of the response; the first one decides the code of the request."""
    observation = OBSERVATION.get()
    if observation is not None and observation.error is None:
        observation.error = (code, status)
