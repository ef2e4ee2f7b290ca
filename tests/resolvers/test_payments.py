"""Payments: written down once, exact to the last digit, and listed with their booking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import CANCEL, PAY, REJECT, approve, book, paged, prepare, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

PAYMENT = {"paymentId": "p1", "bookingId": "b1", "amount": "10.50", "currency": "EUR"}
LIST = """query ($first: Int, $after: String) {
  booking(bookingId: "b1") {
    payments(first: $first, after: $after) {
      nodes { paymentId bookingId amount currency method paidAt recordedAt } nextCursor
    }
  }
}"""


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
        "amount": 10.5,
        "currency": "EUR",
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
    content = {"bookingId": "b1", "amount": 1, "currency": "EUR"}
    first, second = [(await api.mutate(PAY, **content))["payment"] for _ in range(2)]
    assert len(first["paymentId"]) == 26
    assert first["paymentId"] < second["paymentId"]
    assert (first["paidAt"], first["recordedAt"], first["method"]) == (NOW, NOW, None)


@pytest.mark.parametrize("amount", ["0.0001", "99999999999999.9999", "12345678901234", "1e3"])
async def test_an_amount_is_exact_to_its_last_digit(api: Api, amount: str) -> None:
    await prepare(api)
    await book(api, "b1")
    assert (await pay(api, amount=amount))["userErrors"] == []
    answer = await api.client.post("/graphql", json={"query": LIST})
    assert f'"amount":{"1000" if amount == "1e3" else amount},' in answer.text


async def test_a_payment_sent_again_is_written_once(api: Api, clock: Clock, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await book(api, "b1")
    first = await pay(api)
    before = await dump()
    clock.move(days=100)
    assert await pay(api, amount=10.5, method=None) == first
    assert await dump() == before


@pytest.mark.parametrize("other", [{"amount": "10.51"}, {"currency": "USD"}, {"method": "Card"}, {"paidAt": NOW}])
async def test_a_used_id_is_refused_for_another_payment(
    api: Api, dump: Callable[[], Any], other: dict[str, str]
) -> None:
    await prepare(api)
    await book(api, "b1")
    await pay(api)
    before = await dump()
    payload = await pay(api, **other)
    assert payload["payment"] is None
    assert refusal(payload) == ("ID_TAKEN", 409, ["input", "paymentId"])
    assert await dump() == before


async def test_a_payment_of_no_booking_is_refused(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    before = await dump()
    payload = await pay(api)
    assert refusal(payload) == ("NOT_FOUND", 404, ["input", "bookingId"])
    assert await dump() == before


async def test_one_id_may_name_payments_of_two_bookings(api: Api) -> None:
    await prepare(api)
    await book(api, "b1")
    await book(api, "b2")
    assert (await pay(api))["userErrors"] == []
    assert (await pay(api, bookingId="b2", amount=7))["payment"]["amount"] == 7


async def test_money_may_come_whatever_became_of_the_booking_and_stays(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    for number, booking_id in enumerate(("b1", "b2", "b3"), 1):
        await book(api, booking_id, date=f"2026-04-0{number}")
    await approve(api, "b1")
    await api.mutate(REJECT, bookingId="b2", adminId="root", reason="No", expectedVersion=1)
    await api.mutate(CANCEL, bookingId="b3", ownerId="ada")
    for booking_id in ("b1", "b2", "b3"):
        assert (await pay(api, bookingId=booking_id))["userErrors"] == []
    await api.mutate(CANCEL, bookingId="b1", ownerId="ada")
    assert [len(nodes) async for nodes in paged(api, LIST, 10)] == [1]
    check_invariants(await dump(), NOW)


@pytest.mark.parametrize("size", [1, 2, 4, 5])
async def test_the_payments_of_a_booking_page_exactly(api: Api, size: int) -> None:
    await prepare(api)
    await book(api, "b1")
    await book(api, "b10")
    await pay(api, bookingId="b10")
    names = [f"p{number}" for number in range(4)]
    for name in names:
        await pay(api, paymentId=name)
    pages = [[node["paymentId"] for node in nodes] async for nodes in paged(api, LIST, size)]
    assert pages == [names[start : start + size] for start in range(0, 4, size)]
