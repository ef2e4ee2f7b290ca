"""The access patterns of API keys."""

from __future__ import annotations

from domain.errors import BadCursorError, BadInputError, IdTakenError, MissingError
from loaders import keys
from loaders.contract import Consistency, GetContract, Order, Page, QueryContract, StepRule, WriteContract
from loaders.cost import Part
from loaders.table.operations import Action

__all__ = ["QC_60", "QC_61", "QC_62", "QC_63"]

_API_KEY_BYTES = 4000

QC_60 = GetContract(
    id="QC-60",
    purpose="An API key by its id",
    operation="GetItem",
    key=keys.api_key,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    fields=("Query.apiKey",),
    errors=(MissingError, BadInputError),
    note="Several in one request are one BatchGetItem of up to 100 keys; a lone key is a GetItem. Also read, "
    "strongly, to authenticate a request; each server remembers the result for three seconds.",
    item_bytes=_API_KEY_BYTES,
)

QC_61 = WriteContract(
    id="QC-61",
    purpose="Create an API key",
    operation="TransactWriteItems",
    steps=(
        StepRule(
            name="key", action=Action.PUT, key=keys.api_key, condition="attribute_not_exists(#PK)", index_writes=1
        ),
    ),
    most_steps=1,
    fields=("Mutation.createApiKey",),
    errors=(BadInputError, IdTakenError),
    note="Only a hash of the secret is kept. The same id with the same content gives the first key again, without its "
    "secret, which is shown once.",
    item_bytes=_API_KEY_BYTES,
)

QC_62 = WriteContract(
    id="QC-62",
    purpose="Revoke an API key",
    operation="TransactWriteItems",
    reads=(Part(text="GetItem of the key, strong", operation="GetItem", sizes=(_API_KEY_BYTES,)),),
    steps=(
        StepRule(
            name="key",
            action=Action.UPDATE,
            key=keys.api_key,
            condition="attribute_exists(#PK) AND attribute_not_exists(#revokedAt)",
            index_writes=1,
        ),
    ),
    most_steps=1,
    fields=("Mutation.revokeApiKey",),
    errors=(BadInputError, MissingError),
    note="For good. A key that is revoked already stays as it is.",
    item_bytes=_API_KEY_BYTES,
)

QC_63 = QueryContract(
    id="QC-63",
    purpose="All API keys",
    operation="Query",
    range=keys.api_keys,
    page=Page(),
    orders=(Order.DESC,),
    index="GSI1",
    fields=("Query.apiKeys",),
    errors=(BadInputError, BadCursorError),
    note="Newest first, revoked and expired ones included.",
    item_bytes=_API_KEY_BYTES,
)
