import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from domain.bookings import BookingStatus
from domain.times import Instant, shift, to_seconds
from loaders.backend import Backend
from loaders.table.operations import Transact
from loaders.table.positions import Key
from loaders.tools.demo import DemoShape, demo_pieces, load_demo
from loaders.tools.kinds import kind_at
from tests import figures
from tests.api import Api
from tests.conftest import NOW, Dump
from tests.invariants import check_invariants
from tests.migrating import delete
from tests.reservations import RELEASE
from tests.tables import PlainClient

OVERDUE = "{ overdueReservations { nodes { lockerId reservationId overdueSince locker { overdueSince } } } }"
SMALL, LARGE = DemoShape(2, 4, 8), DemoShape(2, 4, 300)


def wanted(shape: DemoShape, now: Instant = NOW) -> dict[tuple[str, str], dict[str, Any]]:
    """The items of a load, by key."""
    return {
        (key.pk, key.sk): {"PK": key.pk, "SK": key.sk, **attributes}
        for piece in demo_pieces(shape, now)
        for key, attributes in piece
    }


def without_figures(items: dict[tuple[str, str], dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {key: item for key, item in items.items() if key[0] not in {"FIGURES", "USAGE"} and key[1][:8] != "FIGURES#"}


def opened_in_a_week(items: dict[tuple[str, str], dict[str, Any]]) -> Counter[tuple[str, str]]:
    """How often doors were opened in the last seven days, by location and its day."""
    opened: Counter[tuple[str, str]] = Counter()
    for item in items.values():
        if item["entityType"] == "ACCESS_EVENT" and item["action"] in {"OPEN", "UNLOCK"}:
            place = items[f"LOCKER#{item['lockerId']}", "META"]["locationId"]
            zone = ZoneInfo(items[f"LOCATION#{place}", "META"]["timeZone"])
            day, today = (datetime.fromisoformat(time).astimezone(zone).date() for time in (item["timestamp"], NOW))
            if today - day < timedelta(days=7):
                opened[place, day.isoformat()] += 1
    return opened


async def test_a_larger_load_adds_its_events_to_a_smaller_one_without_holes(backend: Backend, dump: Dump) -> None:
    first = await load_demo(backend.store, SMALL, NOW, lambda _: None)
    smaller = without_figures(await dump())
    assert smaller == wanted(SMALL)
    second = await load_demo(backend.store, LARGE, NOW, lambda _: None)
    table = await dump()
    larger = without_figures(table)
    assert larger == wanted(LARGE)
    # An event is in the histories of its locker, its location and its owner.
    assert (first, second) == (len(smaller), 292 * 4)
    assert Counter(pk for (pk, _), item in larger.items() if item["entityType"] == "ACCESS_EVENT") == {
        f"LOCKER#locker-{number:06d}": 75 for number in range(1, 5)
    }
    check_invariants(table, NOW)
    assert figures.stored(table.values()) == figures.counted(table.values())
    used = {
        (item["locationId"], item["date"]): item["counts"]["opens"]
        for item in table.values()
        if item["entityType"] == "LOCATION_USAGE" and "opens" in item["counts"]
    }
    assert used == opened_in_a_week(table)


async def test_an_interrupted_load_is_counted_as_a_whole(
    backend: Backend, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    await load_demo(backend.store, SMALL, NOW, lambda _: None)
    loaded = await dump()
    for key in loaded.keys() - without_figures(loaded).keys():
        await delete(plain_client, table, loaded[key])
    await load_demo(backend.store, SMALL, NOW, lambda _: None)
    items = (await dump()).values()
    assert figures.stored(items) == figures.counted(items) != {}


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


async def test_the_demo_has_an_overdue_stay_that_a_release_ends(api: Api, backend: Backend, dump: Dump) -> None:
    await load_demo(backend.store, SMALL, NOW, lambda _: None)
    (late,) = (await api.run(OVERDUE))["overdueReservations"]["nodes"]
    assert late["overdueSince"] == late["locker"]["overdueSince"] < NOW
    await api.done(RELEASE, lockerId=late["lockerId"], reservationId=late["reservationId"])
    assert (await api.run(OVERDUE))["overdueReservations"]["nodes"] == []
    await figures.follow(backend)
    check_invariants(await dump(), NOW)


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
