"""Demo data: a larger load on top of a smaller one leaves what the larger one alone would."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from domain.bookings import BookingStatus
from loaders.demo import DemoShape, demo_pieces, load_demo
from loaders.demo_places import LOCATIONS
from tests.conftest import NOW
from tests.invariants import check_invariants

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.backend import Backend

SMALL, LARGE = DemoShape(2, 4, 8), DemoShape(2, 4, 300)


def wanted(shape: DemoShape) -> dict[tuple[str, str], dict[str, Any]]:
    """The items of a load, by key."""
    return {
        (key.pk, key.sk): {"PK": key.pk, "SK": key.sk, **attributes}
        for piece in demo_pieces(shape, NOW)
        for key, attributes in piece
    }


async def test_a_larger_load_adds_its_events_to_a_smaller_one_without_holes(
    backend: Backend, dump: Callable[[], Any]
) -> None:
    first = await load_demo(backend.store, SMALL, NOW, lambda _: None)
    smaller = await dump()
    assert smaller == wanted(SMALL)
    second = await load_demo(backend.store, LARGE, NOW, lambda _: None)
    larger = await dump()
    assert larger == wanted(LARGE)
    assert (first, second) == (len(smaller), 292)
    for number in range(1, 5):
        events = [
            item["eventId"]
            for (pk, _), item in larger.items()
            if pk == f"LOCKER#locker-{number:06d}" and item["entityType"] == "ACCESS_EVENT"
        ]
        assert sorted(events) == [f"event-{count:06d}" for count in range(1, 76)]
    check_invariants(larger, NOW)


async def test_a_load_counts_every_piece_once_on_its_way(backend: Backend) -> None:
    for _ in range(2):
        pieces: list[int] = []
        await load_demo(backend.store, SMALL, NOW, pieces.append)
        assert sum(pieces) == SMALL.owners + LOCATIONS + SMALL.lockers + SMALL.events == 26


def test_a_smaller_load_is_a_part_of_a_larger_one() -> None:
    small, large = wanted(SMALL), wanted(LARGE)
    assert {key: large[key] for key in small} == small


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
