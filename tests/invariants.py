"""The invariants of the table, whatever concurrent requests did to it."""

from collections import Counter
from typing import Any

from domain.times import Instant
from loaders.tools.invariants import table_violations

Items = dict[tuple[str, str], dict[str, Any]]


def check_invariants(items: Items, now: Instant, *, is_counted: bool = True) -> None:
    """Fails where the product's own checker finds a violation, or a pending booking is not counted.

    Pending bookings of demo data are not counted, nor are those of an earlier version.
    """
    violations = table_violations(items.values(), now)
    assert not violations, "\n".join(map(str, violations))
    if not is_counted:
        return
    waiting = Counter(
        item["ownerId"] for item in items.values() if (item["entityType"], item.get("status")) == ("BOOKING", "PENDING")
    )
    counters = [item for item in items.values() if item["entityType"] == "PENDING_BOOKINGS"]
    assert {item["ownerId"]: int(item["pendingBookings"]) for item in counters if item["pendingBookings"]} == waiting


def live_reservations(items: Items, locker_id: str) -> list[dict[str, Any]]:
    """The reservations of a locker that were not canceled, by start."""
    found = [item for (pk, _), item in items.items() if pk == f"LOCKER#{locker_id}"]
    live = [item for item in found if item["entityType"] == "RESERVATION" and item["status"] == "ACTIVE"]
    return sorted(live, key=lambda item: str(item["startAt"]))
