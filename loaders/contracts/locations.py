"""The access patterns of locations."""

from dataclasses import replace

from domain.activity import ActivityKind
from domain.errors import (
    BadInputError,
    CodeTakenError,
    IdTakenError,
    InvalidCursorError,
    NotFoundError,
    UnavailableError,
    VersionConflictError,
)
from loaders import keys
from loaders.codecs import LOCATION, LOCATION_CODE, LOCATION_LOCKER, LOCKER_OFFER, OWNER
from loaders.contracts.base import Consistency, Order
from loaders.contracts.lockers import OWNER_LOCKERS_BY_STATUS
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import EXISTS, IS_NEW, REPEATED_CHANGE, ItemRead, check, put, update
from loaders.contracts.writing import WriteContract

_MANAGER = check("manager", OWNER, EXISTS, when="a manager is named")

CREATE_LOCATION = WriteContract(
    id="QC-30",
    purpose="Create a location",
    steps=(put("location", LOCATION, IS_NEW, index_writes=1), put("code", LOCATION_CODE, IS_NEW), _MANAGER),
    most_steps=3,
    emits=(ActivityKind.LOCATION_CREATED,),
    errors=(BadInputError, NotFoundError, CodeTakenError, IdTakenError),
    note="The code is unique and never reused. The same id with the same content writes nothing and "
    "returns the current state.",
    cardinality="The location and the claim on its code.",
    hot_partition="None in the table. In the index all locations of a status share one partition, which only "
    "administrators write to.",
)

LOCATION_BY_ID = ReadOne(
    id="QC-31",
    purpose="A location by its id",
    codec=LOCATION,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    errors=(NotFoundError, BadInputError),
    cardinality="One item a location.",
    hot_partition="Medium: lockers, calendar and record of a busy location share its partition.",
)

LOCATION_BY_CODE = ReadOne(
    id="QC-36",
    purpose="A location by its code",
    codec=LOCATION_CODE,
    then=LOCATION_BY_ID,
    errors=(NotFoundError, BadInputError),
    note="Reads the claim of the code, then the location (QC-31).",
    cardinality="One claim a location.",
    hot_partition="Low: codes spread over partitions.",
)

LOCATIONS_BY_STATUS = ReadPage(
    id="QC-32",
    purpose="All locations, or those with a given status",
    range=keys.locations,
    codec=LOCATION,
    orders=(Order.DESC,),
    note="Newest first. The status is part of the index key, so nothing is filtered. Without a status, one Query for "
    "each status, merged by creation.",
    cardinality="10 to 10,000 locations.",
    hot_partition="Medium: all active locations share one partition of the index; reads of it are cheap and rare.",
)

CHANGE_LOCATION = WriteContract(
    id="QC-33",
    purpose="Change, deactivate or reactivate a location",
    reads=(ItemRead("location", LOCATION),),
    steps=(update("location", LOCATION, "#version = :expectedVersion", index_writes=2), _MANAGER),
    most_steps=2,
    emits=(ActivityKind.LOCATION_CHANGED, ActivityKind.LOCATION_DEACTIVATED, ActivityKind.LOCATION_REACTIVATED),
    errors=(BadInputError, NotFoundError, IdTakenError, VersionConflictError),
    note="Nothing is deleted, and the code stays claimed. A change of status moves the location within the index. "
    f"{REPEATED_CHANGE}",
    cardinality="One item.",
    hot_partition="None: a location changes rarely.",
)

LOCATION_LOCKERS = ReadPage(
    id="QC-34",
    purpose="Lockers at a location",
    range=keys.location_lockers,
    codec=LOCATION_LOCKER,
    note="Ordered by lockerId. The lockers themselves are read (QC-01) only where a field needs more than the copy.",
    cardinality="10 to 1,000 lockers a location.",
    hot_partition="Medium: the status changes of all lockers at a location write to one partition.",
)

LOCATION_OFFERS = ReadPage(
    id="QC-37",
    purpose="Lockers at a location that an audience may reserve",
    range=keys.offers,
    codec=LOCKER_OFFER,
    errors=(BadInputError, InvalidCursorError, UnavailableError),
    note="An audience is everyone, an owner, or the members of an organization. A caller belongs to several; the lists "
    "are merged, one Query for each, 10 at most: a caller of more must name owners. Ordered by size and, within a "
    "size, by a hash of the lockerId: a search can begin anywhere. Lockers in maintenance have no offers.",
    cardinality="0 to 1,000 lockers a location and audience.",
    hot_partition="Medium: searches at a busy location read one partition, up to 3,000 read units a second. Offers are "
    "written only where a locker comes, goes or is configured.",
)

LOCATION_OFFERS_OF_SIZE = replace(
    LOCATION_OFFERS,
    id="QC-38",
    purpose="Lockers at a location that an audience may reserve, of one size",
    range=keys.offers_of_size,
    note="As QC-37; the size is part of the key, so nothing is filtered.",
    cardinality="As QC-37, divided by size.",
)

LOCATION_LOCKERS_BY_STATUS = replace(
    OWNER_LOCKERS_BY_STATUS,
    id="QC-35",
    purpose="Lockers at a location with a given status",
    range=keys.location_lockers_by_status,
    codec=LOCATION_LOCKER,
    cardinality="As QC-34, divided by status.",
    hot_partition="As QC-34: a status change writes to two partitions of the index.",
)
