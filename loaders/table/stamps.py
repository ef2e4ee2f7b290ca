"""Stamps of writes: a transaction that is logged under its time must reach the store soon after it, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from domain.errors import UnavailableError
from loaders.table.clock import Stamp

MAX_AGE = 15.0
"""For how many seconds after its stamp a transaction may be sent."""

_STAMP: ContextVar[Stamp | None] = ContextVar("_STAMP", default=None)


class TooLateError(UnavailableError):
    """A transaction was not sent, since its stamp is too old: it must be made anew."""

    def __init__(self) -> None:
        super().__init__("The write took too long to be sent: try again in a moment.")


@contextmanager
def stamped(stamp: Stamp | None) -> Iterator[None]:
    """A transaction is sent inside, which has this stamp, if it has one."""
    token = _STAMP.set(stamp)
    try:
        yield
    finally:
        _STAMP.reset(token)


def check_age() -> None:
    """Called immediately before each attempt to send a request."""
    stamp = _STAMP.get()
    if stamp is not None and stamp.age > MAX_AGE:
        raise TooLateError
