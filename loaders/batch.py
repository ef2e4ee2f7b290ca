"""Loaders on BatchGetItem, one set a request: duplicates removed, order restored, every key read or an error."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Generic, TypeVar

from aiodataloader import DataLoader

from domain.api_keys import ApiKey, ApiKeyId
from domain.bookings import Booking, BookingId
from domain.models import (
    AccessEvent,
    EventId,
    Location,
    LocationId,
    Locker,
    LockerId,
    Owner,
    OwnerId,
    Reservation,
    ReservationId,
)
from domain.schedule import has_ended, is_current
from domain.times import Instant
from loaders import keys
from loaders.contracts import QC_01, QC_07, QC_15, QC_16, QC_20, QC_31, QC_41, QC_60
from loaders.items import ACCESS_EVENT, ACTIVE_POINTER, API_KEY, BOOKING, LOCATION, LOCKER, OWNER, RESERVATION
from loaders.reads import latest_event
from loaders.table.recording import ASKED_BY, Batch, asked_by, batched
from loaders.writes.timeline import repaired_pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Self

    from loaders.backend import Backend
    from loaders.contract import GetContract
    from loaders.items import Codec
    from loaders.table.operations import Key
    from loaders.table.recording import Recorder

__all__ = [
    "ActiveReservationByLockerLoader",
    "EntityByIdLoader",
    "LatestEventByLockerLoader",
    "Loaders",
    "listed_lockers",
    "open_loaders",
]

logger = logging.getLogger(__name__)

K = TypeVar("K")
T = TypeVar("T")

_BATCH_SIZE = 100
_QUERIES_AT_ONCE = 16


class RequestLoader(DataLoader[K, T | None], ABC, Generic[K, T]):
    """A loader of one request: its batches end with it, where aiodataloader would let them run on.

    In a request that is traced it knows which response paths asked for a key: a batch runs on behalf of all who asked,
    though only in the context of the first of them.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._askers: dict[K, list[str]] | None = None
        self._watched: Callable[[int, int], AbstractContextManager[None]] | None = None
        self._under_way: set[asyncio.Task[Any]] = set()
        self._is_stopped = False
        super().__init__()

    async def batch_load_fn(self, ids: list[K]) -> list[T | None]:
        """Reads what was asked for, unless nobody waits for it any more."""
        task = asyncio.current_task()
        if self._is_stopped or task is None:
            raise asyncio.CancelledError
        self._under_way.add(task)
        try:
            if self._watched is None or self._askers is None:
                return await self.read(ids)
            merged = sum(len(self._askers.get(entity_id, ())) for entity_id in ids)
            with self._watched(len(ids), max(merged, len(ids))):
                return await self.read(ids)
        finally:
            self._under_way.discard(task)

    @abstractmethod
    async def read(self, ids: list[K]) -> list[T | None]:
        """Reads one batch."""

    def stop(self) -> None:
        """Ends what is under way."""
        self._is_stopped = True
        for task in self._under_way:
            task.cancel()

    def watch(self, name: str, recorder: Recorder) -> None:
        """From here on notes who asks, and tells a recorder of every batch under the loader's name."""
        self._askers = {}
        self._watched = lambda size, merged: batched(Batch(name, size, merged), recorder)

    def load(self, key: K) -> asyncio.Future[T | None]:
        """Notes who asks, also for what is read already or on its way."""
        if self._askers is not None:
            self._askers.setdefault(key, []).extend(path for paths in ASKED_BY.get() for path in paths)
        return super().load(key)

    def clear(self, key: K) -> Self:
        """Forgets a key, and who asked for it."""
        if self._askers is not None:
            self._askers.pop(key, None)
        return super().clear(key)

    def clear_all(self) -> Self:
        """Forgets everything."""
        if self._askers is not None:
            self._askers.clear()
        return super().clear_all()

    def asked(self, *ids: K) -> AbstractContextManager[None]:
        """What is read inside is read on behalf of whoever asked for these."""
        if self._askers is None:
            return nullcontext()
        return asked_by(*(self._askers.get(entity_id, []) for entity_id in ids))


class EntityByIdLoader(RequestLoader[K, T], Generic[K, T]):
    """Loads entities by their ids: one BatchGetItem for what a request asks in the same moment."""

    max_batch_size = _BATCH_SIZE

    def __init__(self, backend: Backend, contract: GetContract, key: Callable[[K], Key], codec: Codec[T]) -> None:
        self._contract = contract
        self._key = key
        self._codec = codec
        super().__init__(backend)

    async def read(self, ids: list[K]) -> list[T | None]:
        """Reads what was asked for; an id that is not there is None."""
        wanted = [self._key(entity_id) for entity_id in ids]
        with self.asked(*ids):
            if len(wanted) == 1:
                item = await self._backend.store.get(self._contract.get(wanted[0]))
                found = {} if item is None else {wanted[0]: item}
            else:
                found = await self._backend.store.batch_get(self._contract.batch(wanted))
        return [self._codec.decode(found[key]) if key in found else None for key in wanted]


