"""The access patterns of API keys."""

from domain.activity import ActivityKind
from domain.errors import BadInputError, IdTakenError, NotFoundError
from loaders import keys
from loaders.codecs import API_KEY
from loaders.contracts.base import Consistency, Order
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import IS_NEW, ItemRead, check, put, update
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

REVOKE_API_KEY = WriteContract(
    id="QC-62",
    purpose="Revoke an API key",
    reads=(ItemRead("key", API_KEY),),
    steps=(update("key", API_KEY, "attribute_exists(#PK) AND attribute_not_exists(#revokedAt)", index_writes=1),),
    most_steps=1,
    emits=(ActivityKind.API_KEY_REVOKED,),
    errors=(BadInputError, NotFoundError),
    note="Permanent. A key that is already revoked stays unchanged.",
    cardinality="One item.",
    hot_partition="None: a key is revoked once, by an administrator.",
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
