"""The access patterns of API keys."""

from domain.activity import ActivityKind
from domain.errors import BadInputError, IdTakenError, NotFoundError, VersionConflictError
from loaders import keys
from loaders.codecs import API_KEY
from loaders.contracts.base import Consistency, Order
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import IS_NEW, REPEATED_CHANGE, ItemRead, check, put, update
from loaders.contracts.writing import WriteContract

API_KEY_BY_ID = ReadOne(
    id="QC-60",
    purpose="An API key by its id",
    codec=API_KEY,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    errors=(NotFoundError, BadInputError),
    note="Also read strongly, to authenticate a request; each server remembers the result for three seconds.",
    cardinality="One item a key.",
    hot_partition="Low: one item a partition key, spread by id; servers remember it for three seconds.",
)

CREATE_API_KEY = WriteContract(
    id="QC-61",
    purpose="Create an API key",
    steps=(
        put("key", API_KEY, IS_NEW, index_writes=1),
        check("no key", API_KEY, IS_NEW, when="the expiry has passed, in place of the Put"),
    ),
    most_steps=1,
    emits=(ActivityKind.API_KEY_CREATED,),
    errors=(BadInputError, IdTakenError),
    note="Only a hash of the secret is stored. The same id with the same content returns the first key, without its "
    "secret, which is shown once.",
    cardinality="One item.",
    hot_partition="None in the table: each key has its own partition. In the index all keys share one partition, which "
    "only administrators write to.",
)

CHANGE_API_KEY = WriteContract(
    id="QC-62",
    purpose="Suspend, resume or revoke an API key",
    reads=(ItemRead("key", API_KEY),),
    rounds=5,
    steps=(
        update(
            "key",
            API_KEY,
            "attribute_exists(#PK) AND (attribute_not_exists(#version) OR #version = :expectedVersion)",
            index_writes=1,
        ),
    ),
    most_steps=1,
    emits=(ActivityKind.API_KEY_SUSPENDED, ActivityKind.API_KEY_RESUMED, ActivityKind.API_KEY_REVOKED),
    errors=(BadInputError, NotFoundError, IdTakenError, VersionConflictError),
    note=f"{REPEATED_CHANGE} Revoking is permanent: a key that is revoked stays unchanged. A key that was never "
    "changed may have no version, which counts as 1.",
    cardinality="One item.",
    hot_partition="None: only administrators change a key.",
)

STORE_KEY_USE = WriteContract(
    id="QC-200",
    purpose="Store the hour in which an API key was used",
    operation="UpdateItem",
    steps=(
        update(
            "key",
            API_KEY,
            "attribute_exists(#PK) AND (attribute_not_exists(#lastUsedAt) OR #lastUsedAt < :hour)",
            index_writes=1,
        ),
    ),
    most_steps=1,
    silent="The use of a key changes nothing.",
    note="In the background, about a minute after the first request of an hour, and never by a request. Of several "
    "servers the first one stores the hour; it never goes back, and leaves the version as it is.",
    cardinality="One item, once an hour.",
    hot_partition="None: each key is its own partition. In the index all keys share one, which takes about 1,000 "
    "writes a second.",
)

API_KEYS = ReadPage(
    id="QC-63",
    purpose="All API keys",
    range=keys.api_keys,
    codec=API_KEY,
    orders=(Order.DESC,),
    note="Newest first, revoked and expired keys included.",
    cardinality="10 to 1,000 keys.",
    hot_partition="Low: written only when a key is created or revoked.",
)
