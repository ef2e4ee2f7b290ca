"""The access patterns of access codes: all items of a door's codes are in the partition of its locker or location."""

from domain.access_codes import MAX_LIVE_CODES, MAX_RING_KEYS
from domain.activity import ActivityKind
from domain.errors import (
    BadInputError,
    CodeOverError,
    ForbiddenError,
    IdTakenError,
    NotFoundError,
    ReservationOverError,
    StaleListError,
    TooManyCodesError,
    UnavailableError,
)
from loaders import keys
from loaders.codecs import (
    ACCESS_CODE,
    ACCESS_EVENT,
    ACTIVE_POINTER,
    ATTEMPT,
    BOOKING,
    CODE_CLAIM,
    CODE_DOOR,
    EVENT_CLAIM,
    GUARD,
    LOCATION,
    LOCKER,
    LOCKOUT,
    NOTIFICATION,
    RESERVATION,
    RESERVATION_CLAIM,
    STORED_ACCESS_CODE,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
)
from loaders.contracts.base import Consistency
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.reservations import CHECK_IN_RULES, NEXT_READS, SETTLE_LAST_CHANGE
from loaders.contracts.scanning import ReadTable
from loaders.contracts.write_parts import (
    IS_NEW,
    IS_NEW_OR_EXPIRED,
    BatchRead,
    ItemRead,
    RangeRead,
    check,
    delete,
    put,
    update,
)
from loaders.contracts.writing import WriteContract

_NEW_CODE_BYTES = 3000
_APPROVED_BYTES = 10_500  # an approved booking has no reason
_EVENT_BYTES = 1000
_MOST_FOLLOWING = 1000
_USUAL_CODES = MAX_LIVE_CODES // 2  # codes that are over leave a door only when it is full
_ROUNDS = 12
_HOT_PARTITION = "Low: one door's partition; its codes are written one after another."
_AS_READ = "#revision = :readRevision"
AT_LOCKER, AT_LOCATION = "only at the door of a locker", "only at the door of a location"

ACCESS_CODE_BY_ID = ReadOne(
    id="QC-100",
    purpose="An access code of a door by its id",
    codec=ACCESS_CODE,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    note="The record has no digits: they are derived from it and a secret that is not in the table.",
    cardinality="One item a code.",
    hot_partition=_HOT_PARTITION,
)

LOCKER_ACCESS_CODES = ReadPage(
    id="QC-101",
    purpose="Access codes of a locker",
    range=keys.locker_access_codes,
    codec=ACCESS_CODE,
    note="By code id, including codes that are over.",
    cardinality="Up to some 10,000 in a locker's life, about two a reservation.",
    hot_partition=_HOT_PARTITION,
)

PURPOSE_ACCESS_CODES = ReadPage(
    id="QC-102",
    purpose="Access codes of a reservation or a booking",
    range=keys.purpose_codes,
    codec=ACCESS_CODE,
    note="By code id, including codes that are over.",
    cardinality="1 to 5 live codes, and those that were revoked.",
    hot_partition="None: every reservation and every booking has an index partition of its own.",
)

CODE_DOOR_BY_ID = ReadOne(
    id="QC-103",
    purpose="What is common to the codes of a door",
    codec=CODE_DOOR,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    note=f"Names the live codes, {MAX_LIVE_CODES} at most, and what the device of the door has loaded.",
    cardinality="At most one item a door.",
    hot_partition=_HOT_PARTITION,
)

LOCKER_LOCKOUT = ReadOne(
    id="QC-104",
    purpose="Failed attempts and lockout of a locker's door",
    codec=LOCKOUT.at(keys.locker_lockout),
    cardinality="At most one item a door.",
    hot_partition=_HOT_PARTITION,
)

LOCATION_LOCKOUT = ReadOne(
    id="QC-109",
    purpose="Failed attempts and lockout of a location's door",
    codec=LOCKOUT.at(keys.location_lockout),
    cardinality="At most one item a door.",
    hot_partition=_HOT_PARTITION,
)

