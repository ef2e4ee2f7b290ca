"""The access patterns of reservations."""

from dataclasses import replace

from domain.activity import ActivityKind
from domain.errors import (
    BadInputError,
    ForbiddenError,
    IdTakenError,
    InvalidCursorError,
    LockerInMaintenanceError,
    LockerRetiredError,
    NotFoundError,
    OverlapError,
    OwnerErasedError,
    ReferenceTakenError,
    ReservationNotStartedError,
    ReservationOverError,
    ReservationStartedError,
    TooManyReservationsError,
    UnavailableError,
    VersionConflictError,
)
from domain.retention import KEPT_DETAILS
from loaders import keys
from loaders.codecs import (
    ACCESS_EVENT,
    ACTIVE_POINTER,
    ANY_CLAIM,
    GUARD,
    LIVE_RESERVATION,
    LOCKER,
    NOTIFICATION,
    OVERDUE_STAY,
    OWNER,
    OWNER_RESERVATION,
    RECIPIENT_RESERVATION,
    REFERENCE_CLAIM,
    RESERVATION,
    RESERVATION_CLAIM,
    RESERVATION_DETAILS,
    RESERVATION_SLOT,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
)
from loaders.contracts.base import Consistency, Order, PageRule
from loaders.contracts.cost import LOOKS_FOR_CLAIMED
from loaders.contracts.lockers import GONE_OFFER, LOCKER_AS_READ, OVERDUE_ENDS, STATUS_RULES
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import (
    IS_NEW,
    REPEATED_CHANGE,
    BatchRead,
    ItemRead,
    RangeRead,
    check,
    delete,
    put,
    update,
)
from loaders.contracts.writing import WriteContract

_MOST_SLOTS = 1000
_BOTH = (Order.ASC, Order.DESC)
_ROUNDS = 24
_CLAIMED = "only where the claim is visible before the reservation"
_HOT_PARTITION = (
    "The reservations of one locker are written one after another, each under its guard; other lockers are other "
    "partitions."
)

_GUARD_READ = ItemRead("guard", GUARD)
_POINTER_READ = ItemRead("pointer", ACTIVE_POINTER)
_CLAIM_READ = ItemRead("claim", RESERVATION_CLAIM)
_LOCKER_READ = ItemRead("locker", LOCKER)
_RESERVATION_READ = ItemRead("reservation", STORED_RESERVATION)
_BEFORE_READ = RangeRead("before", keys.live_before, STORED_LIVE_RESERVATION, 1, usual=1, forward=False)
_POINTER_MOVES = "only where the pointer must move: its reservation ends, or ended longer ago than clocks differ"
NEXT_READS = (
    replace(_BEFORE_READ, name="running", when=_POINTER_MOVES),
    RangeRead("ahead", keys.live_reservations, STORED_LIVE_RESERVATION, 2, usual=2, when=_POINTER_MOVES),
)
SLOTS_READ = RangeRead("slots", keys.reservation_slots, RESERVATION_SLOT, _MOST_SLOTS, usual=5)

_GUARD = update("guard", GUARD, "#revision = :readRevision")
GUARD_RULES = (put("first guard", GUARD, IS_NEW, when="the locker has none yet"), _GUARD)
# The items of a transaction become visible to other reads one by one. Each transaction is conditioned on the change
# before it, so at most the last change can be partly visible while another write reads.
LAST_CHANGE_RULES = (
    check(
        "last change",
        STORED_LIVE_RESERVATION,
        "#revision = :changedRevision",
        when="another reservation was changed last",
    ),
    check("last removal", STORED_LIVE_RESERVATION, IS_NEW, when="another reservation was canceled or released last"),
)
# A batch read is not a snapshot, so every write is conditioned on the pointer it read, even where the pointer stays.
# One that was lost and came back has no latest end.
POINTER_AS_READ = (
    "#reservationId = :pointed AND #endAt = :pointedEnd AND #version = :pointedVersion "
    "AND (#lastEndAt = :readLastEnd OR attribute_not_exists(#lastEndAt))"
)
_POINTER_RULES = (
    put("first pointer", ACTIVE_POINTER, IS_NEW, when="the locker has none"),
    put("pointer", ACTIVE_POINTER, POINTER_AS_READ, when="it names another reservation, or the latest end changes"),
    check("same pointer", ACTIVE_POINTER, POINTER_AS_READ, when="it stays"),
)
_NO_POINTER_RULES = (
    delete("no pointer", ACTIVE_POINTER, POINTER_AS_READ, when="no reservation is left"),
    check("still no pointer", ACTIVE_POINTER, IS_NEW, when="the locker has none and gets none"),
)

