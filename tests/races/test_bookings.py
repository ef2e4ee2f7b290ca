import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from tests import places
from tests.api import Api
from tests.conftest import NOW, Clock, Dump
from tests.inputs import GOOD
from tests.invariants import Items, check_invariants
from tests.wire import Call, Meeting, Wait, Wire

DURATIONS = ("MORNING", "AFTERNOON", "FULL_DAY")
ASKED = GOOD["requestBooking"]
EVENT = {"locationId": places.ulid(0), "date": places.DAY, "title": "Works"}


def staggered(*seconds: float) -> Callable[[Call], Wait | None]:
    """Delays each of the first writes by its own time."""
    left = list(seconds)
    return lambda call: Wait(left.pop()) if left and call.operation == "TransactWriteItems" else None


def statuses(items: Items) -> dict[str, str]:
    return {item["bookingId"]: item["status"] for item in items.values() if item["entityType"] == "BOOKING"}


def notices(items: Items) -> list[str]:
    return sorted(item["notificationId"] for item in items.values() if item["entityType"] == "NOTIFICATION")


async def reject(api: Api, booking_id: str) -> dict[str, Any]:
    return await api.mutate(places.REJECT, bookingId=booking_id, reason="No", expectedVersion=1)


async def cancel(api: Api, booking_id: str) -> dict[str, Any]:
    return await api.mutate(places.CANCEL, bookingId=booking_id)


