"""Lockers: the type, its query and its mutations."""

from __future__ import annotations

import asyncio
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import strawberry

from domain.models import Locker as Record
from domain.models import LockerId, LockerStatus, LockerSummary
from domain.principal import Scope, acts_for, is_admin, may_see_locker, require
from domain.text import require_id
from domain.times import Instant
from loaders import reads
from loaders.batch import listed_lockers
from loaders.contract import Order
from resolvers.context import Info, selected_fields
from resolvers.events import AccessEvent
from resolvers.lazy import Lazy
from resolvers.permissions import admits, found_for
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

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from aiodataloader import DataLoader

    from domain.models import AccessEvent as EventRecord
    from domain.models import Reservation as ReservationRecord
    from loaders.pages import Page
    from resolvers.locations import Location
    from resolvers.owners import Owner

__all__ = ["Locker", "LockerQueries", "listed", "reads_beside", "reads_record"]

T = TypeVar("T")

_RECORD_FIELDS = frozenset({"version", "createdAt", "ownerId", "owner", "locationId", "location"})
"""What a list's copy does not have, so that a list must read the lockers themselves to show it."""

_NESTED_READS = frozenset({"activeReservation", "latestEvent", "reservations", "accessEvents"})


@strawberry.type(description="A physical locker.")
class Locker(Node):
    """Shown from its record, or in an owner's list from the owner's copy."""

    lazy: strawberry.Private[Lazy[Record]]
    summary: strawberry.Private[Record | LockerSummary | None]
    plain_id: strawberry.Private[LockerId]

    @classmethod
    def of(cls, record: Record) -> Locker:
        """A locker whose record is known."""
        return cls._made(record.locker_id, Lazy(record), record)

    @classmethod
    def listed(cls, summary: LockerSummary) -> Locker:
        """A locker of which the owner's copy is known, and no more is asked."""
        return cls._made(summary.locker_id, Lazy(), summary)

    @classmethod
    def _made(cls, locker_id: LockerId, lazy: Lazy[Record], summary: Record | LockerSummary | None) -> Locker:
        return cls(key=("Locker", locker_id), lazy=lazy, summary=summary, plain_id=locker_id)

    def _shown(self, name: str) -> Any:
        return self.lazy.attribute(name) if self.summary is None else getattr(self.summary, name)

    async def _below(
        self, info: Info, scope: Scope, read: Callable[[], Coroutine[Any, Any, T]], *, waits: bool = False
    ) -> T:
        """What hangs below the locker, for its owner: read beside its record where that is on its way, or after it."""
        principal = info.context.principal
        if self.summary is not None or waits:
            require(acts_for(principal, (self.summary or await self.lazy.record()).owner_id, scope))
            return await read()
        found = await self.lazy.beside(read())
        require(acts_for(principal, (await self.lazy.record()).owner_id, scope))
        return found

    @strawberry.field(description="Its own id.")
    def locker_id(self) -> strawberry.ID:
        """The id that queries and inputs take."""
        return strawberry.ID(self.plain_id)

    @strawberry.field(description="What people call it.")
    def alias(self) -> str | None:
        """From the record or the copy."""
        return self._shown("alias")  # type: ignore[no-any-return]

    @strawberry.field(description="What it is doing.")
    def status(self) -> LockerStatus:
        """From the record or the copy."""
        return self._shown("status")  # type: ignore[no-any-return]

    @strawberry.field(description="When it was last changed.")
    def updated_at(self) -> Instant:
        """From the record or the copy."""
        return self._shown("updated_at")  # type: ignore[no-any-return]

    @strawberry.field(description="Goes up by one with each change; send it as `expectedVersion`.")
    def version(self) -> int:
        """From the record."""
        return self.lazy.attribute("version")  # type: ignore[no-any-return]

    @strawberry.field(description="When it was registered.")
    def created_at(self) -> Instant:
        """From the record."""
        return self.lazy.attribute("created_at")  # type: ignore[no-any-return]

    @strawberry.field(description="The id of its owner.")
    def owner_id(self) -> strawberry.ID:
        """From the record."""
        return self.lazy.attribute("owner_id")  # type: ignore[no-any-return]

    @strawberry.field(description="Its owner.")
    async def owner(self, info: Info) -> Annotated[Owner, strawberry.lazy("resolvers.owners")] | None:
        """Read once for all lockers of the same owner in a request."""
        from resolvers.owners import Owner  # noqa: PLC0415  # the two modules name each other's types

        owner_id = (await self.lazy.record()).owner_id
        require(acts_for(info.context.principal, owner_id, Scope.OWNERS_READ))
        owner = await info.context.loaders.owner.load(owner_id)
        return None if owner is None else Owner.of(owner)

    @strawberry.field(description="The id of the location where it stands.")
    def location_id(self) -> strawberry.ID | None:
        """From the record."""
        return self.lazy.attribute("location_id")  # type: ignore[no-any-return]

    @strawberry.field(description="The location where it stands.")
    async def location(self, info: Info) -> Annotated[Location, strawberry.lazy("resolvers.locations")] | None:
        """Read once for all lockers of the same location in a request."""
        from resolvers.locations import Location  # noqa: PLC0415  # the two modules name each other's types

        location_id = (await self.lazy.record()).location_id
        location = location_id and await info.context.loaders.location.load(location_id)
        return Location.of(location) if location else None

    @strawberry.field(description="The reservation whose window holds this moment.")
    async def active_reservation(self, info: Info) -> Reservation | None:
        """QC-07."""
        loader = info.context.loaders.active_reservation
        # To read a pointer that has ended is to mend it, so whoever may not see it must not read it.
        waits = not is_admin(info.context.principal)
        read = partial(_loaded, loader, self.plain_id)
        record = await self._below(info, Scope.RESERVATIONS_READ, read, waits=waits)
        return None if record is None else Reservation.of(record)

    @strawberry.field(description="The newest access event.")
    async def latest_event(self, info: Info) -> AccessEvent | None:
        """QC-10."""
        loader = info.context.loaders.latest_event
        record = await self._below(info, Scope.EVENTS_READ, partial(_loaded, loader, self.plain_id))
        return None if record is None else AccessEvent.of(record)

    @strawberry.field(description="Its reservations that start in a window, cancelled ones included.")
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
        """QC-05."""
        part = slice_from(info, first, after, last, before)
        stretch, context = window_from(window), info.context

        async def read() -> Page[ReservationRecord]:
            reading = reads.locker_reservations(context.backend.store, self.plain_id, stretch, part, order_by)
            return await context.loaders.one_of_many(reading)

        return connection_of(await self._below(info, Scope.RESERVATIONS_READ, read), Reservation.of)

    @strawberry.field(description="Its access events in a window.")
    async def access_events(
        self,
        info: Info,
        window: WindowArgument = strawberry.UNSET,
        order_by: OrderArgument = Order.DESC,
        first: First = strawberry.UNSET,
        after: After = strawberry.UNSET,
        last: Last = strawberry.UNSET,
        before: Before = strawberry.UNSET,
    ) -> Connection[AccessEvent] | None:
        """QC-09."""
        part = slice_from(info, first, after, last, before)
        stretch, context = window_from(window), info.context

        async def read() -> Page[EventRecord]:
            reading = reads.access_events(context.backend.store, self.plain_id, stretch, part, order_by)
            return await context.loaders.one_of_many(reading)

        return connection_of(await self._below(info, Scope.EVENTS_READ, read), AccessEvent.of)


