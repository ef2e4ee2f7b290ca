"""Webhooks of tests: a receiver in place of the network, and the process that sends to it."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from inspect import isawaitable
from typing import Any, NamedTuple

from standardwebhooks import Webhook

from domain.activity import ActivityKind, Happening
from domain.models import LockerId, OwnerId
from domain.times import Instant
from domain.webhooks import Answer, Delivery, DeliveryStatus, WebhookId
from loaders.backend import Backend
from loaders.contracts.webhooks import KEEP_DELIVERY
from loaders.following.attempts import DeliveryWatcher, Sender
from loaders.following.leases import LeaseTimes
from loaders.following.loop import Following
from loaders.following.webhooks import Pace, Webhooks
from loaders.log import encode_happenings
from tests.api import Api, mutation

FIELDS = (
    "webhookId url kinds ownerId locationId description status disabledReason failingSince previousSecretUntil "
    "createdBy version"
)
CREATE = mutation("createWebhook", f"webhook {{ {FIELDS} }} secret")
UPDATE = mutation("updateWebhook", f"webhook {{ {FIELDS} }}")
ROTATE = mutation("rotateWebhookSecret", f"webhook {{ {FIELDS} }} secret")
ENABLE = mutation("enableWebhook", f"webhook {{ {FIELDS} }}")
DISABLE = mutation("disableWebhook", f"webhook {{ {FIELDS} }}")
DELETE = mutation("deleteWebhook", f"webhook {{ {FIELDS} }}")
TEST = mutation("sendTestWebhook", "webhook { webhookId }")
AGAIN = mutation("redeliver", "webhook { webhookId }")
REPLAY = mutation("replayWebhook", "webhook { webhookId }")
DELIVERIES = """query ($webhookId: ID!) { webhook(webhookId: $webhookId) { deliveries(first: 100) { nodes {
  activityId kind occurredAt status attempts attemptedAt nextAttemptAt statusCode duration error } } } }"""
QUICK = LeaseTimes(renewed_after=0.2, held_for=5, taken_after=6)
URL = "https://partner.example.com/hooks"
OK = Answer(200, 12)
DOWN = Answer(503, 30)


class Message(NamedTuple):
    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def content(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    def verify(self, secret: str) -> None:
        """Raises unless the secret has signed it."""
        Webhook(secret).verify(self.body, dict(self.headers))


async def until(is_so: Callable[[], Any]) -> Any:
    """The answer to a question, once there is one; it may have to be awaited."""
    async with asyncio.timeout(120):
        while True:
            found = is_so()
            if result := (await found if isawaitable(found) else found):
                return result
            await asyncio.sleep(0.02)


@dataclass(eq=False)
class Receiver:
    """Answers as the test says, and keeps what it was sent."""

    answer: Callable[[Message], Answer] = lambda _: OK
    got: list[Message] = field(default_factory=list)
    hangs: frozenset[str] = frozenset()
    """URLs that do not answer."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        message = Message(url, headers, body)
        self.got.append(message)
        await until(lambda: url not in self.hangs)
        return self.answer(message)

    @property
    def kinds(self) -> list[str]:
        return [message.content["type"] for message in self.got]

    async def until(self, is_so: Callable[["Receiver"], object]) -> None:
        await until(lambda: is_so(self))

    async def has(self, number: int, url: str = "") -> None:
        """Waits until it was sent so many messages, to one URL or in all."""
        await until(lambda: sum(message.url == (url or message.url) for message in self.got) >= number)


def sending(
    backend: Backend, receiver: Sender, watcher: DeliveryWatcher | None = None
) -> AbstractAsyncContextManager[None]:
    """A process that follows the log and sends webhooks."""
    webhooks = Webhooks(backend, receiver, watcher, timedelta(0), Pace(0.05, 0.2))
    following = Following(backend, [webhooks], [], times=QUICK, horizon=timedelta(0), workers=[webhooks])
    return following.running()


async def create(api: Api, name: str = "w1", **values: Any) -> str:
    """A webhook of ada, unless it is said otherwise; returns its secret."""
    target = {} if values.keys() & {"ownerId", "locationId", "all"} else {"ownerId": "ada"}
    created = await api.done(CREATE, **{"webhookId": name, "url": URL, **target, **values})
    secret: str = created["secret"]
    return secret


async def deliveries(api: Api, name: str = "w1") -> list[dict[str, Any]]:
    data = await api.run(DELIVERIES, webhookId=name)
    nodes: list[dict[str, Any]] = data["webhook"]["deliveries"]["nodes"]
    return nodes


async def deliver(
    backend: Backend, name: str, activity_id: str = "a1", status: DeliveryStatus = DeliveryStatus.DELIVERED
) -> None:
    """A delivery of an activity at noon, as it is after the first attempt."""
    happening = Happening(
        kind=ActivityKind.LOCKER_CHANGED, locker_id=LockerId("l1"), owner_id=OwnerId("ada"), version=2
    )
    delivery = Delivery(
        webhook_id=WebhookId(name),
        shard=0,
        occurred_at=Instant("2026-03-01T12:00:00.000Z"),
        activity_id=activity_id,
        kind=happening.kind,
        happening=encode_happenings([(0, happening)]),
        status=status,
        attempts=1,
        expires_at=4_000_000_000,
    )
    await backend.store.put(KEEP_DELIVERY.put(KEEP_DELIVERY.record_step("new delivery", delivery)))
