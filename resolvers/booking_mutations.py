"""Bookings and payments: their inputs, payloads and mutations."""

from __future__ import annotations

from typing import Annotated

import strawberry

from domain import booking_commands as commands
from domain.bookings import Booking as Record
from domain.bookings import Duration
from domain.times import Day, Instant
from loaders.writes import bookings as writes
from loaders.writes.calendar import record_payment
from resolvers.bookings import Booking, Payment
from resolvers.context import Info
from resolvers.errors import UserError, attempt
from resolvers.permissions import authorised
from resolvers.scalars import ExactNumber

__all__ = ["BookingMutations"]


@strawberry.input(description="Ask for a location's day or half day.")
class RequestBookingInput:
    """See `domain.booking_commands`."""

    booking_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    location_id: strawberry.ID = strawberry.field(description="The location, which must be active.")
    owner_id: strawberry.ID = strawberry.field(description="Who asks.")
    date: Day = strawberry.field(description="The day: today or later, at the location.")
    duration: Duration = strawberry.field(description="How much of it.")
    description: str = strawberry.field(description="What it is for.")
    attendees: int = strawberry.field(description="How many people come.")


@strawberry.input(description="Give a booking up, before its day.")
class CancelBookingInput:
    """See `domain.booking_commands`."""

    booking_id: strawberry.ID = strawberry.field(description="The booking.")
    owner_id: strawberry.ID = strawberry.field(description="Who cancels: who asked for it.")


@strawberry.input(description="Let a booking into the calendar, as an admin.")
class ApproveBookingInput:
    """See `domain.booking_commands`."""

    booking_id: strawberry.ID = strawberry.field(description="The booking.")
    admin_id: strawberry.ID = strawberry.field(description="Who decides: an owner whose role is ADMIN.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.input(description="Turn a booking down, as an admin.")
class RejectBookingInput:
    """See `domain.booking_commands`."""

    booking_id: strawberry.ID = strawberry.field(description="The booking.")
    admin_id: strawberry.ID = strawberry.field(description="Who decides: an owner whose role is ADMIN.")
    reason: str = strawberry.field(description="Why; its owner is told.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.input(description="Write down money received for a booking.")
class RecordPaymentInput:
    """See `domain.booking_commands`."""

    payment_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    booking_id: strawberry.ID = strawberry.field(description="The booking.")
    amount: ExactNumber = strawberry.field(description="How much, more than 0, with 4 decimals at most.")
    currency: str = strawberry.field(description="In which currency of ISO 4217, such as EUR.")
    method: str | None = strawberry.field(default=strawberry.UNSET, description="How it was paid.")
    paid_at: Instant | None = strawberry.field(
        default=strawberry.UNSET, description="When it was paid; now if left out."
    )


@strawberry.type(description="What came of asking for a booking.")
class RequestBookingPayload:
    """The booking."""

    booking: Booking | None = strawberry.field(description="The booking, if it was taken down.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of cancelling a booking.")
class CancelBookingPayload:
    """The booking as it is now."""

    booking: Booking | None = strawberry.field(description="The booking as it is now.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of approving a booking.")
class ApproveBookingPayload:
    """The booking as it is now, after a conflict too."""

    booking: Booking | None = strawberry.field(description="The booking as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of rejecting a booking.")
class RejectBookingPayload:
    """The booking as it is now, after a conflict too."""

    booking: Booking | None = strawberry.field(description="The booking as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of recording a payment.")
class RecordPaymentPayload:
    """The payment."""

    payment: Payment | None = strawberry.field(description="The payment, if it was written.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class BookingMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Ask for a location's day or half day.")
    async def request_booking(
        self,
        info: Info,
        input: Annotated[RequestBookingInput, strawberry.argument(description="What to ask for.")],
    ) -> RequestBookingPayload:
        """QC-40."""
        outcome = await attempt(info, commands.RequestBooking, input, authorised(info, writes.request_booking))
        return RequestBookingPayload(booking=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Give a booking up, before its day. Sent again, it answers the same.")
    async def cancel_booking(
        self,
        info: Info,
        input: Annotated[CancelBookingInput, strawberry.argument(description="What to cancel.")],
    ) -> CancelBookingPayload:
        """QC-43."""
        outcome = await attempt(info, commands.CancelBooking, input, authorised(info, writes.cancel_booking))
        return CancelBookingPayload(booking=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Let a booking into the calendar. Sent again, it answers with the first result.")
    async def approve_booking(
        self,
        info: Info,
        input: Annotated[ApproveBookingInput, strawberry.argument(description="What to approve.")],
    ) -> ApproveBookingPayload:
        """QC-43."""
        outcome = await attempt(info, commands.ApproveBooking, input, authorised(info, writes.approve_booking))
        return ApproveBookingPayload(booking=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(
        description="Turn a booking down, with a reason. Sent again, it answers with the first result."
    )
    async def reject_booking(
        self,
        info: Info,
        input: Annotated[RejectBookingInput, strawberry.argument(description="What to reject.")],
    ) -> RejectBookingPayload:
        """QC-43."""
        outcome = await attempt(info, commands.RejectBooking, input, authorised(info, writes.reject_booking))
        return RejectBookingPayload(booking=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Write down money received for a booking.")
    async def record_payment(
        self,
        info: Info,
        input: Annotated[RecordPaymentInput, strawberry.argument(description="What was received.")],
    ) -> RecordPaymentPayload:
        """QC-46."""
        outcome = await attempt(info, commands.RecordPayment, input, record_payment)
        payment = None if outcome.entity is None else Payment.of(outcome.entity)
        return RecordPaymentPayload(payment=payment, user_errors=outcome.errors)


def _shown(record: Record | None) -> Booking | None:
    return None if record is None else Booking.of(record)
