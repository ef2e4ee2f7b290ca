"""Keys: one spelling each, and every item in the range of its own list and of no other."""

from __future__ import annotations

import string
from datetime import UTC
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.models import EventId, LockerId, OwnerId, ReservationId
from domain.times import EARLIEST, LATEST, Instant, instant_of
from loaders import keys
from loaders.table.operations import Between, Key, Prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.table.operations import KeyRange

L1, ACME, R1, E1 = LockerId("l1"), OwnerId("acme"), ReservationId("r1"), EventId("e1")
NOON = Instant("2026-03-01T12:00:00.000Z")
ONE = Instant("2026-03-01T13:00:00.000Z")

IDS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=64) | st.sampled_from(
    ["ACTIVE", "META", "RES", "-", "_", "z" * 64]
)
TIMES = st.datetimes(timezones=st.just(UTC)).map(instant_of) | st.sampled_from([EARLIEST, LATEST, NOON])


@pytest.mark.parametrize(
    ("key", "pk", "sk"),
    [
        (keys.locker(L1), "LOCKER#l1", "META"),
        (keys.reservation(L1, NOON, R1), "LOCKER#l1", "RES#2026-03-01T12:00:00.000Z#r1"),
        (keys.reservation_claim(L1, R1), "LOCKER#l1", "RID#r1"),
        (keys.reservation_guard(L1), "LOCKER#l1", "GUARD#RES"),
        (keys.active_pointer(L1), "LOCKER#l1", "RES#ACTIVE"),
        (keys.event(L1, NOON, E1), "LOCKER#l1", "EVT#2026-03-01T12:00:00.000Z#e1"),
        (keys.event_claim(L1, E1), "LOCKER#l1", "EID#e1"),
        (keys.owner(ACME), "OWNER#acme", "META"),
        (keys.owner_locker(ACME, L1), "OWNER#acme", "LOCKER#l1"),
        (keys.owner_reservation(ACME, NOON, R1), "OWNER#acme", "RES#2026-03-01T12:00:00.000Z#r1"),
        (keys.email_claim("ada@example.com"), "EMAIL#ada@example.com", "META"),
    ],
)
def test_a_key_is_spelled_as_the_design_says(key: Key, pk: str, sk: str) -> None:
    assert key == Key(pk, sk)


@pytest.mark.parametrize(
    ("within", "spelled"),
    [
        (keys.owner_lockers(ACME), Prefix("OWNER#acme", "LOCKER#")),
        (
            keys.locker_reservations(L1, NOON, ONE),
            Between("LOCKER#l1", "RES#2026-03-01T12:00:00.000Z", "RES#2026-03-01T13:00:00.000Z~"),
        ),
        (
            keys.locker_reservations(L1),
            Between("LOCKER#l1", "RES#0001-01-01T00:00:00.000Z", "RES#9999-12-31T23:59:59.999Z~"),
        ),
        (
            keys.reservations_starting(L1, NOON, ONE),
            Between("LOCKER#l1", "RES#2026-03-01T12:00:00.000Z", "RES#2026-03-01T13:00:00.000Z"),
        ),
        (
            keys.locker_events(L1, NOON, ONE),
            Between("LOCKER#l1", "EVT#2026-03-01T12:00:00.000Z", "EVT#2026-03-01T13:00:00.000Z~"),
        ),
        (
            keys.locker_events(L1),
            Between("LOCKER#l1", "EVT#0001-01-01T00:00:00.000Z", "EVT#9999-12-31T23:59:59.999Z~"),
        ),
        (
            keys.owner_reservations(ACME, NOON, ONE),
            Between("OWNER#acme", "RES#2026-03-01T12:00:00.000Z", "RES#2026-03-01T13:00:00.000Z~"),
        ),
        (
            keys.owner_reservations(ACME),
            Between("OWNER#acme", "RES#0001-01-01T00:00:00.000Z", "RES#9999-12-31T23:59:59.999Z~"),
        ),
    ],
)
def test_a_range_is_spelled_as_the_design_says(within: KeyRange, spelled: KeyRange) -> None:
    assert within == spelled


