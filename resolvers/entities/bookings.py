"""Bookings, payments and notifications: the types, queries and mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain.authorization import Principal, sees_all
from domain.bookings import Booking as Record
from domain.bookings import BookingStatus, DayPart
from domain.bookings import Money as MoneyRecord
from domain.bookings import Notification as NotificationRecord
from domain.bookings import Payment as PaymentRecord
from domain.commands import bookings as commands
from domain.commands import payments
from domain.ids import check_id, check_notification_id
from domain.times import Day, Instant, parse_instant
from loaders.contracts.access_codes import PURPOSE_ACCESS_CODES
from loaders.contracts.bookings import (
    BOOKING_BY_ID,
    BOOKING_PAYMENTS,
    DECIDE_BOOKING,
    NOTIFICATION_BY_KEY,
    PAYMENT_BY_KEY,
    PENDING_BOOKINGS,
    RECORD_PAYMENT,
    REQUEST_BOOKING,
)
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.owners import OWNER_BY_ID
from loaders.writes import bookings as writes
from loaders.writes import calendar
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Connection, Node
from resolvers.api.scalars import ExactNumber
from resolvers.bindings.base import column, embedded
from resolvers.bindings.lists import pages
from resolvers.bindings.references import Visibility, look_up, one
from resolvers.bindings.rules import ADMINS, BOOKING_CHANGES, BOOKINGS, CODES, LOCATIONS, NOTIFICATIONS, PROFILE, STAFF
from resolvers.entities.access_codes import AccessCode
from resolvers.entities.base import CHANGED, VERSION, decimal, entity, id_argument

if TYPE_CHECKING:
    from resolvers.entities.locations import Location
    from resolvers.entities.owners import Owner


@entity(MoneyRecord)
class Money:
    """An exact amount of a currency."""

    amount: ExactNumber = decimal("Amount in units of the currency.", "amount")
    currency: str = column("Currency as an ISO 4217 code.")


def _permits_payment(principal: Principal, _payment: PaymentRecord, booking: Record | None) -> bool:
    """A payment is visible to the owner of its booking."""
    return booking is not None and BOOKINGS.permits(principal, booking)


@entity(
    PaymentRecord,
    node={
        "contract": PAYMENT_BY_KEY,
        "key": {"booking_id": check_id, "payment_id": check_id},
        "rule": BOOKINGS.decided_by_result(),
        "visible": Visibility(BOOKING_BY_ID, "booking_id", _permits_payment),
    },
)
class Payment(Node):
    """A payment for a booking."""

    payment_id: strawberry.ID = column("Id of the payment, unique for its booking.")
    booking_id: strawberry.ID = column("Id of the booking.")
    amount: Money = embedded("Amount of the payment.")
    method: str | None = column("Method of payment.")
    paid_at: Instant = column("Time of the payment.")
    recorded_at: Instant = column("Time at which the server recorded the payment.")
    booking: Annotated[Booking, strawberry.lazy("resolvers.entities.bookings")] | None = one(
        BOOKING_BY_ID, key="booking_id", rule=BOOKINGS.decided_by_result(), description="The booking that was paid for."
    )


@entity(Record, node={"contract": BOOKING_BY_ID, "key": {"booking_id": check_id}, "rule": BOOKINGS.decided_by_result()})
class Booking(Node):
    """A request for a day or half day at a location, and its outcome."""

    booking_id: strawberry.ID = column("Id of the booking.")
    location_id: strawberry.ID = column("Id of the location.")
    owner_id: strawberry.ID = column("Id of the owner who requested the booking.")
    date: Day = column("Day of the booking.")
    duration: DayPart = column("Part of the day that is booked.")
    description: str = column("Purpose of the booking.")
    attendees: int = column("Number of people who attend.")
    status: BookingStatus = column("Current status of the booking.")
    requested_at: Instant = column("Time of the request.")
    updated_at: Instant = column(CHANGED)
    decided_by_id: strawberry.ID | None = column(
        "Id of the admin who approved or rejected the booking; null if the admin is not an owner.", "decided_by"
    )
    decided_by_subject: str | None = column(
        "Subject of the credentials that approved or rejected the booking. Only admins and support see it.",
        lambda booking, request: booking.decided_by_subject if sees_all(request.principal) else None,
        reads=("decided_by_subject",),
    )
    reason: str | None = column("Reason of a rejection.")
    version: int = column(VERSION)
    location: Annotated[Location, strawberry.lazy("resolvers.entities.locations")] | None = one(
        LOCATION_BY_ID, key="location_id", rule=LOCATIONS, description="The booked location."
    )
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID, key="owner_id", rule=PROFILE, description="Owner who requested the booking."
    )
    decided_by: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID,
        key="decided_by",
        rule=STAFF,
        description="Admin who approved or rejected the booking; null if the admin is not an owner. Requires an admin "
        "or support.",
    )
    payments: Connection[Payment] | None = pages(
        BOOKING_PAYMENTS, key="booking_id", rule=BOOKINGS, description="Payments for the booking."
    )
    access_codes: Connection[AccessCode] | None = pages(
        PURPOSE_ACCESS_CODES,
        key="booking_id",
        rule=CODES,
        description="Access codes of the booking by code id, including those no longer valid.",
    )


@entity(
    NotificationRecord,
    node={
        "contract": NOTIFICATION_BY_KEY,
        "key": {"owner_id": check_id, "created_at": parse_instant, "notification_id": check_notification_id},
        "rule": NOTIFICATIONS,
    },
)
class Notification(Node):
    """A message to an owner, such as about the decision on a booking or a reservation that someone else ended."""

    notification_id: strawberry.ID = column("Id of the notification.")
    booking_id: strawberry.ID | None = column("Id of the booking, if the notification is about one.")
    booking_status: BookingStatus | None = column("The decision on the booking.")
    locker_id: strawberry.ID | None = column("Id of the locker, if the notification is about one.")
    location_id: strawberry.ID | None = column("Id of the location, if the notification is about its door.")
    reservation_id: strawberry.ID | None = column("Id of the reservation, if the notification is about one.")
    webhook_id: strawberry.ID | None = column("Id of the webhook, if the notification is about one.")
    message: str = column("Text of the notification.")
    created_at: Instant = column("Time of the notification.")
    booking: Booking | None = one(
        BOOKING_BY_ID, key="booking_id", rule=BOOKINGS, description="The booking that it is about."
    )


@strawberry.type
class BookingQueries:
    booking: Booking | None = look_up(
        BOOKING_BY_ID,
        rule=BOOKINGS.decided_by_result(),
        message="Booking {booking_id} does not exist.",
        arguments=[id_argument("booking_id", "Id of the booking.")],
        description="Look up a booking by its id.",
    )
    pending_bookings: Connection[Booking] | None = pages(
        PENDING_BOOKINGS,
        rule=STAFF,
        description="Bookings that wait for a decision, oldest first. Requires an admin or support.",
    )


@mutations(commands, payments, writes, calendar)
class BookingMutations:
    request_booking: Booking = write(
        REQUEST_BOOKING,
        BOOKING_CHANGES,
        returns="The booking; null if it was not requested.",
        description="Request a day or half day at a location.",
    )
    cancel_booking: Booking = write(
        DECIDE_BOOKING,
        BOOKING_CHANGES,
        variant="cancel",
        description="Cancel a booking before its day. A repeated request returns the canceled booking.",
    )
    approve_booking: Booking = write(
        DECIDE_BOOKING,
        ADMINS,
        variant="approve",
        description="Approve a booking and add it to the calendar. Requires an admin.",
    )
    reject_booking: Booking = write(
        DECIDE_BOOKING, ADMINS, variant="reject", description="Reject a booking with a reason. Requires an admin."
    )
    record_payment: Payment = write(
        RECORD_PAYMENT,
        ADMINS,
        returns="The payment; null if it was not recorded.",
        description="Record a payment for a booking. Requires an admin.",
    )
