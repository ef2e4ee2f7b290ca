"""The access patterns of owners."""

from dataclasses import replace

from domain.activity import ActivityKind
from domain.errors import (
    BadInputError,
    EmailTakenError,
    ForbiddenError,
    IdTakenError,
    NotFoundError,
    OwnerErasedError,
    OwnerInUseError,
    UnavailableError,
    VersionConflictError,
)
from loaders import keys
from loaders.codecs import (
    EMAIL_CLAIM,
    ERASURE,
    OWNER,
    OWNER_BOOKING,
    OWNER_LOCKER,
    OWNER_NAME,
    OWNER_PHONE,
    RESERVATION_SLOT,
    WEBHOOK_COUNT,
)
from loaders.contracts.base import MAX_ITEMS, Consistency, Order
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import (
    EXISTS,
    IS_NEW,
    REPEATED_CHANGE,
    ItemRead,
    RangeRead,
    delete,
    put,
    update,
)
from loaders.contracts.writing import WriteContract

IS_OWNER = f"{EXISTS} AND attribute_not_exists(#erasureRequestedAt)"
"""The condition that something may be made for an owner."""

OWNER_BY_ID = ReadOne(
    id="QC-20",
    purpose="An owner by id",
    codec=OWNER,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    cardinality="One item an owner.",
    hot_partition="Medium for a large organization: its profile shares the partition with its lists.",
)

OWNERS = ReadPage(
    id="QC-170",
    purpose="All owners",
    range=keys.owners,
    codec=OWNER,
    orders=(Order.DESC, Order.ASC),
    note="Newest first unless asked otherwise.",
    cardinality="Up to some 100,000 owners.",
    hot_partition="Low: owners are created and changed rarely, and the list is for admins.",
)

OWNERS_BY_NAME = ReadPage(
    id="QC-171",
    purpose="Owners whose names begin with a text",
    range=keys.owners_by_name,
    codec=OWNER_NAME,
    orders=(Order.ASC, Order.DESC),
    note="By name, then by id. Upper and lower case, accents and repeated spaces make no difference. The copies are "
    "complete, so the owners are not read.",
    cardinality="Up to some 100,000 owners; of three letters, some 100.",
    hot_partition="Low: owners are created and changed rarely, and the list is for admins.",
)

OWNER_BY_EMAIL = ReadOne(
    id="QC-21",
    purpose="An owner by email address",
    codec=EMAIL_CLAIM,
    then=OWNER_BY_ID,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    note="Reads the claim of the normalized address, then the owner (QC-20).",
    cardinality="One claim an address.",
    hot_partition="Low: addresses spread over partitions.",
)

_ERASED_BYTES = 1000
"""Of an owner that has no texts any more."""
_CHANGED = update("owner", OWNER, "#version = :expectedVersion", index_writes=1)
_OLD_CLAIM = delete(
    "old claim",
    EMAIL_CLAIM,
    "attribute_not_exists(#PK) OR #ownerId = :ownerId",
    when="the email address is removed or changed",
)

_NAME = put("name", OWNER_NAME, None, index_writes=2)
_OLD_PHONE = delete("old phone", OWNER_PHONE, None, when="the phone number is removed or changed")

SAVE_OWNER = WriteContract(
    id="QC-22",
    purpose="Create or change an owner",
    variants=("create", "update"),
    reads=(ItemRead("owner", OWNER, only=("update",)),),
    steps=(
        put("new owner", OWNER, IS_NEW, when="creating", index_writes=1),
        replace(_CHANGED, when="updating"),
        put(
            "claim",
            EMAIL_CLAIM,
            "attribute_not_exists(#PK) OR #ownerId = :ownerId",
            when="there is a new email address",
        ),
        _OLD_CLAIM,
        _NAME,
        put("phone", OWNER_PHONE, None, when="there is a new phone number"),
        _OLD_PHONE,
    ),
    most_steps=6,
    emits=(ActivityKind.OWNER_CREATED, ActivityKind.OWNER_CHANGED),
    errors=(BadInputError, NotFoundError, IdTakenError, EmailTakenError, OwnerErasedError, VersionConflictError),
    note="The same id with the same content writes nothing and returns the current state, permanently. "
    f"{REPEATED_CHANGE}",
    cardinality="The owner, its copy among all by name, and up to two email claims and two phone numbers.",
    hot_partition="None: an owner's profile changes rarely, and each address has its own partition.",
)

ERASE_OWNER = replace(
    SAVE_OWNER,
    id="QC-206",
    purpose="Erase the profile of an owner, and ask for the rest",
    variants=(),
    reads=(
        ItemRead("owner", OWNER),
        RangeRead("lockers", keys.owner_lockers, OWNER_LOCKER, MAX_ITEMS),
        RangeRead("slots", keys.reservation_slots, RESERVATION_SLOT, MAX_ITEMS, usual=5),
        RangeRead("bookings", keys.owner_bookings, OWNER_BOOKING, MAX_ITEMS, forward=False),
        ItemRead("webhooks", WEBHOOK_COUNT),
    ),
    rounds=3,
    steps=(_CHANGED, _OLD_CLAIM, _NAME, _OLD_PHONE, put("task", ERASURE, IS_NEW, item_bytes=9000)),
    emits=(ActivityKind.OWNER_CHANGED,),
    errors=(BadInputError, NotFoundError, ForbiddenError, OwnerInUseError, UnavailableError),
    note="An owner that is erased, or being erased, is returned unchanged. The first 100 lockers and slots of "
    "reservations and the latest 100 bookings are looked at: if something is in use nevertheless, or comes to be at "
    "the same moment, the rest of the erasure waits until it is not.",
    cardinality="The owner, the claim on its email address, and what is left to do.",
)

FINISH_ERASURE = WriteContract(
    id="QC-212",
    purpose="Write that an owner is erased",
    reads=(ItemRead("owner", OWNER),),
    rounds=3,
    steps=(
        replace(_CHANGED, item_bytes=_ERASED_BYTES),
        replace(_NAME, item_bytes=_ERASED_BYTES),
        delete("task", ERASURE, "#requestedAt = :requestedAt"),
    ),
    most_steps=3,
    emits=(ActivityKind.OWNER_ERASED,),
    errors=(UnavailableError,),
    cardinality="The owner, and what was left to do.",
    hot_partition="None: an owner is erased once.",
)
