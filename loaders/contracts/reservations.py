"""The access patterns of reservations."""

from __future__ import annotations

from dataclasses import replace

from domain.errors import (
    BadInputError,
    ForbiddenError,
    IdTakenError,
    InvalidCursorError,
    LockerInMaintenanceError,
    NotFoundError,
    OverlapError,
    ReservationOverError,
    UnavailableError,
)
from loaders import keys
from loaders.codecs import (
    ACTIVE_POINTER,
    ANY_CLAIM,
    GUARD,
    LIVE_RESERVATION,
    LOCKER,
    OWNER,
    OWNER_RESERVATION,
    RESERVATION,
    RESERVATION_CLAIM,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
)
from loaders.contracts.base import MAX_ITEMS, Consistency, Order, PageRule
from loaders.contracts.cost import LOOKS_FOR_CLAIMED
from loaders.contracts.lockers import LOCKER_BYTES
from loaders.contracts.owners import OWNER_BYTES
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.writing import EXISTS, IS_NEW, BatchRead, ItemRead, RangeRead, StepRule, WriteContract
from loaders.table.keys import Key
from loaders.table.operations import Action

LIVE_COPIES_AT_ONCE = 5
"""How many live copies of reservations of an earlier version one transaction writes."""

_RESERVATION_BYTES = 800
_BOTH = (Order.ASC, Order.DESC)
_PAGE = 1000
_ROUNDS = 24
_CLAIMED = "only where the claim is visible before the reservation"
_HOT_PARTITION = (
    "The reservations of one locker are written one after another, each under its guard; other lockers are other "
    "partitions."
)

_GUARD_READ = ItemRead("guard", keys.reservation_guard, GUARD, _RESERVATION_BYTES)
_POINTER_READ = ItemRead("pointer", keys.active_pointer, ACTIVE_POINTER, _RESERVATION_BYTES)
_CLAIM_READ = ItemRead("claim", keys.reservation_claim, RESERVATION_CLAIM, _RESERVATION_BYTES)
_RESERVATION_READ = ItemRead("reservation", keys.reservation, RESERVATION, _RESERVATION_BYTES)
_BEFORE_READ = RangeRead(
    "before", keys.live_before, STORED_LIVE_RESERVATION, _RESERVATION_BYTES, 1, usual=1, forward=False
)
_POINTER_MOVES = "only where the pointer must move: its reservation ends, or ended longer ago than clocks differ"
_NEXT_READS = (
    replace(_BEFORE_READ, name="running", when=_POINTER_MOVES),
    RangeRead(
        "ahead", keys.live_reservations, STORED_LIVE_RESERVATION, _RESERVATION_BYTES, 2, usual=2, when=_POINTER_MOVES
    ),
)
_OLDER = "only where the locker has no guard, or that of an earlier version"
UPGRADE_READS = (
    RangeRead("all", keys.locker_reservations, STORED_RESERVATION, _RESERVATION_BYTES, _PAGE, when=_OLDER),
    RangeRead("copies", keys.live_reservations, STORED_LIVE_RESERVATION, _RESERVATION_BYTES, _PAGE, when=_OLDER),
    ItemRead(
        "claims",
        keys.reservation_claim,
        RESERVATION_CLAIM,
        _RESERVATION_BYTES,
        at_once=MAX_ITEMS,
        when="only where an earlier version wrote reservations without a revision",
    ),
)

GUARD_RULES = (
    StepRule("first guard", Action.PUT, keys.reservation_guard, IS_NEW, when="the locker has none yet"),
    StepRule("guard", Action.UPDATE, keys.reservation_guard, "#revision = :readRevision"),
)
# The items of a transaction become visible to other reads one by one. Each transaction is conditioned on the change
# before it, so at most the last change can be partly visible while another write reads.
_LAST_CHANGE_RULES = (
    StepRule(
        "last change",
        Action.CHECK,
        keys.live_reservation,
        "#revision = :changedRevision",
        when="another reservation was changed last",
    ),
    StepRule(
        "last removal",
        Action.CHECK,
        keys.live_reservation,
        IS_NEW,
        when="another reservation was cancelled or released last",
    ),
)
# A batch read is not a snapshot, so every write is conditioned on the pointer it read, even where the pointer stays.
# A pointer of an older form has no status, and its times another spelling.
POINTER_AS_READ = (
    "#reservationId = :pointed AND (#endAt = :pointedEnd OR attribute_not_exists(#status)) "
    "AND (#lastEndAt = :readLastEnd OR attribute_not_exists(#lastEndAt))"
)
_POINTER_RULES = (
    StepRule("first pointer", Action.PUT, keys.active_pointer, IS_NEW, when="the locker has none"),
    StepRule(
        "pointer",
        Action.PUT,
        keys.active_pointer,
        POINTER_AS_READ,
        when="it names another reservation, or the latest end changes",
    ),
    StepRule("same pointer", Action.CHECK, keys.active_pointer, POINTER_AS_READ, when="it stays"),
)
_NO_POINTER_RULES = (
    StepRule("no pointer", Action.DELETE, keys.active_pointer, POINTER_AS_READ, when="no reservation is left"),
    StepRule("still no pointer", Action.CHECK, keys.active_pointer, IS_NEW, when="the locker has none and gets none"),
)

