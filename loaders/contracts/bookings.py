"""The access patterns of bookings, the calendar, payments and notifications."""

from dataclasses import replace

from domain.activity import ActivityKind
from domain.bookings import MAX_CALENDAR_DAYS
from domain.errors import (
    BadInputError,
    BookingClosedError,
    ForbiddenError,
    IdTakenError,
    LocationInactiveError,
    NotFoundError,
    OwnerErasedError,
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
from loaders.contracts.base import Consistency, Order, PageRule
from loaders.contracts.owners import IS_OWNER
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import EXISTS, IS_NEW, BatchRead, ItemRead, check, delete, put, update
from loaders.contracts.writing import WriteContract

_SLOTS_A_DAY = 2
_COUNT_BYTES = 300

_PENDING = BOOKING.at(keys.booking, largest=9000)  # it has no reason yet
_ADMIN = check("admin", OWNER, "#role = :admin", when="the admin is also an owner")
_LOCATION = check("location", LOCATION, f"{EXISTS} AND #status = :active")
_LOCATION_READ = ItemRead("location", LOCATION)
_SLOT = put("half day", CALENDAR_SLOT, IS_NEW, when="half days are taken", most=_SLOTS_A_DAY)

REQUEST_BOOKING = WriteContract(
    id="QC-40",
    purpose="Request a booking",
    reads=(BatchRead(items=(_LOCATION_READ, ItemRead("booking", REQUESTED_BOOKING))),),
    steps=(
        put("booking", _PENDING, IS_NEW, index_writes=1),
        put("copy", OWNER_BOOKING, None, item_bytes=_PENDING.largest, index_writes=1),
        check("owner", OWNER, IS_OWNER),
        _LOCATION,
        update(
            "pending",
            keys.pending_count,
            "attribute_not_exists(#pendingBookings) OR #pendingBookings < :most",
            item_bytes=_COUNT_BYTES,
        ),
    ),
    most_steps=5,
    emits=(ActivityKind.BOOKING_REQUESTED,),
    errors=(
        BadInputError,
        NotFoundError,
        OwnerErasedError,
        LocationInactiveError,
        IdTakenError,
        TooManyPendingError,
    ),
    note="The current date is that of the location. The same id with the same content writes nothing and "
    "returns the current state, permanently. A counter limits how many bookings of an owner wait for a decision.",
    cardinality="The booking, the owner's copy and counter; the owner and the location are checked.",
    hot_partition="In the index all pending bookings share one partition, which takes about 1,000 small writes a "
    "second; a booking leaves it when it is decided.",
)

BOOKING_BY_ID = ReadOne(
    id="QC-41",
    purpose="A booking by id",
    codec=BOOKING,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    cardinality="One item a booking.",
    hot_partition="Low: one item a partition key, spread by id.",
)

PENDING_BOOKINGS = ReadPage(
    id="QC-42",
    purpose="Bookings that wait for a decision",
    range=keys.pending_bookings,
    codec=_PENDING,
    note="Oldest first. A booking leaves the index when it is decided or canceled.",
    cardinality="Up to some 1,000 pending bookings.",
    hot_partition="Medium: all pending bookings share one partition of the index (1,000 writes a second).",
)

DECIDE_BOOKING = WriteContract(
    id="QC-43",
    purpose="Approve, reject or cancel a booking",
    variants=("approve", "reject", "cancel"),
    reads=(
        ItemRead("booking", BOOKING),
        replace(_LOCATION_READ, only=("cancel", "approve")),
        ItemRead(
            "admin",
            OWNER,
            when="only where the booking is already decided and the admin is also an owner",
            only=("approve", "reject"),
        ),
    ),
    rounds=12,
    steps=(
        update("booking", BOOKING, "#version = :expectedVersion AND #status = :readStatus", index_writes=1),
        put("copy", OWNER_BOOKING, None, index_writes=2),
        _SLOT,
        delete(
            "freed half day",
            CALENDAR_SLOT,
            "#bookingId = :bookingId",
            when="an approved booking is canceled",
            most=_SLOTS_A_DAY,
        ),
        put("notification", NOTIFICATION, None, when="the booking is approved or rejected"),
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
    emits=(ActivityKind.BOOKING_APPROVED, ActivityKind.BOOKING_REJECTED, ActivityKind.BOOKING_CANCELLED),
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
    cardinality="Up to some 1,000 an owner.",
    hot_partition="Low: one owner's partition.",
)

LOCATION_BOOKINGS = ReadPage(
    id="QC-175",
    purpose="Bookings at a location, or those with a given status",
    range=keys.location_bookings,
    codec=OWNER_BOOKING,
    orders=(Order.ASC, Order.DESC),
    note="By date. The status is part of the index key, so nothing is filtered. Without a status, one Query for each "
    "status, merged by date.",
    cardinality="Up to some 1,000 a location and year.",
    hot_partition="Low: one location's bookings of one status.",
)

RECORD_PAYMENT = WriteContract(
    id="QC-46",
    purpose="Record a payment for a booking",
    reads=(ItemRead("booking", BOOKING),),
    steps=(put("payment", PAYMENT, IS_NEW),),
    most_steps=1,
    emits=(ActivityKind.PAYMENT_RECORDED,),
    errors=(BadInputError, NotFoundError, IdTakenError),
    note="The same id with the same content writes nothing and returns the current state, permanently.",
    cardinality="One payment; the booking is read.",
    hot_partition="None: a booking has few payments.",
)

BOOKING_PAYMENTS = ReadPage(
    id="QC-47",
    purpose="Payments for a booking",
    range=keys.booking_payments,
    codec=PAYMENT,
    note="By paymentId; generated ids sort by the time at which the payment was recorded.",
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
    cardinality="Up to some 1,000 an owner.",
    hot_partition="Low: one owner's partition.",
)

CALENDAR_EVENT_BY_PLACE = ReadOne(
    id="QC-53",
    purpose="A calendar event by its location, date and first half day",
    codec=CALENDAR_SLOT,
    errors=(BadInputError, ForbiddenError),
    note="Behind the global id, which also has the event's own id: another event at the same place is not it.",
    cardinality="At most two items a day.",
    hot_partition="Medium: the calendar shares the location's partition.",
)

PAYMENT_BY_KEY = ReadOne(
    id="QC-51",
    purpose="A payment by its booking and id",
    codec=PAYMENT,
    errors=(BadInputError, ForbiddenError),
    note="Behind the global id. The booking is read (QC-41) where its owner decides who may see the payment.",
    cardinality="One item a payment.",
    hot_partition="Low: one booking's partition.",
)

NOTIFICATION_BY_KEY = ReadOne(
    id="QC-52",
    purpose="A notification by its owner, time and id",
    codec=NOTIFICATION,
    errors=(BadInputError, ForbiddenError),
    note="Behind the global id.",
    cardinality="One item a notification.",
    hot_partition="Low: one owner's partition.",
)

CHANGE_CALENDAR = WriteContract(
    id="QC-49",
    purpose="Create or delete a calendar event",
    variants=("create", "delete"),
    reads=(
        ItemRead("claim", CALENDAR_CLAIM, only=("delete",)),
        ItemRead(
            "half day",
            CALENDAR_SLOT,
            at_once=_SLOTS_A_DAY,
            when="only where the eventId was used before",
            only=("create",),
        ),
    ),
    steps=(
        put("claim", CALENDAR_CLAIM, IS_NEW, when="creating"),
        _SLOT,
        delete(
            "freed half day",
            CALENDAR_SLOT,
            "#eventId = :eventId AND attribute_not_exists(#bookingId)",  # a booking may have the same id
            when="deleting",
            most=_SLOTS_A_DAY,
        ),
        _ADMIN,
        _LOCATION,
    ),
    most_steps=5,
    emits=(ActivityKind.CALENDAR_EVENT_CREATED, ActivityKind.CALENDAR_EVENT_DELETED),
    errors=(BadInputError, NotFoundError, ForbiddenError, SlotTakenError, LocationInactiveError, IdTakenError),
    note="The same id with the same content writes nothing and returns the event. The id of a deleted event stays "
    "used.",
    cardinality="Up to two half days and one claim; the administrator and the location are checked.",
    hot_partition="None: only administrators change a location's calendar.",
)
