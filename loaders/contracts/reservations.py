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
from loaders.contracts.writing import BatchRead, ItemRead, RangeRead, StepRule, WriteContract
from loaders.table.operations import Action

ACTIVE_SEARCH = (25, *(100,) * 9, 75)
"""The Limits of the Queries that look for the active reservation where the pointed one has ended: the second is sent
only where everything the first returned is cancelled."""

_RESERVATION_BYTES = 800
_IS_NEW = "attribute_not_exists(#PK)"
_BOTH = (Order.ASC, Order.DESC)
_PAGE = 1000  # reservations of 800 bytes: one response holds them all, below the 1 MB at which the store truncates
_ROUNDS = 24
_CLAIMED = "only where the claim is visible before the reservation"
_HOT_PARTITION = (
    "The reservations of one locker are written one after another, each under its guard; other lockers are other "
    "partitions."
)

_GUARD_READ = ItemRead(name="guard", key=keys.reservation_guard, codec=GUARD, item_bytes=_RESERVATION_BYTES)
_POINTER_READ = ItemRead(name="pointer", key=keys.active_pointer, codec=ACTIVE_POINTER, item_bytes=_RESERVATION_BYTES)
_CLAIM_READ = ItemRead(name="claim", key=keys.reservation_claim, codec=RESERVATION_CLAIM, item_bytes=_RESERVATION_BYTES)
_RESERVATION_READ = ItemRead(name="reservation", key=keys.reservation, codec=RESERVATION, item_bytes=_RESERVATION_BYTES)
_OVERLAPPING_READ = RangeRead(
    name="overlapping",
    range=keys.reservations_starting,
    codec=STORED_RESERVATION,
    item_bytes=_RESERVATION_BYTES,
    limit=_PAGE,
)
_AHEAD_READ = RangeRead(
    name="ahead",
    range=keys.locker_reservations,
    codec=STORED_RESERVATION,
    item_bytes=_RESERVATION_BYTES,
    limit=_PAGE,
    when="only where the pointer must move: its reservation is cancelled, or ended longer ago than clocks differ",
)

_GUARD_FIRST = StepRule(
    name="first guard",
    action=Action.PUT,
    key=keys.reservation_guard,
    condition=_IS_NEW,
    when="the locker has none yet",
)
_GUARD = StepRule(name="guard", action=Action.UPDATE, key=keys.reservation_guard, condition="#revision = :readRevision")
# The items of a transaction become visible to other reads one by one. Each transaction is conditioned on the change
# before it, so at most the last change can be partly visible while another write reads.
_LAST_CHANGE = StepRule(
    name="last change",
    action=Action.CHECK,
    key=keys.reservation,
    condition="#revision = :changedRevision",
    when="another reservation was changed last",
)
# A batch read is not a snapshot, so every write is conditioned on the pointer it read, even where the pointer stays.
_POINTER_AS_READ = (
    "#reservationId = :pointed AND #endAt = :pointedEnd "
    "AND (#lastEndAt = :readLastEnd OR attribute_not_exists(#lastEndAt))"
)
_POINTER_RULES = (
    StepRule(
        name="first pointer",
        action=Action.PUT,
        key=keys.active_pointer,
        condition=_IS_NEW,
        when="the locker has none",
    ),
    StepRule(
        name="pointer",
        action=Action.PUT,
        key=keys.active_pointer,
        condition=_POINTER_AS_READ,
        when="it names another reservation, or the latest end changes",
    ),
    StepRule(
        name="same pointer",
        action=Action.CHECK,
        key=keys.active_pointer,
        condition=_POINTER_AS_READ,
        when="it stays",
    ),
)
_NO_POINTER_RULES = (
    StepRule(
        name="no pointer",
        action=Action.DELETE,
        key=keys.active_pointer,
        condition=_POINTER_AS_READ,
        when="no reservation is left",
    ),
    StepRule(
        name="still no pointer",
        action=Action.CHECK,
        key=keys.active_pointer,
        condition=_IS_NEW,
        when="the locker has none and gets none",
    ),
)

CREATE_RESERVATION = WriteContract(
    id="QC-04",
    purpose="Create a reservation",
    operation="TransactWriteItems",
    reads=(
        BatchRead(
            items=(
                _GUARD_READ,
                _POINTER_READ,
                _CLAIM_READ,
                ItemRead(name="locker", key=keys.locker, codec=LOCKER, item_bytes=LOCKER_BYTES),
                ItemRead(name="owner", key=keys.owner, codec=OWNER, item_bytes=OWNER_BYTES),
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
        _GUARD_FIRST,
        _GUARD,
        StepRule(name="reservation", action=Action.PUT, key=keys.reservation, condition=_IS_NEW),
        StepRule(name="claim", action=Action.PUT, key=keys.reservation_claim, condition=_IS_NEW),
        StepRule(name="copy", action=Action.PUT, key=keys.owner_reservation, condition=_IS_NEW),
        *_POINTER_RULES,
        StepRule(
            name="locker",
            action=Action.CHECK,
            key=keys.locker,
            condition="#ownerId = :readOwner AND #status <> :maintenance",
            item_bytes=LOCKER_BYTES,
        ),
        _LAST_CHANGE,
    ),
    most_steps=7,
    errors=(
        BadInputError,
        NotFoundError,
        OverlapError,
        LockerInMaintenanceError,
        IdTakenError,
        UnavailableError,
    ),
    note="The guard makes read-then-write atomic: where its revision changed, or the last change it names is not "
    "visible yet, everything is read again. The overlap is looked for from startAt minus the longest reservation to "
    "endAt. The same id with the same content returns the first result, permanently.",
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
    page_rule=PageRule(),
    orders=_BOTH,
    errors=(BadInputError, InvalidCursorError),
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
    operation="TransactWriteItems",
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
        _GUARD_FIRST,
        _GUARD,
        StepRule(
            name="reservation",
            action=Action.UPDATE,
            key=keys.reservation,
            condition="#status = :readStatus AND #endAt = :readEnd",
        ),
        StepRule(name="copy", action=Action.PUT, key=keys.owner_reservation, condition=None),
        *_POINTER_RULES,
        *_NO_POINTER_RULES,
        _LAST_CHANGE,
    ),
    most_steps=5,
    errors=(BadInputError, NotFoundError, OverlapError, ReservationOverError, UnavailableError),
    note="A repeated request returns the reservation as it is and writes nothing.",
    cardinality="The reservation, the owner's copy, the guard and the pointer; the last change is checked.",
    hot_partition=_HOT_PARTITION,
    item_bytes=_RESERVATION_BYTES,
)

OWNER_RESERVATIONS = ReadPage(
    id="QC-14",
    purpose="Reservations made by an owner in a time window",
    range=keys.owner_reservations,
    codec=OWNER_RESERVATION,
    page_rule=PageRule(),
    orders=_BOTH,
    errors=(BadInputError, InvalidCursorError),
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
