"""Stamps of writes: a transaction that is logged under its time must reach the store soon after it, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from domain.errors import UnavailableError
from loaders.table.clock import machine_timer

MAX_AGE = 15.0
"""For how many seconds after its stamp a transaction may be sent."""

_TAKEN_AT: ContextVar[float | None] = ContextVar("_TAKEN_AT", default=None)


class TooLateError(UnavailableError):
    """A transaction was not sent, since its stamp is too old: it must be made anew."""

    def __init__(self) -> None:
        super().__init__("The write took too long to be sent: try again in a moment.")


@contextmanager
def stamped(taken_at: float | None) -> Iterator[None]:
    """A transaction is sent inside; its stamp, if it has one, was taken then."""
    token = _TAKEN_AT.set(taken_at)
    try:
        yield
    finally:
        _TAKEN_AT.reset(token)


def check_age() -> None:
    """Called immediately before each attempt to send a request."""
    taken_at = _TAKEN_AT.get()
    if taken_at is not None and machine_timer() - taken_at > MAX_AGE:
        raise TooLateError