@strawberry.type
class LockerQueries:
    """Merged into Query."""

    @strawberry.field(description="A locker by its id.")
    async def locker(
        self,
        info: Info,
        locker_id: Annotated[strawberry.ID, strawberry.argument(description="The locker's id.")],
        consistent: Annotated[
            bool,
            strawberry.argument(description="Whether to read what the last acknowledged write left (twice the cost)."),
        ] = False,
    ) -> Locker | None:
        """QC-01; null with NOT_FOUND where there is none, with FORBIDDEN where it is somebody else's."""
        plain_id = LockerId(require_id(locker_id, "lockerId"))
        loading: asyncio.Future[Record | None]
        if consistent:
            loading = asyncio.ensure_future(reads.consistent_locker(info.context.backend.store, plain_id))
        else:
            loading = info.context.loaders.locker.load(plain_id)
        principal = info.context.principal

        def found(record: Record | None) -> Record:
            seen = record is not None and may_see_locker(principal, record.owner_id)
            return found_for(principal, record, f"There is no locker {plain_id}.", seen=seen)

        lazy = Lazy(loading=loading, found=found)
        # A field that is refused before it reads anything would never wait for the record, nor find it hidden.
        if any(admits(principal, "Locker", name) for name in selected_fields(info) & _NESTED_READS):
            return Locker._made(plain_id, lazy, None)  # noqa: SLF001  # the one place with a record on its way
        return Locker.of(await lazy.record())


def reads_beside(wanted: AbstractSet[str]) -> bool:
    """Whether, of these fields of a locker, some are read beside its record."""
    return not _NESTED_READS.isdisjoint(wanted)


def reads_record(wanted: AbstractSet[str]) -> bool:
    """Whether a list must read the lockers themselves to show these fields."""
    return not _RECORD_FIELDS.isdisjoint(wanted)


async def listed(info: Info, page: Page[LockerSummary]) -> Connection[Locker]:
    """A page of an owner's or a location's lockers.

    From the copies alone where they show all that is asked; else all that is shown of a locker is from one read of it.
    """
    wanted = selected_fields(info, "nodes") | selected_fields(info, "edges", "node")
    if not reads_record(wanted):
        return connection_of(page, Locker.listed)
    loaders = info.context.loaders
    principal = info.context.principal
    summaries = [summary for _, summary in page.entries]
    ids = [summary.locker_id for summary in summaries]
    # These need only the ids, so they set off now, together with the records.
    for field, scope, loader in (
        ("activeReservation", Scope.RESERVATIONS_READ, loaders.active_reservation),
        ("latestEvent", Scope.EVENTS_READ, loaders.latest_event),
    ):
        if field in wanted:
            for summary in summaries:
                if acts_for(principal, summary.owner_id, scope):
                    loader.load(summary.locker_id)
    records = dict(zip(ids, await listed_lockers(loaders, info.context.backend, ids), strict=True))

    def shown(summary: LockerSummary) -> Locker | None:
        record = records[summary.locker_id]
        # One that was given away since its copy was read is not in this list any more.
        return Locker.of(record) if record is not None and may_see_locker(principal, record.owner_id) else None

    return connection_of(page, shown)


async def _loaded(loader: DataLoader[LockerId, T], locker_id: LockerId) -> T:
    return await loader.load(locker_id)
