import inspect
import re
import string
from datetime import UTC, date
from typing import Any, cast

from hypothesis import assume, given
from hypothesis import strategies as st

from domain.api_keys import ApiKeyId
from domain.bookings import BookingId, DaySlot
from domain.models import EventId, LocationId, LocationStatus, LockerId, LockerStatus, OwnerId, ReservationId
from domain.times import EARLIEST, LATEST, Day, Instant, to_instant
from loaders import keys
from loaders.table.positions import IndexKey, IndexPartition, Key, KeyRange, Position

NOON = Instant("2026-03-01T12:00:00.000Z")
IDS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=64) | st.sampled_from(
    ["ACTIVE", "META", "RES", "LOCKER", "DAY", "CID", "BOOKING", "PAYMENT", "PENDING", "-", "_", "z" * 64]
)
TIMES = st.datetimes(timezones=st.just(UTC)).map(to_instant) | st.sampled_from([EARLIEST, LATEST, NOON])
DAYS = st.dates(date(1, 1, 1), date(9999, 12, 31)).map(lambda day: Day(day.isoformat()))
SLOTS = st.sampled_from(DaySlot)

OTHERS = {
    "is_of_its_table",
    "is_counted_in",
    "log_shard",
    "masked",
    "named_by",
    "ordering",
    "reservation_of_details",
    "reservation_place",
    "shown",
    "spelled",
    "stretches",
}
# Ranges that overlap those of lists: for the overlap check of a reservation, and for the doctor.
WIDER = {"owner_items", "stretch", "offers"}
BUILDERS: list[Any] = [
    value
    for name, value in vars(keys).items()
    if getattr(value, "__module__", "") == keys.__name__
    and not name.startswith("_")
    and name not in OTHERS
    and not name.endswith(("_index", "_of"))
]


def index_key(key: Key, index: dict[str, str]) -> IndexKey:
    return IndexKey(*key, index["GSI1PK"], index["GSI1SK"])


def lists_of(one: str) -> dict[str, KeyRange]:
    """Every list that can be about one id."""
    found: dict[str, KeyRange] = {}
    for builder in BUILDERS:
        names = inspect.signature(builder).parameters
        statuses: list[Any] = list(LocationStatus if builder is keys.locations else LockerStatus)
        values: dict[str, Any] = {"start": EARLIEST, "end": LATEST, "before": LATEST, "shard": keys.log_shard(one)}
        values |= {"first": "0001-01-01", "last": "9999-12-31"}
        for status in statuses if "status" in names else [None]:
            made = builder(*(status if name == "status" else values.get(name, one) for name in names))
            if not isinstance(made, Key):
                found[builder.__name__ + (f" {status}" if status else "")] = made
    return found


