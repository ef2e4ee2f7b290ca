"""Bookings, payments and notifications: the types and queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain.bookings import Booking as Record
from domain.bookings import BookingId, BookingStatus, Duration
from domain.bookings import Notification as NotificationRecord
from domain.bookings import Payment as PaymentRecord
from domain.principal import Scope, acts_for, require
from domain.text import require_id
from domain.times import Day, Instant
from loaders import reads
from resolvers.context import Info
from resolvers.permissions import found_for
from resolvers.relay import After, Before, Connection, First, Last, Node, connection_of, slice_from
from resolvers.scalars import ExactNumber

if TYPE_CHECKING:
    from resolvers.locations import Location
    from resolvers.owners import Owner

__all__ = ["Booking", "BookingQueries", "Notification", "Payment"]


@strawberry.type(description="Money received for a booking.")
class Payment:
    """Never changed once written."""

    payment_id: strawberry.ID = strawberry.field(description="Its own id, unique within its booking.")
    booking_id: strawberry.ID = strawberry.field(description="The booking's id.")
    amount: ExactNumber = strawberry.field(description="How much.")
    currency: str = strawberry.field(description="In which currency of ISO 4217.")
    method: str | None = strawberry.field(description="How it was paid.")
    paid_at: Instant = strawberry.field(description="When it was paid.")
    recorded_at: Instant = strawberry.field(description="When the server wrote it down.")

    @classmethod
    def of(cls, record: PaymentRecord) -> Payment:
        """The payment as the schema shows it."""
        return cls(
            payment_id=strawberry.ID(record.payment_id),
            booking_id=strawberry.ID(record.booking_id),
            amount=ExactNumber(record.amount),
            currency=record.currency,
            method=record.method,
            paid_at=record.paid_at,
            recorded_at=record.recorded_at,
        )


@strawberry.type(description="A request for a location's day or half day, and what became of it.")
class Booking(Node):
    """All of it is in one item."""

    record: strawberry.Private[Record]
    booking_id: strawberry.ID = strawberry.field(description="Its own id.")
    location_id: strawberry.ID = strawberry.field(description="The location's id.")
    owner_id: strawberry.ID = strawberry.field(description="The id of who asked for it.")
    date: Day = strawberry.field(description="The day.")
    duration: Duration = strawberry.field(description="How much of it.")
    description: str = strawberry.field(description="What it is for.")
    attendees: int = strawberry.field(description="How many people come.")
    status: BookingStatus = strawberry.field(description="Where it stands.")
    requested_at: Instant = strawberry.field(description="When it was asked for.")
    updated_at: Instant = strawberry.field(description="When it was last changed.")
    decided_by: strawberry.ID | None = strawberry.field(description="The id of the admin who decided it.")
    reason: str | None = strawberry.field(description="Why it was turned down.")
    version: int = strawberry.field(description="Goes up by one with each change; send it as `expectedVersion`.")

    @classmethod
    def of(cls, record: Record) -> Booking:
        """The booking as the schema shows it."""
        return cls(
            key=("Booking", record.booking_id),
            record=record,
            booking_id=strawberry.ID(record.booking_id),
            location_id=strawberry.ID(record.location_id),
            owner_id=strawberry.ID(record.owner_id),
            date=record.date,
            duration=record.duration,
            description=record.description,
            attendees=record.attendees,
            status=record.status,
            requested_at=record.requested_at,
            updated_at=record.updated_at,
            decided_by=None if record.decided_by is None else strawberry.ID(record.decided_by),
            reason=record.reason,
            version=record.version,
        )

    @strawberry.field(description="The location.")
    async def location(self, info: Info) -> Annotated[Location, strawberry.lazy("resolvers.locations")] | None:
        """Read once for all bookings of it in a request."""
        from resolvers.locations import Location  # noqa: PLC0415  # the two modules name each other's types

        location = await info.context.loaders.location.load(self.record.location_id)
        return None if location is None else Location.of(location)

    @strawberry.field(description="Who asked for it.")
    async def owner(self, info: Info) -> Annotated[Owner, strawberry.lazy("resolvers.owners")] | None:
        """Read once for all bookings of it in a request."""
        from resolvers.owners import Owner  # noqa: PLC0415  # the two modules name each other's types

        require(acts_for(info.context.principal, self.record.owner_id, Scope.OWNERS_READ))
        owner = await info.context.loaders.owner.load(self.record.owner_id)
        return None if owner is None else Owner.of(owner)

    @strawberry.field(description="The money received for it.")
    async def payments(
        self,
        info: Info,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[Payment] | None:
        """QC-47."""
        require(acts_for(info.context.principal, self.record.owner_id, Scope.BOOKINGS_READ))
        part = slice_from(info, first, after, last, before)
        reading = reads.booking_payments(info.context.backend.store, self.record.booking_id, part)
        page = await info.context.loaders.one_of_many(reading)
        return connection_of(page, Payment.of)


@strawberry.type(description="What an owner was told of a decision.")
class Notification:
    """Written with the decision itself."""

    record: strawberry.Private[NotificationRecord]
    notification_id: strawberry.ID = strawberry.field(description="Its own id.")
    booking_id: strawberry.ID = strawberry.field(description="The booking's id.")
    booking_status: BookingStatus = strawberry.field(description="What was decided.")
    message: str = strawberry.field(description="What the owner was told.")
    created_at: Instant = strawberry.field(description="When.")

    @classmethod
    def of(cls, record: NotificationRecord) -> Notification:
        """The notification as the schema shows it."""
        return cls(
            record=record,
            notification_id=strawberry.ID(record.notification_id),
            booking_id=strawberry.ID(record.booking_id),
            booking_status=record.booking_status,
            message=record.message,
            created_at=record.created_at,
        )

    @strawberry.field(description="The booking.")
    async def booking(self, info: Info) -> Booking | None:
        """Read once for all notifications of it in a request."""
        require(acts_for(info.context.principal, self.record.owner_id, Scope.BOOKINGS_READ))
        booking = await info.context.loaders.booking.load(self.record.booking_id)
        return None if booking is None else Booking.of(booking)


@strawberry.type
class BookingQueries:
    """Merged into Query."""

    @strawberry.field(description="A booking by its id.")
    async def booking(
        self,
        info: Info,
        booking_id: Annotated[strawberry.ID, strawberry.argument(description="The booking's id.")],
    ) -> Booking | None:
        """QC-41; null with NOT_FOUND where there is none, with FORBIDDEN where it is somebody else's."""
        plain_id = BookingId(require_id(booking_id, "bookingId"))
        principal = info.context.principal
        record = await info.context.loaders.booking.load(plain_id)
        seen = record is not None and acts_for(principal, record.owner_id, Scope.BOOKINGS_READ)
        return Booking.of(found_for(principal, record, f"There is no booking {plain_id}.", seen=seen))

    @strawberry.field(description="The bookings that nobody has decided, oldest first.")
    async def pending_bookings(
        self,
        info: Info,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[Booking] | None:
        """QC-42."""
        part = slice_from(info, first, after, last, before)
        return connection_of(await reads.pending_bookings(info.context.backend.store, part), Booking.of)
