"""Cancelling and extending reservations, and the pointer that follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import mutation, unchanged, user_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

FIELDS = "reservationId lockerId ownerId startAt endAt status createdAt updatedAt"
CANCEL = mutation("cancelReservation", f"reservation {{ {FIELDS} }}")
EXTEND = mutation("extendReservation", f"reservation {{ {FIELDS} }}")
MINE = '{ owner(ownerId: "ada") { reservations { nodes { reservationId endAt status } } } }'

NOW = "2026-03-01T12:00:00.000Z"
LATER = "2026-03-01T12:01:00.000Z"
POINTER = ("LOCKER#l1", "RES#ACTIVE")
R1 = {
    "reservationId": "r1",
    "lockerId": "l1",
    "ownerId": "ada",
    "startAt": "2026-03-01T12:30:00.000Z",
    "endAt": "2026-03-01T13:00:00.000Z",
    "status": "UPCOMING",
    "createdAt": NOW,
    "updatedAt": NOW,
}


@pytest_asyncio.fixture
async def booked(api: Api) -> Api:
    """A locker with a reservation that starts in half an hour and a later one."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    await api.reservation("r1", "l1", "ada", "2026-03-01T12:30:00Z", "2026-03-01T13:00:00Z")
    await api.reservation("r2", "l1", "ada", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z")
    return api


async def test_a_cancelled_reservation_hands_the_pointer_to_the_next_and_the_last_one_to_none(
    booked: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    # given
    assert (await dump())[POINTER]["reservationId"] == "r1"
    clock.move(minutes=1)
    # when
    payload = await booked.mutate(CANCEL, lockerId="l1", reservationId="r1")
    # then
    assert payload == {"reservation": R1 | {"status": "CANCELLED", "updatedAt": LATER}, "userErrors": []}
    assert (await dump())[POINTER]["reservationId"] == "r2"
    await booked.mutate(CANCEL, lockerId="l1", reservationId="r2")
    assert POINTER not in await dump()
    data = await booked.run(MINE)
    assert [node["status"] for node in data["owner"]["reservations"]["nodes"]] == ["CANCELLED", "CANCELLED"]


async def test_cancelling_a_later_reservation_leaves_the_pointer_where_it_is(
    booked: Api, dump: Callable[[], Any]
) -> None:
    pointer = (await dump())[POINTER]
    await booked.mutate(CANCEL, lockerId="l1", reservationId="r2")
    assert (await dump())[POINTER] == pointer


async def test_cancelling_again_gives_the_same_answer_and_writes_nothing(
    booked: Api, clock: Clock, wire: Wire, dump: Callable[[], Any]
) -> None:
    first = await booked.mutate(CANCEL, lockerId="l1", reservationId="r1")
    clock.move(days=30)
    wire.reset()
    async with unchanged(dump):
        assert await booked.mutate(CANCEL, lockerId="l1", reservationId="r1") == first
    assert wire.operations["TransactWriteItems"] == 0


async def test_a_reservation_that_has_ended_cannot_be_cancelled(
    booked: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    clock.move(hours=1)
    async with unchanged(dump):
        payload = await booked.mutate(CANCEL, lockerId="l1", reservationId="r1")
    over = user_error("RESERVATION_OVER", "The reservation has ended, so it cannot be cancelled.", 409, "reservationId")
    assert payload == {"reservation": R1 | {"status": "EXPIRED"}, "userErrors": [over]}


async def test_a_reservation_can_be_cancelled_until_it_starts(booked: Api, clock: Clock) -> None:
    clock.move(minutes=29, seconds=59, milliseconds=999)
    payload = await booked.mutate(CANCEL, lockerId="l1", reservationId="r1")
    assert (payload["reservation"]["status"], payload["userErrors"]) == ("CANCELLED", [])


async def test_a_reservation_that_has_started_cannot_be_cancelled(
    booked: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    clock.move(minutes=30)
    async with unchanged(dump):
        payload = await booked.mutate(CANCEL, lockerId="l1", reservationId="r1")
    message = "The reservation has started, so it cannot be cancelled. Release it instead."
    started = user_error("RESERVATION_STARTED", message, 409, "reservationId")
    assert payload == {"reservation": R1 | {"status": "ACTIVE"}, "userErrors": [started]}


async def test_an_extended_reservation_ends_later_everywhere(
    booked: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    clock.move(minutes=1)
    # Up to the start of the next one: a window does not hold its own end.
    payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt="2026-03-01T15:00:00Z")
    extended = R1 | {"endAt": "2026-03-01T15:00:00.000Z", "updatedAt": LATER}
    assert payload == {"reservation": extended, "userErrors": []}
    table = await dump()
    held = ("LOCKER#l1", "RES#2026-03-01T12:30:00.000Z#r1")
    live = ("LOCKER#l1", held[1].replace("RES#", "LIVE#"))
    for key in (held, ("OWNER#ada", held[1]), live, POINTER):
        assert {name: table[key][name] for name in extended} == extended | {"status": "ACTIVE"}
    data = await booked.run(MINE)
    assert data["owner"]["reservations"]["nodes"][0]["endAt"] == "2026-03-01T15:00:00.000Z"


async def test_extending_a_later_reservation_leaves_the_pointer_where_it_is(
    booked: Api, dump: Callable[[], Any]
) -> None:
    pointer = (await dump())[POINTER]
    payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r2", newEndAt="2026-03-01T17:00:00Z")
    assert payload["userErrors"] == []
    assert (await dump())[POINTER] == pointer | {"lastEndAt": "2026-03-01T17:00:00.000Z"}


@pytest.mark.parametrize("end", ["2026-03-01T15:00:00.001Z", "2026-03-01T15:30:00Z", "2026-03-02T00:00:00Z"])
async def test_extending_into_the_next_reservation_is_refused_with_that_reservation(
    booked: Api, dump: Callable[[], Any], end: str
) -> None:
    async with unchanged(dump):
        payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt=end)
    start, until = "2026-03-01T15:00:00.000Z", "2026-03-01T16:00:00.000Z"
    assert payload == {
        "reservation": None,
        "userErrors": [
            {
                "__typename": "ReservationOverlapError",
                "message": f"The locker is already reserved from {start} to {until}.",
                "code": "RESERVATION_OVERLAP",
                "path": ["input", "newEndAt"],
                "status": 409,
                "retryable": False,
                "reservation": {"reservationId": "r2", "startAt": start, "endAt": until},
            }
        ],
    }


async def test_extending_over_a_cancelled_reservation_is_fine(booked: Api) -> None:
    await booked.mutate(CANCEL, lockerId="l1", reservationId="r2")
    payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt="2026-03-01T18:00:00Z")
    assert (payload["reservation"]["endAt"], payload["userErrors"]) == ("2026-03-01T18:00:00.000Z", [])


@pytest.mark.parametrize("minutes", [0, 90])
async def test_extending_to_the_same_end_again_gives_the_same_answer_and_writes_nothing(
    booked: Api, clock: Clock, wire: Wire, dump: Callable[[], Any], minutes: int
) -> None:
    values = {"lockerId": "l1", "reservationId": "r1", "newEndAt": "2026-03-01T13:15:00Z"}
    first = await booked.mutate(EXTEND, **values)
    clock.move(minutes=minutes)
    wire.reset()
    async with unchanged(dump):
        again = await booked.mutate(EXTEND, **values)
    status = "EXPIRED" if minutes else "UPCOMING"
    assert again == {"reservation": first["reservation"] | {"status": status}, "userErrors": []}
    assert wire.operations["TransactWriteItems"] == 0


async def test_a_reservation_cannot_be_made_shorter(booked: Api, dump: Callable[[], Any]) -> None:
    async with unchanged(dump):
        payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt="2026-03-01T12:59:59.999Z")
    message = "newEndAt must be after the current end, 2026-03-01T13:00:00.000Z"
    assert payload == {"reservation": None, "userErrors": [user_error("BAD_USER_INPUT", message, 400, "newEndAt")]}


@pytest.mark.parametrize("end", ["2026-03-01T12:30:00Z", "2026-03-01T10:00:00Z"])
async def test_a_reservation_cannot_end_before_it_starts(booked: Api, dump: Callable[[], Any], end: str) -> None:
    async with unchanged(dump):
        payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt=end)
    refused = user_error("BAD_USER_INPUT", "newEndAt must be after the start", 400, "newEndAt")
    assert payload == {"reservation": None, "userErrors": [refused]}