TIMELINE_RULES = (*GUARD_RULES, *_POINTER_RULES, *_NO_POINTER_RULES, *LAST_CHANGE_RULES)
"""The steps on which every write of a locker's reservations depends."""

# A reservation is marked when its end is logged; that is no new version.
_MARK_AS_READ = "(attribute_not_exists(#endedAs) OR #endedAs = :readMark)"
_FREE_OR_OWN_SLOT = "attribute_not_exists(#PK) OR (#reservationId = :reservationId AND #lockerId = :lockerId)"
_CHANGE_RULES = (
    _GUARD,
    update(
        "reservation",
        RESERVATION,
        f"#status = :readStatus AND #endAt = :readEnd AND #version = :readVersion AND {_MARK_AS_READ}",
        index_writes=1,
    ),
    put("reservation copy", OWNER_RESERVATION, None),
    # Its place in the index changes with its end.
    put("live copy", STORED_LIVE_RESERVATION, None, when="the reservation stays live", index_writes=2),
    delete("no live copy", STORED_LIVE_RESERVATION, None, when="it is canceled or released", index_writes=1),
    delete("free slot", RESERVATION_SLOT, _FREE_OR_OWN_SLOT, when="it is canceled or released"),
    put("notification", NOTIFICATION, None, when="someone else ends the reservation with a reason", item_bytes=1900),
    *_POINTER_RULES,
    *_NO_POINTER_RULES,
    *LAST_CHANGE_RULES,
)
_LOCKER_IS_OWNED = check(
    "owned locker", LOCKER, "#ownerId = :readOwner", when="the owner of the locker ends a reservation of someone else"
)

SETTLE_LAST_CHANGE = WriteContract(
    id="QC-26",
    purpose="Write the last change of a locker's reservations once more",
    reads=(_GUARD_READ, _RESERVATION_READ),
    steps=(
        *GUARD_RULES,
        check(
            "same reservation",
            STORED_RESERVATION,
            f"#version = :readVersion AND {_MARK_AS_READ}",
            when="the reservation exists",
        ),
        check("no reservation", STORED_RESERVATION, IS_NEW, when="the guard names one that does not exist"),
        put("live copy", STORED_LIVE_RESERVATION, None, when="the reservation is live", index_writes=1),
        delete("no live copy", STORED_LIVE_RESERVATION, None, when="it was canceled or released"),
    ),
    most_steps=3,
    silent="The change itself was logged.",
    note="Sent by a write that does not see the change that the guard names, although nothing else changes: its live "
    "copy was lost, or the guard is older than the reservation, or missing. It writes what must be there, under the "
    "guard and the reservation as they were read, so it does no harm where the change is only not visible yet.",
    cardinality="The guard and one live copy; their reservation is checked.",
    hot_partition=_HOT_PARTITION,
)

