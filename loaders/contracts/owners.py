"""The access patterns of owners."""

from domain.activity import ActivityKind
from domain.errors import (
    BadInputError,
    EmailTakenError,
    ForbiddenError,
    IdTakenError,
    NotFoundError,
    VersionConflictError,
)
from loaders import keys
from loaders.codecs import EMAIL_CLAIM, OWNER, OWNER_NAME, OWNER_PHONE
from loaders.contracts.base import Consistency, Order
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import IS_NEW, REPEATED_CHANGE, ItemRead, delete, put, update
from loaders.contracts.writing import WriteContract

OWNER_BY_ID = ReadOne(
    id="QC-20",
    purpose="An owner by id",
    codec=OWNER,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    cardinality="One item an owner.",
    hot_partition="Medium for a large organization: its profile shares the partition with its lists.",
)

OWNERS = ReadPage(
    id="QC-170",
    purpose="All owners",
    range=keys.owners,
    codec=OWNER,
    orders=(Order.DESC, Order.ASC),
    note="Newest first unless asked otherwise.",
    cardinality="Up to some 100,000 owners.",
    hot_partition="Low: owners are created and changed rarely, and the list is for admins.",
)

OWNERS_BY_NAME = ReadPage(
    id="QC-171",
    purpose="Owners whose names begin with a text",
    range=keys.owners_by_name,
    codec=OWNER_NAME,
    orders=(Order.ASC, Order.DESC),
    note="By name, then by id. Upper and lower case, accents and repeated spaces make no difference. The copies are "
    "complete, so the owners are not read.",
    cardinality="Up to some 100,000 owners; of three letters, some 100.",
    hot_partition="Low: owners are created and changed rarely, and the list is for admins.",
)

OWNER_BY_EMAIL = ReadOne(
    id="QC-21",
    purpose="An owner by email address",
    codec=EMAIL_CLAIM,
    then=OWNER_BY_ID,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    note="Reads the claim of the normalized address, then the owner (QC-20).",
    cardinality="One claim an address.",
    hot_partition="Low: addresses spread over partitions.",
)

SAVE_OWNER = WriteContract(
    id="QC-22",
    purpose="Create or change an owner",
    variants=("create", "update"),
    reads=(ItemRead("owner", OWNER, only=("update",)),),
    steps=(
        put("new owner", OWNER, IS_NEW, when="creating", index_writes=1),
        update("owner", OWNER, "#version = :expectedVersion", when="updating", index_writes=1),
        put(
            "claim",
            EMAIL_CLAIM,
            "attribute_not_exists(#PK) OR #ownerId = :ownerId",
            when="there is a new email address",
        ),
        delete(
            "old claim",
            EMAIL_CLAIM,
            "attribute_not_exists(#PK) OR #ownerId = :ownerId",
            when="the email address is removed or changed",
        ),
        put("name", OWNER_NAME, None, index_writes=2),
        put("phone", OWNER_PHONE, None, when="there is a new phone number"),
        delete("old phone", OWNER_PHONE, None, when="the phone number is removed or changed"),
    ),
    most_steps=6,
    emits=(ActivityKind.OWNER_CREATED, ActivityKind.OWNER_CHANGED),
    errors=(BadInputError, NotFoundError, IdTakenError, EmailTakenError, VersionConflictError),
    note="The same id with the same content writes nothing and returns the current state, permanently. "
    f"{REPEATED_CHANGE}",
    cardinality="The owner, its copy among all by name, and up to two email claims and two phone numbers.",
    hot_partition="None: an owner's profile changes rarely, and each address has its own partition.",
)
