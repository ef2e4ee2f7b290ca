"""The access patterns of bookings, the calendar, payments and notifications."""

from __future__ import annotations

from dataclasses import replace

from domain.bookings import MAX_CALENDAR_DAYS
from domain.errors import (
    BadInputError,
    BookingClosedError,
    ForbiddenError,
    IdTakenError,
    InvalidCursorError,
    LocationInactiveError,
    NotFoundError,
    SlotTakenError,
    UnavailableError,
    VersionConflictError,
)
from loaders import keys
from loaders.codecs import (
    BOOKING,
    CALENDAR_CLAIM,
    CALENDAR_SLOT,
    LOCATION,
    NOTIFICATION,
    OWNER,
    OWNER_BOOKING,
    PAYMENT,
    REQUESTED_BOOKING,
)
from loaders.contracts.base import Order, PageRule
from loaders.contracts.locations import LOCATION_BYTES
from loaders.contracts.owners import OWNER_BYTES
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.writing import BatchRead, ItemRead, StepRule, WriteContract
from loaders.table.operations import Action

BOOKING_BYTES = 18_000
_PENDING_BYTES = 9000  # a pending booking has no reason yet
_SLOT_BYTES = 1500
_SMALL_BYTES = 1800
_SLOTS_A_DAY = 2
_IS_NEW = "attribute_not_exists(#PK)"
_EXISTS = "attribute_exists(#PK)"

_ADMIN = StepRule(name="admin", action=Action.CHECK, key=keys.owner, condition="#role = :admin", item_bytes=2000)
_LOCATION = StepRule(
    name="location",
    action=Action.CHECK,
    key=keys.location,
    condition=f"{_EXISTS} AND #status = :active",
    item_bytes=8000,
)
_LOCATION_READ = ItemRead(name="location", key=keys.location, codec=LOCATION, item_bytes=LOCATION_BYTES)
_SLOT = StepRule(
    name="slot",
    action=Action.PUT,
    key=keys.calendar_slot,
    condition=_IS_NEW,
    when="half days are taken",
    most=_SLOTS_A_DAY,
    item_bytes=_SLOT_BYTES,
)

REQUEST_BOOKING = WriteContract(
    id="QC-40",
    purpose="Request a booking",
    operation="TransactWriteItems",
    reads=(
        BatchRead(
            items=(
                _LOCATION_READ,
                ItemRead(name="booking", key=keys.booking, codec=REQUESTED_BOOKING, item_bytes=BOOKING_BYTES),
            )
        ),
    ),
    steps=(
        StepRule(name="booking", action=Action.PUT, key=keys.booking, condition=_IS_NEW, index_writes=1),
        StepRule(name="copy", action=Action.PUT, key=keys.owner_booking, condition=_IS_NEW),
        StepRule(name="owner", action=Action.CHECK, key=keys.owner, condition=_EXISTS, item_bytes=2000),
        _LOCATION,
    ),
    most_steps=4,
    errors=(BadInputError, NotFoundError, LocationInactiveError, IdTakenError),
    note="The current date is that of the location. The same id with the same content returns the first result, "
    "permanently.",
    cardinality="The booking and the owner's copy; the owner and the location are checked.",
    hot_partition="In the index all pending bookings share one partition, which takes about 1,000 small writes a "
    "second; a booking leaves it when it is decided.",
    item_bytes=_PENDING_BYTES,
)

BOOKING_BY_ID = ReadOne(
    id="QC-41",
    purpose="A booking by id",
    key=keys.booking,
    codec=BOOKING,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    note="Several in one request are one BatchGetItem of up to 100 keys; a lone key is a GetItem.",
    item_bytes=BOOKING_BYTES,
    typical_bytes=700,
    cardinality="One item a booking.",
    hot_partition="Low: one item a partition key, spread by id.",
)

PENDING_BOOKINGS = ReadPage(
    id="QC-42",
    purpose="Bookings that wait for a decision",
    range=keys.pending_bookings,
    codec=BOOKING,
    page_rule=PageRule(),
    index="GSI1",
    errors=(BadInputError, InvalidCursorError),
    note="Oldest first. A booking leaves the index when it is decided or cancelled.",
    item_bytes=_PENDING_BYTES,
    typical_bytes=700,
    cardinality="Up to some 1,000 pending bookings.",
    hot_partition="Medium: all pending bookings share one partition of the index (1,000 writes a second).",
)

DECIDE_BOOKING = WriteContract(
    id="QC-43",
    purpose="Approve, reject or cancel a booking",
    operation="TransactWriteItems",
    variants=("approve", "reject", "cancel"),
    reads=(
        ItemRead(name="booking", key=keys.booking, codec=BOOKING, item_bytes=BOOKING_BYTES),
        replace(_LOCATION_READ, only=("cancel", "approve")),
        ItemRead(
            name="admin",
            key=keys.owner,
            codec=OWNER,
            item_bytes=OWNER_BYTES,
            when="only where the booking is already decided",
            only=("approve", "reject"),
        ),
    ),
    rounds=12,
    steps=(
        StepRule(
            name="booking",
            action=Action.UPDATE,
            key=keys.booking,
            condition="#version = :expectedVersion AND #status = :readStatus",
            index_writes=1,
        ),
        StepRule(name="copy", action=Action.PUT, key=keys.owner_booking, condition=None),
        _SLOT,
        StepRule(
            name="freed slot",
            action=Action.DELETE,
            key=keys.calendar_slot,
            condition="#bookingId = :bookingId",
            when="an approved booking is cancelled",
            most=_SLOTS_A_DAY,
            item_bytes=_SLOT_BYTES,
        ),
        StepRule(
            name="notification",
            action=Action.PUT,
            key=keys.notification,
            condition=None,
            when="the booking is approved or rejected",
            item_bytes=9000,
        ),
        _ADMIN,
        replace(_LOCATION, when="the booking is approved"),
    ),
    most_steps=7,
    errors=(
        BadInputError,
        NotFoundError,
        ForbiddenError,
        SlotTakenError,
        LocationInactiveError,
        BookingClosedError,
        VersionConflictError,
        UnavailableError,
    ),
    note="One transaction: the booking, its copy, its half days and the notification. A repeated request returns the "
    "first result.",
    cardinality="The booking, the owner's copy, up to two half days and one notification; the administrator and the "
    "location are checked.",
    hot_partition="None: a booking is decided once. Its half days are in the location's partition.",
    item_bytes=BOOKING_BYTES,
)

