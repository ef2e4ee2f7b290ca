"""The access patterns of access events. None of them changes or deletes an event."""

from domain.activity import ActivityKind
from domain.commands.events import MAX_EVENTS_PER_BATCH
from domain.errors import BadInputError, IdTakenError, NotFoundError
from domain.retention import KEPT_EVENTS
from loaders import keys
from loaders.codecs import ACCESS_EVENT, EVENT_CLAIM, LOCKER
from loaders.contracts.base import Order, PageRule
from loaders.contracts.cost import LOOKS_FOR_CLAIMED, Part
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import IS_NEW, IS_NEW_OR_EXPIRED, ItemRead, put
from loaders.contracts.writing import WriteContract

_EVENT = ACCESS_EVENT.at(keys.event)
_CLAIM = EVENT_CLAIM.at(keys.event_claim)

RECORD_EVENTS = WriteContract(
    id="QC-08",
    purpose="Record access events",
    reads=(ItemRead("locker", LOCKER, at_once=MAX_EVENTS_PER_BATCH),),
    fallbacks=(
        ItemRead(
            "claimed event",
            _EVENT,
            at_once=MAX_EVENTS_PER_BATCH,
            most=LOOKS_FOR_CLAIMED,
            when="only where an eventId was used before",
        ),
        Part(
            operation="TransactWriteItems",
            sizes=(_EVENT.largest + _CLAIM.largest,),
            most=MAX_EVENTS_PER_BATCH,
            when="only where an eventId was used before",
        ),
    ),
    most_entries=MAX_EVENTS_PER_BATCH,
    steps=(
        put("event", _EVENT, IS_NEW, most=MAX_EVENTS_PER_BATCH),
        put("claim", _CLAIM, IS_NEW_OR_EXPIRED, when="the client chose the eventId", most=MAX_EVENTS_PER_BATCH),
    ),
    most_steps=2 * MAX_EVENTS_PER_BATCH,
    emits=(
        ActivityKind.DOOR_OPENED,
        ActivityKind.DOOR_CLOSED,
        ActivityKind.DOOR_ACCESS_DENIED,
        ActivityKind.DOOR_TAMPERED,
    ),
    log_bytes=12_000,
    log_entries=4,
    errors=(BadInputError, NotFoundError, IdTakenError),
    note="No event is written for a locker that does not exist. The lockers are read strongly, since the log tells "
    "their owners and locations. With a client-chosen id, the claim makes it unique whatever its timestamp, so a "
    "repeated request is recognized as long as the event is kept.",
    cardinality=f"One event, or up to {MAX_EVENTS_PER_BATCH} in one request, each with one claim at most.",
    hot_partition="A locker's events share its partition: one locker takes about 1,000 small events a second at most, "
    "far more than a door produces.",
)

LOCKER_EVENTS = ReadPage(
    id="QC-09",
    purpose="Access events of a locker in a time window",
    range=keys.locker_events,
    codec=ACCESS_EVENT,
    kept=KEPT_EVENTS,
    orders=(Order.DESC, Order.ASC),
    note="By event time; both bounds are included. Newest first unless asked otherwise.",
    cardinality="10 to 100 events a locker and day, for as long as they are kept.",
    hot_partition="Low: one locker's partition; a locker takes at most 1,000 writes a second.",
)

LOCATION_EVENTS = ReadPage(
    id="QC-114",
    purpose="Access events at a location's door in a time window",
    range=keys.location_events,
    codec=ACCESS_EVENT,
    kept=KEPT_EVENTS,
    orders=(Order.DESC, Order.ASC),
    note="By event time; both bounds are included. Newest first unless asked otherwise. Written where access codes are "
    "verified (QC-107) and where offline uses are reported (QC-112).",
    cardinality="10 to 1,000 events a door and day, for as long as they are kept.",
    hot_partition="Low: a door is opened a few times a minute at most; its events share the partition of the location.",
)

LATEST_EVENT = ReadPage(
    id="QC-10",
    purpose="The latest access event of a locker",
    range=keys.locker_events,
    codec=ACCESS_EVENT,
    kept=KEPT_EVENTS,
    page_rule=PageRule(default=1, maximum=1, look_ahead=0),
    errors=(),
    orders=(Order.DESC,),
    note="DynamoDB has no batched Query: each locker of a page takes one, sixteen at a time.",
    cardinality="One item a read, of 10 to 100 events a locker and day.",
    hot_partition="Low: one locker's partition.",
)

EVENT_BY_KEY = ReadOne(
    id="QC-16",
    purpose="An access event by its global id",
    codec=ACCESS_EVENT,
    kept=KEPT_EVENTS,
    note="The global id holds the whole key.",
    cardinality="One item an event.",
    hot_partition="Low: one door's partition.",
)
