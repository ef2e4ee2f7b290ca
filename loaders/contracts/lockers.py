"""The access patterns of lockers."""

from dataclasses import replace

from domain.activity import ActivityKind
from domain.errors import (
    BadInputError,
    ForbiddenError,
    IdTakenError,
    InvalidCursorError,
    InvalidTransitionError,
    LocationInactiveError,
    NotFoundError,
    OwnerErasedError,
    UnavailableError,
    VersionConflictError,
)
from loaders import keys
from loaders.codecs import LOCATION, LOCATION_LOCKER, LOCKER, LOCKER_OFFER, OVERDUE_STAY, OWNER, OWNER_LOCKER
from loaders.contracts.base import Consistency
from loaders.contracts.owners import IS_OWNER
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import EXISTS, IS_NEW, REPEATED_CHANGE, ItemRead, check, delete, put, update
from loaders.contracts.writing import WriteContract

# That a locker became overdue is no new version.
_AS_READ = (
    "#version = :expectedVersion AND #ownerId = :readOwner "
    "AND (attribute_not_exists(#overdueSince) OR #overdueSince = :readOverdue)"
)

# Each transaction is conditioned on the locker as it was read, so its copies are written whole, whatever is there.
LOCKER_AS_READ = update("locker", LOCKER, _AS_READ, index_writes=1)
_OWNER_COPY = put("copy", OWNER_LOCKER, None, index_writes=1)
_LOCATION_COPY = put("location copy", LOCATION_LOCKER, None, when="the locker is at a location", index_writes=1)
_COPIES = (_OWNER_COPY, _LOCATION_COPY)
_LOCATION_IS_ACTIVE = check(
    "location", LOCATION, f"{EXISTS} AND #status = :active", when="the locker is placed at a location"
)
GONE_OFFER = delete("gone offer", LOCKER_OFFER, None, most=2, when="the locker is not offered there any more")
_OFFER = put("offer", LOCKER_OFFER, None, most=2, when="the locker is in service at a location")
_OFFERS = (GONE_OFFER, _OFFER)
_LOCKER_READ = ItemRead("locker", LOCKER)
_ROUNDS = 2
"""A locker may become overdue once while it is changed."""


# A change of status moves the locker and each copy within the index.
STATUS_RULES = tuple(replace(rule, index_writes=2) for rule in (LOCKER_AS_READ, *_COPIES))
"""The steps that change the status of a locker and of its copies."""
OVERDUE_ENDS = delete(
    "overdue stay", OVERDUE_STAY, None, when="a reservation that is over has occupied it", index_writes=1
)


LOCKER_BY_ID = ReadOne(
    id="QC-01",
    purpose="A locker by its id",
    codec=LOCKER,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    note="Where a list or a reservation names a locker that an eventual read does not find, it is read strongly.",
    cardinality="One item a locker.",
    hot_partition="Low: a locker's partition is read by its own device and owner, up to 3,000 read units a second.",
)

OWNER_LOCKERS = ReadPage(
    id="QC-02",
    purpose="Lockers of an owner",
    range=keys.owner_lockers,
    codec=OWNER_LOCKER,
    note="Ordered by lockerId. The lockers themselves are read (QC-01) only where a field needs more than the copy.",
    cardinality="1 to 100 lockers a person, up to 100,000 an organization.",
    hot_partition="Medium for a large organization: all of its list reads and status changes share one partition.",
)

OWNER_LOCKERS_BY_STATUS = ReadPage(
    id="QC-17",
    purpose="Lockers of an owner with a given status",
    range=keys.owner_lockers_by_status,
    codec=OWNER_LOCKER,
    errors=(BadInputError, InvalidCursorError, UnavailableError),
    note="Ordered by lockerId. The status is part of the index key, so nothing is filtered. A change of status appears "
    "here a moment later.",
    cardinality="As QC-02, divided by status.",
    hot_partition="As QC-02: a status change writes to two partitions of the index.",
)