_WRITTEN_BY_OTHERS = f"{EXISTS} AND attribute_not_exists(#revision)"
_OLD = "a reservation has an older form"
UPGRADE_RULES = (
    StepRule("old form", Action.PUT, keys.reservation, _WRITTEN_BY_OTHERS, when=_OLD),
    StepRule("old key", Action.DELETE, Key, _WRITTEN_BY_OTHERS, when=f"{_OLD} and an older spelling of its start"),
    StepRule("new key", Action.PUT, keys.reservation, IS_NEW, when="the same"),
    StepRule("new claim", Action.PUT, keys.reservation_claim, IS_NEW, when=_OLD),
    StepRule(
        "new copy",
        Action.PUT,
        keys.owner_reservation,
        "attribute_not_exists(#PK) OR #lockerId = :lockerId",
        when=_OLD,
    ),
    StepRule(
        "new live copy",
        Action.PUT,
        keys.live_reservation,
        None,
        when="an earlier version or another program wrote a live reservation",
        most=LIVE_COPIES_AT_ONCE,
    ),
    StepRule("new pointer", Action.PUT, keys.active_pointer, None, when="no older form is left, and one is active"),
    StepRule("dropped pointer", Action.DELETE, keys.active_pointer, None, when="the same, and none is active"),
)
"""What brings the reservations of a locker to today's form. The guard orders these writes like all others."""

CREATE_RESERVATION = WriteContract(
    id="QC-04",
    purpose="Create a reservation",
    reads=(
        BatchRead(
            items=(
                _GUARD_READ,
                _POINTER_READ,
                _CLAIM_READ,
                ItemRead("locker", keys.locker, LOCKER, LOCKER_BYTES),
                ItemRead("owner", keys.owner, OWNER, OWNER_BYTES),
            )
        ),
        _BEFORE_READ,
        *_NEXT_READS,
    ),
    fallbacks=(
        replace(_RESERVATION_READ, most=LOOKS_FOR_CLAIMED, when="only where the reservationId was used before"),
        *UPGRADE_READS,
    ),
    rounds=_ROUNDS,
    steps=(
        *GUARD_RULES,
        StepRule("reservation", Action.PUT, keys.reservation, IS_NEW),
        StepRule("claim", Action.PUT, keys.reservation_claim, IS_NEW),
        StepRule("copy", Action.PUT, keys.owner_reservation, IS_NEW),
        StepRule("live copy", Action.PUT, keys.live_reservation, IS_NEW),
        StepRule("any claim", Action.PUT, keys.any_claim, IS_NEW, when="any locker of a location was asked for"),
        *_POINTER_RULES,
        StepRule(
            "locker",
            Action.CHECK,
            keys.locker,
            "#ownerId = :readOwner AND #status <> :maintenance "
            "AND (#reservableBy = :readAudience OR attribute_not_exists(#reservableBy))",
            item_bytes=LOCKER_BYTES,
        ),
        *_LAST_CHANGE_RULES,
        *UPGRADE_RULES,
    ),
    most_steps=9,
    errors=(BadInputError, NotFoundError, OverlapError, LockerInMaintenanceError, IdTakenError, UnavailableError),
    note="The guard makes read-then-write atomic: where its revision changed, or the last change it names is not "
    "visible yet, everything is read again. Live reservations do not overlap, so the one with the latest start before "
    "endAt decides. Reservations that other programs or earlier versions wrote are brought to today's form first. The "
    "same id with the same content writes nothing and returns the current state, permanently.",
    cardinality="The reservation, its claim, the owner's copy, the live copy, the guard and the pointer; the locker "
    "and the last change are checked.",
    hot_partition=_HOT_PARTITION,
    item_bytes=_RESERVATION_BYTES,
)

ANY_CLAIM_BY_ID = ReadOne(
    id="QC-24",
    purpose="The reservation that a request for any locker of a location led to",
    key=keys.any_claim,
    codec=ANY_CLAIM,
    consistency=Consistency.STRONG,
    errors=(IdTakenError,),
    note="Read before a locker is looked for, and once more where another request with the same id was faster. The "
    "claim is written with the reservation (QC-04) and never deleted, so a repeated request returns the first one.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
    cardinality="One claim a reservation of any locker.",
    hot_partition="Medium for a partner that reserves for one organisation: all claims share its partition.",
)

LOCKER_RESERVATIONS = ReadPage(
    id="QC-05",
    purpose="Reservations of a locker in a time window",
    range=keys.locker_reservations,
    codec=RESERVATION,
    orders=_BOTH,
    note="By start time; both bounds are included.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
    cardinality="Up to some 10,000 reservations in a locker's life.",
    hot_partition="Low: one locker's partition.",
)