async def test_a_reservation_can_be_extended_to_exactly_the_longest_duration(
    booked: Api, dump: Callable[[], Any]
) -> None:
    values = {"lockerId": "l1", "reservationId": "r2"}
    async with unchanged(dump):
        payload = await booked.mutate(EXTEND, **values, newEndAt="2026-03-31T15:00:00.001Z")
    refused = user_error("BAD_USER_INPUT", "a reservation must not be longer than 30 days", 400, "newEndAt")
    assert payload == {"reservation": None, "userErrors": [refused]}
    payload = await booked.mutate(EXTEND, **values, newEndAt="2026-03-31T15:00:00Z")
    assert payload["userErrors"] == []


async def test_a_reservation_that_has_ended_cannot_be_extended(
    booked: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    clock.move(hours=1)
    async with unchanged(dump):
        payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt="2026-03-01T14:00:00Z")
    over = user_error("RESERVATION_OVER", "The reservation has ended, so it cannot be extended.", 409, "reservationId")
    assert payload == {"reservation": R1 | {"status": "EXPIRED"}, "userErrors": [over]}


@pytest.mark.parametrize("end", ["2026-03-01T14:00:00Z", "2026-03-01T13:00:00Z", "2026-03-01T12:45:00Z"])
async def test_a_reservation_that_was_cancelled_cannot_be_extended(
    booked: Api, dump: Callable[[], Any], end: str
) -> None:
    await booked.mutate(CANCEL, lockerId="l1", reservationId="r1")
    async with unchanged(dump):
        payload = await booked.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt=end)
    over = user_error(
        "RESERVATION_OVER", "The reservation was cancelled, so it cannot be extended.", 409, "reservationId"
    )
    assert payload == {"reservation": R1 | {"status": "CANCELLED"}, "userErrors": [over]}