LOCKERS_BY_STATUS = ReadPage(
    id="QC-172",
    purpose="All lockers with a given status",
    range=keys.lockers_of_status,
    codec=LOCKER,
    note="Ordered by lockerId. The status is part of the index key, so nothing is filtered. The list has "
    f"{keys.LOG_SHARDS} parts, merged by one Query for each. A change of status appears within moments.",
    cardinality="Up to 50,000 lockers.",
    hot_partition="Medium: a change of status writes to two partitions of the index, each of which takes about 1,000 "
    "small writes a second.",
)

CHANGE_LOCKER_STATUS = WriteContract(
    id="QC-03",
    purpose="Change a locker's status",
    reads=(_LOCKER_READ,),
    rounds=_ROUNDS,
    steps=(*STATUS_RULES, OVERDUE_ENDS, *_OFFERS),
    most_steps=6,
    emits=(ActivityKind.LOCKER_STATUS_CHANGED,),
    errors=(BadInputError, NotFoundError, InvalidTransitionError, IdTakenError, VersionConflictError),
    note=f"The transition is checked before anything is written. {REPEATED_CHANGE}",
    cardinality="The locker, the owner's copy and, at a location, the location's copy; where maintenance begins or "
    "ends, up to two offers.",
    hot_partition="A locker's status changes at the pace of its door. The copies of one owner or location share a "
    "partition, which takes about 1,000 small writes a second.",
)

TRANSFER_LOCKER = WriteContract(
    id="QC-06",
    purpose="Transfer a locker to another owner",
    reads=(_LOCKER_READ,),
    rounds=_ROUNDS,
    steps=(
        LOCKER_AS_READ,
        delete("old copy", OWNER_LOCKER, None, index_writes=1),
        check("new owner", OWNER, IS_OWNER),
        *_COPIES,
        *_OFFERS,
    ),
    most_steps=9,
    emits=(ActivityKind.LOCKER_TRANSFERRED,),
    errors=(BadInputError, NotFoundError, OwnerErasedError, IdTakenError, VersionConflictError),
    note=f"Reservations stay with the owners who made them. {REPEATED_CHANGE}",
    cardinality="The locker, the old and the new owner's copies and, at a location, the location's copy and up to two "
    "offers to each owner; the new owner is checked.",
    hot_partition="None: a locker is transferred rarely.",
)

REGISTER_LOCKER = WriteContract(
    id="QC-11",
    purpose="Register a locker",
    steps=(
        put("locker", LOCKER, IS_NEW, index_writes=1),
        *_COPIES,
        check("owner", OWNER, IS_OWNER),
        _LOCATION_IS_ACTIVE,
        _OFFER,
    ),
    most_steps=7,
    emits=(ActivityKind.LOCKER_REGISTERED,),
    errors=(BadInputError, NotFoundError, OwnerErasedError, LocationInactiveError, IdTakenError),
    note="The same id with the same content writes nothing and returns the current state, permanently.",
    cardinality="The locker, the owner's copy and, at a location, the location's copy and up to two offers; the owner "
    "and the location are checked.",
    hot_partition="Bulk registration for one owner or location concentrates on that partition, which takes about 1,000 "
    "small writes a second.",
)

CHANGE_LOCKER = WriteContract(
    id="QC-12",
    purpose="Rename, configure or move a locker",
    reads=(_LOCKER_READ,),
    rounds=_ROUNDS,
    steps=(
        LOCKER_AS_READ,
        *_COPIES,
        delete("old location copy", LOCATION_LOCKER, None, when="the locker leaves a location", index_writes=1),
        _LOCATION_IS_ACTIVE,
        *_OFFERS,
    ),
    most_steps=9,
    emits=(ActivityKind.LOCKER_CHANGED,),
    log_entries=2,
    errors=(BadInputError, NotFoundError, LocationInactiveError, IdTakenError, VersionConflictError),
    note=REPEATED_CHANGE,
    cardinality="The locker, the owner's copy, and the copies and up to two offers of the old and the new location; "
    "the new location is checked.",
    hot_partition="None: a locker is renamed, configured or moved rarely.",
)
