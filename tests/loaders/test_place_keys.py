"""Keys of locations and bookings: one spelling each, and every item in the range of its own list and of no other."""

from __future__ import annotations

import string
from datetime import UTC, date
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.api_keys import ApiKeyId
from domain.bookings import BookingId, DaySlot
from domain.models import EventId, LocationId, LocationStatus, LockerId, OwnerId, ReservationId
from domain.times import EARLIEST, LATEST, Day, Instant, instant_of
from loaders import keys
from loaders.table.operations import Between, IndexKey, IndexPartition, Key, Prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.table.operations import KeyRange, Place

ROME, B1, ADA, L1 = LocationId("rome"), BookingId("b1"), OwnerId("ada"), LockerId("l1")
NOON = Instant("2026-03-01T12:00:00.000Z")
FIRST, LAST = Day("2026-03-01"), Day("2026-05-31")

IDS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=64) | st.sampled_from(
    ["META", "LOCKER", "DAY", "CID", "BOOKING", "NOTIFICATION", "PAYMENT", "ACTIVE", "PENDING", "-", "_", "z" * 64]
)
TIMES = st.datetimes(timezones=st.just(UTC)).map(instant_of) | st.sampled_from([EARLIEST, LATEST, NOON])
DAYS = st.dates(date(1, 1, 1), date(9999, 12, 31)).map(lambda day: Day(day.isoformat()))
SLOTS = st.sampled_from(DaySlot)


@pytest.mark.parametrize(
    ("key", "pk", "sk"),
    [
        (keys.location(ROME), "LOCATION#rome", "META"),
        (keys.location_code("rome-1"), "LOCATION_CODE#rome-1", "META"),
        (keys.location_locker(ROME, L1), "LOCATION#rome", "LOCKER#l1"),
        (keys.calendar_slot(ROME, FIRST, DaySlot.MORNING), "LOCATION#rome", "DAY#2026-03-01#MORNING"),
        (keys.calendar_claim(ROME, "e1"), "LOCATION#rome", "CID#e1"),
        (keys.api_key(ApiKeyId("k1")), "APIKEY#k1", "META"),
        (keys.booking(B1), "BOOKING#b1", "META"),
        (keys.payment(B1, "p1"), "BOOKING#b1", "PAYMENT#p1"),
        (keys.owner_booking(ADA, FIRST, B1), "OWNER#ada", "BOOKING#2026-03-01#b1"),
        (keys.notification(ADA, NOON, "n1"), "OWNER#ada", "NOTIFICATION#2026-03-01T12:00:00.000Z#n1"),
    ],
)
def test_a_key_is_spelled_as_the_design_says(key: Key, pk: str, sk: str) -> None:
    assert key == Key(pk, sk)


def test_a_place_in_the_index_is_spelled_as_the_design_says() -> None:
    assert keys.location_index(LocationStatus.ACTIVE, NOON, ROME) == {
        "GSI1PK": "LOCATION#ACTIVE",
        "GSI1SK": "2026-03-01T12:00:00.000Z#rome",
    }
    assert keys.location_index(LocationStatus.INACTIVE, NOON, ROME)["GSI1PK"] == "LOCATION#INACTIVE"
    assert keys.pending_index(NOON, B1) == {"GSI1PK": "BOOKING#PENDING", "GSI1SK": "2026-03-01T12:00:00.000Z#b1"}
    assert keys.api_key_index(NOON, ApiKeyId("k1")) == {"GSI1PK": "APIKEY", "GSI1SK": "2026-03-01T12:00:00.000Z#k1"}


@pytest.mark.parametrize(
    ("within", "spelled"),
    [
        (keys.locations(LocationStatus.ACTIVE), IndexPartition("LOCATION#ACTIVE")),
        (keys.locations(LocationStatus.INACTIVE), IndexPartition("LOCATION#INACTIVE")),
        (keys.pending_bookings(), IndexPartition("BOOKING#PENDING")),
        (keys.api_keys(), IndexPartition("APIKEY")),
        (keys.location_lockers(ROME), Prefix("LOCATION#rome", "LOCKER#")),
        (keys.calendar_days(ROME, FIRST, LAST), Between("LOCATION#rome", "DAY#2026-03-01", "DAY#2026-05-31~")),
        (keys.owner_bookings(ADA), Prefix("OWNER#ada", "BOOKING#")),
        (keys.owner_notifications(ADA), Prefix("OWNER#ada", "NOTIFICATION#")),
        (keys.booking_payments(B1), Prefix("BOOKING#b1", "PAYMENT#")),
    ],
)
def test_a_range_is_spelled_as_the_design_says(within: KeyRange, spelled: KeyRange) -> None:
    assert within == spelled


def index_key(key: Key, index: dict[str, str]) -> IndexKey:
    return IndexKey(*key, index["GSI1PK"], index["GSI1SK"])


