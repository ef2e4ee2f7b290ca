"""Tells webhooks what happens: at least once, whatever dies, and without one endpoint delaying another.

An activity gets an item for each endpoint that is told of it, before the position of the follower passes it. The
process that follows a part of the log sends what waits there. It alone changes these items, so it knows them without
reading.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import NamedTuple, NoReturn

from domain.activity import Activity
from domain.times import Instant, to_datetime
from domain.webhooks import WebhookStatus
from loaders.backend import Backend
from loaders.concurrency import together
from loaders.contracts.webhooks import WAITING_DELIVERIES
from loaders.following.attempts import Attempts, DeliveryWatcher, Sender
from loaders.following.deliveries import Deliveries
from loaders.following.endpoints import WRITES_AT_ONCE, Endpoints, Part, place_of, read_all
from loaders.following.followers import Fence
from loaders.following.loop import repeat
from loaders.following.webhook_tasks import WebhookTasks
from loaders.log import HORIZON
from loaders.table.clock import machine_timer
from loaders.writes.webhooks import FOLLOWER

_READ_SECONDS = 60.0
"""How often it is read what waits: the index may have lacked something that was written a moment before."""


class Pace(NamedTuple):
    """In seconds: how often it is looked for what is due, and for what others have changed."""

    step: float = 1.0
    look: float = 5.0


PACE = Pace()


class Webhooks:
    """Follows the log at once, and sends deliveries."""

    name = FOLLOWER
    is_ordered = False

    def __init__(
        self,
        backend: Backend,
        sender: Sender,
        watcher: DeliveryWatcher | None = None,
        horizon: timedelta = HORIZON,
        pace: Pace = PACE,
    ) -> None:
        self._backend = backend
        self._store = backend.store
        self._watcher = watcher
        self._pace = pace
        self._endpoints = Endpoints(backend.store)
        self._deliveries = Deliveries(backend)
        self._attempts = Attempts(backend, self._endpoints, self._deliveries, sender, watcher)
        self._tasks = WebhookTasks(backend, self._endpoints, self._deliveries, horizon)
        self._parts: dict[int, Part] = {}

    async def apply(self, shard: int, activities: Sequence[Activity], until: Instant, fence: Fence) -> None:
        """See Follower. An endpoint with too many deliveries that wait goes on from here later."""
        del shard, until
        part = self._part(fence)
        await part.is_loaded.wait()
        await self._know(part)
        creations = []
        for webhook in self._endpoints.all.values():
            told = [one for one in activities if one.occurred_at > webhook.since and webhook.wants(one)]
            if not told or webhook.status is WebhookStatus.DISABLED or part.is_behind(webhook):
                continue
            if len(told) > part.lane(webhook.webhook_id).room:
                await self._tasks.fall_behind(part, webhook, told[0].occurred_at)
            else:
                creations += [self._deliveries.create(part, webhook, one) for one in told]
        await together(creations, asyncio.Semaphore(WRITES_AT_ONCE))
        part.has_work.set()

    async def work(self, fence: Fence, may_work: Callable[[], bool]) -> NoReturn:
        """See Worker."""
        part = self._part(fence)
        try:
            async with asyncio.TaskGroup() as group:
                work = partial(self._round, part, group, may_work)
                await repeat(f"sending webhooks in part {fence.shard}", work, sleep=part.sleep)
        finally:
            if self._parts.get(fence.shard) is part:
                del self._parts[fence.shard]
            part.lanes.clear()
            self._report(part)

    def _part(self, fence: Fence) -> Part:
        known = self._parts.get(fence.shard)
        if known is None or known.fence.number < fence.number:
            self._parts[fence.shard] = known = Part(fence)
        return known

    async def _round(self, part: Part, group: asyncio.TaskGroup, may_work: Callable[[], bool]) -> float:
        if not may_work():
            return self._pace.step
        if machine_timer() >= part.reads_at:
            part.reads_at = machine_timer() + _READ_SECONDS
            for delivery in await read_all(self._store, WAITING_DELIVERIES, part.fence.shard, consistent=False):
                if place_of(delivery) not in part.lane(delivery.webhook_id).due:
                    part.lane(delivery.webhook_id).add(delivery)
        if not part.is_loaded.is_set():
            await self._know(part)
            part.is_loaded.set()
        if machine_timer() >= part.looks_at:
            part.looks_at = machine_timer() + self._pace.look
            await self._endpoints.refresh(self._pace.look)
            await self._tasks.read(part, consistent=part.revision != self._endpoints.revision)
            self._report(part)
        if part.tasks and not part.is_busy and machine_timer() >= part.acts_at:
            part.is_busy, part.acts_at = True, machine_timer() + self._pace.step
            group.create_task(self._tasks.carry_out(part))
        self._attempts.begin_due(part, group)
        return self._pace.step

    def _report(self, part: Part) -> None:
        if self._watcher is not None:
            active = {one.webhook_id for one in self._endpoints.all.values() if one.status is WebhookStatus.ACTIVE}
            places = [place for webhook_id, lane in part.lanes.items() if webhook_id in active for place in lane.due]
            now = to_datetime(self._backend.stamp().at)
            oldest = (now - to_datetime(min(places)[0])).total_seconds() if places else 0.0
            self._watcher.waiting(part.fence.shard, len(places), oldest)

    async def _know(self, part: Part) -> None:
        """Reads what has changed; who is enabled again has a task in the same moment."""
        await self._endpoints.refresh()
        if part.revision != self._endpoints.revision:
            revision = self._endpoints.revision
            await self._tasks.read(part, consistent=True)
            part.revision = revision
