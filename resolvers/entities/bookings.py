"""Bookings, payments and notifications: the types, queries and mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain.bookings import Booking as Record
from domain.bookings import BookingStatus, Duration
from domain.bookings import Notification as NotificationRecord
from domain.bookings import Payment as PaymentRecord
from domain.commands import bookings as commands
from domain.commands.payments import RecordPayment
from domain.ids import check_id, require_id
from domain.times import Day, Instant
from loaders.contracts.bookings import (
    BOOKING_BY_ID,
    BOOKING_PAYMENTS,
    DECIDE_BOOKING,
    PENDING_BOOKINGS,
    RECORD_PAYMENT,
    REQUEST_BOOKING,
)
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.owners import OWNER_BY_ID
from loaders.writes import bookings as writes
from loaders.writes.calendar import record_payment
from resolvers.api.payloads import AFTER_CHANGE, Payload, current_entity, payload
from resolvers.api.relay import PAGING, Connection, Node
from resolvers.api.scalars import ExactNumber
from resolvers.bindings.base import column, embedded
from resolvers.bindings.lists import pages
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import ADMINS, BOOKING_CHANGES, BOOKINGS, LOCATIONS, PROFILE
from resolvers.bindings.writes import write
from resolvers.entities.base import (
    CHANGED,
    CHOSEN_ID,
    EXPECTED_VERSION,
    VERSION,
    command_input,
    entity,
    id_argument,
    optional,
    without_principal,
)

if TYPE_CHECKING:
    from resolvers.entities.locations import Location
    from resolvers.entities.owners import Owner

__all__ = ["Booking", "BookingMutations", "BookingQueries", "Notification", "Payment"]


@entity(PaymentRecord)
class Payment:
    """A payment for a booking."""

    payment_id: strawberry.ID = column("Id of the payment, unique for its booking.")
    booking_id: strawberry.ID = column("Id of the booking.")
    amount: ExactNumber = column("Amount of the payment.")
    currency: str = column("Currency of the payment, as an ISO 4217 code.")
    method: str | None = column("Method of payment.")
    paid_at: Instant = column("Time of the payment.")
    recorded_at: Instant = column("Time at which the server recorded the payment.")


@entity(Record, node={"contract": BOOKING_BY_ID, "key": {"booking_id": check_id}, "rule": BOOKINGS.decided_by_result()})
class Booking(Node):
    """A request for a day or half day at a location, and its outcome."""

    booking_id: strawberry.ID = column("Id of the booking.")
    location_id: strawberry.ID = column("Id of the location.")
    owner_id: strawberry.ID = column("Id of the owner who requested the booking.")
    date: Day = column("Day of the booking.")
    duration: Duration = column("Part of the day that is booked.")
    description: str = column("Purpose of the booking.")
    attendees: int = column("Number of people who attend.")
    status: BookingStatus = column("Current status of the booking.")
    requested_at: Instant = column("Time of the request.")
    updated_at: Instant = column(CHANGED)
    decided_by: strawberry.ID | None = column("Id of the admin who approved or rejected the booking.")
    reason: str | None = column("Reason of a rejection.")
    version: int = column(VERSION)
    location: Annotated[Location, strawberry.lazy("resolvers.entities.locations")] | None = one(
        LOCATION_BY_ID, key="location_id", rule=LOCATIONS, description="The booked location."
    )
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID, key="owner_id", rule=PROFILE, description="Owner who requested the booking."
    )
    payments: Connection[Payment] | None = pages(
        BOOKING_PAYMENTS, key="booking_id", rule=BOOKINGS, arguments=PAGING, description="Payments for the booking."
    )


@entity(NotificationRecord)
class Notification:
    """A message to an owner about a decision."""

    notification_id: strawberry.ID = column("Id of the notification.")
    booking_id: strawberry.ID = column("Id of the booking.")
    booking_status: BookingStatus = column("The decision.")
    message: str = column("Text of the notification.")
    created_at: Instant = column("Time of the notification.")
    booking: Booking | None = one(BOOKING_BY_ID, key="booking_id", rule=BOOKINGS, description="The booking.")


@strawberry.type
class BookingQueries:
    """Merged into Query."""

    booking: Booking | None = look_up(
        BOOKING_BY_ID,
        parse={"booking_id": require_id},
        rule=BOOKINGS.decided_by_result(),
        message="Booking {booking_id} does not exist.",
        arguments=[id_argument("booking_id", "Id of the booking.")],
        description="Look up a booking by its id.",
    )
    pending_bookings: Connection[Booking] | None = pages(
        PENDING_BOOKINGS,
        rule=ADMINS,
        arguments=PAGING,
        description="Bookings that wait for a decision, oldest first. Requires an admin.",
    )


@command_input(commands.RequestBooking)
class RequestBookingInput:
    """Input of `requestBooking`."""

    booking_id: strawberry.ID | None = optional(CHOSEN_ID)
    location_id: strawberry.ID = strawberry.field(description="Id of the location, which must be active.")
    owner_id: strawberry.ID = strawberry.field(description="Id of the owner who requests the booking.")
    date: Day = strawberry.field(description="Day of the booking: today, in the location's time zone, or later.")
    duration: Duration = strawberry.field(description="Part of the day to book.")
    description: str = strawberry.field(description="Purpose of the booking.")
    attendees: int = strawberry.field(description="Number of people who attend.")


@command_input(commands.CancelBooking)
class CancelBookingInput:
    """Input of `cancelBooking`."""

    booking_id: strawberry.ID = strawberry.field(description="Id of the booking.")
    owner_id: strawberry.ID = strawberry.field(description="Id of the owner who requested the booking.")


@command_input(commands.ApproveBooking)
class ApproveBookingInput:
    """Input of `approveBooking`."""

    booking_id: strawberry.ID = strawberry.field(description="Id of the booking.")
    admin_id: strawberry.ID = strawberry.field(description="Id of an owner with the role ADMIN who decides.")
    expected_version: int = strawberry.field(description=EXPECTED_VERSION)


@command_input(commands.RejectBooking)
class RejectBookingInput:
    """Input of `rejectBooking`."""

    booking_id: strawberry.ID = strawberry.field(description="Id of the booking.")
    admin_id: strawberry.ID = strawberry.field(description="Id of an owner with the role ADMIN who decides.")
    reason: str = strawberry.field(description="Reason of the rejection; the owner is notified of it.")
    expected_version: int = strawberry.field(description=EXPECTED_VERSION)


@command_input(RecordPayment)
class RecordPaymentInput:
    """Input of `recordPayment`."""

    payment_id: strawberry.ID | None = optional(CHOSEN_ID)
    booking_id: strawberry.ID = strawberry.field(description="Id of the booking.")
    amount: ExactNumber = strawberry.field(description="Amount, greater than 0 and with at most 4 decimals.")
    currency: str = strawberry.field(description="Currency as an ISO 4217 code, such as EUR.")
    method: str | None = optional("Method of payment.")
    paid_at: Instant | None = optional("Time of the payment; now if left out.")


@payload
class RequestBookingPayload(Payload):
    """Return type of `requestBooking`."""

    booking: Booking | None = embedded("The booking; null if it was not requested.", current_entity)


@payload
class CancelBookingPayload(Payload):
    """Return type of `cancelBooking`."""

    booking: Booking | None = embedded(f"The booking {AFTER_CHANGE}", current_entity)


@payload
class ApproveBookingPayload(Payload):
    """Return type of `approveBooking`."""

    booking: Booking | None = embedded(f"The booking {AFTER_CHANGE}", current_entity)


@payload
class RejectBookingPayload(Payload):
    """Return type of `rejectBooking`."""

    booking: Booking | None = embedded(f"The booking {AFTER_CHANGE}", current_entity)


@payload
class RecordPaymentPayload(Payload):
    """Return type of `recordPayment`."""

    payment: Payment | None = embedded("The payment; null if it was not recorded.", current_entity)


@strawberry.type
class BookingMutations:
    """Merged into Mutation."""

    request_booking: RequestBookingPayload = write(
        REQUEST_BOOKING,
        writes.request_booking,
        RequestBookingInput,
        BOOKING_CHANGES,
        description="Request a day or half day at a location.",
    )
    cancel_booking: CancelBookingPayload = write(
        DECIDE_BOOKING,
        writes.cancel_booking,
        CancelBookingInput,
        BOOKING_CHANGES,
        variant="cancel",
        description="Cancel a booking before its day. A repeated request returns the cancelled booking.",
    )
    approve_booking: ApproveBookingPayload = write(
        DECIDE_BOOKING,
        writes.approve_booking,
        ApproveBookingInput,
        ADMINS,
        variant="approve",
        description="Approve a booking and add it to the calendar. A repeated request returns the first result. "
        "Requires an admin.",
    )
    reject_booking: RejectBookingPayload = write(
        DECIDE_BOOKING,
        writes.reject_booking,
        RejectBookingInput,
        ADMINS,
        variant="reject",
        description="Reject a booking with a reason. A repeated request returns the first result. Requires an admin.",
    )
    record_payment: RecordPaymentPayload = write(
        RECORD_PAYMENT,
        without_principal(record_payment),
        RecordPaymentInput,
        ADMINS,
        description="Record a payment for a booking. Requires an admin.",
    )
