import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from domain.bookings import BookingStatus
from domain.times import Instant, shift, to_seconds
from loaders.backend import Backend
from loaders.table.operations import Transact
from loaders.table.positions import Key
from loaders.tools.demo import DemoShape, demo_pieces, load_demo
from loaders.tools.kinds import kind_at
from tests.conftest import NOW, Dump
from tests.invariants import check_invariants

SMALL, LARGE = DemoShape(2, 4, 8), DemoShape(2, 4, 300)


def wanted(shape: DemoShape, now: Instant = NOW) -> dict[tuple[str, str], dict[str, Any]]:
    """The items of a load, by key."""
    return {
        (key.pk, key.sk): {"PK": key.pk, "SK": key.sk, **attributes}
        for piece in demo_pieces(shape, now)
        for key, attributes in piece
    }


async def test_a_larger_load_adds_its_events_to_a_smaller_one_without_holes(backend: Backend, dump: Dump) -> None:
    first = await load_demo(backend.store, SMALL, NOW, lambda _: None)
    smaller = await dump()
    assert smaller == wanted(SMALL)
    second = await load_demo(backend.store, LARGE, NOW, lambda _: None)
    larger = await dump()
    assert larger == wanted(LARGE)
    # An event is in the histories of its locker, its location and its owner.
    assert (first, second) == (len(smaller), 292 * 4)
    assert Counter(pk for (pk, _), item in larger.items() if item["entityType"] == "ACCESS_EVENT") == {
        f"LOCKER#locker-{number:06d}": 75 for number in range(1, 5)
    }
    check_invariants(larger, NOW)


async def test_a_load_reports_every_piece_once(backend: Backend) -> None:
    for _ in range(2):
        pieces: list[int] = []
        await load_demo(backend.store, SMALL, NOW, pieces.append)
        assert sum(pieces) == SMALL.owners + 1 + SMALL.lockers + SMALL.events == 15


def test_the_demo_has_places_of_all_zones_bookings_of_all_states_and_days_both_full_and_half() -> None:
    items = wanted(DemoShape())
    locations = [item for item in items.values() if item["entityType"] == "LOCATION"]
    bookings = [item for item in items.values() if item["entityType"] == "BOOKING"]
    assert len({item["timeZone"] for item in locations}) == len(locations) == 12
    for location in locations:
        own = [item for item in bookings if item["locationId"] == location["locationId"]]
        assert {item["status"] for item in own} == set(BookingStatus)
        slots = [slot for slot in items.values() if slot["entityType"] == "CALENDAR_SLOT"]
        days = Counter(slot["date"] for slot in slots if slot["locationId"] == location["locationId"])
        assert set(days.values()) == {1, 2}, location["code"]


def test_demo_data_of_a_day_differs_only_in_which_reservation_is_next() -> None:
    morning, evening = (wanted(DemoShape(), Instant(f"2026-03-01T{hour}:00:00.000Z")) for hour in ("01", "23"))
    assert morning == wanted(DemoShape(), Instant("2026-03-01T01:00:00.000Z"))
    assert morning.keys() == evening.keys()
    assert {sk for pk, sk in morning if morning[pk, sk] != evening[pk, sk]} == {"RES#ACTIVE"}


def test_demo_data_has_as_many_items_as_requested() -> None:
    kinds = Counter(item["entityType"] for item in wanted(DemoShape(5, 17, 40)).values())
    assert [kinds[kind] for kind in ("OWNER", "LOCKER", "OWNER_LOCKER", "ACCESS_EVENT")] == [5, 17, 17, 40]


class EnoughError(Exception):
    """Ends a load."""


async def test_a_load_of_any_size_starts_at_once_and_holds_a_few_transactions_in_memory() -> None:
    running: list[int] = []
    sizes: list[int] = []

    class CountingStore:
        async def transact(self, operation: Transact) -> None:
            running.append(len(operation.steps))
            sizes.append(len(running))
            await asyncio.sleep(0)
            assert running.pop() <= 100
            if len(sizes) == 200:
                raise EnoughError

    store: Any = CountingStore()
    with pytest.raises(ExceptionGroup) as stopped:
        await load_demo(store, DemoShape(10**12, 10**12, 10**12), NOW, lambda _: None)
    assert stopped.group_contains(EnoughError)
    assert max(sizes) == 4


def test_every_locker_owner_and_location_has_a_history_of_a_week() -> None:
    items = wanted(DemoShape())
    week = to_seconds(shift(Instant(f"{NOW[:10]}T00:00:00.000Z"), timedelta(days=-7)))
    days: dict[str, set[str]] = {}
    for (partition, sort), item in items.items():
        if item["entityType"] == "ACTIVITY":
            assert item["expiresAt"] > to_seconds(NOW)
            assert kind_at(Key(partition, sort), item) == "ACTIVITY"
            if to_seconds(item["occurredAt"]) > week:
                days.setdefault(partition, set()).add(item["occurredAt"][:10])
    homes = {pk for (pk, sk), item in items.items() if item["entityType"] in {"LOCKER", "OWNER", "LOCATION"}}
    assert homes <= days.keys()
    assert min(len(days[home]) for home in homes) >= 4
    kinds = Counter(item["kind"] for item in items.values() if item["entityType"] == "ACTIVITY")
    assert {kind.partition(".")[0] for kind in kinds} == {
        *("owner", "location", "locker", "reservation", "booking", "payment", "calendar_event", "door"),
    }
