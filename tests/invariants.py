"""The invariants of the table, whatever concurrent requests did to it."""

from typing import Any

from domain.times import Instant
from loaders.tools.invariants import table_violations

Items = dict[tuple[str, str], dict[str, Any]]


def check_invariants(items: Items, now: Instant) -> None:
    """Fails where the product's own checker finds a violation."""
    violations = table_violations(items.values(), now)
    assert not violations, "\n".join(map(str, violations))


def live_reservations(items: Items, locker_id: str) -> list[dict[str, Any]]:
    """The reservations of a locker that were not canceled, by start."""
    found = [item for (pk, _), item in items.items() if pk == f"LOCKER#{locker_id}"]
    live = [item for item in found if item["entityType"] == "RESERVATION" and item["status"] == "ACTIVE"]
    return sorted(live, key=lambda item: str(item["startAt"]))