_CLAIMED = "a key of the ring other than the current one"
_LOCATION_READ = ItemRead("location", LOCATION, when=AT_LOCATION)
_LOCKER_READ = ItemRead("locker", LOCKER, when=AT_LOCKER)
_CODE_READ = ItemRead("code", ACCESS_CODE)
_DOOR_READ = ItemRead("door", CODE_DOOR)
_ATTEMPT_READ = ItemRead("attempt", ATTEMPT)
_FIRST_DOOR_RULE = put("first door", CODE_DOOR, IS_NEW, when="the door has no codes yet", item_bytes=800)
_DOOR_RULE = update("door", CODE_DOOR, _AS_READ)
_LIST_RULES = (
    update(
        "first list",
        CODE_DOOR,
        f"{_AS_READ} AND attribute_not_exists(#acknowledgedRevision)",
        when="the device has acknowledged no list yet",
    ),
    update("list", CODE_DOOR, f"{_AS_READ} AND #acknowledgedRevision = :readList"),
)
_CLAIM_RULES = (
    put("claim", CODE_CLAIM, IS_NEW_OR_EXPIRED),
    check("other claim", CODE_CLAIM, IS_NEW_OR_EXPIRED, when=_CLAIMED, most=MAX_RING_KEYS - 1),
)
_RESERVATION_RULES = (
    check("same reservation", GUARD, _AS_READ, when="the code is for a reservation"),
    check(
        "owned locker",
        LOCKER,
        "#ownerId = :readOwner AND (attribute_not_exists(#transfers) OR #transfers = :readTransfers)",
        when="the code is not tied to a reservation or booking",
    ),
    check("booking", BOOKING, "#status = :approved", when="the code is for a booking", item_bytes=_APPROVED_BYTES),
)
CREATE_ACCESS_CODE = WriteContract(
    id="QC-105",
    purpose="Create an access code",
    reads=(
        ItemRead("code", STORED_ACCESS_CODE, when="only where the client chose the codeId"),
        _DOOR_READ,
        ItemRead("booking", BOOKING, when="only where the code is for a booking"),
        ItemRead("location", LOCATION, when="only where the code is for a booking"),
        _LOCKER_READ,
        ItemRead("guard", GUARD, when="only where the code is for a reservation"),
        ItemRead("reservation claim", RESERVATION_CLAIM, when="only where the code is for a reservation"),
        ItemRead("reservation", RESERVATION, when="only where the code is for a reservation"),
    ),
    fallbacks=(
        ItemRead(
            "live code",
            ACCESS_CODE,
            at_once=MAX_LIVE_CODES,
            when="only where the door has as many live codes as it may have",
            most=_ROUNDS,
        ),
        ItemRead(
            "live reservation",
            RESERVATION,
            at_once=MAX_LIVE_CODES,
            when="only where the door has as many live codes as it may have",
            most=_ROUNDS,
        ),
    ),
    rounds=_ROUNDS,
    steps=(
        put("code", ACCESS_CODE, IS_NEW, index_writes=1, item_bytes=_NEW_CODE_BYTES),
        *_CLAIM_RULES,
        _FIRST_DOOR_RULE,
        _DOOR_RULE,
        *_RESERVATION_RULES,
    ),
    most_steps=4 + MAX_RING_KEYS - 1,
    emits=(ActivityKind.ACCESS_CODE_CREATED,),
    errors=(
        BadInputError,
        NotFoundError,
        ForbiddenError,
        IdTakenError,
        ReservationOverError,
        TooManyCodesError,
        UnavailableError,
    ),
    note="Digits are derived from a secret, the code id, the rotation and a counter; where a live code of the door has "
    "the same digits under any key of the ring, the next counter is taken. The same id with the same content writes "
    "nothing and derives the same digits; for another credential of the caller it is a reveal (QC-106).",
    cardinality="The code, its claim and the door's record; claims under other keys and what the code is for are "
    "checked.",
    hot_partition=_HOT_PARTITION,
)

