"""Owners: the type and its queries."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import partial
from typing import Annotated

import strawberry

from domain.errors import BadInputError, ForbiddenError
from domain.models import Owner as Record
from domain.models import OwnerId, OwnerKind, OwnerRole
from domain.principal import Scope, absent, acts_for, may_reach_owner, may_see_locker, may_see_notifications, require
from domain.text import check_email, require_id
from domain.times import Instant
from loaders import reads
from loaders.contract import Order
from resolvers.bookings import Booking, Notification
from resolvers.context import Info, selected_fields
from resolvers.lazy import Lazy, there
from resolvers.lockers import Locker, listed
from resolvers.relay import (
    After,
    Before,
    Connection,
    First,
    Last,
    Node,
    OrderArgument,
    WindowArgument,
    connection_of,
    slice_from,
    window_from,
)
from resolvers.reservations import Reservation

__all__ = ["Owner", "OwnerQueries", "reads_profile"]

_LISTS = frozenset({"lockers", "reservations", "bookings", "notifications"})
_KNOWN_FIELDS = _LISTS | {"id", "ownerId", "__typename"}


@strawberry.type(description="A person or organisation that has lockers and makes reservations.")
class Owner(Node):
    """Its lists need only its id, so they are read beside its profile, or without it."""

    lazy: strawberry.Private[Lazy[Record]]
    plain_id: strawberry.Private[OwnerId]

    @classmethod
    def of(cls, record: Record) -> Owner:
        """An owner whose profile is known."""
        return cls.at(record.owner_id, Lazy(record))

    @classmethod
    def at(cls, owner_id: OwnerId, lazy: Lazy[Record]) -> Owner:
        """An owner whose profile may be on its way."""
        return cls(key=("Owner", owner_id), lazy=lazy, plain_id=owner_id)

    @strawberry.field(description="Its own id.")
    def owner_id(self) -> strawberry.ID:
        """The id that queries and inputs take."""
        return strawberry.ID(self.plain_id)

    @strawberry.field(description="A person or an organisation.")
    def kind(self) -> OwnerKind:
        """From the profile."""
        return self.lazy.attribute("kind")  # type: ignore[no-any-return]

    @strawberry.field(description="Its name.")
    def name(self) -> str:
        """From the profile."""
        return self.lazy.attribute("name")  # type: ignore[no-any-return]

    @strawberry.field(description="Its e-mail address, as it was written.")
    def email(self) -> str | None:
        """From the profile."""
        return self.lazy.attribute("email")  # type: ignore[no-any-return]

    @strawberry.field(description="Its telephone number.")
    def phone(self) -> str | None:
        """From the profile."""
        return self.lazy.attribute("phone")  # type: ignore[no-any-return]

    @strawberry.field(description="What it may do beside using lockers.")
    def role(self) -> OwnerRole:
        """From the profile."""
        return self.lazy.attribute("role")  # type: ignore[no-any-return]

    @strawberry.field(description="Goes up by one with each change; send it as `expectedVersion`.")
    def version(self) -> int:
        """From the profile."""
        return self.lazy.attribute("version")  # type: ignore[no-any-return]

    @strawberry.field(description="When it was created.")
    def created_at(self) -> Instant:
        """From the profile."""
        return self.lazy.attribute("created_at")  # type: ignore[no-any-return]

    @strawberry.field(description="When it was last changed.")
    def updated_at(self) -> Instant:
        """From the profile."""
        return self.lazy.attribute("updated_at")  # type: ignore[no-any-return]

    @strawberry.field(description="Its lockers, by lockerId.")
    async def lockers(
        self,
        info: Info,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[Locker] | None:
        """QC-02, and QC-01 where more is asked than the copies show."""
        require(may_see_locker(info.context.principal, self.plain_id))
        part = slice_from(info, first, after, last, before)
        reading = reads.owner_lockers(info.context.backend.store, self.plain_id, part)
        return await listed(info, await info.context.loaders.one_of_many(reading))

    @strawberry.field(description="The reservations that it made and that start in a window.")
    async def reservations(
        self,
        info: Info,
        window: WindowArgument = strawberry.UNSET,
        order_by: OrderArgument = Order.ASC,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[Reservation] | None:
        """QC-14."""
        require(acts_for(info.context.principal, self.plain_id, Scope.RESERVATIONS_READ))
        part = slice_from(info, first, after, last, before)
        store = info.context.backend.store
        reading = reads.owner_reservations(store, self.plain_id, window_from(window), part, order_by)
        page = await info.context.loaders.one_of_many(reading)
        return connection_of(page, Reservation.of)

    @strawberry.field(description="The bookings that it asked for, by date.")
    async def bookings(
        self,
        info: Info,
        order_by: OrderArgument = Order.ASC,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[Booking] | None:
        """QC-45."""
        require(acts_for(info.context.principal, self.plain_id, Scope.BOOKINGS_READ))
        part = slice_from(info, first, after, last, before)
        reading = reads.owner_bookings(info.context.backend.store, self.plain_id, part, order_by)
        page = await info.context.loaders.one_of_many(reading)
        return connection_of(page, Booking.of)

    @strawberry.field(description="What it was told of decisions, newest first.")
    async def notifications(
        self,
        info: Info,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[Notification] | None:
        """QC-48."""
        require(may_see_notifications(info.context.principal, self.plain_id))
        part = slice_from(info, first, after, last, before)
        reading = reads.owner_notifications(info.context.backend.store, self.plain_id, part)
        page = await info.context.loaders.one_of_many(reading)
        return connection_of(page, Notification.of)


def reads_profile(wanted: AbstractSet[str]) -> bool:
    """Whether these fields of an owner need more than its id; what is asked for by its id alone is still looked up."""
    return not (wanted & _LISTS and wanted <= _KNOWN_FIELDS)


def _refused(_: Record | None) -> Record:
    raise ForbiddenError


@strawberry.type
class OwnerQueries:
    """Merged into Query."""

    @strawberry.field(description="An owner by its id.")
    async def owner(
        self,
        info: Info,
        owner_id: Annotated[strawberry.ID, strawberry.argument(description="The owner's id.")],
    ) -> Owner | None:
        """QC-20; null with NOT_FOUND where there is none.

        The profile is not read where only lists are asked for, nor for who may not see it: its fields refuse then.
        """
        plain_id = OwnerId(require_id(owner_id, "ownerId"))
        principal = info.context.principal
        require(may_reach_owner(principal, plain_id))
        wanted = selected_fields(info)
        if not reads_profile(wanted):
            return Owner.at(plain_id, Lazy())
        if not acts_for(principal, plain_id, Scope.OWNERS_READ):
            require(not wanted <= _KNOWN_FIELDS)  # by its id alone it is asked for to learn whether it is there
            return Owner.at(plain_id, Lazy(found=_refused))
        found = partial(there, name=f"owner {plain_id}")
        lazy: Lazy[Record] = Lazy(loading=info.context.loaders.owner.load(plain_id), found=found)
        if wanted & _LISTS:
            return Owner.at(plain_id, lazy)
        return Owner.of(await lazy.record())

    @strawberry.field(description="An owner by its e-mail address, in any case of letters.")
    async def owner_by_email(
        self,
        info: Info,
        email: Annotated[str, strawberry.argument(description="The e-mail address.")],
    ) -> Owner | None:
        """QC-21; null with NOT_FOUND where there is none, with FORBIDDEN where it is somebody else's."""
        try:
            address = check_email(email)
        except ValueError as error:
            raise BadInputError(f"email {error}", ("email",)) from error
        principal = info.context.principal
        record = await reads.owner_by_email(
            info.context.backend.store, address, lambda owner_id: acts_for(principal, owner_id, Scope.OWNERS_READ)
        )
        if record is None:
            raise absent(principal, "There is no owner with this e-mail address.")
        return Owner.of(record)
