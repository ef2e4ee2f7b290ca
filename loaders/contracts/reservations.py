"""The access patterns of reservations."""

from __future__ import annotations

from domain.errors import (
    BadCursorError,
    BadInputError,
    IdTakenError,
    LockerInMaintenanceError,
    MissingError,
    OverlapError,
    ReservationOverError,
    UnavailableError,
)
from loaders import keys
from loaders.contract import Consistency, GetContract, Order, Page, QueryContract, StepRule, WriteContract
from loaders.contracts.lockers import LOCKER_BYTES
from loaders.contracts.owners import OWNER_BYTES
from loaders.cost import LOOKS_FOR_CLAIMED, Part
from loaders.table.operations import Action

__all__ = ["QC_04", "QC_05", "QC_07", "QC_13", "QC_14", "QC_15", "REPAIR_ROUNDS", "REPAIR_STRIDE", "STRIDE"]

STRIDE = 1000  # about as many as the 1 MB hold at which the store cuts an answer off

_RESERVATION_BYTES = 800
_IS_NEW = "attribute_not_exists(#PK)"
_EXISTS = "attribute_exists(#PK)"
_POINTER_AS_READ = "#reservationId = :pointed"
_BOTH = (Order.ASC, Order.DESC)
REPAIR_STRIDE = 200  # a read pays for it at every locker of a page, so it takes shorter strides than a write
REPAIR_ROUNDS = 5
_STRETCH = (_RESERVATION_BYTES,) * STRIDE
_ROUNDS = 24
_CLAIMED = "only where the claim is seen before the reservation"

_GUARD_FIRST = StepRule(
    name="first guard",
    action=Action.PUT,
    key=keys.reservation_guard,
    condition=_IS_NEW,
    when="there is none yet",
)
_GUARD = StepRule(name="guard", action=Action.UPDATE, key=keys.reservation_guard, condition="#revision = :readRevision")
# What a transaction writes appears item by item to a plain read. Held to what the one before it wrote, a transaction
# cannot begin until that is there, so at most the last change can be on its way while somebody reads.
_LAST_CHANGE = StepRule(
    name="last change",
    action=Action.CHECK,
    key=keys.reservation,
    condition="#revision = :changedRevision",
    when="another reservation was changed last",
)
# A batch read is no snapshot, so the pointer is held to what was read of it, even where it stays as it is.
_POINTER_RULES = (
    StepRule(
        name="first pointer",
        action=Action.PUT,
        key=keys.active_pointer,
        condition=_IS_NEW,
        when="nothing is ahead",
    ),
    StepRule(
        name="pointer",
        action=Action.PUT,
        key=keys.active_pointer,
        condition=_POINTER_AS_READ,
        when="another reservation becomes the earliest, or the pointed one changes",
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
        when="none is left",
    ),
    StepRule(
        name="still no pointer",
        action=Action.CHECK,
        key=keys.active_pointer,
        condition=_IS_NEW,
        when="it stays absent",
    ),
)