CREATE_RESERVATION = WriteContract(
    id="QC-04",
    purpose="Create a reservation",
    reads=(
        BatchRead(items=(_GUARD_READ, _POINTER_READ, _CLAIM_READ, _LOCKER_READ, ItemRead("owner", OWNER))),
        _BEFORE_READ,
        SLOTS_READ,
        *NEXT_READS,
    ),
    fallbacks=(replace(_RESERVATION_READ, most=LOOKS_FOR_CLAIMED, when="only where the id was used before"),),
    settles=SETTLE_LAST_CHANGE,
    rounds=_ROUNDS,
    steps=(
        *GUARD_RULES,
        put("reservation", STORED_RESERVATION, IS_NEW, index_writes=1),
        put("claim", RESERVATION_CLAIM, IS_NEW, index_writes=1),
        # Its key has no locker id: with the same id and start at another locker it would replace that one's copy.
        put("copy", OWNER_RESERVATION, IS_NEW),
        put("live copy", STORED_LIVE_RESERVATION, None, index_writes=1),
        put("any claim", ANY_CLAIM, IS_NEW, when="any locker of a location was asked for"),
        put("slot", RESERVATION_SLOT, "attribute_not_exists(#PK) OR #endAt <= :now"),
        put("reference", REFERENCE_CLAIM, IS_NEW, when="the reservation has a reference", index_writes=1),
        put("details", RESERVATION_DETAILS, IS_NEW, when="the reservation has a recipient or metadata"),
        put("recipient", RECIPIENT_RESERVATION, IS_NEW, when="the reservation has a recipient", most=2),
        *_POINTER_RULES,
        check(
            "locker",
            LOCKER,
            "#ownerId = :readOwner AND #status IN (:available, :occupied) AND #reservableBy = :readAudience",
        ),
        *LAST_CHANGE_RULES,
    ),
    most_steps=14,
    emits=(ActivityKind.RESERVATION_CREATED,),
    errors=(
        BadInputError,
        NotFoundError,
        OwnerErasedError,
        OverlapError,
        LockerInMaintenanceError,
        LockerRetiredError,
        IdTakenError,
        ReferenceTakenError,
        TooManyReservationsError,
        UnavailableError,
    ),
    note="The guard makes read-then-write atomic: where its revision changed, or the last change it names is not "
    "visible yet, everything is read again. Live reservations do not overlap, so the one with the latest start before "
    "endAt decides. A locker without a guard has no reservations. The same id with the same content writes nothing and "
    "returns the current state, permanently. A free slot of the owner is taken: there are as many as the owner may "
    "have live reservations.",
    cardinality="The reservation, its claim, the owner's copy, the live copy, a slot, the guard and the pointer, the "
    "claim of its reference, its details and the entries of its recipient; the locker and the last change are checked.",
    hot_partition=f"{_HOT_PARTITION} The slots of one owner share its partition; reservations at once choose different "
    "ones.",
)

ANY_CLAIM_BY_ID = ReadOne(
    id="QC-24",
    purpose="The reservation that a request for any locker of a location led to",
    codec=ANY_CLAIM,
    consistency=Consistency.STRONG,
    errors=(IdTakenError,),
    note="Read before a locker is looked for, and once more where another request with the same id was faster. The "
    "claim is written with the reservation (QC-04) and never deleted, so a repeated request returns the first one.",
    cardinality="One claim a reservation of any locker.",
    hot_partition="Medium for a partner that reserves for one organization: all claims share its partition.",
)

LOCKER_RESERVATIONS = ReadPage(
    id="QC-05",
    purpose="Reservations of a locker in a time window",
    range=keys.locker_reservations,
    codec=RESERVATION,
    orders=_BOTH,
    note="By start time; both bounds are included.",
    cardinality="Up to some 10,000 reservations in a locker's life.",
    hot_partition="Low: one locker's partition.",
)

OVERLAPPING_RESERVATIONS = ReadPage(
    id="QC-85",
    purpose="Live reservations of a locker that overlap a time window",
    range=keys.live_reservations,
    codec=LIVE_RESERVATION,
    orders=_BOTH,
    errors=(BadInputError, InvalidCursorError, UnavailableError),
    note="By start time. Live reservations do not overlap, so besides those that start in the window only the one "
    "before it (QC-86) may reach into it: then the list begins with that one.",
    cardinality="Up to some 100 live reservations a month.",
    hot_partition="Low: one locker's partition.",
)

RESERVATION_BEFORE = ReadPage(
    id="QC-86",
    purpose="The live reservation of a locker with the latest start before a time",
    range=keys.live_before,
    codec=LIVE_RESERVATION,
    page_rule=PageRule(default=1, maximum=1, look_ahead=0),
    orders=(Order.DESC,),
    errors=(UnavailableError,),
    note="Says where the list of QC-85 begins.",
    cardinality="One item a read.",
    hot_partition="Low: one locker's partition.",
)