OVERLAPPING_RESERVATIONS = ReadPage(
    id="QC-85",
    purpose="Live reservations of a locker that overlap a time window",
    range=keys.live_reservations,
    codec=LIVE_RESERVATION,
    orders=_BOTH,
    needs_format=4,
    errors=(BadInputError, InvalidCursorError, UnavailableError),
    note="By start time. Live reservations do not overlap, so besides those that start in the window only the one "
    "before it (QC-86) may reach into it: then the list begins with that one.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
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
    needs_format=4,
    errors=(UnavailableError,),
    note="Says where the list of QC-85 begins.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
    cardinality="One item a read.",
    hot_partition="Low: one locker's partition.",
)

NEXT_RESERVATION = ReadPage(
    id="QC-39",
    purpose="The live reservation of a locker with the earliest start from a time on",
    range=keys.live_reservations,
    codec=LIVE_RESERVATION,
    page_rule=PageRule(default=1, maximum=1, look_ahead=0),
    needs_format=4,
    errors=(UnavailableError,),
    note="Read where the active pointer names a reservation that has begun and another may follow.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
    cardinality="One item a read.",
    hot_partition="Low: one locker's partition.",
)

ACTIVE_RESERVATION = ReadOne(
    id="QC-07",
    purpose="The current or next reservation of a locker",
    key=keys.active_pointer,
    codec=ACTIVE_POINTER,
    note="Several in one request are one BatchGetItem of up to 100 keys. Where the reservation has ended and another "
    "live one may follow, QC-19 finds the current one. Nothing is written.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=400,
    cardinality="At most one item a locker.",
    hot_partition="Low: one locker's partition.",
)

CURRENT_RESERVATION = ReadPage(
    id="QC-19",
    purpose="The latest live reservation of a locker that has started",
    range=keys.live_reservations,
    codec=LIVE_RESERVATION,
    page_rule=PageRule(default=1, maximum=1, look_ahead=0),
    orders=(Order.DESC,),
    needs_format=4,
    errors=(UnavailableError,),
    note="Live reservations do not overlap, so no other can be current. Read where the active pointer has ended.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
    cardinality="One item a read.",
    hot_partition="Low: one locker's partition.",
)

CHANGE_RESERVATION = WriteContract(
    id="QC-13",
    purpose="Cancel or extend a reservation",
    variants=("cancel", "extend"),
    reads=(
        BatchRead(items=(_GUARD_READ, _POINTER_READ, _CLAIM_READ)),
        _RESERVATION_READ,
        replace(_BEFORE_READ, only=("extend",)),
        *_NEXT_READS,
    ),
    fallbacks=(
        replace(_RESERVATION_READ.part, most=_ROUNDS * (LOOKS_FOR_CLAIMED - 1), when=_CLAIMED),
        *UPGRADE_READS,
    ),
    rounds=_ROUNDS,
    steps=(
        *GUARD_RULES,
        StepRule("reservation", Action.UPDATE, keys.reservation, "#status = :readStatus AND #endAt = :readEnd"),
        StepRule("copy", Action.PUT, keys.owner_reservation, None),
        StepRule("live copy", Action.PUT, keys.live_reservation, None),
        StepRule("no live copy", Action.DELETE, keys.live_reservation, None, when="the reservation ends"),
        *_POINTER_RULES,
        *_NO_POINTER_RULES,
        *_LAST_CHANGE_RULES,
        *UPGRADE_RULES,
    ),
    most_steps=7,
    errors=(BadInputError, NotFoundError, OverlapError, ReservationOverError, UnavailableError),
    note="A repeated request returns the reservation as it is and writes nothing. Where the locker has no guard yet, "
    "the reservation is looked for without its claim, and brought to today's form first.",
    cardinality="The reservation, the owner's copy, the live copy, the guard and the pointer; the last change is "
    "checked.",
    hot_partition=_HOT_PARTITION,
    item_bytes=_RESERVATION_BYTES,
)

OWNER_RESERVATIONS = ReadPage(
    id="QC-14",
    purpose="Reservations made by an owner in a time window",
    range=keys.owner_reservations,
    codec=OWNER_RESERVATION,
    orders=_BOTH,
    note="By start time; both bounds are included. The copy has everything that is shown.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
    cardinality="Up to some 1,000 a person, 100,000 a partner's organisation.",
    hot_partition="Medium for a partner that reserves for one organisation: all copies share its partition.",
)

RESERVATION_BY_KEY = ReadOne(
    id="QC-18",
    purpose="A reservation by its whole key",
    key=keys.reservation,
    codec=RESERVATION,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    note="The global id and the claim hold the key. Several in one request are one BatchGetItem of up to 100 keys. A "
    "reservation that a claim names and an eventual read does not find is read strongly.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
    cardinality="One item a reservation.",
    hot_partition="Low: one locker's partition.",
)

RESERVATION_BY_ID = ReadOne(
    id="QC-15",
    purpose="A reservation by its locker and id",
    key=keys.reservation_claim,
    codec=RESERVATION_CLAIM,
    then=RESERVATION_BY_KEY,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    note="Reads the claim of the id, which holds the start time, then the reservation (QC-18).",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=300,
    cardinality="One claim a reservation.",
    hot_partition="Low: one locker's partition.",
)
