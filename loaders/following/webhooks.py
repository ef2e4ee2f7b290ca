"""Tells webhooks what happens: at least once, whatever dies, and without one endpoint delaying another.

An activity gets an item for each endpoint that is told of it, before the position of the follower passes it. The
process that follows a part of the log sends what waits there. It alone changes these items, so it knows them without
reading.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, NoReturn, Protocol

from domain.activity import Activity
from domain.errors import UnavailableError
from domain.times import Instant, shift, to_datetime, to_seconds
from domain.webhook_bodies import body_of_test, delivery_body, reference_key
from domain.webhook_signatures import secret_of, signed_headers
from domain.webhooks import (
    GIVE_UP_AFTER,
    Answer,
    Delivery,
    DeliveryStatus,
    DisabledReason,
    TaskKind,
    Webhook,
    WebhookId,
    WebhookStatus,
    WebhookTask,
    pause_after,
)
from loaders.backend import Backend
from loaders.codecs import DELIVERY, WEBHOOK, LogEntry
from loaders.concurrency import together
from loaders.contracts.following import LOG_TAIL
from loaders.contracts.reservations import RESERVATION_BY_KEY
from loaders.contracts.webhooks import (
    DELIVERY_BY_KEY,
    END_TASK,
    KEEP_DELIVERY,
    KEEP_TASK,
    MARK_WEBHOOK,
    WAITING_DELIVERIES,
    WEBHOOK_TASKS,
)
from loaders.conversion import DamagedItemError
from loaders.following.endpoints import (
    MOST_WAITING,
    Endpoints,
    Health,
    Lane,
    Part,
    Place,
    place_of,
    read_all,
)
from loaders.following.followers import Fence
from loaders.following.loop import repeat
from loaders.following.tail import activities_in
from loaders.keys import log_stamp_of
from loaders.log import HORIZON, decode_happening, encode_happenings
from loaders.table.clock import machine_timer
from loaders.table.errors import ConditionFailedError, TransactionRefusedError
from loaders.table.positions import Position
from loaders.writes.webhooks import FOLLOWER, RESUME, disable_failing, task_of

logger = logging.getLogger(__name__)

AT_ONCE = 400
"""Attempts of a process at the same time; endpoints that do not work have half of them."""
_OF_ONE = 8
_WRITES_AT_ONCE = 32
_MARK_SECONDS = 600.0
_READ_SECONDS = 60.0
"""How often it is read what waits: the index may have lacked something that was written a moment before."""
_ENTRIES = 5000
"""How much of the log is read for one step of a task."""
_TICK = timedelta(milliseconds=1)
_AGAIN = timedelta(seconds=5)
"""After which an attempt is made again whose result could not be written."""


class Pace(NamedTuple):
    """In seconds: how often it is looked for what is due, and for what others have changed."""

    step: float = 1.0
    look: float = 5.0


PACE = Pace()


class Sender(Protocol):
    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """One attempt; its failure is an answer, too."""


class DeliveryWatcher(Protocol):
    """Is told how deliveries go."""

    def attempted(self, *, is_success: bool) -> None:
        """An attempt has ended."""

    def waiting(self, shard: int, number: int, oldest: float) -> None:
        """How many deliveries to enabled endpoints wait in a part, and how many seconds ago the oldest activity was."""


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
        self._sender = sender
        self._watcher = watcher
        self._horizon = horizon
        self._pace = pace
        self._endpoints = Endpoints(backend.store)
        self._parts: dict[int, Part] = {}
        self._health: dict[WebhookId, Health] = {}
        self._sending = 0

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
                await self._fall_behind(part, webhook, told[0].occurred_at)
            else:
                creations += [self._create(part, webhook, one) for one in told]
        await together(creations, asyncio.Semaphore(_WRITES_AT_ONCE))
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
            await self._read_tasks(part, consistent=part.revision != self._endpoints.revision)
            self._report(part)
        if part.tasks and not part.is_busy and machine_timer() >= part.acts_at:
            part.is_busy, part.acts_at = True, machine_timer() + self._pace.step
            group.create_task(self._carry_out(part))
        self._begin_due(part, group)
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
            await self._read_tasks(part, consistent=True)
            part.revision = revision

    async def _read_tasks(self, part: Part, *, consistent: bool) -> None:
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

    async def _fall_behind(self, part: Part, webhook: Webhook, first: Instant) -> None:
        now = self._backend.stamp().at
        position = min(shift(first, -_TICK), shift(now, -self._horizon))
        task = task_of(self._backend, webhook, part.fence.shard, TaskKind.RESUME, RESUME, position)
        task = replace(task, number=part.fence.number)
        try:
            await self._store.put(KEEP_TASK.put(KEEP_TASK.record_step("new task", task)))
        except ConditionFailedError:  # its answer was lost, or it was behind before
            await self._read_tasks(part, consistent=True)
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

    async def _create(self, part: Part, webhook: Webhook, activity: Activity, request_id: str = "") -> None:
        """Writes a delivery unless it is there; with the request_id of a task, also if it was sent before."""
        told = {"kind": activity.happening.kind, "happening": encode_happenings([(0, activity.happening)])}
        place = (activity.occurred_at, activity.activity_id)
        await self._write(part, self._delivery(part, webhook.webhook_id, place, request_id=request_id, **told))

    def _delivery(self, part: Part, webhook_id: WebhookId, place: Place, **more: Any) -> Delivery:
        occurred_at, activity_id = place
        return Delivery(
            webhook_id=webhook_id,
            shard=part.fence.shard,
            occurred_at=occurred_at,
            activity_id=activity_id,
            status=DeliveryStatus.WAITING,
            attempts=0,
            next_attempt_at=self._backend.clock(),
            expires_at=to_seconds(shift(occurred_at, self._backend.retention.log)),
            **more,
        )

    async def _write(self, part: Part, delivery: Delivery) -> None:
        if delivery.request_id:
            step = KEEP_DELIVERY.record_step("delivery again", delivery, requestId=delivery.request_id)
        else:
            step = KEEP_DELIVERY.record_step("new delivery", delivery)
        lane = part.lane(delivery.webhook_id)
        try:
            await self._store.put(KEEP_DELIVERY.put(step))
        except ConditionFailedError as error:
            self._learn(part, lane, error, place_of(delivery))
        else:
            lane.add(delivery, is_fresh=True)

    def _learn(self, part: Part, lane: Lane, error: ConditionFailedError, place: Place) -> None:
        """Remembers a delivery as it is in the table, where it is not as it was thought to be."""
        found = None if error.item is None else DELIVERY.decode(error.item)
        if found is None or found.status is not DeliveryStatus.WAITING or found.shard != part.fence.shard:
            lane.drop(place)
        elif place not in lane.due:
            lane.add(found)

    def _begin_due(self, part: Part, group: asyncio.TaskGroup) -> None:
        now, lanes = self._backend.clock(), list(part.lanes.items())
        random.shuffle(lanes)  # so that none is always the last one
        for webhook_id, lane in lanes:
            webhook, health = self._endpoints.all.get(webhook_id), self._health.setdefault(webhook_id, Health())
            if webhook is None and not lane.is_abandoned:
                lane.is_abandoned = True
                group.create_task(self._abandon(part, webhook_id, lane))
            if webhook is None or webhook.status is WebhookStatus.DISABLED or health.paused_until > now:
                continue
            most, of_one = (AT_ONCE, _OF_ONE) if health.works else (AT_ONCE // 2, 1)
            while self._sending < most and health.sending < of_one and (place := lane.take(now)) is not None:
                self._sending += 1
                health.sending += 1
                group.create_task(self._attempt(part, lane, webhook, place))

    async def _abandon(self, part: Part, webhook_id: WebhookId, lane: Lane) -> None:
        """Takes what waits for an endpoint that was deleted out of the list of what waits."""
        try:
            for place in list(lane.due):
                delivery = await DELIVERY_BY_KEY.read(self._store, webhook_id, *place)
                if delivery is not None and delivery.status is DeliveryStatus.WAITING:
                    failed = replace(delivery, status=DeliveryStatus.FAILED, next_attempt_at=None)
                    await self._settle(part, lane, delivery, failed)
                lane.drop(place)
            part.lanes.pop(webhook_id, None)
        except Exception:  # noqa: BLE001  # it is tried again in the next round
            lane.is_abandoned = False

    async def _attempt(self, part: Part, lane: Lane, webhook: Webhook, place: Place) -> None:
        health, is_settled = self._health[webhook.webhook_id], False
        try:
            delivery = lane.record(place)
            if delivery is None:
                delivery = await DELIVERY_BY_KEY.read(self._store, webhook.webhook_id, *place)
            if delivery is None or delivery.status is not DeliveryStatus.WAITING:
                lane.drop(place)
                return
            answer = await self._send(webhook, delivery)
            await self._settle(part, lane, delivery, self._after(delivery, answer))
            is_settled = True
            await self._mark(webhook, health, answer)
        except Exception as error:  # whatever it is, others go on
            is_expected = isinstance(error, UnavailableError)
            logger.error(  # noqa: TRY400  # with a trace only where it is a fault of ours
                "webhook %s: an attempt failed, and is made again",
                webhook.webhook_id,
                exc_info=None if is_expected else error,
            )
            if place in lane.due and not is_settled:
                lane.due[place] = shift(self._backend.clock(), _AGAIN)
        finally:
            self._sending -= 1
            health.sending -= 1
            lane.give_back(place)
            part.has_work.set()

    async def _send(self, webhook: Webhook, delivery: Delivery) -> Answer:
        body = await self._body(webhook, delivery)
        stamp, ring = self._backend.stamp().at, self._backend.code_ring()
        secrets = [
            secret_of(ring, key_id, webhook.webhook_id, secret_id)
            for key_id, secret_id in webhook.secrets(self._backend.clock())
        ]
        headers = signed_headers(secrets, delivery.activity_id, to_seconds(stamp), body)
        answer = await self._sender.send(webhook.url, headers, body)
        if self._watcher is not None:
            self._watcher.attempted(is_success=answer.is_success)
        fields = {
            "webhook": webhook.webhook_id,
            "activity": delivery.activity_id,
            "attempt": delivery.attempts + 1,
            "status": answer.status or answer.error,
            "duration_ms": answer.milliseconds,
        }
        logger.info("webhook", extra={"fields": fields})
        return answer

    async def _body(self, webhook: Webhook, delivery: Delivery) -> bytes:
        if delivery.kind is None:
            return body_of_test(webhook.webhook_id, delivery.occurred_at)
        happening = decode_happening(delivery.happening)
        activity = Activity(
            activity_id=delivery.activity_id, occurred_at=delivery.occurred_at, actor=None, happening=happening
        )
        named = reference_key(happening, webhook.owner_id)
        reservation = None if named is None else await RESERVATION_BY_KEY.read(self._store, *named)
        return delivery_body(activity, None if reservation is None else reservation.reference, webhook.owner_id)

    def _after(self, delivery: Delivery, answer: Answer) -> Delivery:
        """A delivery after an attempt."""
        now, attempts = self._backend.clock(), delivery.attempts + 1
        pause = None if answer.is_success else pause_after(attempts, answer, random.random())  # no secret
        status = DeliveryStatus.WAITING
        if pause is None:
            status = DeliveryStatus.DELIVERED if answer.is_success else DeliveryStatus.FAILED
        return replace(
            delivery,
            status=status,
            attempts=attempts,
            next_attempt_at=None if pause is None else shift(now, pause),
            attempted_at=now,
            status_code=answer.status,
            milliseconds=answer.milliseconds,
            error=answer.error,
        )

    async def _settle(self, part: Part, lane: Lane, before: Delivery, after: Delivery) -> None:
        place = place_of(after)
        step = KEEP_DELIVERY.record_step("result", after, requestId=before.request_id, attempts=before.attempts)
        try:
            await self._store.put(KEEP_DELIVERY.put(step))
        except ConditionFailedError as error:
            lane.drop(place)
            self._learn(part, lane, error, place)
            return
        if after.status is DeliveryStatus.WAITING:
            lane.add(after)
        else:
            lane.drop(place)

    async def _mark(self, webhook: Webhook, health: Health, answer: Answer) -> None:
        """Notes whether an endpoint works; one that has not for long, or is gone, is disabled."""
        health.works = answer.is_success
        now = self._backend.clock()
        if answer.is_success:
            if machine_timer() - health.marked_at >= _MARK_SECONDS:
                health.marked_at = machine_timer()
                await self._mark_item(webhook, "works", None)
            return
        health.marked_at = float("-inf")
        if answer.retry_after is not None:
            pause = pause_after(1, answer, 0.0)
            health.paused_until = shift(now, pause or _AGAIN)
        since = await self._mark_item(webhook, "failing", now)
        if answer.is_gone:
            await disable_failing(self._backend, webhook.webhook_id, DisabledReason.GONE)
        elif since is not None and since <= shift(now, -GIVE_UP_AFTER):
            await disable_failing(self._backend, webhook.webhook_id, DisabledReason.FAILING)

    async def _mark_item(self, webhook: Webhook, step: str, since: Instant | None) -> Instant | None:
        """Writes since when an endpoint fails, or that it works; returns since when it has failed."""
        attributes = {"entityType": WEBHOOK.entity_type, "failingSince": since}
        try:
            marked = MARK_WEBHOOK.step(step, (webhook.webhook_id,), attributes)
            await self._store.transact(MARK_WEBHOOK.transact(marked))
        except TransactionRefusedError as refusal:
            found = refusal.failed[step]
            return None if found is None else WEBHOOK.decode(found).failing_since
        return since

    async def _carry_out(self, part: Part) -> None:
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
        await self._write(part, self._delivery(part, task.webhook_id, place, happening=""))
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
            [self._create(part, webhook, one, request_id) for one in wanted], asyncio.Semaphore(_WRITES_AT_ONCE)
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
