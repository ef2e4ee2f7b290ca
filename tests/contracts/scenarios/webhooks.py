"""Deliveries of webhooks, and the tasks of those who send them."""

from collections.abc import Awaitable
from typing import Any

from domain.activity import ActivityKind
from domain.webhooks import Delivery, DeliveryStatus, DisabledReason, TaskKind, WebhookTask
from loaders.backend import Backend
from loaders.contracts.webhooks import (
    DELIVERY_BY_KEY,
    END_TASK,
    KEEP_DELIVERY,
    KEEP_TASK,
    LIST_REVISION,
    MARK_WEBHOOK,
    WAITING_DELIVERIES,
    WEBHOOK_LIST,
    WEBHOOK_TASKS,
)
from loaders.writes.webhooks import disable_failing
from tests.contracts.samples import NOON, Names, record
from tests.contracts.scenarios.actions import Call, does, its
from tests.contracts.scenarios.lockers import OWNER

WEBHOOK = does(
    "createWebhook",
    webhook_id=its.webhook,
    url=its.url,
    owner_id=its.owner,
    kinds=[kind for kind in ActivityKind if kind.scope is not None],
    description=its.name,
)
DISABLE = does("disableWebhook")


def kept(step: str, status: DeliveryStatus, **values: Any) -> Call:
    """A delivery as it is written, or its result."""

    def run(backend: Backend, names: Names) -> Awaitable[None]:
        delivery = record(
            Delivery,
            0,
            longest=len(names.webhook) > 2,
            webhook_id=names.webhook,
            activity_id=names.event,
            shard=0,
            status=status,
            kind=ActivityKind.LOCKER_CHANGED,
            attempts=0,
            request_id=names.code_id if step == "delivery again" else "",
        )
        return backend.store.put(KEEP_DELIVERY.put(KEEP_DELIVERY.record_step(step, delivery, None, **values)))

    return run


def task(names: Names) -> WebhookTask:
    given = {"webhook_id": names.webhook, "shard": 0, "task_id": "RESUME", "kind": TaskKind.RESUME, "request_id": "t"}
    return record(WebhookTask, 0, longest=len(names.webhook) > 2, **given)


def kept_task(step: str, **values: Any) -> Call:
    return lambda backend, names: backend.store.put(
        KEEP_TASK.put(KEEP_TASK.record_step(step, task(names), None, **values))
    )


def end_task(backend: Backend, names: Names) -> Awaitable[None]:
    step = END_TASK.step("task", (0, names.webhook, "RESUME"), requestId="t", number=1)
    return backend.store.transact(END_TASK.transact(step))


def marked(step: str, since: str | None) -> Call:
    def run(backend: Backend, names: Names) -> Awaitable[None]:
        attributes = {"entityType": "WEBHOOK", "failingSince": since}
        return backend.store.transact(MARK_WEBHOOK.transact(MARK_WEBHOOK.step(step, (names.webhook,), attributes)))

    return run


WAITING = kept("new delivery", DeliveryStatus.WAITING)
BEHIND = kept_task("new task")
FAILING = marked("failing", NOON)

SCENARIOS: dict[str, tuple[Call, ...]] = {
    "tell a webhook of an activity": (WAITING,),
    "deliver it": (WAITING, kept("result", DeliveryStatus.DELIVERED, requestId="", attempts=0)),
    "ask for a delivery again": (WAITING, kept("delivery again", DeliveryStatus.WAITING, requestId="t")),
    "redeliver": (
        OWNER,
        WEBHOOK,
        WAITING,
        does("redeliver", activity_id=its.event, occurred_at=NOON, redelivery_id=its.code_id),
    ),
    "let a webhook fall behind": (BEHIND,),
    "let a webhook that is behind go on": (BEHIND, kept_task("progress", requestId="t", number=1)),
    "end a task": (BEHIND, end_task),
    "mark a webhook as failing": (OWNER, WEBHOOK, FAILING),
    "mark a webhook as working": (OWNER, WEBHOOK, FAILING, marked("works", None)),
    "disable a webhook that fails": (
        OWNER,
        WEBHOOK,
        lambda backend, names: disable_failing(backend, names.webhook, DisabledReason.FAILING),
    ),
    WEBHOOK_LIST.purpose: (OWNER, WEBHOOK, lambda backend, _: WEBHOOK_LIST.read(backend.store, consistent=True)),
    LIST_REVISION.purpose: (OWNER, WEBHOOK, lambda backend, _: LIST_REVISION.read(backend.store)),
    WEBHOOK_TASKS.purpose: (BEHIND, lambda backend, _: WEBHOOK_TASKS.read(backend.store, 0, consistent=False)),
    WAITING_DELIVERIES.purpose: (
        WAITING,
        lambda backend, _: WAITING_DELIVERIES.read(backend.store, 0, consistent=False),
    ),
    DELIVERY_BY_KEY.purpose: (
        WAITING,
        lambda backend, names: DELIVERY_BY_KEY.read(backend.store, names.webhook, NOON, names.event),
    ),
}
