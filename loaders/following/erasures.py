"""The sweeper that erases owners: page by page, from what is stored under an owner to everything that it leads to.

It begins when history is kept up to the request, and the requests of that time are over. Each page is done before the
position passes it, and finds nothing left to do if it is done again: after a failure, or by two processes at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.access_codes import GRACE, reservation_purpose
from domain.activity import ActivityKind, Happening, PastActivity
from domain.changes import revised
from domain.models import LockerId, Owner, OwnerId, door_of
from domain.times import EARLIEST, LATEST, Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import ACCESS_EVENT, Erasure
from loaders.concurrency import together
from loaders.contracts.access_codes import LOCKER_ACCESS_CODES, PURPOSE_ACCESS_CODES
from loaders.contracts.api_keys import API_KEYS
from loaders.contracts.budgets import CALLER_BUDGETS
from loaders.contracts.events import LOCKER_EVENTS
from loaders.contracts.following import LOG_LEASES
from loaders.contracts.owners import FINISH_ERASURE
from loaders.contracts.privacy import (
    ERASE_ITEMS,
    ERASURES,
    ITEMS_AS_THEY_ARE,
    ITEMS_TO_ERASE,
    KEEP_ERASURE,
    StoredItem,
)
from loaders.contracts.reading import ReadPage
from loaders.contracts.webhooks import WEBHOOK_LIST
from loaders.conversion import DamagedItemError
from loaders.following.catching_up import LEASES, kept_until
from loaders.following.erased_items import (
    Eraser,
    InUseError,
    activity_in,
    activity_keys,
    check_unused,
    keys_acted_on,
    keys_by_recipient,
    keys_with,
    pseudonym_of,
)
from loaders.following.followers import Fence
from loaders.pages import PageRequest
from loaders.table.clock import machine_timer
from loaders.table.errors import ConditionFailedError, TransactionRefusedError
from loaders.table.positions import Between, Key
from loaders.table.retry import pause
from loaders.table.values import Item, attributes_of, item_from_wire
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write
from loaders.writes.owners import change_steps

if TYPE_CHECKING:
    from loaders.table.operations import Step

logger = logging.getLogger(__name__)

_SECONDS = 3
"""After how long a sweep lets others of the process have their turn."""
_AT_ONCE = 8
_ROUNDS = 4
_MOST_SUBJECTS = 20


class Erasures:
    """Erases the owners whose profile was erased. What is done twice is harmless, so it needs no fence."""

    name = "erasures"

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def sweep(self, shard: int, now: Instant, fence: Fence) -> bool:
        del fence
        found, _ = await ERASURES.read(self._backend.store, shard, consistent=True)
        tasks = [task for _, task in found if isinstance(task, Erasure)]
        kept = kept_until(await LOG_LEASES.read_many(self._backend.store, LEASES, consistent=True)) if tasks else now
        left = [await self._advance(task, now) for task in tasks if task.requested_at < kept]
        return any(left)

    async def _advance(self, task: Erasure, now: Instant) -> bool:
        """Does some of a task; returns whether more of it can be done at once."""
        began = machine_timer()
        try:
            while task.stage <= len(_STAGES):
                if machine_timer() - began > _SECONDS:
                    return True
                task = await self._page(task, now)
                await self._keep(task)
            await self._finish(task)
        except InUseError:
            logger.warning("the erasure of an owner waits until nothing of it is in use")
        except (ConditionFailedError, TransactionRefusedError):
            logger.info("the erasure of an owner was faster elsewhere, or met another write")
        return False

    async def _keep(self, task: Erasure) -> None:
        step = KEEP_ERASURE.record_step("task", task, requestedAt=task.requested_at)
        await self._backend.store.put(KEEP_ERASURE.put(step))

    async def _page(self, task: Erasure, now: Instant) -> Erasure:
        """One page of a stage; after the last one, the next stage."""
        if task.stage == len(_STAGES):
            eraser = Eraser(task.owner_id, frozenset(task.subjects))
            await self._erase_each(eraser, [[key] async for key in self._listed()])
            return replace(task, stage=task.stage + 1)
        within = _STAGES[task.stage](task)
        after = None if task.position is None else Key(within.pk, task.position)
        found, is_all = await ITEMS_TO_ERASE.read(
            self._backend.store, within.pk, within.low, within.high, consistent=True, after=after
        )
        items = [item for _, item in found if isinstance(item, StoredItem)]
        if task.stage < _EVERYTHING:
            activities = map(activity_in, items)
            own = [one for one in activities if one is not None and one.actor_owner_id == task.owner_id]
            subjects = dict.fromkeys([*task.subjects, *(str(one.actor_subject) for one in own)])
            subjects.pop(pseudonym_of(task.owner_id), None)
            if len(subjects) > len(task.subjects):  # before they are erased, since nothing else tells them
                task = replace(task, subjects=tuple(subjects)[:_MOST_SUBJECTS])
                await self._keep(task)
            eraser = Eraser(task.owner_id, frozenset(subjects))
            decided = [await self._decided(one) for one in own]
            groups = [*decided, *map(keys_acted_on, own)]
            await self._erase_each(eraser, filter(None, groups))
            await self._erase_each(eraser, map(activity_keys, own))
        else:
            eraser = Eraser(task.owner_id, frozenset(task.subjects))
            for item in items:
                check_unused(item, now)
            found_by = await together([self._group(item) for item in items], asyncio.Semaphore(_AT_ONCE))
            await self._erase_each(eraser, [group for groups in found_by for group in groups])
        position = None if is_all else found[-1][0].sk
        return replace(task, stage=task.stage + is_all, position=position)

    async def _decided(self, activity: PastActivity) -> list[Key]:
        """The keys of a booking of somebody else that the owner has decided."""
        if activity.kind not in {ActivityKind.BOOKING_APPROVED, ActivityKind.BOOKING_REJECTED}:
            return []
        found: list[Any] = await self._read([keys.booking(activity.booking_id)])  # type: ignore[arg-type]
        copies = [keys.owner_booking(one["ownerId"], one["date"], one["bookingId"]) for one in found]
        return [keys.booking(one["bookingId"]) for one in found] + copies

    async def _group(self, item: StoredItem) -> list[list[Key]]:
        """The keys of items that are erased together with one that is stored under the owner."""
        together_with, made = keys_with(item), item.reservation
        if made is not None:
            codes = await self._codes(PURPOSE_ACCESS_CODES, reservation_purpose(made.locker_id, made.reservation_id))
            window = (made.start_at, shift(made.end_at, GRACE))
            return [together_with, *codes, *await self._events(item.owner_id, made.locker_id, *window)]
        if item.booking is not None:
            return [together_with, *await self._codes(PURPOSE_ACCESS_CODES, item.booking.booking_id)]
        if item.kind == "OWNER_LOCKER":
            locker = keys.locker(item.content["lockerId"])
            (found,) = await self._read([locker])
            location_id: Any = found.get("locationId")
            copies = [keys.owner_locker(item.owner_id, item.content["lockerId"])]
            copies += [] if location_id is None else [keys.location_locker(location_id, item.content["lockerId"])]
            codes = await self._codes(LOCKER_ACCESS_CODES, item.content["lockerId"])
            events = await self._events(item.owner_id, item.content["lockerId"], EARLIEST, LATEST)
            return [[locker, *copies], [keys.code_door(door_of(item.content["lockerId"], None))], *codes, *events]
        return [together_with] if together_with else []

    async def _events(self, actor_id: OwnerId, locker_id: LockerId, *window: Instant) -> list[list[Key]]:
        return [
            [ACCESS_EVENT.key_of(event), keys.door_event_claim(event.door, event.event_id)]
            async for event in self._each(LOCKER_EVENTS, locker_id, *window)
            if event.actor_id == actor_id
        ]

    async def _codes(self, contract: ReadPage[Any], *key: Any) -> list[list[Key]]:
        return [[keys.access_code(code.door, code.code_id)] async for code in self._each(contract, *key)]

    async def _listed(self) -> AsyncIterator[Key]:
        """The keys of all API keys, budgets and webhooks: the owner may have created any of them."""
        async for one in self._each(API_KEYS):
            yield keys.api_key(one.key_id)
        async for budget in self._each(CALLER_BUDGETS):
            yield keys.caller_budget(budget.payer)
        after, is_all = None, False
        while not is_all:
            found, is_all = await WEBHOOK_LIST.read(self._backend.store, consistent=True, after=after)
            for after, _ in found:  # the last one is where the next page begins
                yield Key(after.pk, after.sk)

    async def _each(self, contract: ReadPage[Any], *key: Any) -> AsyncIterator[Any]:
        cursor: str | None = None
        while True:
            request = PageRequest(contract.page_rule.maximum, cursor=cursor)
            page = await contract.page(self._backend.store, request, contract.orders[0], *key)
            for one in page.nodes:
                yield one
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _erase_each(self, eraser: Eraser, groups: Iterable[list[Key]]) -> None:
        different = dict.fromkeys(map(tuple, groups))
        await together([self._erase(eraser, group) for group in different], asyncio.Semaphore(_AT_ONCE))

    async def _erase(self, eraser: Eraser, group: tuple[Key, ...]) -> None:
        """Erases items in one transaction; the first key is that of the record that the others belong to."""
        for attempt in range(_ROUNDS):
            await pause(attempt)
            items = await self._read(group)
            items += await self._read([key for item in items for key in keys_by_recipient(item)])
            steps = [step for item in items for step in _steps(eraser, group[0], item)]
            try:
                if steps:
                    await self._backend.store.transact(ERASE_ITEMS.transact(*steps))
            except TransactionRefusedError:  # two groups may share an entry of the log
                if attempt == _ROUNDS - 1:
                    raise
            else:
                return

    async def _read(self, group: Sequence[Key]) -> list[Item]:
        found = await ITEMS_AS_THEY_ARE.read(self._backend.store, group)
        return [item_from_wire(item) for item in found.values()]

    async def _finish(self, task: Erasure) -> None:
        """Writes that the owner is erased, and tells it (QC-212)."""

        async def decide(_: Any) -> Decision[None]:
            owner: Owner | None = await FINISH_ERASURE.read(self._backend.store, "owner", task.owner_id)
            if owner is None:
                raise DamagedItemError(f"an erasure names {keys.masked(keys.owner(task.owner_id))}, which is lost")
            if owner.erased_at is not None:
                return Decision(None)  # another process was faster
            erased = revised(owner, self._backend.clock(), erased_at=self._backend.clock())
            done = FINISH_ERASURE.step("task", (task.shard, task.owner_id), requestedAt=task.requested_at)
            steps = [*change_steps(owner, erased), done]
            happening = Happening(kind=ActivityKind.OWNER_ERASED, owner_id=task.owner_id, version=erased.version)
            return Decision(None, steps, [happening])

        await optimistic_write(self._backend.store, FINISH_ERASURE, decide, log=Log(self._backend, None))


def _steps(eraser: Eraser, root: Key, item: Item) -> list[Step]:
    left = eraser.erase(item, root)
    if left is None:
        return [ERASE_ITEMS.as_read_step("gone item", item)]
    return [] if left == item else [ERASE_ITEMS.as_read_step("item", item, attributes_of(left))]


_STAGES: list[Callable[[Erasure], Between]] = [
    lambda task: keys.activities(f"actor:{task.owner_id}"),
    lambda task: keys.activities(f"owner:{task.owner_id}"),
    lambda task: keys.owner_items(task.owner_id),
]
"""The stages, in this order: what the owner did elsewhere, its history, then everything that is stored under it. The
subjects that are known after the first two are erased in access codes, then in API keys, budgets and webhooks."""
_EVERYTHING = 2