LOCATION_CALENDAR = ReadPage(
    id="QC-44",
    purpose="Calendar and availability of a location in a range of days",
    range=keys.calendar_days,
    codec=CALENDAR_SLOT,
    page_rule=PageRule(
        default=MAX_CALENDAR_DAYS * _SLOTS_A_DAY,
        maximum=MAX_CALENDAR_DAYS * _SLOTS_A_DAY,
        look_ahead=0,
        whole=True,
    ),
    errors=(BadInputError,),
    note=f"Up to {MAX_CALENDAR_DAYS} days in one Query, never one for each day.",
    item_bytes=_SLOT_BYTES,
    typical_bytes=400,
    cardinality="At most two items a day.",
    hot_partition="Medium: the calendar shares the location's partition.",
)

OWNER_BOOKINGS = ReadPage(
    id="QC-45",
    purpose="Bookings requested by an owner",
    range=keys.owner_bookings,
    codec=OWNER_BOOKING,
    page_rule=PageRule(),
    orders=(Order.ASC, Order.DESC),
    errors=(BadInputError, InvalidCursorError),
    note="By date. The copy has everything that is shown.",
    item_bytes=BOOKING_BYTES,
    typical_bytes=700,
    cardinality="Up to some 1,000 an owner.",
    hot_partition="Low: one owner's partition.",
)

RECORD_PAYMENT = WriteContract(
    id="QC-46",
    purpose="Record a payment for a booking",
    operation="TransactWriteItems",
    steps=(
        StepRule(name="payment", action=Action.PUT, key=keys.payment, condition=_IS_NEW),
        StepRule(name="booking", action=Action.CHECK, key=keys.booking, condition=_EXISTS, item_bytes=BOOKING_BYTES),
    ),
    most_steps=2,
    errors=(BadInputError, NotFoundError, IdTakenError),
    note="The same id with the same content returns the first result, permanently.",
    cardinality="One payment; the booking is checked.",
    hot_partition="None: a booking has few payments.",
    item_bytes=_SMALL_BYTES,
)

BOOKING_PAYMENTS = ReadPage(
    id="QC-47",
    purpose="Payments for a booking",
    range=keys.booking_payments,
    codec=PAYMENT,
    page_rule=PageRule(),
    errors=(BadInputError, InvalidCursorError),
    note="By paymentId; generated ids sort by the time at which the payment was recorded.",
    item_bytes=_SMALL_BYTES,
    typical_bytes=350,
    cardinality="1 to 10 a booking.",
    hot_partition="Low: one booking's partition.",
)

OWNER_NOTIFICATIONS = ReadPage(
    id="QC-48",
    purpose="Notifications of an owner",
    range=keys.owner_notifications,
    codec=NOTIFICATION,
    page_rule=PageRule(),
    orders=(Order.DESC,),
    errors=(BadInputError, InvalidCursorError),
    note="Newest first.",
    item_bytes=9000,
    typical_bytes=450,
    cardinality="Up to some 1,000 an owner.",
    hot_partition="Low: one owner's partition.",
)

CHANGE_CALENDAR = WriteContract(
    id="QC-49",
    purpose="Create or delete a calendar event",
    operation="TransactWriteItems",
    variants=("create", "delete"),
    reads=(
        ItemRead(name="claim", key=keys.calendar_claim, codec=CALENDAR_CLAIM, item_bytes=_SLOT_BYTES, only=("delete",)),
        ItemRead(
            name="slot",
            key=keys.calendar_slot,
            codec=CALENDAR_SLOT,
            item_bytes=_SLOT_BYTES,
            at_once=_SLOTS_A_DAY,
            when="only where the eventId was used before",
            only=("create",),
        ),
    ),
    steps=(
        StepRule(name="claim", action=Action.PUT, key=keys.calendar_claim, condition=_IS_NEW, when="creating"),
        _SLOT,
        StepRule(
            name="freed slot",
            action=Action.DELETE,
            key=keys.calendar_slot,
            condition="#eventId = :eventId AND attribute_not_exists(#bookingId)",  # a booking may have the same id
            when="deleting",
            most=_SLOTS_A_DAY,
        ),
        _ADMIN,
        _LOCATION,
    ),
    most_steps=5,
    errors=(BadInputError, NotFoundError, ForbiddenError, SlotTakenError, LocationInactiveError, IdTakenError),
    note="The same id with the same content returns the first result; the id of a deleted event stays used.",
    cardinality="Up to two half days and one claim; the administrator and the location are checked.",
    hot_partition="None: only administrators change a location's calendar.",
    item_bytes=_SLOT_BYTES,
)
