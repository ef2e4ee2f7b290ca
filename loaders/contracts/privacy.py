"""The access patterns of a person's data: all that is stored under an owner."""

from dataclasses import dataclass
from typing import Any

from domain.bookings import Booking
from domain.models import OwnerId, Reservation
from loaders import keys
from loaders.codecs import OWNER_BOOKING, OWNER_RESERVATION
from loaders.contracts.reading import ReadPage
from loaders.conversion import Codec, DamagedItemError
from loaders.table.values import FoundItem, item_from_wire

_ITEM = "ITEM"
_OF_THE_TABLE = frozenset({"PK", "SK", "GSI1PK", "GSI1SK", "entityType", "fingerprint", "lastChange"})
"""Attributes by which the table works, and which tell nothing of an owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """An item in the partition of an owner; a reservation or booking is decoded, too."""

    owner_id: OwnerId
    kind: str
    content: dict[str, Any]
    reservation: Reservation | None = None
    booking: Booking | None = None


class _ItemsOfAnyKind(Codec[StoredItem]):
    """Reads items as they are stored."""

    shape = None  # type: ignore[assignment]  # they have none in common

    def read(self, item: FoundItem) -> StoredItem:
        try:
            plain = item_from_wire(item)  # type: ignore[arg-type]  # without a shape, nothing reads it before
        except TypeError as error:
            raise DamagedItemError("an item under an owner has a value of another type") from error
        kind = str(plain.get("entityType"))
        return StoredItem(
            owner_id=keys.owner_of(str(plain["PK"])),
            kind=kind,
            content={name: value for name, value in sorted(plain.items()) if name not in _OF_THE_TABLE},
            reservation=OWNER_RESERVATION.decode(plain) if kind == OWNER_RESERVATION.entity_type else None,
            booking=OWNER_BOOKING.decode(plain) if kind == OWNER_BOOKING.entity_type else None,
        )

    def encode(self, model: StoredItem) -> dict[str, Any]:
        return {"entityType": model.kind, **model.content}


OWNER_ITEMS = ReadPage(
    id="QC-205",
    purpose="All that is stored under an owner",
    range=keys.owner_items,
    codec=_ItemsOfAnyKind(StoredItem, _ITEM, keys.owner, largest=19_300, usual=450),
    note="By sort key, of any kind: the history of the owner, its bookings, lockers, notifications and reservations, "
    "its profile, counters and claims. What lies elsewhere is found from these: the details and access codes of a "
    "reservation, the payments of a booking.",
    cardinality="Up to some 10,000 items a person; far more for a partner's organization, most of them history.",
    hot_partition="Low: one owner's partition, read seldom.",
)
