"""Webhooks: endpoints that are told what happens, and the deliveries to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import NewType

from domain.activity import Activity, ActivityKind, Change, Happening
from domain.authorization import Principal, Role, Scope, acts_for, is_admin, sees_all
from domain.enums import DescribedEnum
from domain.errors import BadInputError, ForbiddenError
from domain.models import LocationId, OwnerId
from domain.times import Instant, shift

WebhookId = NewType("WebhookId", str)

MAX_WEBHOOKS = 10
"""Of one owner."""
MAX_WAITING = 1000
"""Deliveries to one endpoint that may wait at the same time; beyond that, its position in the log waits."""
GIVE_UP_AFTER = timedelta(days=5)
"""An endpoint that has not succeeded for as long is disabled."""
LONGEST_RETRY_AFTER = timedelta(days=1)
PAUSES = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)
"""After each failed attempt; after the last one, a delivery has failed."""
_GONE = 410


class WebhookStatus(DescribedEnum):
    """Whether deliveries are sent to an endpoint."""

    ACTIVE = "ACTIVE", "Deliveries are sent."
    DISABLED = "DISABLED", "Nothing is sent. What happens meanwhile is sent when the endpoint is enabled again."
    DELETED = "DELETED", "It was deleted, and is forgotten when its deliveries have expired."


class DisabledReason(DescribedEnum):
    """Why an endpoint is disabled."""

    REQUESTED = "REQUESTED", "A caller disabled it."
    GONE = "GONE", "The endpoint answered with status 410."
    FAILING = "FAILING", "No delivery has succeeded for five days."


class DeliveryStatus(DescribedEnum):
    """Status of a delivery."""

    WAITING = "WAITING", "It is going to be sent, for the first time or again."
    DELIVERED = "DELIVERED", "The endpoint answered with a status of 200 to 299."
    FAILED = "FAILED", "It was sent as often as it can be, or there is no such endpoint any more."


class TaskKind(StrEnum):
    """Work for the process that follows a part of the log."""

    RESUME = "RESUME"
    REPLAY = "REPLAY"
    REDELIVER = "REDELIVER"
    TEST = "TEST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An endpoint. It is told of one owner or one location or, if it names neither, of everything.

    Its secret is derived from a key of the ring and a random id, and is not stored.
    """

    webhook_id: WebhookId
    url: str
    kinds: tuple[ActivityKind, ...]
    """Empty: all kinds."""
    status: WebhookStatus
    key_id: str
    secret_id: str
    since: Instant
    """It is told what is logged after that."""
    created_at: Instant
    created_by: str
    updated_at: Instant
    version: int
    rotation: int
    """Incremented when the secret is replaced."""
    owner_id: OwnerId | None = None
    location_id: LocationId | None = None
    description: str | None = None
    previous_key_id: str | None = None
    previous_secret_id: str | None = None
    previous_until: Instant | None = None
    """When the secret before the present one ceases to be valid."""
    disabled_reason: DisabledReason | None = None
    resume_from: Instant | None = None
    """Of one that is disabled: it was told everything up to then."""
    failing_since: Instant | None = None
    """Time of the first attempt that failed since one succeeded."""
    last_change: str | None = None
    expires_at: int | None = None
    """Of one that was deleted: seconds since 1970, by which the store deletes it."""

    def secrets(self, now: Instant) -> list[tuple[str, str]]:
        """The ids of the ring's keys and of the secrets that sign, the present one first."""
        present = [(self.key_id, self.secret_id)]
        if self.previous_until is None or self.previous_until <= now:
            return present
        return [*present, (str(self.previous_key_id), str(self.previous_secret_id))]

    def wants(self, activity: Activity) -> bool:
        """Whether it is told of an activity, whenever that happened."""
        happening = activity.happening
        if self.kinds and happening.kind not in self.kinds:
            return False
        if self.owner_id is not None:
            return self.owner_id in happening.owners and happening.kind.scope is not None
        places = (happening.location_id, happening.former_location_id)
        return self.location_id is None or self.location_id in places


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An activity on its way to an endpoint; without a kind it is a test."""

    webhook_id: WebhookId
    shard: int
    occurred_at: Instant
    activity_id: str
    happening: str
    """As JSON, as in the log; empty for a test."""
    status: DeliveryStatus
    attempts: int
    expires_at: int
    kind: ActivityKind | None = None
    next_attempt_at: Instant | None = None
    attempted_at: Instant | None = None
    status_code: int | None = None
    milliseconds: int | None = None
    error: str | None = None
    request_id: str = ""
    """That of the task which asked for it to be sent again; empty if none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTask:
    """Asks the process that follows a part of the log to send some of it to an endpoint, up to `until` if it has one.

    Everything up to its position was done.
    """

    webhook_id: WebhookId
    shard: int
    task_id: str
    kind: TaskKind
    request_id: str
    """Names the request; of two with the same request_id, only one is carried out."""
    position: Instant
    expires_at: int
    number: int = 0
    """The number of the lease under which it was last written: who has a lower one must not change it."""
    until: Instant | None = None
    activity_id: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one attempt to deliver. If it has no status there was none, and `error` says why in a word.

    Nothing of what the other side wrote is in it.
    """

    status: int | None
    milliseconds: int
    retry_after: int | None = None
    """Seconds that the other side asks to wait."""
    error: str | None = None

    @property
    def is_success(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status < 300  # noqa: PLR2004  # of HTTP

    @property
    def is_gone(self) -> bool:
        return self.status == _GONE


def pause_after(attempts: int, answer: Answer, jitter: float) -> timedelta | None:
    """How long a delivery waits after so many attempts, the last of which failed; None if there is no other.

    `jitter` is a number from 0 to 1: deliveries that fail together should not come back together.
    """
    if attempts > len(PAUSES):
        return None
    asked = timedelta(seconds=answer.retry_after or 0)
    return max(PAUSES[attempts - 1] * (1 + jitter / 5), min(asked, LONGEST_RETRY_AFTER))


def may_see_webhook(principal: Principal, owner_id: OwnerId | None) -> bool:
    """Whether the caller may see an endpoint; those that are not for one owner are the admins'."""
    if owner_id is None:
        return sees_all(principal)
    return acts_for(principal, owner_id, Scope.WEBHOOKS_READ)