@given(IDS, IDS, TIMES, DAYS, SLOTS)
def test_every_item_is_in_the_list_of_its_kind(one: str, other: str, time: Instant, day: Day, slot: DaySlot) -> None:
    location, booking, owner, locker, key = LocationId(one), BookingId(one), OwnerId(one), LockerId(one), ApiKeyId(one)
    other_locker = LockerId(other)
    homes: dict[Position, str | None] = {
        keys.locker(locker): None,
        keys.reservation(locker, time, ReservationId(other)): "locker_reservations",
        keys.reservation_claim(locker, ReservationId(other)): None,
        keys.reservation_guard(locker): None,
        keys.active_pointer(locker): None,
        keys.event(locker, time, EventId(other)): "locker_events",
        keys.event_claim(locker, EventId(other)): None,
        keys.owner(owner): None,
        keys.owner_locker(owner, other_locker): "owner_lockers",
        keys.owner_reservation(owner, time, ReservationId(other)): "owner_reservations",
        keys.owner_booking(owner, day, BookingId(other)): "owner_bookings",
        keys.notification(owner, time, other): "owner_notifications",
        keys.pending_count(owner): None,
        keys.any_claim(owner, ReservationId(other)): None,
        keys.email_claim(f"{other}@{one}.de"): None,
        keys.location(location): None,
        keys.location_code(other): None,
        keys.location_locker(location, other_locker): "location_lockers",
        keys.offer(location, one, owner, cast("Any", one), keys.lot_of(other), other_locker): "offers_of_size",
        keys.calendar_slot(location, day, slot): "calendar_days",
        keys.calendar_claim(location, other): None,
        keys.booking(booking): None,
        keys.payment(booking, other): "booking_payments",
        keys.api_key(key): None,
        keys.log_entry(keys.log_shard(one), time, other): "log_entries",
        index_key(keys.api_key(key), keys.api_key_index(time, key)): "api_keys",
        index_key(keys.booking(booking), keys.pending_index(time, booking)): "pending_bookings",
        **{
            index_key(keys.location(location), keys.location_index(status, time, location)): f"locations {status}"
            for status in LocationStatus
        },
    }
    lists = {name: within for name, within in lists_of(one).items() if name not in WIDER}
    for position, home in homes.items():
        assert [name for name, within in lists.items() if position in within] == ([home] if home else [])
    for status in LockerStatus:
        for copy, index, by_status in (
            (
                keys.owner_locker(owner, other_locker),
                keys.owner_locker_index(owner, status, other_locker),
                "owner_lockers_by_status",
            ),
            (
                keys.location_locker(location, other_locker),
                keys.location_locker_index(location, status, other_locker),
                "location_lockers_by_status",
            ),
        ):
            found = [
                name
                for name, within in lists.items()
                if isinstance(within, IndexPartition) and index_key(copy, index) in within
            ]
            assert found == [f"{by_status} {status}"]


@given(IDS, IDS, TIMES, TIMES, TIMES)
def test_a_window_has_what_starts_in_it(locker: str, item: str, time: Instant, low: Instant, high: Instant) -> None:
    key = keys.live_reservation(LockerId(locker), time, ReservationId(item))
    assert (key in keys.live_reservations(LockerId(locker), low, high)) is (low <= time <= high)
    assert (key in keys.live_before(LockerId(locker), high)) is (time < high)


@given(TIMES, TIMES, IDS, IDS, IDS)
def test_lists_sort_by_time_first(one: Instant, other: Instant, parent: str, a: str, b: str) -> None:
    assume(one != other)
    pairs = ((one, a), (other, b))
    for first, second in (
        [keys.event(LockerId(parent), time, EventId(name)).sk for time, name in pairs],
        [keys.owner_booking(OwnerId(parent), Day(time), BookingId(name)).sk for time, name in pairs],
        [keys.notification(OwnerId(parent), time, name).sk for time, name in pairs],
        [keys.location_index(LocationStatus.ACTIVE, time, LocationId(name))["GSI1SK"] for time, name in pairs],
        [keys.pending_index(time, BookingId(name))["GSI1SK"] for time, name in pairs],
    ):
        assert (first < second) is (one < other)


def test_of_all_partitions_only_those_of_addresses_numbers_and_codes_hide_what_follows() -> None:
    partitions = {keys.shown(keys.spelled(builder)[0].partition(" = ")[2]) for builder in BUILDERS}
    hidden = {partition for partition in partitions if "…" in partition}
    assert hidden == {f"{kind}#…" for kind in ("EMAIL", "LOCATION_CODE", "PHONE", "RECIPIENT")}
    assert keys.shown(keys.owner(OwnerId("EMAIL")).pk) == "OWNER#EMAIL"


def test_a_masked_key_shows_its_kind_and_a_hash_unless_that_could_be_guessed_from() -> None:
    assert keys.masked(keys.locker(LockerId("l1"))) == "LOCKER / META (a16ece53ad8b)"
    assert keys.masked(keys.locker(LockerId("l2"))) != keys.masked(keys.locker(LockerId("l1")))
    for key in (keys.email_claim("ada@example.com"), keys.location_code("rome")):
        masked = keys.masked(key)
        assert "(" not in masked
        assert not {"ada", "rome"} & set(re.split(r"\W", masked))
