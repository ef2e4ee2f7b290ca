"""The items of deliveries: what they are written on, and what is known of them afterwards."""

from typing import Any

from domain.activity import Activity
from domain.times import shift, to_seconds
from domain.webhooks import Delivery, DeliveryStatus, Webhook, WebhookId
from loaders.backend import Backend
from loaders.codecs import DELIVERY
from loaders.contracts.webhooks import KEEP_DELIVERY
from loaders.following.endpoints import Lane, Part, Place, place_of
from loaders.log import encode_happenings
from loaders.table.errors import ConditionFailedError


class Deliveries:
    """Writes deliveries of the parts of the log that this process follows; it alone changes them."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._store = backend.store

    async def create(self, part: Part, webhook: Webhook, activity: Activity, request_id: str = "") -> None:
        """Writes a delivery unless it is there; with the request_id of a task, also if it was sent before."""
        told = {"kind": activity.happening.kind, "happening": encode_happenings([(0, activity.happening)])}
        place = (activity.occurred_at, activity.activity_id)
        await self.write(part, self.new(part, webhook.webhook_id, place, request_id=request_id, **told))

    def new(self, part: Part, webhook_id: WebhookId, place: Place, **more: Any) -> Delivery:
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

    async def write(self, part: Part, delivery: Delivery) -> None:
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

    async def settle(self, part: Part, lane: Lane, before: Delivery, after: Delivery) -> None:
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
