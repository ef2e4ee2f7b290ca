"""An explanation with fallbacks, retries, and fields above their expected cost, which demo data does not lead to."""

from typing import Any

LOCATIONS = "locations"
LOCKERS = "locations.nodes.lockers"
ACTIVE_RESERVATION = f"{LOCKERS}.nodes.activeReservation"
OWNER = f"{ACTIVE_RESERVATION}.owner"
LATEST_EVENT = f"{LOCKERS}.nodes.latestEvent"
LOCKER_IDS = [f"LOCKER#locker-{number:06}" for number in range(1, 13)]
OWNER_IDS = [f"OWNER#owner-{number:04}" for number in range(1, 6)]
Cost = tuple[int, int, float]


def cost(operations: int, items: int, read_units: float) -> dict[str, float]:
    return {"operations": operations, "items": items, "readUnits": read_units, "writeUnits": 0}


def read(
    contract: str, operation: str, expected: Cost, maximum: Cost, measured: Cost, condition: str | None = None
) -> dict[str, Any]:
    figures = {"expected": cost(*expected), "maximum": cost(*maximum), "measured": cost(*measured)}
    return {"contract": contract, "operation": operation, "condition": condition, **figures}


def node(path: str, field: str, parents: int, reads: list[Any], *children: Any) -> dict[str, Any]:
    return {"path": path, "field": field, "parents": parents, "reads": reads, "children": list(children)}


def operation(path: str, contract: str, start: float, duration: float, **values: Any) -> dict[str, Any]:
    keys: list[dict[str, str]] | None = values.get("keys")
    usual = {"operation": "Query" if keys is None else "BatchGetItem", "index": None, "consistent": False}
    place = {"partition": None, "sortKey": None, "keys": None, "asked": 1, "returned": 1, "pages": 1, "merged": 1}
    spent = {"readUnits": 0.5, "writeUnits": 0, "startMs": start, "durationMs": duration, "attempts": 1}
    return {"contract": contract, **usual, **place, **spent, "outcome": "ok", "path": path, **values}


def keys_of(partitions: list[str], sort_key: str) -> dict[str, Any]:
    keys = [{"pk": partition, "sk": sort_key} for partition in partitions]
    return {"keys": keys, "asked": len(keys), "returned": len(keys), "merged": 12, "readUnits": len(keys) / 2}


owner = node(
    OWNER,
    "Reservation.owner",
    12,
    [
        read("QC-20", "BatchGetItem", (1, 12, 6), (1, 12, 12), (1, 5, 2.5)),
        read("QC-20", "BatchGetItem", (0, 0, 0), (1, 12, 24), (0, 0, 0), "only where an owner is too new"),
    ],
)
active_reservation = node(
    ACTIVE_RESERVATION,
    "Locker.activeReservation",
    12,
    [
        read("QC-07", "BatchGetItem", (1, 12, 6), (1, 12, 12), (1, 12, 6)),
        read("QC-07", "Query", (0, 0, 0), (12, 2400, 600), (1, 2, 0.5), "only where the pointer has ended"),
    ],
    owner,
)
latest_event = node(
    LATEST_EVENT, "Locker.latestEvent", 12, [read("QC-10", "Query", (12, 12, 6), (12, 12, 54), (12, 12, 7.5))]
)
lockers = node(
    LOCKERS,
    "Location.lockers",
    3,
    [read("QC-34", "Query", (3, 15, 1.5), (3, 15, 7.5), (3, 15, 1.5))],
    active_reservation,
    latest_event,
)
locations = node(
    LOCATIONS, "Query.locations", 1, [read("QC-32", "Query", (1, 4, 0.5), (1, 4, 2), (1, 4, 0.5))], lockers
)
totals = {
    "expected": cost(18, 55, 20),
    "admitted": cost(28, 55, 30),
    "maximum": cost(31, 2467, 711.5),
    "limit": {"operations": 1500, "items": 2000, "readUnits": 2500},
    "measured": {**cost(19, 50, 18.5), "requests": 20, "durationMs": 11.9},
}
operations = [
    operation(LOCATIONS, "QC-32", 0.4, 1.9, index="GSI1", partition="LOCATION#ACTIVE", asked=4, returned=4),
    *(
        operation(LOCKERS, "QC-34", 2.5, 2, partition=f"LOCATION#{number}", sortKey="begins_with LOCKER#", asked=5)
        for number in range(3)
    ),
    operation(ACTIVE_RESERVATION, "QC-07", 5, 2.6, **keys_of(LOCKER_IDS, "RES#ACTIVE")),
    *(
        operation(LATEST_EVENT, "QC-10", 5.1, 1.5 + number % 3, partition=locker, sortKey="begins_with EVT#")
        for number, locker in enumerate(LOCKER_IDS)
    ),
    operation(ACTIVE_RESERVATION, "QC-07", 7.8, 1.6, partition=LOCKER_IDS[2], sortKey="> RES#", asked=200, attempts=2),
    operation(OWNER, "QC-20", 9.6, 2.1, **keys_of(OWNER_IDS, "META")),
]
DASHBOARD: dict[str, Any] = {"tree": [locations], "totals": totals, "operations": operations}