@given(IDS, IDS, TIMES)
def test_every_item_is_in_the_list_of_its_own_kind_and_in_no_other(one: str, other: str, time: Instant) -> None:
    locker, owner = LockerId(one), OwnerId(one)
    homes = {
        keys.locker(locker): None,
        keys.reservation(locker, time, ReservationId(other)): "reservations",
        keys.reservation_claim(locker, ReservationId(other)): None,
        keys.reservation_guard(locker): None,
        keys.active_pointer(locker): None,
        keys.event(locker, time, EventId(other)): "events",
        keys.event_claim(locker, EventId(other)): None,
        keys.owner(owner): None,
        keys.owner_locker(owner, LockerId(other)): "owner's lockers",
        keys.owner_reservation(owner, time, ReservationId(other)): "owner's reservations",
        keys.email_claim(f"{other}@{one}.de"): None,
    }
    lists = {
        "reservations": keys.locker_reservations(locker),
        "events": keys.locker_events(locker),
        "owner's lockers": keys.owner_lockers(owner),
        "owner's reservations": keys.owner_reservations(owner),
    }
    assert len(homes) == 11
    for key, home in homes.items():
        assert [name for name, within in lists.items() if key in within] == ([home] if home else [])


@given(IDS, IDS, IDS, TIMES)
def test_an_item_of_one_partition_is_in_no_list_of_another(one: str, other: str, item: str, time: Instant) -> None:
    assume(one != other)
    assert keys.reservation(LockerId(one), time, ReservationId(item)) not in keys.locker_reservations(LockerId(other))
    assert keys.event(LockerId(one), time, EventId(item)) not in keys.locker_events(LockerId(other))
    assert keys.owner_locker(OwnerId(one), LockerId(item)) not in keys.owner_lockers(OwnerId(other))


@given(IDS, IDS, TIMES, TIMES, TIMES)
def test_a_window_holds_exactly_what_starts_in_it_both_bounds_included(
    locker: str, item: str, time: Instant, low: Instant, high: Instant
) -> None:
    locker_id, owner, reservation = LockerId(locker), OwnerId(locker), ReservationId(item)
    found = [
        keys.reservation(locker_id, time, reservation) in keys.locker_reservations(locker_id, low, high),
        keys.owner_reservation(owner, time, reservation) in keys.owner_reservations(owner, low, high),
        keys.event(locker_id, time, EventId(item)) in keys.locker_events(locker_id, low, high),
    ]
    assert found == [low <= time <= high] * 3


@given(IDS, IDS, TIMES, TIMES, TIMES)
def test_a_look_back_holds_what_starts_before_its_end_and_not_at_it(
    locker: str, item: str, time: Instant, low: Instant, before: Instant
) -> None:
    key = keys.reservation(LockerId(locker), time, ReservationId(item))
    assert (key in keys.reservations_starting(LockerId(locker), low, before)) is (low <= time < before)


@given(IDS, TIMES, TIMES)
def test_the_active_pointer_is_in_no_window_of_reservations(locker: str, low: Instant, high: Instant) -> None:
    pointer = keys.active_pointer(LockerId(locker))
    assert pointer not in keys.locker_reservations(LockerId(locker), low, high)
    assert pointer not in keys.reservations_starting(LockerId(locker), low, high)
    assert pointer not in keys.locker_reservations(LockerId(locker))


@given(IDS, TIMES, TIMES, IDS, IDS)
def test_items_of_a_list_sort_by_time_first(locker: str, one: Instant, other: Instant, a: str, b: str) -> None:
    assume(one != other)
    first = keys.event(LockerId(locker), one, EventId(a))
    second = keys.event(LockerId(locker), other, EventId(b))
    assert (first.sk < second.sk) is (one < other)


@pytest.mark.parametrize(
    ("builder", "spelled"),
    [
        (keys.locker, ("PK = LOCKER#<lockerId>", "SK = META")),
        (keys.reservation, ("PK = LOCKER#<lockerId>", "SK = RES#<startAt>#<reservationId>")),
        (keys.owner_lockers, ("PK = OWNER#<ownerId>", "SK begins_with LOCKER#")),
        (keys.locker_events, ("PK = LOCKER#<lockerId>", "SK BETWEEN EVT#<start> AND EVT#<end>~")),
    ],
)
def test_a_builder_can_spell_its_key_for_the_documentation(
    builder: Callable[..., Key | KeyRange], spelled: tuple[str, str]
) -> None:
    assert keys.spelled(builder) == spelled