def may_change_webhook(principal: Principal, owner_id: OwnerId | None) -> bool:
    if owner_id is None:
        return is_admin(principal)
    return acts_for(principal, owner_id, Scope.WEBHOOKS_WRITE)


def check_kinds(principal: Principal, owner_id: OwnerId | None, kinds: Sequence[ActivityKind]) -> None:
    """Checks that an endpoint may be told of these kinds, at an address of the caller's choice; none stands for all.

    A partner must be allowed to read what each kind names.
    """
    if owner_id is None:
        return
    is_partner, path = principal.role is Role.PARTNER, ("input", "kinds")
    if is_partner and not kinds:
        raise BadInputError("kinds must name what your credentials allow to read", path)
    for number, kind in enumerate(kinds):
        if kind.scope is None:
            raise BadInputError(f"kinds must not have {kind.name}, which concerns no owner", (*path, str(number)))
        if is_partner and kind.scope not in principal.scopes:
            raise BadInputError(f"kinds must not have {kind.name}: it requires {kind.scope}", (*path, str(number)))


def require_kinds(principal: Principal, webhook: Webhook) -> None:
    """Checks that a caller may have an endpoint sent what it is told, or get its secret.

    A partner must be allowed to read all of it, also where somebody else chose the address.
    """
    if principal.role is not Role.PARTNER:
        return
    for kind in webhook.kinds or ActivityKind:
        if kind.scope is not None and kind.scope not in principal.scopes:
            message = f"The webhook is told of {kind.name}, which requires the scope {kind.scope}."
            raise ForbiddenError(message, ("input", "webhookId"), {"requiredScope": str(kind.scope)})


def webhook_happening(kind: ActivityKind, webhook: Webhook, *changed: str) -> Happening:
    """Tells what happened to an endpoint; of what changed, only the names."""
    return Happening(
        kind=kind,
        webhook_id=webhook.webhook_id,
        owner_id=webhook.owner_id,
        location_id=webhook.location_id,
        version=webhook.version,
        changes=tuple(map(Change, changed)),
    )


def since_of(stamp: Instant) -> Instant:
    """From when on an endpoint is told, given the store's time at which it is created.

    The clocks of two servers differ by four seconds at most, so what happens afterwards has a later stamp.
    """
    return shift(stamp, -timedelta(seconds=4))
