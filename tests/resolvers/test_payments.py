"""Payments: written down once, exact to the last digit, and listed with their booking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import CANCEL, PAY, REJECT, approve, book, paged, prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

PAYMENT = {"paymentId": "p1", "bookingId": "b1", "amount": {"amount": "10.50", "currency": "EUR"}}
LIST = """query ($first: Int, $after: String) {
  booking(bookingId: "b1") {
    payments(first: $first, after: $after) {
      nodes { paymentId bookingId amount { amount currency } method paidAt recordedAt } nextCursor
    }
  }
}"""


def euros(amount: object) -> dict[str, object]:
    return {"amount": amount, "currency": "EUR"}


async def pay(api: Api, **values: Any) -> dict[str, Any]:
    return await api.mutate(PAY, **PAYMENT | values)


async def test_a_payment_is_kept_and_shown_with_its_booking(api: Api, clock: Clock, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await book(api, "b1")
    clock.move(hours=1)
    payload = await pay(api, method="Card", paidAt="2026-02-27T23:30:00+01:00")
    shown = {
        "paymentId": "p1",
        "bookingId": "b1",
        "amount": {"amount": "10.5", "currency": "EUR"},
        "method": "Card",
        "paidAt": "2026-02-27T22:30:00.000Z",
        "recordedAt": clock.now,
    }
    assert payload == {"payment": shown, "userErrors": []}
    assert [nodes async for nodes in paged(api, LIST, 10)] == [[shown]]
    check_invariants(await dump(), clock.now)


async def test_a_payment_without_an_id_a_time_and_a_method_gets_the_first_two(api: Api) -> None:
    await prepare(api)
    await book(api, "b1")
    content = {"bookingId": "b1", "amount": euros(1)}
    first, second = [(await api.mutate(PAY, **content))["payment"] for _ in range(2)]
    assert len(first["paymentId"]) == 26
    assert first["paymentId"] < second["paymentId"]
    assert (first["paidAt"], first["recordedAt"], first["method"]) == (NOW, NOW, None)


@pytest.mark.parametrize("amount", ["0.0001", "99999999999999.9999", "12345678901234", "1e3"])
async def test_an_amount_is_exact_to_its_last_digit(api: Api, amount: str) -> None:
    await prepare(api)
    await book(api, "b1")
    assert (await pay(api, amount=euros(amount)))["userErrors"] == []
    answer = await api.client.post("/graphql", json={"query": LIST})
    assert f'"amount":"{"1000" if amount == "1e3" else amount}",' in answer.text


async def test_one_id_may_name_payments_of_two_bookings(api: Api) -> None:
    await prepare(api)
    await book(api, "b1")
    await book(api, "b2")
    assert (await pay(api))["userErrors"] == []
    assert (await pay(api, bookingId="b2", amount=euros(7)))["payment"]["amount"]["amount"] == "7"


async def test_a_payment_is_recorded_for_a_booking_of_any_status(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    for number, booking_id in enumerate(("b1", "b2", "b3"), 1):
        await book(api, booking_id, date=f"2026-04-0{number}")
    await approve(api, "b1")
    await api.mutate(REJECT, bookingId="b2", reason="No", expectedVersion=1)
    await api.mutate(CANCEL, bookingId="b3")
    for booking_id in ("b1", "b2", "b3"):
        assert (await pay(api, bookingId=booking_id))["userErrors"] == []
    await api.mutate(CANCEL, bookingId="b1")
    assert [len(nodes) async for nodes in paged(api, LIST, 10)] == [1]
    check_invariants(await dump(), NOW)
