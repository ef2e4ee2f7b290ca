"""The access patterns of bookings, the calendar, payments and notifications."""

from __future__ import annotations

from dataclasses import replace

from domain.bookings import LONGEST_CALENDAR_DAYS
from domain.errors import (
    BadCursorError,
    BadInputError,
    BookingClosedError,
    ForbiddenError,
    IdTakenError,
    LocationInactiveError,
    MissingError,
    SlotTakenError,
    UnavailableError,
    VersionConflictError,
)
from loaders import keys
from loaders.contract import GetContract, Order, Page, QueryContract, StepRule, WriteContract
from loaders.contracts.locations import LOCATION_BYTES
from loaders.contracts.owners import OWNER_BYTES
from loaders.cost import Part
from loaders.table.operations import Action

__all__ = ["BOOKING_BYTES", "QC_40", "QC_41", "QC_42", "QC_43", "QC_44", "QC_45", "QC_46", "QC_47", "QC_48", "QC_49"]

BOOKING_BYTES = 18_000
_PENDING_BYTES = 9000  # nobody has given a reason yet
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
_SLOT = StepRule(
    name="slot",
    action=Action.PUT,
    key=keys.calendar_slot,
    condition=_IS_NEW,
    when="it fills half days",
    most=_SLOTS_A_DAY,
    item_bytes=_SLOT_BYTES,
)

QC_40 = WriteContract(
    id="QC-40",
    purpose="Request a booking",
    operation="TransactWriteItems",
    reads=(
        Part(
            text="BatchGetItem of the location and the booking, strong",
            operation="BatchGetItem",
            sizes=(LOCATION_BYTES, BOOKING_BYTES),
        ),
    ),
    steps=(
        StepRule(name="booking", action=Action.PUT, key=keys.booking, condition=_IS_NEW, index_writes=1),
        StepRule(name="copy", action=Action.PUT, key=keys.owner_booking, condition=_IS_NEW),
        StepRule(name="owner", action=Action.CHECK, key=keys.owner, condition=_EXISTS, item_bytes=2000),
        _LOCATION,
    ),
    most_steps=4,
    fields=("Mutation.requestBooking",),
    errors=(BadInputError, MissingError, LocationInactiveError, IdTakenError),
    note="Today is the location's own. The same id with the same content gives the first result again, for ever.",
    item_bytes=_PENDING_BYTES,
)

QC_41 = GetContract(
    id="QC-41",
    purpose="A booking by id",
    operation="GetItem",
    key=keys.booking,
    fields=("Query.booking", "Query.node", "Query.nodes", "CalendarEvent.booking", "Notification.booking"),
    errors=(MissingError, BadInputError),
    note="Several in one request are one BatchGetItem of up to 100 keys; a lone key is a GetItem.",
    item_bytes=BOOKING_BYTES,
)

QC_42 = QueryContract(
    id="QC-42",
    purpose="The bookings that nobody has decided",
    operation="Query",
    range=keys.pending_bookings,
    page=Page(),
    index="GSI1",
    fields=("Query.pendingBookings",),
    errors=(BadInputError, BadCursorError),
    note="Oldest first. A booking leaves the index the moment it is decided or cancelled.",
    item_bytes=_PENDING_BYTES,
)

QC_43 = WriteContract(
    id="QC-43",
    purpose="Approve, reject or cancel a booking",
    operation="TransactWriteItems",
    reads=(
        Part(text="GetItem of the booking, strong", operation="GetItem", sizes=(BOOKING_BYTES,)),
        Part(
            text="to cancel or approve: then GetItem of its location, strong",
            operation="GetItem",
            sizes=(LOCATION_BYTES,),
            fields=("Mutation.cancelBooking", "Mutation.approveBooking"),
        ),
        Part(
            text="where it is decided already: then GetItem of the admin, strong",
            operation="GetItem",
            sizes=(OWNER_BYTES,),
            when="only where it is decided already",
            fields=("Mutation.approveBooking", "Mutation.rejectBooking"),
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
            when="it is decided",
            item_bytes=9000,
        ),
        _ADMIN,
        replace(_LOCATION, when="it is approved"),
    ),
    most_steps=7,
    fields=("Mutation.approveBooking", "Mutation.rejectBooking", "Mutation.cancelBooking"),
    errors=(
        BadInputError,
        MissingError,
        ForbiddenError,
        SlotTakenError,
        LocationInactiveError,
        BookingClosedError,
        VersionConflictError,
        UnavailableError,
    ),
    note="One transaction: the booking, its copy, its half days and the notification. Sent again, it answers with the "
    "first result.",
    item_bytes=BOOKING_BYTES,
)

