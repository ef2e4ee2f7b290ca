"""The dependencies of every read and write: the store, the clock, a source of ids and the limits of the domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from operator import attrgetter
from typing import Protocol

from domain.access_codes import CodeRing
from domain.activity import Activity
from domain.retention import Kept, Retention, first_kept
from domain.times import Instant
from loaders.table.client import Store
from loaders.table.clock import Stamp


def _no_ring() -> CodeRing:
    raise NotImplementedError


class Listener(Protocol):
    """Is told what this process writes, while it wants to know."""

    @property
    def is_listening(self) -> bool: ...

    def tell(self, activities: Sequence[Activity]) -> None: ...


@dataclass(frozen=True, slots=True)
class Backend:
    """Passed down from the composition root; nothing of it is global."""

    store: Store
    clock: Callable[[], Instant]
    new_id: Callable[[], str]
    stamp: Callable[[], Stamp]
    """The store's time, whatever the clock says: the order of the log depends on it."""
    longest_reservation: timedelta
    most_pending_bookings: int = 20
    most_live_reservations: int = 20
    live_reservations_of: Mapping[str, int] = field(default_factory=dict)
    """Other limits of live reservations, by owner id."""
    retention: Retention = Retention()  # noqa: RUF009  # it is frozen
    webhook_secret_overlap: timedelta = timedelta(hours=24)
    """How long the secret of a webhook stays valid after it was replaced."""
    allows_local_webhooks: bool = False
    """Whether webhooks may be sent without TLS, and to this machine: in development."""
    code_ring: Callable[[], CodeRing] = _no_ring
    """The secrets of access codes and webhooks, which a development server creates on first use."""
    listener: Listener | None = None

    def kept_since(self, kept: Kept) -> Instant:
        """The time before which something is not shown any more, whether or not the store has deleted it."""
        now = self.stamp().at if kept.is_logged else self.clock()
        return first_kept(now, getattr(self.retention, kept.retention))

    def with_store(self, store: Store) -> Backend:
        return Backend(store, *_all_else(self))


_all_else = attrgetter(*[member.name for member in fields(Backend)][1:])
"""In a sixth of the time that `replace` takes: every request does this."""
