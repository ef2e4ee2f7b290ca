"""The access patterns of reservations."""

from __future__ import annotations

from dataclasses import replace

from domain.errors import (
    BadInputError,
    ForbiddenError,
    IdTakenError,
    LockerInMaintenanceError,
    NotFoundError,
    OverlapError,
    ReservationOverError,
    UnavailableError,
)
from loaders import keys
from loaders.codecs import (
    ACTIVE_POINTER,
    GUARD,
    LOCKER,
    OWNER,
    OWNER_RESERVATION,
    RESERVATION,
    RESERVATION_CLAIM,
    STORED_RESERVATION,
)
from loaders.contracts.base import Consistency, Order, PageRule
from loaders.contracts.cost import LOOKS_FOR_CLAIMED
from loaders.contracts.lockers import LOCKER_BYTES
from loaders.contracts.owners import OWNER_BYTES
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.writing import EXISTS, IS_NEW, BatchRead, ItemRead, RangeRead, StepRule, WriteContract
from loaders.table.keys import Key
from loaders.table.operations import Action

ACTIVE_SEARCH = (25, *(100,) * 9, 75)
"""The Limits of the Queries that look for the active reservation where the pointed one has ended: the second is sent
only where everything the first returned is cancelled."""

_RESERVATION_BYTES = 800
_BOTH = (Order.ASC, Order.DESC)
_PAGE = 1000  # reservations of 800 bytes: one response holds them all, below the 1 MB at which the store truncates
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
_OVERLAPPING_READ = RangeRead("overlapping", keys.reservations_starting, STORED_RESERVATION, _RESERVATION_BYTES, _PAGE)
_AHEAD_READ = RangeRead(
    "ahead",
    keys.locker_reservations,
    STORED_RESERVATION,
    _RESERVATION_BYTES,
    _PAGE,
    when="only where the pointer must move: its reservation is cancelled, or ended longer ago than clocks differ",
)

GUARD_RULES = (
    StepRule("first guard", Action.PUT, keys.reservation_guard, IS_NEW, when="the locker has none yet"),
    StepRule("guard", Action.UPDATE, keys.reservation_guard, "#revision = :readRevision"),
)
# The items of a transaction become visible to other reads one by one. Each transaction is conditioned on the change
# before it, so at most the last change can be partly visible while another write reads.
LAST_CHANGE = StepRule(
    "last change",
    Action.CHECK,
    keys.reservation,
    "#revision = :changedRevision",
    when="another reservation was changed last",
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
        replace(_OVERLAPPING_READ, forward=False),
        _AHEAD_READ,
    ),
    fallbacks=(
        replace(_RESERVATION_READ, most=LOOKS_FOR_CLAIMED, when="only where the reservationId was used before"),
    ),
    rounds=_ROUNDS,
    steps=(
        *GUARD_RULES,
        StepRule("reservation", Action.PUT, keys.reservation, IS_NEW),
        StepRule("claim", Action.PUT, keys.reservation_claim, IS_NEW),
        StepRule("copy", Action.PUT, keys.owner_reservation, IS_NEW),
        *_POINTER_RULES,
        StepRule(
            "locker",
            Action.CHECK,
            keys.locker,
            "#ownerId = :readOwner AND #status <> :maintenance "
            "AND (#reservableBy = :readAudience OR attribute_not_exists(#reservableBy))",
            item_bytes=LOCKER_BYTES,
        ),
        LAST_CHANGE,
        *UPGRADE_RULES,
    ),
    most_steps=7,
    errors=(BadInputError, NotFoundError, OverlapError, LockerInMaintenanceError, IdTakenError, UnavailableError),
    note="The guard makes read-then-write atomic: where its revision changed, or the last change it names is not "
    "visible yet, everything is read again. The overlap is looked for from startAt minus the longest reservation to "
    "endAt, and, as long as the locker has no guard, among all its reservations: those that other programs wrote are "
    "brought to today's form first. The same id with the same content writes nothing and returns the current state, "
    "permanently.",
    cardinality="The reservation, its claim, the owner's copy, the guard and the pointer; the locker and the last "
    "change are checked.",
    hot_partition=_HOT_PARTITION,
    item_bytes=_RESERVATION_BYTES,
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
    purpose="The reservation of a locker that is current, where the active pointer has ended",
    range=keys.locker_reservations,
    codec=RESERVATION,
    page_rule=PageRule(look_ahead=0),
    orders=(Order.DESC,),
    errors=(UnavailableError,),
    note="Reads backward from now to the first reservation that is not cancelled. One page decides unless 25 "
    "cancelled ones lie in front of it; after 1,000 the answer is UNAVAILABLE.",
    item_bytes=_RESERVATION_BYTES,
    typical_bytes=350,
    cardinality="The reservations of a locker that start within the longest reservation before now.",
    hot_partition="Low: one locker's partition.",
)

CHANGE_RESERVATION = WriteContract(
    id="QC-13",
    purpose="Cancel or extend a reservation",
    variants=("cancel", "extend"),
    reads=(
        BatchRead(items=(_GUARD_READ, _POINTER_READ, _CLAIM_READ)),
        _RESERVATION_READ,
        replace(_OVERLAPPING_READ, only=("extend",)),
        _AHEAD_READ,
    ),
    fallbacks=(replace(_RESERVATION_READ.part, most=_ROUNDS * (LOOKS_FOR_CLAIMED - 1), when=_CLAIMED),),
    rounds=_ROUNDS,
    steps=(
        *GUARD_RULES,
        StepRule("reservation", Action.UPDATE, keys.reservation, "#status = :readStatus AND #endAt = :readEnd"),
        StepRule("copy", Action.PUT, keys.owner_reservation, None),
        *_POINTER_RULES,
        *_NO_POINTER_RULES,
        LAST_CHANGE,
        *UPGRADE_RULES,
    ),
    most_steps=6,
    errors=(BadInputError, NotFoundError, OverlapError, ReservationOverError, UnavailableError),
    note="A repeated request returns the reservation as it is and writes nothing. Where the locker has no guard yet, "
    "the reservation is looked for without its claim, and brought to today's form first.",
    cardinality="The reservation, the owner's copy, the guard and the pointer; the last change is checked.",
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