@given(IDS, IDS, TIMES, DAYS, SLOTS)
def test_every_item_is_in_the_list_of_its_own_kind_and_in_no_other(
    one: str, other: str, time: Instant, day: Day, slot: DaySlot
) -> None:
    location, booking, owner, locker = LocationId(one), BookingId(one), OwnerId(one), LockerId(one)
    homes: dict[Place, str | None] = {
        keys.location(location): None,
        keys.location_code(other): None,
        keys.location_locker(location, LockerId(other)): "location's lockers",
        keys.calendar_slot(location, day, slot): "calendar",
        keys.calendar_claim(location, other): None,
        keys.booking(booking): None,
        keys.api_key(ApiKeyId(one)): None,
        index_key(keys.api_key(ApiKeyId(one)), keys.api_key_index(time, ApiKeyId(one))): "API keys",
        keys.payment(booking, other): "payments",
        keys.owner(owner): None,
        keys.owner_locker(owner, LockerId(other)): "owner's lockers",
        keys.owner_reservation(owner, time, ReservationId(other)): "owner's reservations",
        keys.owner_booking(owner, day, BookingId(other)): "owner's bookings",
        keys.notification(owner, time, other): "notifications",
        keys.locker(locker): None,
        keys.reservation(locker, time, ReservationId(other)): "reservations",
        keys.event(locker, time, EventId(other)): "events",
        index_key(keys.booking(booking), keys.pending_index(time, booking)): "pending",
        **{
            index_key(keys.location(location), keys.location_index(status, time, location)): status.value
            for status in LocationStatus
        },
    }
    lists = {
        "location's lockers": keys.location_lockers(location),
        "calendar": keys.calendar_days(location, Day("0001-01-01"), Day("9999-12-31")),
        "payments": keys.booking_payments(booking),
        "owner's lockers": keys.owner_lockers(owner),
        "owner's reservations": keys.owner_reservations(owner),
        "owner's bookings": keys.owner_bookings(owner),
        "notifications": keys.owner_notifications(owner),
        "reservations": keys.locker_reservations(locker),
        "events": keys.locker_events(locker),
        "pending": keys.pending_bookings(),
        "API keys": keys.api_keys(),
        "ACTIVE": keys.locations(LocationStatus.ACTIVE),
        "INACTIVE": keys.locations(LocationStatus.INACTIVE),
    }
    assert len(homes) == 20
    for place, home in homes.items():
        assert [name for name, within in lists.items() if place in within] == ([home] if home else [])


@given(IDS, IDS, IDS, TIMES, DAYS)
def test_an_item_of_one_partition_is_in_no_list_of_another(
    one: str, other: str, item: str, time: Instant, day: Day
) -> None:
    assume(one != other)
    assert keys.location_locker(LocationId(one), LockerId(item)) not in keys.location_lockers(LocationId(other))
    assert keys.payment(BookingId(one), item) not in keys.booking_payments(BookingId(other))
    assert keys.owner_booking(OwnerId(one), day, BookingId(item)) not in keys.owner_bookings(OwnerId(other))
    assert keys.notification(OwnerId(one), time, item) not in keys.owner_notifications(OwnerId(other))
    slot = keys.calendar_slot(LocationId(one), day, DaySlot.MORNING)
    assert slot not in keys.calendar_days(LocationId(other), day, day)


@given(IDS, IDS)
def test_no_code_is_ever_the_key_of_a_location(location: str, code: str) -> None:
    assert keys.location_code(code) != keys.location(LocationId(location))
    assert keys.location_code(code).pk != keys.location(LocationId(location)).pk


@given(IDS, DAYS, DAYS, DAYS, SLOTS)
def test_a_calendar_holds_exactly_its_days_both_ends_included(
    location: str, day: Day, first: Day, last: Day, slot: DaySlot
) -> None:
    key = keys.calendar_slot(LocationId(location), day, slot)
    assert (key in keys.calendar_days(LocationId(location), first, last)) is (first <= day <= last)


@given(IDS, DAYS, DAYS, IDS, IDS)
def test_bookings_of_an_owner_sort_by_date_first(owner: str, one: Day, other: Day, a: str, b: str) -> None:
    assume(one != other)
    first = keys.owner_booking(OwnerId(owner), one, BookingId(a))
    second = keys.owner_booking(OwnerId(owner), other, BookingId(b))
    assert (first.sk < second.sk) is (one < other)


@given(TIMES, TIMES, IDS, IDS)
def test_the_index_sorts_by_time_first(one: Instant, other: Instant, a: str, b: str) -> None:
    assume(one != other)
    locations = [
        keys.location_index(LocationStatus.ACTIVE, time, LocationId(name))["GSI1SK"]
        for time, name in ((one, a), (other, b))
    ]
    bookings = [keys.pending_index(time, BookingId(name))["GSI1SK"] for time, name in ((one, a), (other, b))]
    notices = [keys.notification(ADA, time, name).sk for time, name in ((one, a), (other, b))]
    for first, second in (locations, bookings, notices):
        assert (first < second) is (one < other)


@pytest.mark.parametrize(
    ("builder", "spelled"),
    [
        (keys.locations, ("index GSI1", "GSI1PK = LOCATION#<status>")),
        (keys.pending_bookings, ("index GSI1", "GSI1PK = BOOKING#PENDING")),
        (keys.calendar_days, ("PK = LOCATION#<locationId>", "SK BETWEEN DAY#<first> AND DAY#<last>~")),
        (keys.owner_booking, ("PK = OWNER#<ownerId>", "SK = BOOKING#<date>#<bookingId>")),
        (keys.booking_payments, ("PK = BOOKING#<bookingId>", "SK begins_with PAYMENT#")),
    ],
)
def test_a_builder_can_spell_its_key_for_the_documentation(
    builder: Callable[..., Key | KeyRange], spelled: tuple[str, str]
) -> None:
    assert keys.spelled(builder) == spelled
