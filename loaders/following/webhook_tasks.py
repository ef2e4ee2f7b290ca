"""Tasks of webhooks: what an endpoint was not told at once, or is told again, is read from the log later."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta

from domain.errors import UnavailableError
from domain.times import Instant, shift
from domain.webhooks import TaskKind, Webhook, WebhookStatus, WebhookTask
from loaders.backend import Backend
from loaders.codecs import LogEntry
from loaders.concurrency import together
from loaders.contracts.following import LOG_TAIL
from loaders.contracts.webhooks import END_TASK, KEEP_TASK, WEBHOOK_TASKS
from loaders.conversion import DamagedItemError
from loaders.following.deliveries import Deliveries
from loaders.following.endpoints import MOST_WAITING, WRITES_AT_ONCE, Endpoints, Part, read_all
from loaders.following.tail import activities_in
from loaders.keys import log_stamp_of
from loaders.table.errors import ConditionFailedError, TransactionRefusedError
from loaders.table.positions import Position
from loaders.writes.webhooks import RESUME, task_of

logger = logging.getLogger(__name__)

_ENTRIES = 5000
"""How much of the log is read for one step of a task."""
_TICK = timedelta(milliseconds=1)


class WebhookTasks:
    def __init__(self, backend: Backend, endpoints: Endpoints, deliveries: Deliveries, horizon: timedelta) -> None:
        self._backend = backend
        self._store = backend.store
        self._endpoints = endpoints
        self._deliveries = deliveries
        self._horizon = horizon

    async def read(self, part: Part, *, consistent: bool) -> None:
        for task in await read_all(self._store, WEBHOOK_TASKS, part.fence.shard, consistent=consistent):
            if task.request_id in part.tasks:
                continue
            if task.request_id in part.ended:
                if task.kind is not TaskKind.RESUME:  # it was asked for again, and must not stand in the way of another
                    await self._end(part, task)
                continue
            # A former holder of the lease must not end what this process goes on with.
            is_own = task.kind is not TaskKind.RESUME or task.number == part.fence.number
            if is_own or await self._keep(replace(task, number=part.fence.number)):
                part.tasks[task.request_id] = task

    async def fall_behind(self, part: Part, webhook: Webhook, first: Instant) -> None:
        now = self._backend.stamp().at
        position = min(shift(first, -_TICK), shift(now, -self._horizon))
        task = task_of(self._backend, webhook, part.fence.shard, TaskKind.RESUME, RESUME, position)
        task = replace(task, number=part.fence.number)
        try:
            await self._store.put(KEEP_TASK.put(KEEP_TASK.record_step("new task", task)))
        except ConditionFailedError:  # its answer was lost, or it was behind before
            await self.read(part, consistent=True)
            if not part.is_behind(webhook):  # the task before is just being ended
                raise UnavailableError("A task is not gone yet.") from None
        else:
            part.tasks[task.request_id] = task
        logger.warning("webhook %s: too many deliveries wait", webhook.webhook_id)

    async def _keep(self, task: WebhookTask) -> bool:
        """Writes how far a task has got; returns whether it is still this one."""
        try:
            step = KEEP_TASK.record_step("progress", task, requestId=task.request_id, number=task.number)
            await self._store.put(KEEP_TASK.put(step))
        except ConditionFailedError:
            return False
        return True

    async def carry_out(self, part: Part) -> None:
        """One step of each task, as far as there is room for what it leads to."""
        try:
            for task in list(part.tasks.values()):
                webhook = self._endpoints.all.get(task.webhook_id)
                if webhook is None:
                    await self._end(part, task)
                elif task.kind is TaskKind.TEST:
                    await self._test(part, task)
                elif webhook.status is WebhookStatus.ACTIVE and part.lane(task.webhook_id).room >= _needed(task):
                    await self._tell(part, webhook, task)
        except Exception as error:  # whatever it is, it is tried again
            is_expected = isinstance(error, UnavailableError)
            logger.error("a task of webhooks failed", exc_info=None if is_expected else error)  # noqa: TRY400  # see above
        finally:
            part.is_busy = False

    async def _test(self, part: Part, task: WebhookTask) -> None:
        place = (task.position, str(task.activity_id))
        await self._deliveries.write(part, self._deliveries.new(part, task.webhook_id, place, happening=""))
        await self._end(part, task)

    async def _tell(self, part: Part, webhook: Webhook, task: WebhookTask) -> None:
        """Reads the log from the position of a task on, and writes deliveries of what the endpoint wants."""
        position, is_all = await self._tell_some(part, webhook, task)
        if not is_all:
            moved = replace(task, position=position, number=part.fence.number)
            if await self._keep(moved) or task.kind is TaskKind.RESUME:
                part.tasks[task.request_id] = moved
            else:
                part.tasks.pop(task.request_id)  # it was asked for anew
            return
        if task.kind is TaskKind.RESUME:
            # From now on it is told at once. What was logged up to this moment can be read now, so nothing is between.
            part.ended.add(task.request_id)
            _, is_all = await self._tell_some(part, webhook, replace(task, position=position))
            if not is_all:
                part.ended.discard(task.request_id)
                return
        await self._end(part, task)

    async def _tell_some(self, part: Part, webhook: Webhook, task: WebhookTask) -> tuple[Instant, bool]:
        """Returns up to where it has told everything, and whether that is all that there is."""
        asked_at, lane = self._backend.stamp().at, part.lane(task.webhook_id)
        horizon = shift(asked_at, -self._horizon)
        last = task.until or asked_at
        start, is_all, found = shift(task.position, _TICK), False, list[tuple[Position, LogEntry | DamagedItemError]]()
        while not is_all and len(found) < _ENTRIES:
            after = found[-1][0] if found else None
            more, is_all = await LOG_TAIL.read(self._store, part.fence.shard, start, consistent=True, after=after)
            found += more
        position = last
        if not is_all:  # the last of them may not be all of their millisecond
            position = shift(log_stamp_of(found[-1][0].sk), -_TICK)
            is_all = task.until is not None and position >= last
        wanted = [
            one
            for one in activities_in(entry for _, entry in found)
            if webhook.wants(one)
            and (task.kind is not TaskKind.RESUME or one.occurred_at > webhook.since)
            and (task.until is None or one.occurred_at <= last)
            and task.activity_id in {None, one.activity_id}
        ]
        if len(wanted) > lane.room:
            beyond = max(wanted[max(lane.room, 0)].occurred_at, shift(wanted[0].occurred_at, _TICK))
            wanted, is_all = [one for one in wanted if one.occurred_at < beyond], False
            position = shift(beyond, -_TICK)
        request_id = task.request_id
        if task.kind is TaskKind.RESUME:
            request_id, position = "", min(position, max(horizon, task.position))
        await together(
            [self._deliveries.create(part, webhook, one, request_id) for one in wanted],
            asyncio.Semaphore(WRITES_AT_ONCE),
        )
        part.has_work.set()
        return position, is_all

    async def _end(self, part: Part, task: WebhookTask) -> None:
        part.ended.add(task.request_id)
        key = (task.shard, task.webhook_id, task.task_id)
        step = END_TASK.step("task", key, requestId=task.request_id, number=part.fence.number)
        try:
            await self._store.transact(END_TASK.transact(step))
        except TransactionRefusedError:
            logger.info("a task of webhook %s was ended or asked for anew elsewhere", task.webhook_id)
        part.tasks.pop(task.request_id, None)


def _needed(task: WebhookTask) -> int:
    """How many deliveries more must have room for a task to go on: each step reads the log."""
    return 1 if task.activity_id is not None else MOST_WAITING // 2
