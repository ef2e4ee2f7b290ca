"""The access patterns of bookings, the calendar, payments and notifications."""

from __future__ import annotations

from dataclasses import replace

from domain.bookings import MAX_CALENDAR_DAYS
from domain.errors import (
    BadInputError,
    BookingClosedError,
    ForbiddenError,
    IdTakenError,
    LocationInactiveError,
    NotFoundError,
    SlotTakenError,
    TooManyPendingError,
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
from loaders.contracts.writing import EXISTS, IS_NEW, BatchRead, ItemRead, WriteContract, check, delete, put, update

BOOKING_BYTES = 19_300
_PENDING_BYTES = 9000  # a pending booking has no reason yet
_SLOT_BYTES = 2600
_SMALL_BYTES = 1800
_SLOTS_A_DAY = 2

_COUNT_BYTES = 300

_ADMIN = check("admin", keys.owner, "#role = :admin", when="the admin is also an owner", item_bytes=2000)
_LOCATION = check("location", keys.location, f"{EXISTS} AND #status = :active", item_bytes=8000)
_LOCATION_READ = ItemRead("location", keys.location, LOCATION, LOCATION_BYTES)
_SLOT = put("slot", keys.calendar_slot, IS_NEW, when="half days are taken", most=_SLOTS_A_DAY, item_bytes=_SLOT_BYTES)

REQUEST_BOOKING = WriteContract(
    id="QC-40",
    purpose="Request a booking",
    reads=(BatchRead(items=(_LOCATION_READ, ItemRead("booking", keys.booking, REQUESTED_BOOKING, BOOKING_BYTES))),),
    steps=(
        put("booking", keys.booking, IS_NEW, index_writes=1),
        put("copy", keys.owner_booking, IS_NEW),
        check("owner", keys.owner, EXISTS, item_bytes=2000),
        _LOCATION,
        update(
            "pending",
            keys.pending_count,
            "attribute_not_exists(#pendingBookings) OR #pendingBookings < :most",
            item_bytes=_COUNT_BYTES,
        ),
    ),
    most_steps=5,
    errors=(BadInputError, NotFoundError, LocationInactiveError, IdTakenError, TooManyPendingError),
    note="The current date is that of the location. The same id with the same content writes nothing and "
    "returns the current state, permanently. A counter limits how many bookings of an owner wait for a decision.",
    cardinality="The booking, the owner's copy and counter; the owner and the location are checked.",
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
    note="Oldest first. A booking leaves the index when it is decided or cancelled.",
    item_bytes=_PENDING_BYTES,
    typical_bytes=700,
    cardinality="Up to some 1,000 pending bookings.",
    hot_partition="Medium: all pending bookings share one partition of the index (1,000 writes a second).",
)

DECIDE_BOOKING = WriteContract(
    id="QC-43",
    purpose="Approve, reject or cancel a booking",
    variants=("approve", "reject", "cancel"),
    reads=(
        ItemRead("booking", keys.booking, BOOKING, BOOKING_BYTES),
        replace(_LOCATION_READ, only=("cancel", "approve")),
        ItemRead(
            "admin",
            keys.owner,
            OWNER,
            OWNER_BYTES,
            when="only where the booking is already decided and the admin is also an owner",
            only=("approve", "reject"),
        ),
    ),
    rounds=12,
    steps=(
        update("booking", keys.booking, "#version = :expectedVersion AND #status = :readStatus", index_writes=1),
        put("copy", keys.owner_booking, None),
        _SLOT,
        delete(
            "freed slot",
            keys.calendar_slot,
            "#bookingId = :bookingId",
            when="an approved booking is cancelled",
            most=_SLOTS_A_DAY,
            item_bytes=_SLOT_BYTES,
        ),
        put("notification", keys.notification, None, when="the booking is approved or rejected", item_bytes=9000),
        _ADMIN,
        replace(_LOCATION, when="the booking is approved"),
        update(
            "pending",
            keys.pending_count,
            "#pendingBookings > :none",
            when="the booking was pending and is counted",
            item_bytes=_COUNT_BYTES,
        ),
    ),
    most_steps=8,
    errors=(
        BadInputError,
        NotFoundError,
        ForbiddenError,
        SlotTakenError,
        LocationInactiveError,
        BookingClosedError,
        IdTakenError,
        VersionConflictError,
        UnavailableError,
    ),
    note="One transaction: the booking, its copy, its half days and the notification. A decision keeps the token "
    "of its request, so that the same request, sent again, returns the booking and writes nothing. The administrator "
    "is the caller.",
    cardinality="The booking, the owner's copy and counter, up to two half days and one notification; the "
    "administrator, if it is an owner, and the location are checked.",
    hot_partition="None: a booking is decided once. Its half days are in the location's partition.",
    item_bytes=BOOKING_BYTES,
)

LOCATION_CALENDAR = ReadPage(
    id="QC-44",
    purpose="Calendar and availability of a location in a range of days",
    range=keys.calendar_days,
    codec=CALENDAR_SLOT,
    page_rule=PageRule(
        default=MAX_CALENDAR_DAYS * _SLOTS_A_DAY, maximum=MAX_CALENDAR_DAYS * _SLOTS_A_DAY, look_ahead=0, whole=True
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
    orders=(Order.ASC, Order.DESC),
    note="By date. The copy has everything that is shown.",
    item_bytes=BOOKING_BYTES,
    typical_bytes=700,
    cardinality="Up to some 1,000 an owner.",
    hot_partition="Low: one owner's partition.",
)

RECORD_PAYMENT = WriteContract(
    id="QC-46",
    purpose="Record a payment for a booking",
    steps=(
        put("payment", keys.payment, IS_NEW),
        check("booking", keys.booking, EXISTS, item_bytes=BOOKING_BYTES),
    ),
    most_steps=2,
    errors=(BadInputError, NotFoundError, IdTakenError),
    note="The same id with the same content writes nothing and returns the current state, permanently.",
    cardinality="One payment; the booking is checked.",
    hot_partition="None: a booking has few payments.",
    item_bytes=_SMALL_BYTES,
)

BOOKING_PAYMENTS = ReadPage(
    id="QC-47",
    purpose="Payments for a booking",
    range=keys.booking_payments,
    codec=PAYMENT,
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
    orders=(Order.DESC,),
    note="Newest first.",
    item_bytes=9000,
    typical_bytes=450,
    cardinality="Up to some 1,000 an owner.",
    hot_partition="Low: one owner's partition.",
)

CALENDAR_EVENT_BY_PLACE = ReadOne(
    id="QC-53",
    purpose="A calendar event by its location, date and first half day",
    key=keys.calendar_slot,
    codec=CALENDAR_SLOT,
    errors=(BadInputError, ForbiddenError),
    note="Behind the global id, which also has the event's own id: another event at the same place is not it.",
    item_bytes=_SLOT_BYTES,
    typical_bytes=400,
    cardinality="At most two items a day.",
    hot_partition="Medium: the calendar shares the location's partition.",
)

PAYMENT_BY_KEY = ReadOne(
    id="QC-51",
    purpose="A payment by its booking and id",
    key=keys.payment,
    codec=PAYMENT,
    errors=(BadInputError, ForbiddenError),
    note="Behind the global id. The booking is read (QC-41) where its owner decides who may see the payment.",
    item_bytes=_SMALL_BYTES,
    typical_bytes=350,
    cardinality="One item a payment.",
    hot_partition="Low: one booking's partition.",
)

NOTIFICATION_BY_KEY = ReadOne(
    id="QC-52",
    purpose="A notification by its owner, time and id",
    key=keys.notification,
    codec=NOTIFICATION,
    errors=(BadInputError, ForbiddenError),
    note="Behind the global id.",
    item_bytes=9000,
    typical_bytes=450,
    cardinality="One item a notification.",
    hot_partition="Low: one owner's partition.",
)

CHANGE_CALENDAR = WriteContract(
    id="QC-49",
    purpose="Create or delete a calendar event",
    variants=("create", "delete"),
    reads=(
        ItemRead("claim", keys.calendar_claim, CALENDAR_CLAIM, _SLOT_BYTES, only=("delete",)),
        ItemRead(
            "slot",
            keys.calendar_slot,
            CALENDAR_SLOT,
            _SLOT_BYTES,
            at_once=_SLOTS_A_DAY,
            when="only where the eventId was used before",
            only=("create",),
        ),
    ),
    steps=(
        put("claim", keys.calendar_claim, IS_NEW, when="creating"),
        _SLOT,
        delete(
            "freed slot",
            keys.calendar_slot,
            "#eventId = :eventId AND attribute_not_exists(#bookingId)",  # a booking may have the same id
            when="deleting",
            most=_SLOTS_A_DAY,
        ),
        _ADMIN,
        _LOCATION,
    ),
    most_steps=5,
    errors=(BadInputError, NotFoundError, ForbiddenError, SlotTakenError, LocationInactiveError, IdTakenError),
    note="The same id with the same content writes nothing and returns the event. The id of a deleted event stays "
    "used.",
    cardinality="Up to two half days and one claim; the administrator and the location are checked.",
    hot_partition="None: only administrators change a location's calendar.",
    item_bytes=_SLOT_BYTES,
)
