"""The access pattern of rate limits that several servers share."""

from __future__ import annotations

from loaders import keys
from loaders.contract import StepRule, WriteContract
from loaders.table.operations import Action

__all__ = ["QC_50"]

QC_50 = WriteContract(
    id="QC-50",
    purpose="Spend some of a caller's budget",
    operation="UpdateItem",
    steps=(
        StepRule(
            name="spent",
            action=Action.UPDATE,
            key=keys.rate,
            condition="#fullAt BETWEEN :now AND :latest",
            when="some of it is spent already",
        ),
        StepRule(
            name="whole",
            action=Action.UPDATE,
            key=keys.rate,
            condition="attribute_not_exists(#PK) OR #fullAt < :now",
            when="it is whole",
        ),
    ),
    most_steps=2,
    fields=("/graphql",),
    note="Only where SMARTLOCKER_RATE_LIMIT_STORE is `table`, once for every request, and again where its plan needs "
    "more than one unit. The store adds the price to what is owed, so servers that ask at once never give more than "
    "there is; an answer that is lost may be paid for twice. The steps are tried in this order, one at a time. The "
    "time-to-live attribute `expiresAt` clears away what is whole again.",
    item_bytes=300,
)