NEXT_RESERVATION = replace(
    RESERVATION_BEFORE,
    id="QC-39",
    purpose="The live reservation of a locker with the earliest start from a time on",
    range=keys.live_reservations,
    orders=(Order.ASC,),
    note="Read where the active pointer names a reservation that has begun and another may follow.",
)

GUARD_OF_LOCKER = ReadOne(
    id="QC-25",
    purpose="Whether a reservation that was released ended the grace periods before it",
    codec=GUARD,
    note="Read with QC-86 where a code is shown whose reservation ended less than 15 minutes ago.",
    cardinality="At most one item a locker.",
    hot_partition="Low: one locker's partition.",
)

ACTIVE_RESERVATION = ReadOne(
    id="QC-07",
    purpose="The current or next reservation of a locker",
    codec=ACTIVE_POINTER,
    note="Where the reservation has ended and another live one may follow, QC-19 finds the current one. Nothing is "
    "written.",
    cardinality="At most one item a locker.",
    hot_partition="Low: one locker's partition.",
)

CURRENT_RESERVATION = replace(
    RESERVATION_BEFORE,
    id="QC-19",
    purpose="The latest live reservation of a locker that has started",
    range=keys.live_reservations,
    note="Live reservations do not overlap, so no other can be current. Read where the active pointer has ended.",
)

_EXISTING_READS = (BatchRead(items=(_GUARD_READ, _POINTER_READ, _CLAIM_READ, _LOCKER_READ)), _RESERVATION_READ)
_EXISTING_FALLBACKS = (replace(_RESERVATION_READ.part, most=_ROUNDS * (LOOKS_FOR_CLAIMED - 1), when=_CLAIMED),)

CHANGE_RESERVATION = WriteContract(
    id="QC-13",
    purpose="Cancel, extend or shorten a reservation",
    variants=("cancel", "extend"),
    reads=(*_EXISTING_READS, replace(_BEFORE_READ, only=("extend",)), *NEXT_READS),
    fallbacks=_EXISTING_FALLBACKS,
    settles=SETTLE_LAST_CHANGE,
    rounds=_ROUNDS,
    steps=(
        *_CHANGE_RULES,
        put("slot end", RESERVATION_SLOT, _FREE_OR_OWN_SLOT, when="the end of the reservation moves"),
        _LOCKER_IS_OWNED,
    ),
    most_steps=10,
    emits=(ActivityKind.RESERVATION_CANCELLED, ActivityKind.RESERVATION_CHANGED),
    log_entries=2,
    errors=(
        BadInputError,
        NotFoundError,
        OverlapError,
        IdTakenError,
        VersionConflictError,
        ReservationOverError,
        ReservationStartedError,
        UnavailableError,
    ),
    note=f"{REPEATED_CHANGE} The owner of the locker may cancel a reservation of someone else, who is notified.",
    cardinality="The reservation, the owner's copy, the live copy, the slot, the guard, the pointer and a "
    "notification; the last change and the owner of the locker are checked.",
    hot_partition=_HOT_PARTITION,
)

RETIRE_LOCKER = WriteContract(
    id="QC-23",
    purpose="Retire a locker",
    reads=(_LOCKER_READ, _GUARD_READ, replace(_BEFORE_READ, when="only where the locker was ever reserved")),
    settles=SETTLE_LAST_CHANGE,
    rounds=_ROUNDS,
    steps=(
        *STATUS_RULES,
        OVERDUE_ENDS,
        GONE_OFFER,
        check("same guard", GUARD, "#revision = :readRevision", when="the locker was ever reserved"),
        check("no guard", GUARD, IS_NEW, when="nobody ever reserved the locker"),
        *LAST_CHANGE_RULES,
    ),
    most_steps=8,
    emits=(ActivityKind.LOCKER_RETIRED,),
    errors=(
        BadInputError,
        NotFoundError,
        OverlapError,
        LockerRetiredError,
        IdTakenError,
        VersionConflictError,
        UnavailableError,
    ),
    note=f"{REPEATED_CHANGE} Live reservations do not overlap, so the one with the latest start decides whether any is "
    "left. The locker stays, so its id is never used again.",
    cardinality="The locker, its copies and up to two offers; the guard and the last change are checked.",
    hot_partition="None: a locker is retired once.",
)

