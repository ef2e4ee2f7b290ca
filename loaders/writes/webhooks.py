"""Writes of webhooks: endpoints, and what the process that follows the log is asked to send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel

from domain.activity import ActivityKind
from domain.authorization import Principal, Role, is_admin, not_found_or_forbidden, require
from domain.bookings import Notification
from domain.changes import ChangeRequest, revised
from domain.commands.base import fingerprint
from domain.commands.webhooks import (
    CreateWebhook,
    DeleteWebhook,
    DisableWebhook,
    EnableWebhook,
    Redeliver,
    ReplayWebhook,
    RotateWebhookSecret,
    SendTestWebhook,
    UpdateWebhook,
)
from domain.errors import BadInputError, ForbiddenError, IdTakenError, NotFoundError, TooManyWebhooksError
from domain.models import OwnerId, record_from
from domain.times import EARLIEST, Instant, shift, to_seconds
from domain.webhook_signatures import secret_of
from domain.webhook_urls import check_webhook_url
from domain.webhooks import (
    MAX_WEBHOOKS,
    Delivery,
    DisabledReason,
    TaskKind,
    Webhook,
    WebhookId,
    WebhookStatus,
    WebhookTask,
    check_kinds,
    may_change_webhook,
    require_kinds,
    since_of,
    webhook_happening,
)
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import WEBHOOK, LogLease, WebhookRevision
from loaders.contracts.webhooks import CHANGE_WEBHOOK, CREATE_WEBHOOK, REQUEST_DELIVERIES
from loaders.contracts.writing import WriteContract
from loaders.table.errors import TransactionRefusedError
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, created_before, optimistic_write
from loaders.writes.owners import check_owner

if TYPE_CHECKING:
    from loaders.table.operations import Step

FOLLOWER = "webhooks"
"""The name under which the positions of those who make deliveries are stored."""
RESUME = "RESUME"
"""The id of the task of an endpoint that goes on from where it was; there is one at most in each part of the log."""
_ID = ("input", "webhookId")
_CHANGED = ("webhook", "webhookId")
_TICK = timedelta(milliseconds=1)
_SPARE = timedelta(days=1)
_TARGETS = ("owner_id", "location_id", "all")


@dataclass(frozen=True, slots=True)
class IssuedSecret:
    """An endpoint and, where the caller gets it, its secret."""

    record: Webhook
    secret: str | None


async def create_webhook(backend: Backend, command: CreateWebhook, principal: Principal) -> IssuedSecret:
    """Creates an endpoint (QC-183); a client that repeats it gets the record without the secret."""
    _check_target(command)
    if command.owner_id is None and not is_admin(principal):
        named = ("input", "all" if command.all else "locationId")
        raise ForbiddenError("This requires the role ADMIN.", named, {"requiredRoles": [Role.ADMIN.name]})
    require(may_change_webhook(principal, command.owner_id), ("input",))
    check_kinds(principal, command.owner_id, command.kinds)
    now = backend.clock()
    webhook_id = command.webhook_id or WebhookId(backend.new_id())
    webhook = record_from(
        Webhook,
        command,
        webhook_id=webhook_id,
        url=_checked(backend, command.url),
        kinds=tuple(dict.fromkeys(command.kinds)),
        status=WebhookStatus.ACTIVE,
        key_id=backend.code_ring().current.key_id,
        secret_id=backend.new_id(),
        since=since_of(backend.stamp().at),
        created_at=now,
        created_by=principal.subject,
        updated_at=now,
        version=1,
        rotation=1,
    )
    content = fingerprint(command, without="webhook_id")
    steps = [
        CREATE_WEBHOOK.record_step("webhook", webhook, {"fingerprint": content}),
        _revision(CREATE_WEBHOOK, backend),
    ]
    if webhook.owner_id is not None:
        counted = {"entityType": "WEBHOOK_COUNT", "ownerId": webhook.owner_id}
        steps.append(
            CREATE_WEBHOOK.step("count", (webhook.owner_id,), counted, added={"webhooks": 1}, most=MAX_WEBHOOKS)
        )
        steps.append(CREATE_WEBHOOK.step("owner", (webhook.owner_id,)))
    if webhook.location_id is not None:
        steps.append(CREATE_WEBHOOK.step("location", (webhook.location_id,)))
    try:
        happening = webhook_happening(ActivityKind.WEBHOOK_CREATED, webhook)
        await Log(backend, principal).transact(CREATE_WEBHOOK, steps, happening)
    except TransactionRefusedError as refusal:
        taken = IdTakenError(webhook_id, "another webhook", _ID)
        first = created_before(refusal, "webhook", WEBHOOK, content, taken)
        if first is not None:
            return _issued(backend, first, webhook.secret_id)
        if webhook.owner_id is not None:
            check_owner(refusal, webhook.owner_id)
        if "location" in refusal.failed:
            raise NotFoundError(f"Location {webhook.location_id} does not exist.", ("input", "locationId")) from None
        if "count" in refusal.failed:
            raise TooManyWebhooksError(MAX_WEBHOOKS) from None
        raise
    return _issued(backend, webhook, webhook.secret_id)


async def update_webhook(backend: Backend, command: UpdateWebhook, principal: Principal) -> Webhook:
    """Changes the address, the kinds or the description of an endpoint (QC-184)."""
    given = command.values("webhook_id")

    async def values(current: Webhook) -> dict[str, Any]:
        changed = dict(given)
        if "url" in changed:
            changed["url"] = _checked(backend, command.url)
        if "kinds" in changed:
            changed["kinds"] = tuple(dict.fromkeys(command.kinds))
        if changed.keys() & {"url", "kinds"}:
            check_kinds(principal, current.owner_id, changed.get("kinds", current.kinds))
        return changed

    return await _change(backend, command, principal, ActivityKind.WEBHOOK_CHANGED, values, changed=sorted(given))


async def rotate_webhook_secret(backend: Backend, command: RotateWebhookSecret, principal: Principal) -> IssuedSecret:
    """Gives an endpoint another secret (QC-184); the one before stays valid for a time.

    A repeated request changes nothing, and gets no secret.
    """
    key_id, secret_id = backend.code_ring().current.key_id, backend.new_id()

    async def decide(_: Counter[str]) -> Decision[IssuedSecret]:
        current = await _read(CHANGE_WEBHOOK, backend, command.webhook_id, principal)
        require_kinds(principal, current)
        if command.expected_rotation > current.rotation:
            message = f"expectedRotation must not exceed the current rotation, {current.rotation}"
            raise BadInputError(message, ("input", "expectedRotation"))
        if command.expected_rotation < current.rotation:
            return Decision(_issued(backend, current, secret_id))
        now = backend.clock()
        rotated = revised(
            current,
            now,
            rotation=current.rotation + 1,
            key_id=key_id,
            secret_id=secret_id,
            previous_key_id=current.key_id,
            previous_secret_id=current.secret_id,
            previous_until=shift(now, backend.webhook_secret_overlap),
        )
        happening = webhook_happening(ActivityKind.WEBHOOK_CHANGED, rotated, "secret")
        return Decision(_issued(backend, rotated, secret_id), _change_steps(backend, current, rotated), [happening])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, CHANGE_WEBHOOK, decide, log=log, changed=_CHANGED)


async def enable_webhook(backend: Backend, command: EnableWebhook, principal: Principal) -> Webhook:
    """Enables an endpoint, which is then told what happened since it was disabled (QC-184)."""
    tasks = [(shard, command.webhook_id, RESUME) for shard in range(keys.LOG_SHARDS)]

    async def more(current: Webhook) -> list[Step]:
        found = await CHANGE_WEBHOOK.read_many(backend.store, "task", tasks)
        position = current.resume_from or current.since
        return [
            CHANGE_WEBHOOK.record_step("task", task_of(backend, current, shard, TaskKind.RESUME, RESUME, position))
            for shard, task in enumerate(found)
            if task is None
        ]

    async def values(current: Webhook) -> dict[str, Any]:
        require_kinds(principal, current)
        forgotten = (
            () if current.status is WebhookStatus.ACTIVE else ("disabled_reason", "resume_from", "failing_since")
        )
        return {"status": WebhookStatus.ACTIVE} | dict.fromkeys(forgotten)

    return await _change(backend, command, principal, ActivityKind.WEBHOOK_ENABLED, values, more=more)


async def disable_webhook(backend: Backend, command: DisableWebhook, principal: Principal) -> Webhook:
    """Disables an endpoint; one that is disabled is returned unchanged (QC-184)."""

    async def values(current: Webhook) -> dict[str, Any]:
        if current.status is WebhookStatus.DISABLED:
            return {"status": current.status}
        return await _disabled(backend, current, DisabledReason.REQUESTED)

    return await _change(backend, command, principal, ActivityKind.WEBHOOK_DISABLED, values)


async def disable_failing(backend: Backend, webhook_id: WebhookId, reason: DisabledReason) -> None:
    """Disables an endpoint to which deliveries fail, and notifies its owner (QC-184)."""

    async def decide(_: Counter[str]) -> Decision[None]:
        current: Webhook | None = await CHANGE_WEBHOOK.read(backend.store, "webhook", webhook_id)
        if current is None or current.status is not WebhookStatus.ACTIVE:
            return Decision(None)
        changed = revised(current, backend.clock(), **await _disabled(backend, current, reason))
        steps = _change_steps(backend, current, changed)
        if current.owner_id is not None:
            steps.append(CHANGE_WEBHOOK.record_step("notification", _notification(changed, current.owner_id)))
        happening = webhook_happening(ActivityKind.WEBHOOK_DISABLED, changed)
        return Decision(None, steps, [happening])

    await optimistic_write(backend.store, CHANGE_WEBHOOK, decide, log=Log(backend, None))


async def delete_webhook(backend: Backend, command: DeleteWebhook, principal: Principal) -> Webhook:
    """Deletes an endpoint (QC-184). Its record stays until its deliveries have expired, and so does its id."""

    async def decide(_: Counter[str]) -> Decision[Webhook]:
        current = await _read(CHANGE_WEBHOOK, backend, command.webhook_id, principal, deleted=True)
        if current.status is WebhookStatus.DELETED:
            return Decision(current)
        expiry = to_seconds(shift(backend.stamp().at, backend.retention.log + _SPARE))
        deleted = revised(current, backend.clock(), status=WebhookStatus.DELETED, expires_at=expiry)
        steps = _change_steps(backend, current, deleted)
        if current.owner_id is not None:
            counted = {"ownerId": current.owner_id}
            steps.append(CHANGE_WEBHOOK.step("count", (current.owner_id,), counted, added={"webhooks": -1}, none=0))
        return Decision(deleted, steps, [webhook_happening(ActivityKind.WEBHOOK_DELETED, deleted)])

    log = Log(backend, principal)
    return await optimistic_write(backend.store, CHANGE_WEBHOOK, decide, log=log, changed=_CHANGED)


async def send_test_webhook(backend: Backend, command: SendTestWebhook, principal: Principal) -> Webhook:
    """Asks for a message of type `webhook.test` (QC-185)."""
    webhook = await _read(REQUEST_DELIVERIES, backend, command.webhook_id, principal)
    if webhook.status is WebhookStatus.DISABLED:
        raise BadInputError(f"Webhook {webhook.webhook_id} is disabled. Enable it first.", _ID)
    test_id, shard = command.test_id or backend.new_id(), keys.log_shard(command.webhook_id)
    task = task_of(backend, webhook, shard, TaskKind.TEST, f"TEST-{test_id}", backend.stamp().at)
    return await _ask(backend, webhook, "task", [replace(task, activity_id=test_id)])


async def redeliver(backend: Backend, command: Redeliver, principal: Principal) -> Webhook:
    """Asks for a delivery to be sent once more, whether or not it succeeded (QC-185)."""
    webhook = await _read(REQUEST_DELIVERIES, backend, command.webhook_id, principal)
    require_kinds(principal, webhook)
    activity_id, at = command.activity_id, command.occurred_at
    found: Delivery | None = await REQUEST_DELIVERIES.read(
        backend.store, "delivery", webhook.webhook_id, at, activity_id
    )
    if found is None:
        raise NotFoundError("The webhook has no such delivery.", ("input", "activityId"))
    if found.kind is None:
        raise BadInputError("Send another test instead.", ("input", "activityId"))
    if webhook.kinds and found.kind not in webhook.kinds:
        raise BadInputError(f"The webhook is no longer told of {found.kind.name}.", ("input", "activityId"))
    before, task_id = shift(at, -_TICK), f"AGAIN-{activity_id}"
    task = task_of(backend, webhook, found.shard, TaskKind.REDELIVER, task_id, before, command.redelivery_id)
    return await _ask(backend, webhook, "task", [replace(task, until=at, activity_id=activity_id)])


async def replay_webhook(backend: Backend, command: ReplayWebhook, principal: Principal) -> Webhook:
    """Asks for everything to be sent again that was logged in a window, if the endpoint wants it (QC-185)."""
    webhook = await _read(REQUEST_DELIVERIES, backend, command.webhook_id, principal)
    require_kinds(principal, webhook)
    now, start, end = backend.stamp().at, command.from_time, command.to_time
    if start < shift(now, -backend.retention.log):
        days = backend.retention.log.days
        raise BadInputError(f"fromTime must not be earlier than {days} days ago", ("input", "fromTime"))
    if start > now or (end is not None and end < start):
        raise BadInputError("fromTime must be before toTime and before now", ("input", "fromTime"))
    until = now if end is None else min(end, now)
    before, request_id = shift(start, -_TICK), command.replay_id or backend.new_id()
    tasks = [
        replace(task_of(backend, webhook, shard, TaskKind.REPLAY, "REPLAY", before, request_id), until=until)
        for shard in range(keys.LOG_SHARDS)
    ]
    return await _ask(backend, webhook, "replay", tasks)


def task_of(
    backend: Backend,
    webhook: Webhook,
    shard: int,
    kind: TaskKind,
    task_id: str,
    position: Instant,
    request_id: str | None = None,
) -> WebhookTask:
    return WebhookTask(
        webhook_id=webhook.webhook_id,
        shard=shard,
        task_id=task_id,
        kind=kind,
        request_id=request_id or backend.new_id(),
        position=position,
        expires_at=to_seconds(shift(backend.stamp().at, backend.retention.log)),
    )


async def _no_more(_: Webhook) -> list[Step]:
    return []


async def _change(
    backend: Backend,
    command: UpdateWebhook | EnableWebhook | DisableWebhook,
    principal: Principal,
    kind: ActivityKind,
    values: Callable[[Webhook], Awaitable[dict[str, Any]]],
    *,
    changed: Sequence[str] = (),
    more: Callable[[Webhook], Awaitable[list[Step]]] = _no_more,
) -> Webhook:
    request = ChangeRequest.of(command, backend.new_id)

    async def decide(_: Counter[str]) -> Decision[Webhook]:
        current = await _read(CHANGE_WEBHOOK, backend, command.webhook_id, principal)
        if request.is_made(current):
            return Decision(current)
        request.check(current)
        after = request.apply(current, backend.clock(), **await values(current))
        if after is current:
            return Decision(current)

        def on_refusal(refusal: TransactionRefusedError) -> Webhook | None:
            item = refusal.failed.get("webhook")
            if item is None:
                return None
            found = WEBHOOK.decode(item)
            request.check_made(found)
            return found

        steps = [*_change_steps(backend, current, after), *await more(current)]
        return Decision(after, steps, [webhook_happening(kind, after, *map(to_camel, changed))], on_refusal)

    log = Log(backend, principal)
    return await optimistic_write(backend.store, CHANGE_WEBHOOK, decide, log=log, changed=_CHANGED)


def _change_steps(backend: Backend, current: Webhook, changed: Webhook) -> list[Step]:
    step = CHANGE_WEBHOOK.change_step("webhook", current, changed, expectedVersion=current.version)
    return [step, _revision(CHANGE_WEBHOOK, backend)]


async def _ask(backend: Backend, webhook: Webhook, step: str, tasks: Sequence[WebhookTask]) -> Webhook:
    there = REQUEST_DELIVERIES.step("webhook", (webhook.webhook_id,), deleted=WebhookStatus.DELETED)
    compared = {"requestId": tasks[0].request_id} if step == "replay" else {}
    asked = [REQUEST_DELIVERIES.record_step(step, task, None, **compared) for task in tasks]
    try:
        await backend.store.transact(REQUEST_DELIVERIES.transact(there, *asked))
    except TransactionRefusedError as refusal:
        if "webhook" in refusal.failed:
            raise NotFoundError(f"Webhook {webhook.webhook_id} does not exist.", _ID) from None
        # The same was asked for before, and is not done yet.
    return webhook


def _check_target(command: CreateWebhook) -> None:
    named = [name for name in _TARGETS if getattr(command, name)]
    if len(named) != 1:
        raise BadInputError("Name exactly one of ownerId, locationId and all.", ("input",))


def _checked(backend: Backend, url: str) -> str:
    try:
        return check_webhook_url(url, allows_local=backend.allows_local_webhooks)
    except ValueError as error:
        raise BadInputError(f"url {error}", ("input", "url")) from None


def _secret(backend: Backend, webhook: Webhook) -> str:
    return secret_of(backend.code_ring(), webhook.key_id, webhook.webhook_id, webhook.secret_id)


def _revision(contract: WriteContract, backend: Backend) -> Step:
    return contract.record_step("revision", WebhookRevision(revision=backend.new_id()))


def _issued(backend: Backend, webhook: Webhook, secret_id: str) -> IssuedSecret:
    """The endpoint, and its secret if that was made for this very request, although an answer may have been lost."""
    return IssuedSecret(webhook, _secret(backend, webhook) if webhook.secret_id == secret_id else None)


async def _read(
    contract: WriteContract, backend: Backend, webhook_id: WebhookId, principal: Principal, *, deleted: bool = False
) -> Webhook:
    """The endpoint, if the caller may change it; one that was deleted only where that makes no difference."""
    current: Webhook | None = await contract.read(backend.store, "webhook", webhook_id)
    if current is None or (current.status is WebhookStatus.DELETED and not deleted):
        raise not_found_or_forbidden(principal, f"Webhook {webhook_id} does not exist.", _ID)
    require(may_change_webhook(principal, current.owner_id), _ID)
    return current


async def _disabled(backend: Backend, current: Webhook, reason: DisabledReason) -> dict[str, Any]:
    """The new values of an endpoint; it goes on where every part of the log was told completely."""
    leases: list[LogLease | None] = await CHANGE_WEBHOOK.read_many(
        backend.store, "lease", [(shard,) for shard in range(keys.LOG_SHARDS)]
    )
    told = min(EARLIEST if lease is None else lease.positions.get(FOLLOWER, EARLIEST) for lease in leases)
    resumed = {"disabled_reason": reason, "resume_from": max(told, current.since)}
    return {"status": WebhookStatus.DISABLED, **resumed}


def _notification(webhook: Webhook, owner_id: OwnerId) -> Notification:
    because = {
        DisabledReason.GONE: "it answered that it is gone (410)",
        DisabledReason.FAILING: "no delivery has succeeded for five days",
    }[webhook.disabled_reason or DisabledReason.FAILING]
    return Notification(
        notification_id=f"{webhook.webhook_id}-{webhook.version}",
        owner_id=owner_id,
        webhook_id=webhook.webhook_id,
        message=f"Your webhook {webhook.webhook_id} was disabled: {because}",
        created_at=webhook.updated_at,
    )