QC_44 = QueryContract(
    id="QC-44",
    purpose="A location's calendar and availability in a range of days",
    operation="Query",
    range=keys.calendar_days,
    page=Page(
        default=LONGEST_CALENDAR_DAYS * _SLOTS_A_DAY,
        maximum=LONGEST_CALENDAR_DAYS * _SLOTS_A_DAY,
        look_ahead=0,
        whole=True,
    ),
    fields=("Location.calendar", "Location.availability"),
    errors=(BadInputError,),
    note=f"Up to {LONGEST_CALENDAR_DAYS} days in one Query, never one for each day.",
    item_bytes=_SLOT_BYTES,
)

QC_45 = QueryContract(
    id="QC-45",
    purpose="The bookings that an owner asked for",
    operation="Query",
    range=keys.owner_bookings,
    page=Page(),
    orders=(Order.ASC, Order.DESC),
    fields=("Owner.bookings",),
    errors=(BadInputError, BadCursorError),
    note="By date. Everything that is shown is in the copy.",
    item_bytes=BOOKING_BYTES,
)

QC_46 = WriteContract(
    id="QC-46",
    purpose="Record a payment for a booking",
    operation="TransactWriteItems",
    steps=(
        StepRule(name="payment", action=Action.PUT, key=keys.payment, condition=_IS_NEW),
        StepRule(name="booking", action=Action.CHECK, key=keys.booking, condition=_EXISTS, item_bytes=BOOKING_BYTES),
    ),
    most_steps=2,
    fields=("Mutation.recordPayment",),
    errors=(BadInputError, MissingError, IdTakenError),
    note="The same id with the same content gives the first result again, for ever.",
    item_bytes=_SMALL_BYTES,
)

QC_47 = QueryContract(
    id="QC-47",
    purpose="The payments of a booking",
    operation="Query",
    range=keys.booking_payments,
    page=Page(),
    fields=("Booking.payments",),
    errors=(BadInputError, BadCursorError),
    note="By paymentId: those made here sort by when they were recorded.",
    item_bytes=_SMALL_BYTES,
)

QC_48 = QueryContract(
    id="QC-48",
    purpose="What an owner was told",
    operation="Query",
    range=keys.owner_notifications,
    page=Page(),
    orders=(Order.DESC,),
    fields=("Owner.notifications",),
    errors=(BadInputError, BadCursorError),
    note="Newest first.",
    item_bytes=9000,
)

QC_49 = WriteContract(
    id="QC-49",
    purpose="Create or delete a calendar event",
    operation="TransactWriteItems",
    reads=(
        Part(
            text="to delete: GetItem of the claim, strong",
            operation="GetItem",
            sizes=(_SLOT_BYTES,),
            fields=("Mutation.deleteCalendarEvent",),
        ),
        Part(
            text="where the id is taken: BatchGetItem of the half days, strong",
            operation="BatchGetItem",
            sizes=(_SLOT_BYTES,) * _SLOTS_A_DAY,
            when="only where the eventId was used before",
            fields=("Mutation.createCalendarEvent",),
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
    fields=("Mutation.createCalendarEvent", "Mutation.deleteCalendarEvent"),
    errors=(BadInputError, MissingError, ForbiddenError, SlotTakenError, LocationInactiveError, IdTakenError),
    note="The same id with the same content gives the first result again; deleted, its id stays used.",
    item_bytes=_SLOT_BYTES,
)