_OVERSTAY = put(
    "overstay",
    ACCESS_EVENT.at(keys.event),
    IS_NEW,
    when="the locker is still occupied by a reservation that has ended",
    item_bytes=600,
)
_NOT_FOR_CHECK_IN = {"no live copy", "free slot", "notification", "no pointer", "still no pointer"}
CHECK_IN_RULES = (
    *(rule for rule in _CHANGE_RULES if rule.name not in _NOT_FOR_CHECK_IN),
    *STATUS_RULES,
    OVERDUE_ENDS,
    _OVERSTAY,
)
"""The steps that check a reservation in and make its locker OCCUPIED."""

USE_RESERVATION = WriteContract(
    id="QC-87",
    purpose="Start or release a reservation",
    variants=("start", "release"),
    reads=(*_EXISTING_READS, *NEXT_READS),
    fallbacks=_EXISTING_FALLBACKS,
    settles=SETTLE_LAST_CHANGE,
    rounds=_ROUNDS,
    steps=(*_CHANGE_RULES, *STATUS_RULES, OVERDUE_ENDS, _LOCKER_IS_OWNED, _OVERSTAY),
    most_steps=12,
    emits=(
        ActivityKind.RESERVATION_STARTED,
        ActivityKind.RESERVATION_RELEASED,
        ActivityKind.RESERVATION_CHANGED,
        ActivityKind.LOCKER_STATUS_CHANGED,
        ActivityKind.DOOR_OVERSTAYED,
    ),
    log_entries=3,  # or one of up to 4 KB, which costs less
    errors=(
        BadInputError,
        NotFoundError,
        IdTakenError,
        VersionConflictError,
        LockerInMaintenanceError,
        LockerRetiredError,
        ReservationOverError,
        ReservationNotStartedError,
        UnavailableError,
    ),
    note=f"{REPEATED_CHANGE} A start makes the locker OCCUPIED, a release makes it AVAILABLE, in the same transaction. "
    "The end of a reservation leaves the locker OCCUPIED: the next start takes it over and records the overstay.",
    cardinality="The reservation, its copies, the slot, the guard and the pointer; the locker and its copies; an "
    "overstay event or a notification; the last change is checked.",
    hot_partition=_HOT_PARTITION,
)


DUE_RESERVATIONS = ReadPage(
    id="QC-140",
    purpose="Reservations whose end is not logged yet, by their end",
    range=keys.due_reservations,
    codec=LIVE_RESERVATION,
    note="Only the sweeper of a part of the log reads it, every five seconds. The list may be a moment old, so each "
    "reservation is read again before it is ended (QC-141).",
    cardinality="Those that ended since the last sweep; after a time without servers, all that ended in it.",
    hot_partition="Low: every reservation is written to one of four partitions, each of which takes about 1,000 small "
    "writes a second.",
)

END_RESERVATION = WriteContract(
    id="QC-141",
    purpose="Log the end of a reservation whose time is over",
    reads=(BatchRead(items=(_RESERVATION_READ, _LOCKER_READ)),),
    rounds=3,
    steps=(
        update(
            "reservation",
            STORED_RESERVATION,
            "#status = :live AND #endAt = :readEnd AND #version = :readVersion AND attribute_not_exists(#endedAs)",
            index_writes=1,
        ),
        put("live copy", STORED_LIVE_RESERVATION, None, index_writes=1),
        replace(LOCKER_AS_READ, name="occupied locker", when="the reservation still occupies its locker"),
        put("overdue stay", OVERDUE_STAY, None, when="the reservation still occupies its locker", index_writes=1),
        check(
            "left locker",
            LOCKER,
            "attribute_not_exists(#occupiedBy) OR #occupiedBy <> :reservationId",
            when="it was checked in, and does not occupy its locker any more",
        ),
    ),
    most_steps=4,
    emits=(ActivityKind.RESERVATION_ENDED, ActivityKind.RESERVATION_OVERDUE),
    log_entries=2,
    errors=(UnavailableError,),
    note="Only the sweeper of a part of the log sends it, ten seconds after the end: then it is over by the clock of "
    "every server. The mark makes it happen once, even if two servers send it, and is no new version. The "
    "live copy leaves the index, and a locker that is still occupied knows since when it is overdue.",
    cardinality="The reservation, its live copy and its locker; of one that is overdue, its place in that list.",
    hot_partition="Low: one locker's partition.",
)

