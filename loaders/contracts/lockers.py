"""The access patterns of lockers."""

from __future__ import annotations

from domain.errors import (
    BadCursorError,
    BadInputError,
    ForbiddenError,
    IdTakenError,
    InvalidTransitionError,
    LocationInactiveError,
    MissingError,
    VersionConflictError,
)
from loaders import keys
from loaders.contract import MOST_ITEMS, Consistency, GetContract, Page, QueryContract, StepRule, WriteContract
from loaders.cost import Part
from loaders.table.operations import Action

__all__ = ["LOCKER_BYTES", "QC_01", "QC_02", "QC_03", "QC_06", "QC_11", "QC_12"]

LOCKER_BYTES = 1500
_AS_READ = "#version = :expectedVersion AND #ownerId = :readOwner"
_IS_NEW = "attribute_not_exists(#PK)"
_EXISTS = "attribute_exists(#PK)"

_LOCKER_AS_READ = StepRule(name="locker", action=Action.UPDATE, key=keys.locker, condition=_AS_READ)
_COPY_EXISTS = StepRule(name="copy", action=Action.UPDATE, key=keys.owner_locker, condition=_EXISTS)
_COPY_MENDED = StepRule(
    name="missing copy",
    action=Action.PUT,
    key=keys.owner_locker,
    condition=_IS_NEW,
    when="older data has no copy",
)
_PLACE_COPY_EXISTS = StepRule(
    name="location copy",
    action=Action.UPDATE,
    key=keys.location_locker,
    condition=_EXISTS,
    when="it stands at a location",
)
_PLACE_COPY_MENDED = StepRule(
    name="missing location copy",
    action=Action.PUT,
    key=keys.location_locker,
    condition=_IS_NEW,
    when="it stands at a location that has no copy",
)
_LOCATION_IS_ACTIVE = StepRule(
    name="location",
    action=Action.CHECK,
    key=keys.location,
    condition=f"{_EXISTS} AND #status = :active",
    when="it comes to a location",
    item_bytes=8000,
)
_COPIES = (_COPY_EXISTS, _COPY_MENDED, _PLACE_COPY_EXISTS, _PLACE_COPY_MENDED)
_LOCKER_READ = Part(text="GetItem of the locker, strong", operation="GetItem", sizes=(LOCKER_BYTES,))


def _again(sizes: int) -> tuple[Part, ...]:
    """Older data may have no copy: then the whole is written once more, with what is missing."""
    return (
        Part(operation="TransactWriteItems", sizes=(LOCKER_BYTES,) * sizes, when="only where older data has no copy"),
    )


QC_01 = GetContract(
    id="QC-01",
    purpose="A locker by its id",
    operation="GetItem",
    key=keys.locker,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    fields=(
        "Query.locker",
        "Query.node",
        "Query.nodes",
        "Owner.lockers",
        "Location.lockers",
        "Reservation.locker",
        "AccessEvent.locker",
        "Query.reservation",
    ),
    errors=(MissingError, BadInputError, ForbiddenError),
    note="Several in one request are one BatchGetItem of up to 100 keys; a lone key is a GetItem. Of a reservation "
    "that somebody else made, it tells whose the locker is.",
    item_bytes=LOCKER_BYTES,
    fallbacks=(
        Part(
            operation="BatchGetItem",
            sizes=(LOCKER_BYTES,) * MOST_ITEMS,
            when="only where a locker of the list is too new for a plain read",
            fields=("Owner.lockers", "Location.lockers"),
        ),
    ),
)

QC_02 = QueryContract(
    id="QC-02",
    purpose="An owner's lockers",
    operation="Query",
    range=keys.owner_lockers,
    page=Page(),
    fields=("Owner.lockers",),
    errors=(BadInputError, BadCursorError),
    note="Ordered by lockerId. The lockers themselves are read (QC-01) only where a field needs more than the copy.",
    item_bytes=LOCKER_BYTES,
)

QC_03 = WriteContract(
    id="QC-03",
    purpose="Change a locker's state",
    operation="TransactWriteItems",
    reads=(_LOCKER_READ,),
    steps=(_LOCKER_AS_READ, *_COPIES),
    fallbacks=_again(3),
    most_steps=3,
    fields=("Mutation.updateLockerStatus",),
    errors=(BadInputError, MissingError, InvalidTransitionError, VersionConflictError),
    note="The state machine is asked before anything is written.",
    item_bytes=LOCKER_BYTES,
)

QC_06 = WriteContract(
    id="QC-06",
    purpose="Transfer a locker to another owner",
    operation="TransactWriteItems",
    reads=(_LOCKER_READ,),
    steps=(
        _LOCKER_AS_READ,
        StepRule(name="old copy", action=Action.DELETE, key=keys.owner_locker, condition=None),
        StepRule(name="new copy", action=Action.PUT, key=keys.owner_locker, condition=None),
        StepRule(name="new owner", action=Action.CHECK, key=keys.owner, condition=_EXISTS),
        _PLACE_COPY_EXISTS,
        _PLACE_COPY_MENDED,
    ),
    fallbacks=_again(5),
    most_steps=5,
    fields=("Mutation.transferLocker",),
    errors=(BadInputError, MissingError, VersionConflictError),
    note="A missing old copy does not block it. Live reservations stay with whoever made them.",
    item_bytes=LOCKER_BYTES,
)

QC_11 = WriteContract(
    id="QC-11",
    purpose="Register a locker",
    operation="TransactWriteItems",
    steps=(
        StepRule(name="locker", action=Action.PUT, key=keys.locker, condition=_IS_NEW),
        StepRule(name="copy", action=Action.PUT, key=keys.owner_locker, condition=_IS_NEW),
        StepRule(name="owner", action=Action.CHECK, key=keys.owner, condition=_EXISTS),
        StepRule(
            name="location copy",
            action=Action.PUT,
            key=keys.location_locker,
            condition=_IS_NEW,
            when="it stands at a location",
        ),
        _LOCATION_IS_ACTIVE,
    ),
    most_steps=5,
    fields=("Mutation.registerLocker",),
    errors=(BadInputError, MissingError, LocationInactiveError, IdTakenError),
    note="The same id with the same content gives the first result again, for ever.",
    item_bytes=LOCKER_BYTES,
)

QC_12 = WriteContract(
    id="QC-12",
    purpose="Rename or move a locker",
    operation="TransactWriteItems",
    reads=(_LOCKER_READ,),
    steps=(
        _LOCKER_AS_READ,
        *_COPIES,
        StepRule(
            name="old location copy",
            action=Action.DELETE,
            key=keys.location_locker,
            condition=None,
            when="it leaves a location",
        ),
        StepRule(
            name="new location copy",
            action=Action.PUT,
            key=keys.location_locker,
            condition=None,
            when="it comes to a location",
        ),
        _LOCATION_IS_ACTIVE,
    ),
    fallbacks=_again(5),
    most_steps=5,
    fields=("Mutation.renameLocker", "Mutation.moveLocker"),
    errors=(BadInputError, MissingError, LocationInactiveError, VersionConflictError),
    item_bytes=LOCKER_BYTES,
)