class ActiveReservationByLockerLoader(EntityByIdLoader[LockerId, Reservation]):
    """The reservation that is active now, from the pointer; one that has ended is mended on the way."""

    def __init__(self, backend: Backend, slots: asyncio.Semaphore) -> None:
        super().__init__(backend, QC_07, keys.active_pointer, ACTIVE_POINTER)
        self._slots = slots

    async def read(self, ids: list[LockerId]) -> list[Reservation | None]:
        """Reads the pointers, then looks behind those that have ended."""
        pointers = await super().read(ids)
        return list(await asyncio.gather(*map(self._active, pointers)))

    async def _active(self, pointed: Reservation | None) -> Reservation | None:
        now = self._backend.clock()
        if pointed is not None and has_ended(pointed, now):
            async with self._slots:
                with self.asked(pointed.locker_id):
                    pointed = await repaired_pointer(self._backend, pointed, now)
        return pointed if pointed is not None and is_current(pointed, now) else None


class LatestEventByLockerLoader(RequestLoader[LockerId, AccessEvent]):
    """The newest event of each locker. DynamoDB has no batched Query, so this bounds how many run at once."""

    def __init__(self, backend: Backend, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        super().__init__(backend)

    async def read(self, ids: list[LockerId]) -> list[AccessEvent | None]:
        """One Query of Limit 1 for each locker."""
        return list(await asyncio.gather(*map(self._latest, ids)))

    async def _latest(self, locker_id: LockerId) -> AccessEvent | None:
        async with self._slots:
            with self.asked(locker_id):
                return await latest_event(self._backend.store, locker_id)


async def listed_lockers(loaders: Loaders, backend: Backend, ids: Sequence[LockerId]) -> list[Locker | None]:
    """The lockers that the copies of a list name.

    One that a plain read does not find may be too new for it, so it is read strongly. What is missing even then is a
    copy without a locker: it is left out and reported, since one damaged row must not empty the page.
    """
    found = dict(zip(ids, await loaders.locker.load_many(ids), strict=True))
    missing = [locker_id for locker_id, locker in found.items() if locker is None]
    if missing:
        wanted = [keys.locker(locker_id) for locker_id in missing]
        items = await backend.store.batch_get(QC_01.batch(wanted, consistent=True))
        found |= {
            locker_id: LOCKER.decode(items[key]) for locker_id, key in zip(missing, wanted, strict=True) if key in items
        }
        for locker_id in missing:
            if found[locker_id] is None:
                logger.error("a copy names %s, which does not exist", keys.masked(keys.locker(locker_id)))
    return [found[locker_id] for locker_id in ids]


@dataclass(frozen=True, slots=True)
class Loaders:
    """The loaders of one request."""

    locker: EntityByIdLoader[LockerId, Locker]
    owner: EntityByIdLoader[OwnerId, Owner]
    reservation: EntityByIdLoader[tuple[LockerId, Instant, ReservationId], Reservation]
    event: EntityByIdLoader[tuple[LockerId, Instant, EventId], AccessEvent]
    location: EntityByIdLoader[LocationId, Location]
    booking: EntityByIdLoader[BookingId, Booking]
    api_key: EntityByIdLoader[ApiKeyId, ApiKey]
    active_reservation: ActiveReservationByLockerLoader
    latest_event: LatestEventByLockerLoader
    slots: asyncio.Semaphore
    """Bounds how many Queries of one request run at once: a list inside a list is one for each parent."""

    def forget(self) -> None:
        """Drops what was read so far: a write may have changed it."""
        for _, loader in self.each():
            loader.clear_all()

    def stop(self) -> None:
        """Ends what is being read: no read may outlive its request."""
        for _, loader in self.each():
            loader.stop()

    def each(self) -> Iterator[tuple[str, RequestLoader[Any, Any]]]:
        """The loaders, each with its name."""
        members = ((field.name, getattr(self, field.name)) for field in fields(self))
        return ((name, member) for name, member in members if isinstance(member, RequestLoader))

    async def one_of_many(self, reading: Coroutine[Any, Any, T]) -> T:
        """The result of a Query that may be one of very many, when its turn comes."""
        try:
            async with self.slots:
                return await reading
        finally:
            reading.close()  # of a request that ended before its turn came


def open_loaders(backend: Backend, recorder: Recorder | None = None) -> Loaders:
    """A fresh set: what one request has read, another never sees. A recorder is told of every batch."""
    slots = asyncio.Semaphore(_QUERIES_AT_ONCE)
    loaders = Loaders(
        locker=EntityByIdLoader(backend, QC_01, keys.locker, LOCKER),
        owner=EntityByIdLoader(backend, QC_20, keys.owner, OWNER),
        reservation=EntityByIdLoader(backend, QC_15, lambda place: keys.reservation(*place), RESERVATION),
        event=EntityByIdLoader(backend, QC_16, lambda place: keys.event(*place), ACCESS_EVENT),
        location=EntityByIdLoader(backend, QC_31, keys.location, LOCATION),
        booking=EntityByIdLoader(backend, QC_41, keys.booking, BOOKING),
        api_key=EntityByIdLoader(backend, QC_60, keys.api_key, API_KEY),
        active_reservation=ActiveReservationByLockerLoader(backend, slots),
        latest_event=LatestEventByLockerLoader(backend, slots),
        slots=slots,
    )
    if recorder is not None:
        for name, loader in loaders.each():
            loader.watch(name, recorder)
    return loaders