OWNER_RESERVATIONS = ReadPage(
    id="QC-14",
    purpose="Reservations made by an owner in a time window",
    range=keys.owner_reservations,
    codec=OWNER_RESERVATION,
    orders=_BOTH,
    note="By start time; both bounds are included. The copy has everything that is shown.",
    cardinality="Up to some 1,000 a person, 100,000 a partner's organization.",
    hot_partition="Medium for a partner that reserves for one organization: all copies share its partition.",
)

RESERVATION_BY_KEY = ReadOne(
    id="QC-18",
    purpose="A reservation by its whole key",
    codec=RESERVATION,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    note="The global id and the claim hold the key. A reservation that a claim names and an eventual read does not "
    "find is read strongly.",
    cardinality="One item a reservation.",
    hot_partition="Low: one locker's partition.",
)

RESERVATION_BY_ID = ReadOne(
    id="QC-15",
    purpose="A reservation by its locker and id",
    codec=RESERVATION_CLAIM,
    then=RESERVATION_BY_KEY,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    note="Reads the claim of the id, which holds the start time, then the reservation (QC-18).",
    cardinality="One claim a reservation.",
    hot_partition="Low: one locker's partition.",
)

RESERVATION_BY_REFERENCE = ReadOne(
    id="QC-88",
    purpose="A reservation by the reference of the owner who made it",
    codec=REFERENCE_CLAIM,
    then=RESERVATION_BY_KEY,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    note="Reads the claim of the reference, then the reservation (QC-18).",
    cardinality="One claim a reference.",
    hot_partition="Medium for a partner that reserves for one organization: all claims share its partition.",
)

DETAILS_OF_RESERVATION = ReadOne(
    id="QC-89",
    purpose="Recipient and metadata of a reservation",
    codec=RESERVATION_DETAILS,
    kept=KEPT_DETAILS,
    note="Read only where these are selected, by the owner who made the reservation.",
    cardinality="At most one item a reservation.",
    hot_partition="Low: one locker's partition.",
)

LOCATION_RESERVATIONS = ReadPage(
    id="QC-174",
    purpose="Reservations that were made at a location, in a time window",
    range=keys.location_reservations,
    codec=RESERVATION,
    orders=_BOTH,
    note="By start time; both bounds are included. A reservation stays with the location at which its locker was when "
    "it was made, also when the locker is moved: figures count it there, too.",
    cardinality="Up to some 100,000 a location.",
    hot_partition="Medium: each reservation of a busy location is written to its partition of the index.",
)

OVERDUE_RESERVATIONS = ReadPage(
    id="QC-173",
    purpose="Reservations that are over and still occupy their lockers",
    range=keys.overdue_stays,
    codec=OVERDUE_STAY,
    orders=_BOTH,
    note="By when they ended. Each is written when its end is logged (QC-141), and deleted with the change that "
    "empties the locker or gives it to somebody else.",
    cardinality="Some 1 in 100 lockers.",
    hot_partition="Low: few reservations become overdue.",
)

RECIPIENT_RESERVATIONS = ReadPage(
    id="QC-215",
    purpose="Reservations of a recipient, by a keyed hash of the email address or phone number",
    range=keys.recipient_reservations,
    codec=RECIPIENT_RESERVATION,
    kept=KEPT_DETAILS,
    orders=(Order.DESC,),
    note="By start, the latest first. One Query for each key of the ring of access codes, merged by start. Written "
    "with the details of a reservation (QC-04), and kept as long as these.",
    cardinality="Some 100 reservations a person; each has an entry by email address and one by phone number.",
    hot_partition="Low: one person's partition.",
)
