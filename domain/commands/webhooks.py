"""Inputs of the webhook mutations."""

from typing import Annotated

from pydantic import AfterValidator, Field

from domain.activity import ActivityKind
from domain.commands.base import (
    CHOSEN_ID,
    Change,
    CheckedLocationId,
    CheckedOwnerId,
    Command,
    Id,
    Name,
    optional,
)
from domain.ids import check_id
from domain.times import Instant
from domain.webhooks import WebhookId

_KINDS = "Kinds of activities to be told of; all kinds, also later ones, if the list is empty. Partners name them."
CheckedWebhookId = Annotated[WebhookId, AfterValidator(check_id), Field(description="Id of the webhook.")]
Kinds = Annotated[list[ActivityKind], Field(max_length=len(ActivityKind))]


class CreateWebhook(Command):
    """Input of `createWebhook`: exactly one of `ownerId`, `locationId` and `all` says what it is told of."""

    webhook_id: CheckedWebhookId | None = optional(CHOSEN_ID)
    url: str = Field(description="Address that deliveries are sent to, with https.")
    kinds: Kinds = Field(default_factory=list, description=_KINDS)
    owner_id: CheckedOwnerId | None = optional("Id of the owner whose activities it is told of.")
    location_id: CheckedLocationId | None = optional("Id of the location whose activities it is told of; for admins.")
    all: bool = Field(default=False, description="Whether it is told of all activities; for admins.")
    description: Name | None = optional("Note for people.")


class UpdateWebhook(Change):
    """Input of `updateWebhook`. Fields that are left out stay as they are."""

    webhook_id: CheckedWebhookId
    url: str = optional("New address.")
    kinds: Kinds = optional(_KINDS)
    description: Name | None = optional("New note; null removes the present one.")


class RotateWebhookSecret(Command):
    webhook_id: CheckedWebhookId
    expected_rotation: int = Field(description="Rotation of the webhook whose secret is to be replaced.")


class EnableWebhook(Change):
    webhook_id: CheckedWebhookId


class DisableWebhook(Change):
    webhook_id: CheckedWebhookId


class DeleteWebhook(Command):
    webhook_id: CheckedWebhookId


class SendTestWebhook(Command):
    webhook_id: CheckedWebhookId
    test_id: Id | None = optional("Id of your choice for the test, which is that of the message.")


class Redeliver(Command):
    webhook_id: CheckedWebhookId
    activity_id: Id = Field(description="Id of the activity that was delivered or not.")
    occurred_at: Instant = Field(description="Time of the activity, as the delivery shows it.")
    redelivery_id: Id | None = optional("Id of your choice: a repeated request with the same id sends nothing more.")


class ReplayWebhook(Command):
    webhook_id: CheckedWebhookId
    from_time: Instant = Field(description="Activities from then on are sent again.")
    to_time: Instant | None = optional("Until then, included; until now if left out.")
    replay_id: Id | None = optional("Id of your choice: a repeated request with the same id sends nothing more.")
