"""The access patterns of owners."""

from __future__ import annotations

from domain.errors import BadInputError, EmailTakenError, IdTakenError, MissingError, VersionConflictError
from loaders import keys
from loaders.contract import GetContract, StepRule, WriteContract
from loaders.cost import Part
from loaders.table.operations import Action

__all__ = ["OWNER_BYTES", "QC_20", "QC_21", "QC_22"]

OWNER_BYTES = 2000

QC_20 = GetContract(
    id="QC-20",
    purpose="An owner by id",
    operation="GetItem",
    key=keys.owner,
    fields=("Query.owner", "Query.node", "Query.nodes", "Locker.owner", "Reservation.owner", "Booking.owner"),
    errors=(MissingError, BadInputError),
    note="Several in one request are one BatchGetItem of up to 100 keys; a lone key is a GetItem.",
    item_bytes=OWNER_BYTES,
)

QC_21 = GetContract(
    id="QC-21",
    purpose="An owner by e-mail address",
    operation="GetItem",
    key=keys.owner,
    claim=keys.email_claim,
    fields=("Query.ownerByEmail",),
    errors=(MissingError, BadInputError),
    note="The address is looked up in its normalised form, so its case does not matter.",
    item_bytes=OWNER_BYTES,
)

QC_22 = WriteContract(
    id="QC-22",
    purpose="Create or change an owner",
    operation="TransactWriteItems",
    reads=(
        Part(
            text="for a change: GetItem of the owner, strong",
            operation="GetItem",
            sizes=(OWNER_BYTES,),
            fields=("Mutation.updateOwner",),
        ),
    ),
    steps=(
        StepRule(
            name="new owner",
            action=Action.PUT,
            key=keys.owner,
            condition="attribute_not_exists(#PK)",
            when="creating",
        ),
        StepRule(
            name="owner",
            action=Action.UPDATE,
            key=keys.owner,
            condition="#version = :expectedVersion",
            when="changing",
        ),
        StepRule(
            name="claim",
            action=Action.PUT,
            key=keys.email_claim,
            condition="attribute_not_exists(#PK) OR #ownerId = :ownerId",
            when="there is a new e-mail address",
        ),
        StepRule(
            name="old claim",
            action=Action.DELETE,
            key=keys.email_claim,
            condition="attribute_not_exists(#PK) OR #ownerId = :ownerId",
            when="the e-mail address goes or changes",
        ),
    ),
    most_steps=3,
    fields=("Mutation.createOwner", "Mutation.updateOwner"),
    errors=(BadInputError, MissingError, IdTakenError, EmailTakenError, VersionConflictError),
    note="The same id with the same content gives the first result again, for ever.",
    item_bytes=OWNER_BYTES,
)
