"""What telemetry sees of one request, from its first byte to its answer; without telemetry there is no observation."""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loaders.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaders.table.recording import Recorder

__all__ = ["OBSERVATION", "REQUEST_ID", "Observation", "note_failure"]

OK = "OK"
_UNANSWERED = "CANCELLED"
_FAULT = 500
# A name has no end of its own, and nobody needs more of one to know it.
_NAME_LENGTH = 64


@dataclass(slots=True, eq=False)
class Observation:
    """Is filled while the request runs, and read by telemetry when it has ended."""

    method: str
    headers: Mapping[str, str]
    recorder: Recorder | None = None
    """Is told of every operation of the store as it ends."""
    wants_units: bool = False
    wants_paths: bool = False
    started_at: int = field(default_factory=time.time_ns)
    began: int = field(default_factory=time.perf_counter_ns)
    duration: int = 0
    """Nanoseconds until the answer was there; how long a client takes to receive it says nothing of the server."""
    status: int | None = None
    """Of the answer; None where none was sent."""
    is_page: bool = False
    """Whether the answer is a page for people, which is no request of the API."""
    failure: tuple[str, int] | None = None
    """Code and status of the answer's first error."""
    trace: Trace | None = None

    def open_trace(self, *, wants_units: bool, wants_paths: bool) -> Trace:
        """The trace of the request, as its client and telemetry together want it."""
        self.trace = Trace(
            self.recorder,
            wants_units=wants_units or self.wants_units,
            wants_paths=wants_paths or self.wants_paths,
        )
        return self.trace

    def answered(self, status: int, content_type: str) -> None:
        """The answer is there."""
        self.status = status
        self.is_page = content_type.startswith("text/html")
        self.duration = time.perf_counter_ns() - self.began

    def ended(self) -> None:
        """Nothing more is going to happen."""
        self.duration = self.duration or time.perf_counter_ns() - self.began

    @property
    def code(self) -> str:
        """What the request came to: `OK`, or its first error's code; a mutation's user errors count too."""
        if self.failure is not None:
            return self.failure[0]
        if self.status is None:
            return _UNANSWERED
        return (self.trace and self.trace.user_error) or OK

    @property
    def is_fault(self) -> bool:
        """Whether the server failed, not the client."""
        return self.failure is not None and self.failure[1] >= _FAULT

    @property
    def operation_type(self) -> str | None:
        """`query` or `mutation`; None where no document was understood."""
        return None if self.trace is None else self.trace.operation_type

    @property
    def operation_name(self) -> str | None:
        """The operation's own name, if it has one."""
        name = None if self.trace is None else self.trace.operation_name
        return None if name is None else name[:_NAME_LENGTH]


OBSERVATION: ContextVar[Observation | None] = ContextVar("OBSERVATION", default=None)
"""The observation of the request that runs, where there is telemetry."""

REQUEST_ID: ContextVar[str | None] = ContextVar("REQUEST_ID", default=None)
"""The id of the request that runs: every line of the log that it causes has it."""


def note_failure(code: str, status: int) -> None:
    """An error goes into the answer; the first one is what the request came to."""
    observation = OBSERVATION.get()
    if observation is not None and observation.failure is None:
        observation.failure = (code, status)
