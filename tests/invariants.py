"""What must hold of a table, whatever was done to it at once. The product itself never looks at it this way."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

__all__ = ["check_invariants", "live_reservations"]

Items = dict[tuple[str, str], dict[str, Any]]


def check_invariants(items: Items, now: str) -> None:
    """Raises where the table contradicts itself."""
    by_kind: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in items.values():
        by_kind[item["entityType"]].append(item)
    _no_overlaps(by_kind["RESERVATION"])
    _copies_equal_lockers(by_kind)
    _pointers_are_right(by_kind, now)
    _claims_are_one_to_one(by_kind)
    _reservation_copies_equal_reservations(by_kind)
    _emails_are_claimed(by_kind)
    _slots_belong_to_one_event(by_kind)
    _booking_copies_equal_bookings(by_kind)
    _only_pending_bookings_are_in_the_index(items)
    _codes_are_claimed(by_kind)


def live_reservations(items: Items, locker_id: str) -> list[dict[str, Any]]:
    """The reservations of a locker that were not cancelled, by start."""
    found = [item for (pk, _), item in items.items() if pk == f"LOCKER#{locker_id}"]
    live = [item for item in found if item["entityType"] == "RESERVATION" and item["status"] == "ACTIVE"]
    return sorted(live, key=lambda item: str(item["startAt"]))


def _no_overlaps(reservations: list[dict[str, Any]]) -> None:
    by_locker: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in reservations:
        if item["status"] == "ACTIVE":
            by_locker[item["lockerId"]].append(item)
    for live in by_locker.values():
        live.sort(key=lambda item: str(item["startAt"]))
        for earlier, later in itertools.pairwise(live):
            assert earlier["endAt"] <= later["startAt"], (earlier, later)


def _copies_equal_lockers(by_kind: dict[str, list[dict[str, Any]]]) -> None:
    shown = ("ownerId", "status", "alias", "updatedAt")
    copies = defaultdict(list)
    for copy in by_kind["OWNER_LOCKER"]:
        assert copy["PK"] == f"OWNER#{copy['ownerId']}", copy
        copies[copy["lockerId"]].append(tuple(copy.get(name) for name in shown))
    lockers = {item["lockerId"]: [tuple(item.get(name) for name in shown)] for item in by_kind["LOCKER"]}
    assert copies == lockers
    placed = {
        (copy["PK"], copy["lockerId"], *(copy.get(name) for name in shown)) for copy in by_kind["LOCATION_LOCKER"]
    }
    assert len(placed) == len(by_kind["LOCATION_LOCKER"])
    assert placed == {
        (f"LOCATION#{item['locationId']}", item["lockerId"], *(item.get(name) for name in shown))
        for item in by_kind["LOCKER"]
        if "locationId" in item
    }


def _slots_belong_to_one_event(by_kind: dict[str, list[dict[str, Any]]]) -> None:
    """An approved booking has all its half days, any other has none."""
    halves = {"MORNING": ["MORNING"], "AFTERNOON": ["AFTERNOON"], "FULL_DAY": ["AFTERNOON", "MORNING"]}
    held: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for slot in by_kind["CALENDAR_SLOT"]:
        assert slot["SK"] == f"DAY#{slot['date']}#{slot['slot']}", slot
        if "bookingId" in slot:
            held[slot["bookingId"]].append((slot["locationId"], slot["date"], slot["slot"]))
    wanted = {
        item["bookingId"]: [(item["locationId"], item["date"], half) for half in halves[item["duration"]]]
        for item in by_kind["BOOKING"]
        if item["status"] == "APPROVED"
    }
    assert {booking_id: sorted(slots) for booking_id, slots in held.items()} == wanted


def _booking_copies_equal_bookings(by_kind: dict[str, list[dict[str, Any]]]) -> None:
    apart = {"PK", "SK", "GSI1PK", "GSI1SK", "entityType", "fingerprint"}

    def content(kind: str) -> list[str]:
        return sorted(
            str(sorted((name, str(value)) for name, value in item.items() if name not in apart))
            for item in by_kind[kind]
        )

    assert content("OWNER_BOOKING") == content("BOOKING")


def _only_pending_bookings_are_in_the_index(items: Items) -> None:
    for item in items.values():
        if item["entityType"] == "BOOKING":
            assert ("GSI1PK" in item) is (item["status"] == "PENDING"), item
        elif item["entityType"] == "LOCATION":
            assert item["GSI1PK"] == f"LOCATION#{item['status']}", item
        else:
            assert "GSI1PK" not in item, item


def _codes_are_claimed(by_kind: dict[str, list[dict[str, Any]]]) -> None:
    claims = {(item["PK"], item["locationId"]) for item in by_kind["LOCATION_CODE"]}
    assert claims == {(f"LOCATION_CODE#{item['code']}", item["locationId"]) for item in by_kind["LOCATION"]}


def _pointers_are_right(by_kind: dict[str, list[dict[str, Any]]], now: str) -> None:
    pointers = {item["lockerId"]: item for item in by_kind["RESERVATION_ACTIVE"]}
    ahead: dict[str, dict[str, Any]] = {}
    for item in sorted(by_kind["RESERVATION"], key=lambda item: str(item["startAt"]), reverse=True):
        if item["status"] == "ACTIVE" and item["endAt"] > now:
            ahead[item["lockerId"]] = item
    for locker_id, first in ahead.items():
        pointer = pointers.get(locker_id)
        assert pointer is not None, f"{locker_id} has a reservation ahead and no pointer"
        if pointer["endAt"] > now:
            assert _content(pointer) == _content(first)
    for locker_id, pointer in pointers.items():
        assert locker_id in ahead or pointer["endAt"] <= now, pointer


def _claims_are_one_to_one(by_kind: dict[str, list[dict[str, Any]]]) -> None:
    claims = {(item["lockerId"], item["reservationId"], item["startAt"]) for item in by_kind["RESERVATION_CLAIM"]}
    reservations = [(item["lockerId"], item["reservationId"], item["startAt"]) for item in by_kind["RESERVATION"]]
    assert sorted(claims) == sorted(reservations)


def _reservation_copies_equal_reservations(by_kind: dict[str, list[dict[str, Any]]]) -> None:
    copies = sorted(_content(item) for item in by_kind["OWNER_RESERVATION"])
    assert copies == sorted(_content(item) for item in by_kind["RESERVATION"])


def _emails_are_claimed(by_kind: dict[str, list[dict[str, Any]]]) -> None:
    claims = {(item["PK"], item["ownerId"]) for item in by_kind["EMAIL_CLAIM"]}
    owners = {(f"EMAIL#{item['email'].lower()}", item["ownerId"]) for item in by_kind["OWNER"] if "email" in item}
    assert claims == owners


def _content(item: dict[str, Any]) -> tuple[str, ...]:
    names = ("lockerId", "reservationId", "ownerId", "startAt", "endAt", "status", "createdAt", "updatedAt")
    return tuple(str(item[name]) for name in names)
