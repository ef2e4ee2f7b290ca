from typing import Any

import pytest

from tests.api import Api
from tests.conftest import NOW, Clock, Dump
from tests.invariants import check_invariants
from tests.places import CANCEL, PAY, REJECT, approve, book, paged

LIST = """query ($first: Int, $after: String) {
  booking(bookingId: "b1") {
    payments(first: $first, after: $after) {
      nodes { paymentId bookingId amount { amount currency } method paidAt recordedAt } nextCursor
    }
  }
}"""


async def pay(api: Api, amount: str = "10.50", **values: Any) -> dict[str, Any]:
    payment = {"paymentId": "p1", "bookingId": "b1", "amount": {"amount": amount, "currency": "EUR"}}
    return await api.mutate(PAY, **payment | values)


async def test_a_payment_is_kept_and_shown_with_its_booking(room: Api, clock: Clock, dump: Dump) -> None:
    await book(room, "b1")
    clock.move(hours=1)
    payload = await pay(room, method="Card", paidAt="2026-02-27T23:30:00+01:00")
    shown = {
        "paymentId": "p1",
        "bookingId": "b1",
        "amount": {"amount": "10.5", "currency": "EUR"},
        "method": "Card",
        "paidAt": "2026-02-27T22:30:00.000Z",
        "recordedAt": clock.now,
    }
    assert payload == {"payment": shown, "userErrors": []}
    assert [nodes async for nodes in paged(room, LIST, 10)] == [[shown]]
    check_invariants(await dump(), clock.now)


@pytest.mark.parametrize("amount", ["0.0001", "99999999999999.9999", "12345678901234", "1e3"])
async def test_an_amount_is_exact_to_its_last_digit(room: Api, amount: str) -> None:
    await book(room, "b1")
    assert (await pay(room, amount))["userErrors"] == []
    answer = await room.client.post("/graphql", json={"query": LIST})
    assert f'"amount":"{"1000" if amount == "1e3" else amount}",' in answer.text


async def test_a_payment_is_for_a_booking_of_any_status_and_has_an_id_of_its_own(room: Api, dump: Dump) -> None:
    for number, booking_id in enumerate(("b1", "b2", "b3"), 1):
        await book(room, booking_id, date=f"2026-04-0{number}")
    await approve(room, "b1")
    await room.mutate(REJECT, bookingId="b2", reason="No", expectedVersion=1)
    await room.mutate(CANCEL, bookingId="b3")
    for number, booking_id in enumerate(("b1", "b2", "b3"), 1):
        payment = (await pay(room, str(number), bookingId=booking_id))["payment"]
        assert (payment["amount"]["amount"], payment["paidAt"], payment["method"]) == (str(number), NOW, None)
    await room.mutate(CANCEL, bookingId="b1")
    assert [len(nodes) async for nodes in paged(room, LIST, 10)] == [1]
    check_invariants(await dump(), NOW)
