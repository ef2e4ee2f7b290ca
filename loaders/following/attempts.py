"""Attempts to deliver: many at once, few to one endpoint, and fewest to one that does not work."""

import asyncio
import logging
import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from domain.activity import Activity
from domain.errors import UnavailableError
from domain.times import Instant, shift, to_seconds
from domain.webhook_bodies import body_of_test, delivery_body, reference_key
from domain.webhook_signatures import secret_of, signed_headers
from domain.webhooks import (
    GIVE_UP_AFTER,
    Answer,
    Delivery,
    DeliveryStatus,
    DisabledReason,
    Webhook,
    WebhookId,
    WebhookStatus,
    pause_after,
)
from loaders.backend import Backend
from loaders.codecs import WEBHOOK
from loaders.contracts.reservations import RESERVATION_BY_KEY
from loaders.contracts.webhooks import DELIVERY_BY_KEY, MARK_WEBHOOK
from loaders.following.deliveries import Deliveries
from loaders.following.endpoints import Endpoints, Health, Lane, Part, Place
from loaders.log import decode_happening
from loaders.table.clock import machine_timer
from loaders.table.errors import TransactionRefusedError
from loaders.writes.webhooks import disable_failing

logger = logging.getLogger(__name__)

AT_ONCE = 400
"""Attempts of a process at the same time; endpoints that do not work have half of them."""
_OF_ONE = 8
_MARK_SECONDS = 600.0
_AGAIN = timedelta(seconds=5)
"""After which an attempt is made again whose result could not be written."""


class Sender(Protocol):
    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """One attempt; its failure is an answer, too."""


class DeliveryWatcher(Protocol):
    """Is told how deliveries go."""

    def attempted(self, *, is_success: bool) -> None:
        """An attempt has ended."""

    def waiting(self, shard: int, number: int, oldest: float) -> None:
        """How many deliveries to enabled endpoints wait in a part, and how many seconds ago the oldest activity was."""


class Attempts:
    """Makes the attempts of all parts of the log that this process follows."""

    def __init__(
        self,
        backend: Backend,
        endpoints: Endpoints,
        deliveries: Deliveries,
        sender: Sender,
        watcher: DeliveryWatcher | None,
    ) -> None:
        self._backend = backend
        self._store = backend.store
        self._endpoints = endpoints
        self._deliveries = deliveries
        self._sender = sender
        self._watcher = watcher
        self._health: dict[WebhookId, Health] = {}
        self._sending = 0

    def begin_due(self, part: Part, group: asyncio.TaskGroup) -> None:
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
                    await self._deliveries.settle(part, lane, delivery, failed)
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
            await self._deliveries.settle(part, lane, delivery, self._after(delivery, answer))
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
