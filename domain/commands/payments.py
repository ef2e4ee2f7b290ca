"""Inputs of the payment mutations."""

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.base import CHOSEN_ID, CheckedBookingId, Command, Id, Name, optional
from domain.text import check_currency
from domain.times import Instant

Amount = Annotated[Decimal, Field(gt=0, max_digits=18, decimal_places=4)]
Currency = Annotated[str, AfterValidator(check_currency)]


class Money(Command):
    """An amount of money."""

    amount: Amount = Field(description="Amount, greater than 0 and with at most 4 decimals.")
    currency: Currency = Field(description="Currency as an ISO 4217 code, such as EUR.")


class RecordPayment(Command):
    payment_id: Id | None = optional(CHOSEN_ID)
    booking_id: CheckedBookingId
    amount: Money = Field(description="Amount of the payment.")
    method: Name | None = optional("Method of payment.")
    paid_at: Instant | None = optional("Time of the payment; now if left out.")
