"""Webhooks: the types, the queries and the mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

from domain.activity import ActivityKind
from domain.commands import webhooks as commands
from domain.ids import check_id
from domain.times import Instant
from domain.webhooks import Delivery as DeliveryRecord
from domain.webhooks import DeliveryStatus, DisabledReason, WebhookStatus
from domain.webhooks import Webhook as Record
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.owners import OWNER_BY_ID
from loaders.contracts.webhooks import (
    CHANGE_WEBHOOK,
    CREATE_WEBHOOK,
    REQUEST_DELIVERIES,
    WEBHOOK_BY_ID,
    WEBHOOK_DELIVERIES,
    WEBHOOKS,
)
from loaders.writes import webhooks as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Connection, Node
from resolvers.bindings.base import column
from resolvers.bindings.lists import pages
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import AS_OBJECT, LOCATIONS, PROFILE, STAFF, WEBHOOK_CHANGES
from resolvers.bindings.rules import WEBHOOKS as OWN_WEBHOOKS
from resolvers.entities.base import CHANGED, VERSION, entity, id_argument

if TYPE_CHECKING:
    from resolvers.entities.locations import Location
    from resolvers.entities.owners import Owner


@entity(DeliveryRecord)
class WebhookDelivery:
    """An activity that a webhook is told of. What is sent, and what the endpoint answers, is not shown."""

    activity_id: strawberry.ID = column("Id of the activity, which is also the id of the message (`webhook-id`).")
    kind: ActivityKind | None = column("What happened; null for a test.")
    occurred_at: Instant = column("Time of the activity.")
    status: DeliveryStatus = column("Status of the delivery.")
    attempts: int = column("How often it was sent.")
    attempted_at: Instant | None = column("Time of the last attempt.")
    next_attempt_at: Instant | None = column("Time from which on it is sent again; null if it is not.")
    status_code: int | None = column("HTTP status that the last attempt was answered with; null if there was none.")
    duration: int | None = column("Milliseconds that the last attempt took.", "milliseconds")
    error: str | None = column("Why the last attempt got no answer, in a word, such as `timeout`.")


@entity(
    Record, node={"contract": WEBHOOK_BY_ID, "key": {"webhook_id": check_id}, "rule": OWN_WEBHOOKS.decided_by_result()}
)
class Webhook(Node):
    """An address that is told what happens, by messages that are signed as Standard Webhooks has it."""

    webhook_id: strawberry.ID = column("Id of the webhook.")
    url: str = column("Address that deliveries are sent to.")
    kinds: list[ActivityKind] = column("Kinds of activities that it is told of; all if the list is empty.")
    owner_id: strawberry.ID | None = column("Id of the owner whose activities it is told of.")
    location_id: strawberry.ID | None = column("Id of the location whose activities it is told of.")
    description: str | None = column("Note for people.")
    status: WebhookStatus = column("Whether deliveries are sent.")
    disabled_reason: DisabledReason | None = column("Why it is disabled; null if it is not.")
    failing_since: Instant | None = column("Time of the first failed attempt since one succeeded; null if none failed.")
    rotation: int = column("Incremented when the secret is replaced.")
    previous_secret_until: Instant | None = column(
        "Time until which messages are also signed with the secret before; null if it was never replaced.",
        "previous_until",
    )
    created_at: Instant = column("Time at which the webhook was created.")
    created_by: str = column("Subject of the caller who created it.")
    updated_at: Instant = column(CHANGED)
    version: int = column(VERSION)
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID,
        key="owner_id",
        rule=PROFILE.decided_by_result(quiet=True),
        description="Owner whose activities it is told of. Null also for callers who may not see it.",
    )
    location: Annotated[Location, strawberry.lazy("resolvers.entities.locations")] | None = one(
        LOCATION_BY_ID, key="location_id", rule=LOCATIONS, description="Location whose activities it is told of."
    )
    deliveries: Connection[WebhookDelivery] | None = pages(
        WEBHOOK_DELIVERIES,
        key="webhook_id",
        rule=AS_OBJECT,
        description="What it was told or is going to be told, newest activity first, as long as the log is kept.",
    )


@strawberry.type
class WebhookQueries:
    webhook: Webhook | None = look_up(
        WEBHOOK_BY_ID,
        rule=OWN_WEBHOOKS.decided_by_result(),
        message="Webhook {webhook_id} does not exist.",
        arguments=[id_argument("webhook_id", "Id of the webhook.")],
        description="Look up a webhook by its id.",
    )
    webhooks: Connection[Webhook] | None = pages(
        WEBHOOKS, rule=STAFF, description="All webhooks by `webhookId`. Requires an admin or support."
    )


_SHOWN_ONCE = (
    "The secret that signs messages. Store it now: it is not shown again. Null in a repeated request; if it was lost, "
    "rotate it."
)


@mutations(commands, writes)
class WebhookMutations:
    create_webhook: Webhook = write(
        CREATE_WEBHOOK,
        WEBHOOK_CHANGES,
        returns="The webhook; null if it was not created.",
        secret=("secret", _SHOWN_ONCE),
        description="Create a webhook: for an owner, or, by admins, for a location or for everything. It is told what "
        "happens from then on.",
    )
    update_webhook: Webhook = write(
        CHANGE_WEBHOOK, WEBHOOK_CHANGES, variant="change", description="Change the address or the kinds of a webhook."
    )
    rotate_webhook_secret: Webhook = write(
        CHANGE_WEBHOOK,
        WEBHOOK_CHANGES,
        variant="change",
        returns="The webhook; null if the secret was not replaced.",
        secret=("secret", _SHOWN_ONCE),
        description="Replace the secret of a webhook. For 24 hours, unless the server is set to another time, messages "
        "are signed with both, so that receivers can change theirs meanwhile.",
    )
    enable_webhook: Webhook = write(
        CHANGE_WEBHOOK,
        WEBHOOK_CHANGES,
        variant="enable",
        description="Enable a webhook. It goes on where it was when it was disabled, as far as the log goes back.",
    )
    disable_webhook: Webhook = write(
        CHANGE_WEBHOOK,
        WEBHOOK_CHANGES,
        variant="disable",
        description="Disable a webhook: within seconds, nothing is sent to it any more.",
    )
    delete_webhook: Webhook = write(
        CHANGE_WEBHOOK,
        WEBHOOK_CHANGES,
        variant="delete",
        returns="The deleted webhook; null if there is no such webhook.",
        description="Delete a webhook. What was not delivered is not sent any more. It can be looked up until its "
        "deliveries have expired, and its id cannot be used again before.",
    )
    send_test_webhook: Webhook = write(
        REQUEST_DELIVERIES,
        WEBHOOK_CHANGES,
        variant="test",
        description="Send a message of type `webhook.test`, within some seconds. `deliveries` shows how it went.",
    )
    redeliver: Webhook = write(
        REQUEST_DELIVERIES,
        WEBHOOK_CHANGES,
        variant="redeliver",
        description="Send a delivery once more, within some seconds, whether or not it has succeeded.",
    )
    replay_webhook: Webhook = write(
        REQUEST_DELIVERIES,
        WEBHOOK_CHANGES,
        variant="replay",
        description="Send everything again that happened in a window and that the webhook is told of, delivered before "
        "or not, as far as the log goes back. It replaces a replay that has not ended.",
    )