CHANGE_ACCESS_CODE = WriteContract(
    id="QC-106",
    purpose="Rotate, reveal or revoke an access code",
    reads=(
        BatchRead(items=(_CODE_READ, _DOOR_READ)),
        _LOCKER_READ,
        ItemRead("reservation", RESERVATION, when="only for a reservation's code"),
        ItemRead("booking", BOOKING, when="only for a booking's code"),
    ),
    rounds=_ROUNDS,
    steps=(
        update("code", ACCESS_CODE, _AS_READ, index_writes=1),
        *_CLAIM_RULES,
        delete(
            "old claim", CODE_CLAIM, "attribute_not_exists(#PK) OR #codeId = :codeId", when="the digits become invalid"
        ),
        _DOOR_RULE,
    ),
    most_steps=4 + MAX_RING_KEYS - 1,
    emits=(ActivityKind.ACCESS_CODE_ROTATED, ActivityKind.ACCESS_CODE_REVEALED, ActivityKind.ACCESS_CODE_REVOKED),
    errors=(BadInputError, NotFoundError, ForbiddenError, CodeOverError, UnavailableError),
    note="A reveal is recorded before the digits are returned. A repeated rotation, reveal or revocation changes "
    "nothing.",
    cardinality="The code, its claims and the door's record.",
    hot_partition=_HOT_PARTITION,
)

VERIFY_ACCESS_CODE = WriteContract(
    id="QC-107",
    purpose="Verify digits that were entered at a door",
    reads=(
        BatchRead(items=(ItemRead("lockout", LOCKOUT), _ATTEMPT_READ, _DOOR_READ, ItemRead("report", EVENT_CLAIM))),
        ItemRead("claim", CODE_CLAIM, at_once=MAX_RING_KEYS),
        _LOCATION_READ,
        _LOCKER_READ,
        ItemRead("code", ACCESS_CODE, at_once=MAX_RING_KEYS, when="only where a claim is found"),
        BatchRead(
            items=(ItemRead("guard", GUARD), ItemRead("pointer", ACTIVE_POINTER), ItemRead("reserved locker", LOCKER))
        ),
        ItemRead("reservation", STORED_RESERVATION, when="only for a reservation's code"),
        ItemRead("booking", BOOKING, when="only for a booking's code"),
        RangeRead(
            "next reservation",
            keys.live_reservations,
            STORED_LIVE_RESERVATION,
            1,
            usual=1,
            when="only in the grace period after a reservation",
        ),
        *NEXT_READS,
    ),
    settles=SETTLE_LAST_CHANGE,
    rounds=_ROUNDS,
    steps=(
        put("first lockout", LOCKOUT, IS_NEW, when="the first failure"),
        update("lockout", LOCKOUT, _AS_READ, when="a failure"),
        check("no lockout", LOCKOUT, IS_NEW, when="a success"),
        check("same lockout", LOCKOUT, _AS_READ, when="a success"),
        put("attempt", ATTEMPT, IS_NEW_OR_EXPIRED, when="the attempt id is new"),
        check("no report", EVENT_CLAIM, IS_NEW_OR_EXPIRED, when="a success"),
        update("code", ACCESS_CODE, _AS_READ, when="a success", index_writes=1),
        update("door", CODE_DOOR, _AS_READ, when="the last use of a code"),
        check("same door", CODE_DOOR, _AS_READ, when="a success"),
        *_RESERVATION_RULES,
        *CHECK_IN_RULES,
        put("event", ACCESS_EVENT, IS_NEW, item_bytes=_EVENT_BYTES),
        put("tamper event", ACCESS_EVENT, IS_NEW, when="a lockout begins", item_bytes=_EVENT_BYTES),
        put(
            "notification",
            NOTIFICATION,
            IS_NEW,
            when="a lockout begins, for the owner of the locker or the manager of the location",
            item_bytes=_EVENT_BYTES,
        ),
    ),
    most_steps=16,
    emits=(
        ActivityKind.ACCESS_CODE_USED,
        ActivityKind.ACCESS_CODE_DENIED,
        ActivityKind.DOOR_LOCKED_OUT,
        ActivityKind.RESERVATION_STARTED,
        ActivityKind.LOCKER_STATUS_CHANGED,
        ActivityKind.DOOR_OVERSTAYED,
    ),
    log_entries=2,  # or one of up to 4 KB, which costs less
    errors=(BadInputError, NotFoundError, ForbiddenError, UnavailableError),
    note="Every answer follows a transaction on the lockout record as it was read, so guesses at the same time are "
    "decided one after another and cannot exceed the limit of failures. While the door is locked out nothing is read "
    "of the codes and nothing is written.",
    cardinality="The lockout record, the attempt, an event and, for a success, the code; at the first use for a "
    "reservation also what its start writes.",
    hot_partition="One door's partition: attempts at the same door are decided one after another.",
)

