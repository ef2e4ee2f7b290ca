"""The calendar is one Query however many days it shows; a booking's other ways cost no more than its contract says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.booking_commands import CancelBooking, DeleteCalendarEvent, UpdateLocation
from domain.bookings import DaySlot
from domain.errors import BadInputError
from domain.principal import DEVELOPMENT_ADMIN
from domain.times import Day, count_days, days_between
from loaders import keys, reads
from loaders.contracts import QC_33, QC_43, QC_44, QC_49
from loaders.writes.bookings import cancel_booking
from loaders.writes.calendar import delete_calendar_event
from loaders.writes.locations import update_location
from tests.contracts.examples import large_location
from tests.contracts.list_example import BOOKING, LOCATION, NAME, OTHER_LOCATION, OWNER
from tests.contracts.place_examples import (
    FIRST_DAY,
    LAST_DAY,
    PLACE_EXAMPLES,
    approve_large,
    large_booking,
    large_slots,
)

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.contracts.seeds import Seeds
    from tests.wire import Wire

STRANGER = {"entityType": "STRANGER"}


def shown(slots: list[Any]) -> list[tuple[str, str]]:
    return [(slot.date, slot.slot) for slot in slots]


async def test_92_days_with_every_half_taken_are_one_query_of_184_items(
    backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    assert count_days(FIRST_DAY, LAST_DAY) == 92
    await seeds.put(large_slots(Day("2025-12-31"), 94))  # a day more on either side

    found = await reads.calendar(backend.store, LOCATION, FIRST_DAY, LAST_DAY)

    assert shown(found) == [(day, slot) for day in days_between(FIRST_DAY, LAST_DAY) for slot in sorted(DaySlot)]
    assert len(found) == 184 == QC_44.page.maximum
    (call,) = wire.calls
    assert (call.operation, call.request["Limit"], len(call.response["Items"])) == ("Query", 184, 184)
    assert call.units <= QC_44.read_units


@pytest.mark.parametrize("days", [1, 2, 91, 92])
async def test_a_calendar_is_one_query_whether_its_days_are_empty_or_not(
    backend: Backend, seeds: Seeds, wire: Wire, days: int
) -> None:
    last = days_between(FIRST_DAY, LAST_DAY)[days - 1]
    assert await reads.calendar(backend.store, LOCATION, FIRST_DAY, last) == []
    await seeds.put(large_slots(FIRST_DAY, days)[1:])
    assert len(await reads.calendar(backend.store, LOCATION, FIRST_DAY, last)) == 2 * days - 1
    assert wire.operations == {"Query": 2}
    assert {call.request["Limit"] for call in wire.calls} == {184}


async def test_a_calendar_has_its_own_days_both_bounds_included_and_nothing_beside_them(
    backend: Backend, seeds: Seeds
) -> None:
    await seeds.put(large_slots(Day("2026-02-27"), 4))
    neighbours = [
        keys.location(LOCATION),
        keys.calendar_claim(LOCATION, "2026-02-28"),
        keys.calendar_slot(OTHER_LOCATION, Day("2026-02-28"), DaySlot.MORNING),
    ]
    await seeds.put((key, STRANGER) for key in neighbours)
    found = await reads.calendar(backend.store, LOCATION, Day("2026-02-28"), Day("2026-03-01"))
    assert shown(found) == [
        ("2026-02-28", "AFTERNOON"),
        ("2026-02-28", "MORNING"),
        ("2026-03-01", "AFTERNOON"),
        ("2026-03-01", "MORNING"),
    ]


@pytest.mark.parametrize(("first", "last"), [("2026-01-01", "2026-04-03"), ("2026-01-02", "2026-01-01")])
async def test_a_calendar_that_is_too_long_or_backwards_is_refused_and_nothing_is_sent(
    backend: Backend, wire: Wire, first: str, last: str
) -> None:
    with pytest.raises(BadInputError):
        await reads.calendar(backend.store, LOCATION, Day(first), Day(last))
    assert wire.calls == []


async def test_an_approval_costs_no_more_than_its_contract_declares(backend: Backend, wire: Wire) -> None:
    await large_booking(backend)
    wire.reset()
    assert await approve_large(backend)
    (write,) = wire.of("TransactWriteItems")
    assert len(write.keys) == 7 == QC_43.most_steps
    # twice: booking 9, copy 9, half days 2 and 2, notification 1, admin 2, location 7; once: out of the index 9
    assert write.units == 2 * (9 + 9 + 2 + 2 + 1 + 2 + 7) + 9 <= QC_43.write_units


@pytest.mark.parametrize(
    ("is_approved", "steps", "units"), [(False, 2, 2 * (9 + 9) + 9), (True, 4, 2 * (9 + 9 + 2 + 2))]
)
async def test_a_cancellation_costs_no_more_than_its_contract_declares(
    backend: Backend,
    wire: Wire,
    is_approved: bool,  # noqa: FBT001
    steps: int,
    units: int,
) -> None:
    await large_booking(backend)
    if is_approved:
        await approve_large(backend)
    wire.reset()
    await cancel_booking(backend, CancelBooking(booking_id=BOOKING, owner_id=OWNER), DEVELOPMENT_ADMIN)
    assert wire.operations == {"GetItem": 2, "TransactWriteItems": 1}
    (write,) = wire.of("TransactWriteItems")
    assert len(write.keys) == steps
    assert write.units == units <= QC_43.write_units
    assert [call.request["ConsistentRead"] for call in wire.of("GetItem")] == [True, True]


async def test_deleting_an_event_costs_no_more_than_its_contract_declares(
    backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    example = PLACE_EXAMPLES["QC-49"]
    await example.prepare(backend, seeds)
    await example.run(backend)
    wire.reset()
    command = DeleteCalendarEvent(location_id=LOCATION, event_id="e" * 64, admin_id=OWNER)
    await delete_calendar_event(backend, command, DEVELOPMENT_ADMIN)
    assert wire.operations == {"GetItem": 1, "TransactWriteItems": 1}
    (write,) = wire.of("TransactWriteItems")
    assert write.units == 2 * (2 + 2 + 2) <= QC_49.write_units


async def test_changing_a_location_writes_it_once_in_the_index(backend: Backend, wire: Wire) -> None:
    await large_location(backend)
    wire.reset()
    command = UpdateLocation(location_id=LOCATION, expected_version=1, name=NAME[:-1] + "x")
    await update_location(backend, command)
    (write,) = wire.of("TransactWriteItems")
    assert write.units == 2 * 7 + 7 <= QC_33.write_units
