"""The invariants of the table, whatever concurrent requests did to it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

__all__ = ["check_invariants", "live_reservations"]

Items = dict[tuple[str, str], dict[str, Any]]


def check_invariants(items: Items, now: str) -> None:
    """Fails where an invariant does not hold."""
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
    _index_attributes_are_right(items)
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


def _index_attributes_are_right(items: Items) -> None:
    for item in items.values():
        match item["entityType"]:
            case "BOOKING":
                assert ("GSI1PK" in item) is (item["status"] == "PENDING"), item
            case "LOCATION":
                assert item["GSI1PK"] == f"LOCATION#{item['status']}", item
            case "OWNER_LOCKER" | "LOCATION_LOCKER":
                index = f"{item['PK']}#LOCKER#{item['status']}", item["lockerId"]
                assert (item["GSI1PK"], item["GSI1SK"]) == index, item
            case _:
                assert "GSI1PK" not in item, item


def _codes_are_claimed(by_kind: dict[str, list[dict[str, Any]]]) -> None:
    claims = {(item["PK"], item["locationId"]) for item in by_kind["LOCATION_CODE"]}
    assert claims == {(f"LOCATION_CODE#{item['code']}", item["locationId"]) for item in by_kind["LOCATION"]}


def _pointers_are_right(by_kind: dict[str, list[dict[str, Any]]], now: str) -> None:
    """A pointer's reservation is not cancelled, all before it have ended, and none ends after `lastEndAt`."""
    pointers = {item["lockerId"]: item for item in by_kind["RESERVATION_ACTIVE"]}
    live: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in sorted(by_kind["RESERVATION"], key=lambda item: str(item["startAt"])):
        if item["status"] == "ACTIVE":
            live[item["lockerId"]].append(item)
    for locker_id, pointer in pointers.items():
        assert _content(pointer) in [_content(item) for item in live[locker_id]], pointer
        before = [item for item in live[locker_id] if item["startAt"] < pointer["startAt"]]
        assert all(item["endAt"] <= now for item in before), (pointer, before)
        assert "lastEndAt" not in pointer or live[locker_id][-1]["endAt"] <= pointer["lastEndAt"], pointer
    for locker_id, reservations in live.items():
        assert locker_id in pointers or reservations[-1]["endAt"] <= now, f"{locker_id} has no pointer"


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