def decided(payloads: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The booking of the one that succeeded, and the payload of the other."""
    (winner,) = [payload["booking"] for payload in payloads if not payload["userErrors"]]
    (loser,) = [payload for payload in payloads if payload["userErrors"]]
    return winner, loser


@pytest.mark.parametrize("durations", [("FULL_DAY", "FULL_DAY"), ("MORNING", "FULL_DAY"), ("FULL_DAY", "AFTERNOON")])
async def test_of_two_overlapping_bookings_approved_at_once_one_wins(
    room: Api, wire: Wire, dump: Dump, durations: tuple[str, str]
) -> None:
    for number in range(10):
        date = f"2026-04-{number + 1:02d}"
        names = (f"a{number}", f"b{number}")
        for name, duration in zip(names, durations, strict=True):
            await places.book(room, name, date=date, duration=duration)
        wire.fault = Meeting(2)
        payloads = await asyncio.gather(*(places.approve(room, name) for name in names))
        wire.reset()
        winner, loser = decided(payloads)
        assert places.refusal(loser) == ("SLOT_TAKEN", 409, ["input", "bookingId"])
        assert loser["userErrors"][0]["event"]["bookingId"] == winner["bookingId"]
    items = await dump()
    assert sorted(statuses(items).values()) == ["APPROVED"] * 10 + ["PENDING"] * 10
    check_invariants(items, NOW)


async def test_one_of_many_approvals_at_once_decides_for_all(room: Api, wire: Wire, dump: Dump, clock: Clock) -> None:
    for number in range(5):
        await room.owner(f"admin{number}", role="ADMIN")
    for number in range(5):
        await places.book(room, f"b{number}", date=f"2026-04-0{number + 1}")
        wire.fault = Meeting(5)
        payloads = await asyncio.gather(*(places.approve(room, f"b{number}", admin=f"admin{who}") for who in range(5)))
        wire.reset()
        assert [payload["booking"] for payload in payloads] == [payloads[0]["booking"]] * 5
        assert payloads[0]["booking"]["version"] == 2
        assert sorted(len(payload["userErrors"]) for payload in payloads) == [0, 1, 1, 1, 1]
        clock.move(minutes=1)
    items = await dump()
    assert notices(items) == [f"b{number}-approved" for number in range(5)]
    check_invariants(items, clock.now)


async def test_of_an_approval_and_a_rejection_at_once_only_one_succeeds(room: Api, wire: Wire, dump: Dump) -> None:
    for number in range(10):
        name = f"b{number}"
        await places.book(room, name, date=f"2026-04-{number + 1:02d}")
        wire.fault = Meeting(2)
        order = (places.approve, reject) if number % 2 else (reject, places.approve)
        payloads = await asyncio.gather(*(decide(room, name) for decide in order))
        wire.reset()
        winner, loser = decided(payloads)
        assert places.refusal(loser) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
        assert loser["booking"] == winner
    items = await dump()
    assert notices(items) == sorted(f"{name}-{status.lower()}" for name, status in statuses(items).items())
    check_invariants(items, NOW)


async def test_an_approval_and_a_cancellation_at_once_leave_no_half_day(room: Api, wire: Wire, dump: Dump) -> None:
    for number in range(20):
        name = f"b{number}"
        await places.book(room, name, date=f"2026-04-{number + 1:02d}")
        # Sometimes both arrive together, sometimes one a little later.
        wire.fault = staggered(0.1, random.Random(number).random() / 5)
        approval, cancellation = await asyncio.gather(places.approve(room, name), cancel(room, name))
        wire.reset()
        # The owner may cancel an approved booking, so the cancellation always succeeds.
        assert (cancellation["userErrors"], cancellation["booking"]["status"]) == ([], "CANCELLED")
        if approval["userErrors"]:
            assert places.refusal(approval) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
        assert approval["booking"]["status"] == ("CANCELLED" if approval["userErrors"] else "APPROVED")
        assert cancellation["booking"]["version"] == (2 if approval["userErrors"] else 3)
    items = await dump()
    assert places.slots(items) == {}
    check_invariants(items, NOW)


async def test_of_two_requests_with_one_id_at_once_one_is_refused(room: Api, wire: Wire, dump: Dump) -> None:
    wire.fault = Meeting(2)
    payloads = await asyncio.gather(
        *(room.mutate(places.REQUEST, **ASKED | {"attendees": number}) for number in (1, 2))
    )
    _, loser = decided(payloads)
    assert places.refusal(loser) == ("ID_TAKEN", 409, ["input", "bookingId"])
    check_invariants(await dump(), NOW)


async def test_an_event_deleted_by_ten_at_once_and_its_day_taken_meanwhile_stays_taken(room: Api, dump: Dump) -> None:
    for number in range(10):
        day = f"2026-04-{number + 1:02d}"
        event = {**EVENT, "date": day, "eventId": f"e{number}", "duration": "FULL_DAY"}
        assert (await room.mutate(places.CREATE_EVENT, **event))["userErrors"] == []
        await places.book(room, f"b{number}", date=day)
        gone = {"locationId": places.ulid(0), "eventId": f"e{number}"}
        *deletions, approval = await asyncio.gather(
            *(room.mutate(places.DELETE_EVENT, **gone) for _ in range(5)), places.approve(room, f"b{number}")
        )
        deletions += await asyncio.gather(room.mutate(places.DELETE_EVENT, **gone))
        assert deletions == [{"deletedEventId": f"e{number}", "userErrors": []}] * 6
        if approval["userErrors"]:
            assert places.refusal(approval)[0] == "SLOT_TAKEN"
            assert (await places.approve(room, f"b{number}"))["userErrors"] == []
    items = await dump()
    assert set(places.slots(items).values()) == {f"b{number}" for number in range(10)}
    assert len(places.slots(items)) == 20
    check_invariants(items, NOW)


async def test_asking_deciding_and_giving_up_at_random_keep_invariants(room: Api, dump: Dump, clock: Clock) -> None:
    chance = random.Random(5)
    known: list[str] = []

    def day() -> str:
        return f"2026-03-{chance.randrange(8, 11):02d}"

    async def ask() -> None:
        known.append(f"b{len(known)}")
        wanted = {"bookingId": known[-1], "date": day(), "duration": chance.choice(DURATIONS)}
        await room.mutate(places.REQUEST, **ASKED | wanted)  # too many may be waiting

    async def decide() -> None:
        name, version = chance.choice(known), chance.choice((1, 1, 1, 2))
        await (places.approve(room, name, version) if chance.random() < 0.8 else reject(room, name))

    async def give_up() -> None:
        await cancel(room, chance.choice(known))

    async def fill() -> None:
        event = {**EVENT, "date": day(), "eventId": chance.choice(("x", "y", *known[:2]))}
        await room.mutate(places.CREATE_EVENT, **event, duration=chance.choice(DURATIONS))

    async def free() -> None:
        event_id = chance.choice(("x", "y", *known[:2]))
        await room.mutate(places.DELETE_EVENT, locationId=places.ulid(0), eventId=event_id)

    await ask()
    kinds = (ask, ask, decide, decide, decide, give_up, give_up, fill, free)
    for _ in range(40):
        await asyncio.gather(*(chance.choice(kinds)() for _ in range(8)))
        clock.move(minutes=1)
        check_invariants(await dump(), clock.now)


async def test_of_forty_requests_at_once_exactly_as_many_wait_as_may(room: Api, dump: Dump) -> None:
    await places.book(room, "before")
    payloads = await asyncio.gather(
        *(room.mutate(places.REQUEST, **ASKED | {"bookingId": f"b{number}"}) for number in range(40))
    )
    refused = [places.refusal(payload) for payload in payloads if payload["userErrors"]]
    assert refused == [("TOO_MANY_PENDING_BOOKINGS", 409, ["input", "ownerId"])] * (40 - 19)
    items = await dump()
    assert len(statuses(items)) == 20
    check_invariants(items, NOW)
    accepted = [payload["booking"]["bookingId"] for payload in payloads if payload["booking"]]
    await asyncio.gather(
        places.approve(room, accepted[0]),
        reject(room, accepted[1]),
        cancel(room, accepted[2]),
        cancel(room, accepted[2]),
    )
    check_invariants(await dump(), NOW)
    for number in range(3):
        await places.book(room, f"c{number}")
    payload = await room.mutate(places.REQUEST, **ASKED | {"bookingId": "c3"})
    assert places.refusal(payload)[0] == "TOO_MANY_PENDING_BOOKINGS"
    again = await room.mutate(places.REQUEST, **ASKED | {"bookingId": accepted[3]})
    assert (again["userErrors"], again["booking"]["bookingId"]) == ([], accepted[3])


async def test_an_uncounted_booking_can_be_decided(room: Api, dump: Dump, plain_client: Any, table: str) -> None:
    for number in range(3):
        await places.book(room, f"b{number}", date=f"2026-04-0{number + 1}")
    key = {"PK": {"S": "OWNER#ada"}, "SK": {"S": "PENDING_BOOKINGS"}}
    await plain_client.delete_item(TableName=table, Key=key)
    for payload in (await places.approve(room, "b0"), await reject(room, "b1"), await cancel(room, "b2")):
        assert payload["userErrors"] == []
    check_invariants(await dump(), NOW)