CLEAR_LOCKOUT = WriteContract(
    id="QC-108",
    purpose="End the lockout of a door",
    reads=(ItemRead("lockout", LOCKOUT), _LOCKER_READ, _LOCATION_READ),
    rounds=_ROUNDS,
    steps=(update("lockout", LOCKOUT, _AS_READ),),
    most_steps=1,
    emits=(ActivityKind.DOOR_LOCKOUT_CLEARED,),
    errors=(BadInputError, NotFoundError, ForbiddenError, UnavailableError),
    note="A door with no failures stays unchanged.",
    cardinality="One item.",
    hot_partition=_HOT_PARTITION,
)

PROVISION_DEVICE = WriteContract(
    id="QC-110",
    purpose="Provision the device of a door",
    reads=(_DOOR_READ, _LOCKER_READ, _LOCATION_READ),
    rounds=_ROUNDS,
    steps=(_FIRST_DOOR_RULE, *_LIST_RULES),
    most_steps=1,
    emits=(ActivityKind.DEVICE_PROVISIONED,),
    errors=(BadInputError, NotFoundError, ForbiddenError, UnavailableError),
    note="The key of the device is derived and never stored. A repeated request returns the same key until the device "
    "has acknowledged a list.",
    cardinality="One item.",
    hot_partition=_HOT_PARTITION,
)

ACKNOWLEDGE_ACCESS_CODES = WriteContract(
    id="QC-111",
    purpose="Read or acknowledge the list of access codes of a door",
    reads=(
        _DOOR_READ,
        ItemRead("guard", GUARD, when=AT_LOCKER),
        ItemRead("code", ACCESS_CODE, at_once=MAX_LIVE_CODES, usual=_USUAL_CODES),
        ItemRead("reservation", RESERVATION, at_once=MAX_LIVE_CODES, usual=_USUAL_CODES, when=AT_LOCKER),
        RangeRead("next reservation", keys.live_reservations, STORED_LIVE_RESERVATION, _MOST_FOLLOWING, when=AT_LOCKER),
        _LOCKER_READ,
        _LOCATION_READ,
        ItemRead("booking", BOOKING, at_once=MAX_LIVE_CODES, usual=_USUAL_CODES, when=AT_LOCATION),
    ),
    settles=SETTLE_LAST_CHANGE,
    rounds=_ROUNDS,
    steps=_LIST_RULES,
    most_steps=1,
    emits=(ActivityKind.ACCESS_CODE_LOADED,),
    errors=(BadInputError, ForbiddenError, StaleListError, UnavailableError),
    note="An acknowledgement makes the list anew and compares its revision. Reservations that follow those of the "
    "listed codes bound their grace periods. For a door without a device nothing but the door is read. The lists of "
    "several doors share a BatchGetItem of each kind of item, up to 100 keys; each locker has its own Query.",
    cardinality="One item.",
    hot_partition=_HOT_PARTITION,
)

REPORT_ACCESS_CODE_USE = WriteContract(
    id="QC-112",
    purpose="Report that a device opened a door by its own list",
    reads=(BatchRead(items=(_CODE_READ, _DOOR_READ, ItemRead("claim", EVENT_CLAIM), _ATTEMPT_READ)), _LOCKER_READ),
    rounds=_ROUNDS,
    steps=(
        put("event", ACCESS_EVENT, IS_NEW, item_bytes=_EVENT_BYTES),
        put("claim", EVENT_CLAIM, IS_NEW_OR_EXPIRED),
        update("code", ACCESS_CODE, _AS_READ, index_writes=1),
        update("door", CODE_DOOR, _AS_READ, when="the last use of a code"),
        check("no attempt", ATTEMPT, IS_NEW_OR_EXPIRED, when="no verification has this id"),
    ),
    most_steps=5,
    emits=(ActivityKind.ACCESS_CODE_USED,),
    errors=(BadInputError, NotFoundError, ForbiddenError, IdTakenError, UnavailableError),
    note="The claim on the event id makes a use count once. An attempt with this id that was granted counted it.",
    cardinality="The event, its claim and the code.",
    hot_partition=_HOT_PARTITION,
)

CODE_KEYS_SCAN = ReadTable(
    id="QC-113",
    purpose="Find out which secrets of access codes are in use",
    page_size=200,
    note="Only `smartlocker codes keys` uses it.",
    cardinality="All items of the table.",
    hot_partition="One partition at a time.",
)
