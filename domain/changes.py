"""Rules for changes of objects with a version, the same for all of them.

A request that is the object's latest change already has succeeded. Otherwise it must be based on the current version.
If it then changes nothing, the object stays as it is and keeps its version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from domain.api_keys import ApiKey
from domain.bookings import Booking
from domain.commands.base import Change, OptionalChange, change_fingerprint
from domain.errors import IdTakenError, VersionConflictError
from domain.models import Location, Locker, Owner, Reservation
from domain.times import Instant
from domain.webhooks import Webhook

V = TypeVar("V", ApiKey, Booking, Location, Locker, Owner, Reservation, Webhook)


def revised(current: V, now: Instant, token: str | None = None, **values: Any) -> V:
    """The next version of an object, with these values; it forgets the token of an earlier change."""
    return replace(current, **values, updated_at=now, version=current.version + 1, last_change=token)


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """One request to change an object.

    The object keeps the token of its latest change, so that a request is recognized when it is sent again because the
    response was lost: by the server, or by a client that chose a change id.
    """

    command: Change | OptionalChange
    token: str

    @classmethod
    def of(cls, command: Change | OptionalChange, new_id: Callable[[], str], subject: str = "") -> ChangeRequest:
        """The request of this command; with a `subject`, only the same caller can repeat it."""
        chosen = command.change_id
        return cls(command, new_id() if chosen is None else f"{chosen}#{change_fingerprint(command, subject)}")

    def is_made(self, current: V) -> bool:
        return current.last_change == self.token

    def check(self, current: V) -> None:
        """Checks that the request is based on the current version, and that the latest change has another id."""
        self._check_id(current)
        if self.command.expected_version not in {None, current.version}:
            raise VersionConflictError(current)

    def apply(self, current: V, now: Instant, **values: Any) -> V:
        """The object after the change, or the object itself where it is made already or changes nothing."""
        if self.is_made(current):
            return current
        self.check(current)
        if all(getattr(current, name) == value for name, value in values.items()):
            return current
        return revised(current, now, self.token, **values)

    def check_made(self, current: V) -> None:
        """Checks that the store refused the write because it was made before, not because the object has changed."""
        if not self.is_made(current):
            self._check_id(current)
            raise VersionConflictError(current)

    def _check_id(self, current: V) -> None:
        chosen = self.command.change_id
        if chosen is not None and (current.last_change or "").startswith(f"{chosen}#"):
            raise IdTakenError(chosen, "another change", ("input", "changeId"))
