"""Stamps of writes: a transaction that is logged under its time must reach the store soon after it, or not at all."""

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


class stamped:  # noqa: N801  # used as a function; a generator would take three times as long
    """A transaction is sent inside, which has this stamp, if it has one."""

    __slots__ = ("_stamp", "_token")

    def __init__(self, stamp: Stamp | None) -> None:
        self._stamp = stamp

    def __enter__(self) -> None:
        self._token = _STAMP.set(self._stamp)

    def __exit__(self, *_: object) -> None:
        _STAMP.reset(self._token)


def check_age() -> None:
    """Called immediately before each attempt to send a request."""
    stamp = _STAMP.get()
    if stamp is not None and stamp.age > MAX_AGE:
        raise TooLateError
