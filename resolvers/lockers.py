"""Lockers: the type, its query and its mutations."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from domain import commands
from domain.models import Locker as Record
from domain.models import LockerId, LockerStatus, LockerSummary
from domain.text import require_id
from domain.times import Instant
from loaders import reads
from loaders.contract import Order
from loaders.writes import lockers as writes
from resolvers.context import Info, selected_fields
from resolvers.errors import UserError, attempt
from resolvers.events import AccessEvent
from resolvers.lazy import Lazy
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
    from resolvers.owners import Owner

__all__ = ["RECORD_FIELDS", "Locker", "LockerMutations", "LockerQueries"]

RECORD_FIELDS = frozenset({"version", "createdAt", "ownerId", "owner"})
"""What an owner's copy does not have, so that a list must read the lockers themselves to show it."""

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

        owner = await info.context.loaders.owner.load((await self.lazy.record()).owner_id)
        return None if owner is None else Owner.of(owner)

    @strawberry.field(description="The reservation whose window holds this moment.")
    async def active_reservation(self, info: Info) -> Reservation | None:
        """QC-07."""
        record = await self.lazy.beside(_loaded(info.context.loaders.active_reservation.load(self.plain_id)))
        return None if record is None else Reservation.of(record)

    @strawberry.field(description="The newest access event.")
    async def latest_event(self, info: Info) -> AccessEvent | None:
        """QC-10."""
        record = await self.lazy.beside(_loaded(info.context.loaders.latest_event.load(self.plain_id)))
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
        store = info.context.backend.store
        reading = reads.locker_reservations(store, self.plain_id, window_from(window), part, order_by)
        page = await self.lazy.beside(info.context.loaders.one_of_many(reading))
        return connection_of(page, Reservation.of)

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
        store = info.context.backend.store
        reading = reads.access_events(store, self.plain_id, window_from(window), part, order_by)
        page = await self.lazy.beside(info.context.loaders.one_of_many(reading))
        return connection_of(page, AccessEvent.of)


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
        """QC-01; null with NOT_FOUND where there is none."""
        plain_id = LockerId(require_id(locker_id, "lockerId"))
        loading: asyncio.Future[Record | None]
        if consistent:
            loading = asyncio.ensure_future(reads.consistent_locker(info.context.backend.store, plain_id))
        else:
            loading = info.context.loaders.locker.load(plain_id)
        lazy = Lazy(loading=loading, name=f"locker {plain_id}")
        if selected_fields(info) & _NESTED_READS:
            return Locker._made(plain_id, lazy, None)  # noqa: SLF001  # the one place with a record on its way
        return Locker.of(await lazy.record())


@strawberry.input(description="Register a locker with an owner.")
class RegisterLockerInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET,
        description="An id of your choice: sent again with the same content, it gives the first result. Made here if "
        "left out.",
    )
    owner_id: strawberry.ID = strawberry.field(description="The owner, who must exist.")
    alias: str | None = strawberry.field(default=strawberry.UNSET, description="What people call it.")


@strawberry.input(description="Give a locker another alias.")
class RenameLockerInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    alias: str = strawberry.field(description="What people shall call it.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.input(description="Take a locker one step through its state machine.")
class UpdateLockerStatusInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    new_status: LockerStatus = strawberry.field(description="What it shall do.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.input(description="Give a locker to another owner.")
class TransferLockerInput:
    """See `domain.commands`."""

    locker_id: strawberry.ID = strawberry.field(description="The locker.")
    new_owner_id: strawberry.ID = strawberry.field(description="The new owner, who must exist.")
    expected_version: int = strawberry.field(description="The version that you have seen.")


@strawberry.type(description="What came of registering a locker.")
class RegisterLockerPayload:
    """The locker."""

    locker: Locker | None = strawberry.field(description="The locker, if it was registered.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of renaming a locker.")
class RenameLockerPayload:
    """The locker as it is now, after a conflict too."""

    locker: Locker | None = strawberry.field(description="The locker as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of changing a locker's status.")
class UpdateLockerStatusPayload:
    """The locker as it is now, after a conflict too."""

    locker: Locker | None = strawberry.field(description="The locker as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type(description="What came of transferring a locker.")
class TransferLockerPayload:
    """The locker as it is now, after a conflict too."""

    locker: Locker | None = strawberry.field(description="The locker as it is now, after a conflict too.")
    user_errors: list[UserError] = strawberry.field(description="What was wrong; empty if nothing was.")


@strawberry.type
class LockerMutations:
    """Merged into Mutation."""

    @strawberry.mutation(description="Register a locker with an owner that exists.")
    async def register_locker(
        self,
        info: Info,
        input: Annotated[RegisterLockerInput, strawberry.argument(description="What to register.")],
    ) -> RegisterLockerPayload:
        """QC-11."""
        outcome = await attempt(info, commands.RegisterLocker, input, writes.register_locker)
        return RegisterLockerPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Give a locker another alias.")
    async def rename_locker(
        self,
        info: Info,
        input: Annotated[RenameLockerInput, strawberry.argument(description="What to rename.")],
    ) -> RenameLockerPayload:
        """QC-12."""
        outcome = await attempt(info, commands.RenameLocker, input, writes.rename_locker)
        return RenameLockerPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Take a locker one step through its state machine.")
    async def update_locker_status(
        self,
        info: Info,
        input: Annotated[UpdateLockerStatusInput, strawberry.argument(description="What to change.")],
    ) -> UpdateLockerStatusPayload:
        """QC-03."""
        outcome = await attempt(info, commands.UpdateLockerStatus, input, writes.update_locker_status)
        return UpdateLockerStatusPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)

    @strawberry.mutation(description="Give a locker to another owner. Live reservations stay with whoever made them.")
    async def transfer_locker(
        self,
        info: Info,
        input: Annotated[TransferLockerInput, strawberry.argument(description="What to transfer.")],
    ) -> TransferLockerPayload:
        """QC-06."""
        outcome = await attempt(info, commands.TransferLocker, input, writes.transfer_locker)
        return TransferLockerPayload(locker=_shown(outcome.entity), user_errors=outcome.errors)


def _shown(record: Record | None) -> Locker | None:
    return None if record is None else Locker.of(record)


async def _loaded(loading: asyncio.Future[Any]) -> Any:
    return await loading
