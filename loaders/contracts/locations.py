"""The access patterns of locations."""

from __future__ import annotations

from domain.errors import (
    BadCursorError,
    BadInputError,
    CodeTakenError,
    IdTakenError,
    MissingError,
    VersionConflictError,
)
from loaders import keys
from loaders.contract import GetContract, Order, Page, QueryContract, StepRule, WriteContract
from loaders.contracts.lockers import LOCKER_BYTES
from loaders.cost import Part
from loaders.table.operations import Action

__all__ = ["LOCATION_BYTES", "QC_30", "QC_31", "QC_32", "QC_33", "QC_34"]

LOCATION_BYTES = 8000
_CODE_BYTES = 600
_IS_NEW = "attribute_not_exists(#PK)"

QC_30 = WriteContract(
    id="QC-30",
    purpose="Create a location",
    operation="TransactWriteItems",
    steps=(
        StepRule(name="location", action=Action.PUT, key=keys.location, condition=_IS_NEW, index_writes=1),
        StepRule(name="code", action=Action.PUT, key=keys.location_code, condition=_IS_NEW, item_bytes=_CODE_BYTES),
    ),
    most_steps=2,
    fields=("Mutation.createLocation",),
    errors=(BadInputError, CodeTakenError, IdTakenError),
    note="The code is unique for ever. The same id with the same content gives the first result again.",
    item_bytes=LOCATION_BYTES,
)

QC_31 = GetContract(
    id="QC-31",
    purpose="A location by its code, or by its id",
    operation="GetItem",
    key=keys.location,
    claim=keys.location_code,
    claim_bytes=_CODE_BYTES,
    fields=(
        "Query.location",
        "Query.locationByCode",
        "Query.node",
        "Query.nodes",
        "Locker.location",
        "Booking.location",
    ),
    errors=(MissingError, BadInputError),
    note="By id it is the second read alone; several ids in one request are one BatchGetItem of up to 100 keys.",
    item_bytes=LOCATION_BYTES,
)

QC_32 = QueryContract(
    id="QC-32",
    purpose="All locations of a status",
    operation="Query",
    range=keys.locations,
    page=Page(),
    orders=(Order.DESC,),
    index="GSI1",
    fields=("Query.locations",),
    errors=(BadInputError, BadCursorError),
    note="Newest first. The status is part of the index's key, so nothing is filtered.",
    item_bytes=LOCATION_BYTES,
)

QC_33 = WriteContract(
    id="QC-33",
    purpose="Change, deactivate or reactivate a location",
    operation="TransactWriteItems",
    reads=(Part(text="GetItem of the location, strong", operation="GetItem", sizes=(LOCATION_BYTES,)),),
    steps=(
        StepRule(
            name="location",
            action=Action.UPDATE,
            key=keys.location,
            condition="#version = :expectedVersion",
            index_writes=2,
        ),
    ),
    most_steps=1,
    fields=("Mutation.updateLocation", "Mutation.deactivateLocation", "Mutation.reactivateLocation"),
    errors=(BadInputError, MissingError, VersionConflictError),
    note="Nothing is deleted, and the code stays claimed. The status moves the location within the index.",
    item_bytes=LOCATION_BYTES,
)

QC_34 = QueryContract(
    id="QC-34",
    purpose="A location's lockers",
    operation="Query",
    range=keys.location_lockers,
    page=Page(),
    fields=("Location.lockers",),
    errors=(BadInputError, BadCursorError),
    note="Ordered by lockerId. The lockers themselves are read (QC-01) only where a field needs more than the copy.",
    item_bytes=LOCKER_BYTES,
)
