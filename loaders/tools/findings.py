"""Findings of the doctor, each a violated invariant, and the parts that all checks use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from loaders import keys
from loaders.contracts.doctor import REPAIR_DERIVED
from loaders.conversion import Codec, DamagedItemError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from domain.models import LockerId, OwnerId, Reservation
    from loaders.table.operations import Step, Transact
    from loaders.table.positions import Key
    from loaders.table.values import Item

    Get = Callable[[Key], Item | None]

M = TypeVar("M")

INDEX = ("GSI1PK", "GSI1SK")


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated invariant.

    `subject` is the item from which it was found; if it is about a locker's reservations as a whole, `timeline` names
    the locker; if it is about an owner's bookings as a whole, `owner` names the owner. What cannot be repaired needs a
    decision, or a backup.
    """

    invariant: str
    key: Key
    problem: str
    subject: Key
    timeline: LockerId | None = None
    repair: Transact | None = field(default=None, compare=False)
    owner: OwnerId | None = None

    @property
    def place(self) -> str:
        """The key of the item that is wrong, without email addresses."""
        return f"{keys.shown(self.key.pk)} / {self.key.sk}"


def content_of(codec: Codec[Any], item: Item) -> dict[str, Any] | None:
    """The attributes of a copy; None if it is damaged, which a repair overwrites."""
    try:
        return codec.encode(codec.decode(item)) | index_of(item)
    except DamagedItemError:
        return None


def required(
    invariant: str,
    codec: Codec[M],
    wanted: M,
    problem: str,
    as_read: Step,
    subject: Key,
    get: Get,
    *,
    key: Key | None = None,
    timeline: LockerId | None = None,
) -> Generator[Finding, None, M | None]:
    """The claim or the half day that is where the wanted one belongs; if none is there, that one can be put."""
    key = key or codec.key_of(wanted)
    found = record_at(codec, key, get)
    if found is None:
        repair = REPAIR_DERIVED.transact(as_read, REPAIR_DERIVED.step("claim", key, codec.encode(wanted)))
        yield Finding(invariant, key, problem, subject, timeline, repair)
    return found


def reservation_as_read(reservation: Reservation) -> Step:
    """Checks that a reservation is as it was read."""
    return REPAIR_DERIVED.step(
        "reservation",
        (reservation.locker_id, reservation.start_at, reservation.reservation_id),
        readOwner=reservation.owner_id,
        readStatus=reservation.status,
        readEnd=reservation.end_at,
        readVersion=reservation.version,
    )


def record_at(codec: Codec[M], key: Key, get: Get) -> M | None:
    """The record with this key, if it exists."""
    item = get(key)
    return None if item is None else codec.decode(item)


def index_of(item: Item) -> dict[str, Any]:
    """The place of an item in the index."""
    return {name: item[name] for name in INDEX if name in item}
