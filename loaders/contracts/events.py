"""The access patterns of access events. There is none that changes or deletes one."""

from __future__ import annotations

from domain.commands import EVENTS_AT_ONCE
from domain.errors import BadCursorError, BadInputError, IdTakenError, MissingError
from loaders import keys
from loaders.contract import GetContract, Order, Page, QueryContract, StepRule, WriteContract
from loaders.contracts.lockers import LOCKER_BYTES
from loaders.cost import LOOKS_FOR_CLAIMED, Part
from loaders.table.operations import Action

__all__ = ["QC_08", "QC_09", "QC_10", "QC_16"]

# 16 KB of JSON take up to 24 KB in the table: an element `1,` has two bytes here and three there.
_EVENT_BYTES = 25_600
_CLAIM_BYTES = 600
_IS_NEW = "attribute_not_exists(#PK)"

QC_08 = WriteContract(
    id="QC-08",
    purpose="Write an access event",
    operation="PutItem",
    reads=(
        Part(
            text="QC-01, so that no event is written for a locker that does not exist",
            operation="BatchGetItem",
            sizes=(LOCKER_BYTES,) * EVENTS_AT_ONCE,
            consistent=False,
        ),
    ),
    fallbacks=(
        Part(
            operation="BatchGetItem",
            sizes=(LOCKER_BYTES,) * EVENTS_AT_ONCE,
            when="only where a locker is too new for a plain read",
        ),
        Part(
            operation="GetItem",
            sizes=(_EVENT_BYTES,),
            most=EVENTS_AT_ONCE * LOOKS_FOR_CLAIMED,
            when="only where an eventId was used before",
        ),
        Part(
            operation="TransactWriteItems",
            sizes=(_EVENT_BYTES + _CLAIM_BYTES,),
            most=EVENTS_AT_ONCE,
            when="only where an eventId was used before",
        ),
    ),
    most_entries=EVENTS_AT_ONCE,
    steps=(
        StepRule(name="event", action=Action.PUT, key=keys.event, condition=_IS_NEW, most=EVENTS_AT_ONCE),
        StepRule(
            name="claim",
            action=Action.PUT,
            key=keys.event_claim,
            condition=_IS_NEW,
            when="the client chose the eventId",
            most=EVENTS_AT_ONCE,
            item_bytes=_CLAIM_BYTES,
        ),
    ),
    most_steps=2 * EVENTS_AT_ONCE,
    fields=("Mutation.recordAccessEvent", "Mutation.recordAccessEvents"),
    errors=(BadInputError, MissingError, IdTakenError),
    note="An event whose id is made here is one PutItem. With a client-chosen id, or several events, it is one "
    "TransactWriteItems: the claim makes the id unique whatever its timestamp, so a repeat is known for ever.",
    item_bytes=_EVENT_BYTES,
)

QC_09 = QueryContract(
    id="QC-09",
    purpose="A locker's access events in a window",
    operation="Query",
    range=keys.locker_events,
    page=Page(),
    orders=(Order.DESC, Order.ASC),
    fields=("Locker.accessEvents",),
    errors=(BadInputError, BadCursorError),
    note="Both bounds are included, by event time; newest first unless asked otherwise.",
    item_bytes=_EVENT_BYTES,
)

QC_10 = QueryContract(
    id="QC-10",
    purpose="A locker's latest access event",
    operation="Query",
    range=keys.locker_events,
    page=Page(default=1, maximum=1, look_ahead=0),
    orders=(Order.DESC,),
    fields=("Locker.latestEvent",),
    note="DynamoDB has no batched Query: each locker of a page takes one, run together with a bound on how many.",
    item_bytes=_EVENT_BYTES,
)

QC_16 = GetContract(
    id="QC-16",
    purpose="An access event by its global id",
    operation="GetItem",
    key=keys.event,
    fields=("Query.node", "Query.nodes"),
    note="The global id holds the whole key. Several in one request are one BatchGetItem of up to 100 keys.",
    item_bytes=_EVENT_BYTES,
)
