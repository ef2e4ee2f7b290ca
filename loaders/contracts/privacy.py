"""The access patterns of a person's data: all that is stored under an owner, and how it is erased."""

from dataclasses import dataclass
from typing import Any

from domain.bookings import Booking
from domain.models import OwnerId, Reservation
from loaders import keys
from loaders.codecs import ERASURE, OWNER_BOOKING, OWNER_RESERVATION
from loaders.contracts.reading import ReadPage, ReadTail
from loaders.contracts.scanning import ReadItems
from loaders.contracts.write_parts import AS_READ, delete, put
from loaders.contracts.writing import WriteContract
from loaders.conversion import Codec, DamagedItemError
from loaders.table.positions import Key
from loaders.table.values import FoundItem, item_from_wire

_ITEM = "ITEM"
_TOGETHER = 14
"""No more items belong together: of an activity, its copies, and its entry in up to four parts of the log."""
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

ERASURES = ReadTail(
    id="QC-207",
    purpose="The owners of a part of the log that are being erased",
    codec=ERASURE,
    range=keys.erasures,
    most=10,
    note="Only the sweeper of a part of the log reads it, every five seconds.",
    cardinality="As a rule none.",
    hot_partition="Low: one Query every five seconds for each of the four parts of the log.",
)

ITEMS_TO_ERASE = ReadTail(
    id="QC-208",
    purpose="Items of an owner that lead to what must be erased",
    codec=OWNER_ITEMS.codec,
    range=keys.stretch,
    most=25,
    note="Only the sweeper that erases an owner reads it, page by page and strongly: what the owner did elsewhere, its "
    "history, then everything that is stored under it.",
    cardinality="Up to some 10,000 items a person.",
    hot_partition="Low: one owner's partition, a page at a time.",
)

ITEMS_AS_THEY_ARE = ReadItems(
    id="QC-209",
    purpose="Read the items that belong to one that must be erased",
    note="Only the sweeper that erases an owner uses it: for the records, copies and claims of a reservation or a "
    "booking, the copies of an activity in histories and in the log, and for access codes, doors, API keys and "
    "webhooks.",
    cardinality="Up to 100 keys in a request.",
    hot_partition="Low: the items of one reservation, booking or activity.",
)

ERASE_ITEMS = WriteContract(
    id="QC-210",
    purpose="Erase what items tell of a person",
    steps=(
        put("item", Key, AS_READ, most=_TOGETHER, index_writes=1, item_bytes=20_000),
        delete("gone item", Key, AS_READ, when="nothing of it is left", most=_TOGETHER),
    ),
    most_steps=_TOGETHER,
    silent="The activity of the owner that is erased tells that, once, when everything is done.",
    note="Only the sweeper that erases an owner sends it. A record and its copies and claims are in one transaction, "
    "each as it was read, and the record gets another version, so that a write that was decided on what it was before "
    "is decided again. Sent again, it finds nothing left to erase.",
    cardinality="Some ten items: a reservation with its copies, claims and details.",
    hot_partition="Low: the items of one reservation, booking or activity.",
    item_bytes=27_500,
)

KEEP_ERASURE = WriteContract(
    id="QC-211",
    purpose="Write how far the erasure of an owner has got",
    operation="PutItem",
    steps=(put("task", ERASURE, "#requestedAt = :requestedAt"),),
    most_steps=1,
    silent="It is nothing that users see.",
    note="After each page. Two processes at once do the same again, which is harmless.",
    cardinality="One item for each owner that is being erased.",
    hot_partition="None: seldom written.",
)
