"""The subscription of one client: its events, in order, each once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from domain.activity import PastActivity
from domain.errors import SmartLockerError
from domain.times import EARLIEST
from server.http_errors import HttpError

if TYPE_CHECKING:
    from server.live.query import LiveQuery

_MOST_HELD_BYTES = 256 * 1024
"""Of what happens while a client catches up; it is read again if there is more."""


class Event(NamedTuple):
    """A message to a client: an activity, or an error that belongs to none."""

    payload: bytes
    activity_id: str | None = None
    cursor: str | None = None


class Client(Protocol):
    """Where a subscription sends its events."""

    def deliver(self, events: Sequence[Event]) -> None:
        """Sends them, without waiting."""

    async def drained(self) -> None:
        """Waits until the client has taken what was delivered."""

    def complete(self) -> None:
        """The subscription has ended, after what was delivered."""

    def forbid(self) -> None:
        """The credentials are not valid any more: ends the connection."""


class Subscription:
    """The subscription of one client: what its query shows, after what the client has missed."""

    def __init__(self, query: LiveQuery, client: Client) -> None:
        self.query = query
        self.client = client
        self._held: list[Event] | None = None
        """Events that come while the client catches up."""
        self._held_bytes = 0
        self._known: set[str] = set()
        """Activities that may be shown again."""
        self._known_until = EARLIEST
        self.is_warned = False
        self.is_open = True

    def hold(self) -> None:
        """Keeps what happens from now on until `release`."""
        self._held, self._held_bytes = [], 0

    def knows(self, activity: PastActivity) -> bool:
        return activity.activity_id in self._known

    def note(self, activity: PastActivity) -> None:
        """Notes that the client has an activity, since it may be found again."""
        self._known.add(activity.activity_id)
        self._known_until = max(self._known_until, activity.occurred_at)

    def release(self) -> bool:
        """Passes on what was held, and from here on everything at once; not if there was more than is kept."""
        held = self._held or []
        if self._held_bytes > _MOST_HELD_BYTES:
            return False
        self._held = None
        if self.is_open:
            self.offer(held)
        return True

    def offer(self, events: Sequence[Event]) -> None:
        if self._held is not None:
            self._held_bytes += sum(len(event.payload) for event in events)
            if self._held_bytes <= _MOST_HELD_BYTES:
                self._held += events
            else:
                self._held.clear()
            return
        if self._known:
            events = [event for event in events if event.activity_id not in self._known]
            if self.query.settled_until > self._known_until:
                self._known.clear()
        if events:
            self.deliver(events)

    def deliver(self, events: Sequence[Event]) -> None:
        self.client.deliver(events)
        self.query.queries.meter(len(events))
        self.is_warned = False

    def warn(self, error: SmartLockerError | HttpError) -> None:
        """Tells why the client has to wait; once, until something is delivered again."""
        if not self.is_warned:
            self.client.deliver([self.query.failure(error)])
        self.is_warned = True
