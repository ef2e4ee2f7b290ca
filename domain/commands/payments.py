"""Inputs of the payment mutations."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.base import CheckedBookingId, Command, Id, Name
from domain.text import check_currency
from domain.times import Instant

__all__ = ["RecordPayment"]

Amount = Annotated[Decimal, Field(gt=0, max_digits=18, decimal_places=4)]
Currency = Annotated[str, AfterValidator(check_currency)]


class RecordPayment(Command):
    """Record a payment received for a booking."""

    payment_id: Id | None = None
    booking_id: CheckedBookingId
    amount: Amount
    currency: Currency
    method: Name | None = None
    paid_at: Instant | None = None