QC_04 = WriteContract(
    id="QC-04",
    purpose="Create a reservation",
    operation="TransactWriteItems",
    reads=(
        Part(
            text="BatchGetItem of locker, owner, guard, pointer and claim, strong",
            operation="BatchGetItem",
            sizes=(LOCKER_BYTES, OWNER_BYTES, *(_RESERVATION_BYTES,) * 3),
        ),
        Part(
            text="then Query of reservations starting from startAt - longest to endAt, latest first, strong",
            operation="Query",
            sizes=_STRETCH,
        ),
    ),
    fallbacks=(
        Part(
            operation="GetItem",
            sizes=(_RESERVATION_BYTES,),
            most=LOOKS_FOR_CLAIMED,
            when="only where the reservationId was used before",
        ),
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
    fields=("Mutation.createReservation",),
    errors=(
        BadInputError,
        MissingError,
        OverlapError,
        LockerInMaintenanceError,
        IdTakenError,
        UnavailableError,
    ),
    note="The guard makes read-then-write atomic: where it moved, or the last change that it names is not to be seen "
    "yet, all is read again. "
    "The same id with the same content gives the first result again, for ever.",
    item_bytes=_RESERVATION_BYTES,
)

QC_05 = QueryContract(
    id="QC-05",
    purpose="A locker's reservations in a window",
    operation="Query",
    range=keys.locker_reservations,
    page=Page(),
    orders=_BOTH,
    fields=("Locker.reservations",),
    errors=(BadInputError, BadCursorError),
    note="Both bounds are included, by start time.",
    item_bytes=_RESERVATION_BYTES,
)

QC_07 = GetContract(
    id="QC-07",
    purpose="The reservation that is active now",
    operation="GetItem",
    key=keys.active_pointer,
    fields=("Locker.activeReservation",),
    note="Several in one request are one BatchGetItem of up to 100 keys. Where the pointed reservation has ended: a "
    "GetItem of the guard, one Query for the next one, and a conditional repair of the pointer, once. Where a writer "
    "is half way through, the first two again.",
    item_bytes=_RESERVATION_BYTES,
    fallbacks=tuple(
        Part(operation=operation, sizes=sizes, most=most, when="only where the pointed reservation has ended")
        for operation, sizes, most in (
            ("GetItem", (_RESERVATION_BYTES,), REPAIR_ROUNDS),
            ("Query", (_RESERVATION_BYTES,) * REPAIR_STRIDE, REPAIR_ROUNDS),
            ("TransactWriteItems", (_RESERVATION_BYTES,) * 3, 1),
        )
    ),
)

QC_13 = WriteContract(
    id="QC-13",
    purpose="Cancel or extend a reservation",
    operation="TransactWriteItems",
    reads=(
        Part(
            text="BatchGetItem of guard, pointer and claim, strong",
            operation="BatchGetItem",
            sizes=(_RESERVATION_BYTES,) * 3,
        ),
        Part(
            text="then GetItem of the reservation, strong",
            operation="GetItem",
            sizes=(_RESERVATION_BYTES,),
        ),
        Part(
            text="beside it, to extend: Query of the ones that start after it, strong",
            operation="Query",
            sizes=_STRETCH,
            fields=("Mutation.extendReservation",),
        ),
        Part(
            text="beside it, to cancel what the pointer names: the same Query",
            operation="Query",
            sizes=_STRETCH,
            when="only where the reservation is the current or next one",
            fields=("Mutation.cancelReservation",),
        ),
    ),
    fallbacks=(
        Part(
            operation="GetItem",
            sizes=(_RESERVATION_BYTES,),
            most=_ROUNDS * (LOOKS_FOR_CLAIMED - 1),
            when=_CLAIMED,
        ),
    ),
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
    fields=("Mutation.cancelReservation", "Mutation.extendReservation"),
    errors=(BadInputError, MissingError, OverlapError, ReservationOverError, UnavailableError),
    note="Sent again, it answers with what is there and writes nothing.",
    item_bytes=_RESERVATION_BYTES,
)

QC_14 = QueryContract(
    id="QC-14",
    purpose="The reservations that an owner made, in a window",
    operation="Query",
    range=keys.owner_reservations,
    page=Page(),
    orders=_BOTH,
    fields=("Owner.reservations",),
    errors=(BadInputError, BadCursorError),
    note="Both bounds are included, by start time. Everything that is shown is in the copy.",
    item_bytes=_RESERVATION_BYTES,
)

QC_15 = GetContract(
    id="QC-15",
    purpose="A reservation by its locker and id",
    operation="GetItem",
    key=keys.reservation,
    claim=keys.reservation_claim,
    consistency=Consistency.EVENTUAL,
    fields=("Query.reservation", "Query.node", "Query.nodes"),
    errors=(MissingError, BadInputError),
    note="`node` knows the start from the global id, so there it is one read, and several are one BatchGetItem.",
    item_bytes=_RESERVATION_BYTES,
    fallbacks=(Part(operation="GetItem", sizes=(_RESERVATION_BYTES,), when=_CLAIMED, fields=("Query.reservation",)),),
)
