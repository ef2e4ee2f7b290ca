"""A good input of every mutation, on a table where each of them succeeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import get_named_type, is_leaf_type

from resolvers.schema import bound_schema
from tests.api import mutation
from tests.places import DAY, DEACTIVATE, book, create_location, prepare, ulid

if TYPE_CHECKING:
    from tests.api import Api

SCHEMA = bound_schema().graphql_schema
assert SCHEMA.mutation_type is not None
MUTATIONS = SCHEMA.mutation_type.fields
VERSION = {"expectedVersion": 1}
EVENT = {"lockerId": "l1", "eventId": "e1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
DECISION = {"bookingId": "b1", **VERSION}
REVISION = "2.2.6b86b273ff34"
"""Of the list of l1 that `stock` leaves."""
GOOD: dict[str, dict[str, Any]] = {
    "createOwner": {"ownerId": "bob", "kind": "USER", "name": "Bob", "email": "bob@example.com"},
    "updateOwner": {"ownerId": "ada", "name": "Ada", "email": "ada@example.com", **VERSION},
    "registerLocker": {"lockerId": "l9", "ownerId": "ada", "alias": "Front", "locationId": ulid(0)},
    "configureLocker": {
        "lockerId": "l1",
        "reservableBy": "EVERYONE",
        "size": "L",
        "features": ["refrigerated", "charging", "charging"],
        **VERSION,
    },
    "renameLocker": {"lockerId": "l1", "alias": "Front", **VERSION},
    "moveLocker": {"lockerId": "l1", "newLocationId": ulid(0), **VERSION},
    "updateLockerStatus": {"lockerId": "l1", "newStatus": "OCCUPIED", **VERSION},
    "transferLocker": {"lockerId": "l1", "newOwnerId": "root", **VERSION},
    "createReservation": {
        "lockerId": "l1",
        "reservationId": "r9",
        "ownerId": "ada",
        "startAt": "2026-03-02T10:00:00Z",
        "endAt": "2026-03-02T12:00:00Z",
        "reference": "order 4711",
        "recipient": {"name": "Rita", "email": "rita@example.com"},
        "metadata": {"parcels": 2},
    },
    "reserveAnyLocker": {
        "locationId": ulid(0),
        "size": "L",
        "reservationId": "any",
        "ownerId": "ada",
        "startAt": "2026-03-02T10:00:00Z",
        "endAt": "2026-03-02T12:00:00Z",
    },
    "cancelReservation": {"lockerId": "l1", "reservationId": "r1"},
    "startReservation": {"lockerId": "l1", "reservationId": "r0", **VERSION},
    "releaseReservation": {"lockerId": "l1", "reservationId": "r0"},
    "shortenReservation": {"lockerId": "l1", "reservationId": "r1", "newEndAt": "2026-03-05T10:30:00Z"},
    "extendReservation": {"lockerId": "l1", "reservationId": "r1", "newEndAt": "2026-03-05T12:00:00Z"},
    "recordAccessEvent": EVENT,
    "recordAccessEvents": {"events": [EVENT]},
    "createAccessCode": {"codeId": "c9", "kind": "RESERVATION", "lockerId": "l1", "reservationId": "r1"},
    "rotateAccessCode": {"lockerId": "l1", "codeId": "c1", "expectedRotation": 1},
    "revealAccessCode": {"lockerId": "l1", "codeId": "c1", "revealId": "x"},
    "revokeAccessCode": {"lockerId": "l1", "codeId": "c1"},
    "verifyAccessCode": {"lockerId": "l1", "digits": "000000", "attemptId": "a9"},
    "clearLockout": {"lockerId": "l1"},
    "provisionDevice": {"lockerId": "l1", "generation": 2},
    "acknowledgeAccessCodes": {"lockerId": "l1", "revision": REVISION},
    "reportAccessCodeUse": {"lockerId": "l1", "codeId": "c1", "eventId": "u1", "usedAt": "2026-03-01T11:00:00Z"},
    "createLocation": {"locationId": ulid(9), "code": "rome", "name": "Rome", "timeZone": "Europe/Rome"},
    "updateLocation": {"locationId": ulid(0), "address": {"city": "Roma"}, **VERSION},
    "deactivateLocation": {"locationId": ulid(0), **VERSION},
    "reactivateLocation": {"locationId": ulid(8), "expectedVersion": 2},
    "requestBooking": {
        "bookingId": "b9",
        "locationId": ulid(0),
        "ownerId": "ada",
        "date": DAY,
        "duration": "FULL_DAY",
        "description": "Chess",
        "attendees": 5,
    },
    "cancelBooking": {"bookingId": "b1"},
    "approveBooking": DECISION,
    "rejectBooking": {**DECISION, "reason": "No"},
    "recordPayment": {"bookingId": "b1", "paymentId": "p1", "amount": {"amount": 1, "currency": "EUR"}},
    "createCalendarEvent": {
        "eventId": "c1",
        "locationId": ulid(0),
        "date": DAY,
        "duration": "MORNING",
        "title": "Works",
    },
    "deleteCalendarEvent": {"locationId": ulid(0), "eventId": "c0"},
    "createApiKey": {"keyId": "k1", "name": "Hall 3", "role": "DEVICE", "lockerId": "l1"},
    "revokeApiKey": {"keyId": "k0"},
}


def document(field: str) -> str:
    """A mutation that selects every scalar field of its result."""
    payload: Any = get_named_type(MUTATIONS[field].type)
    return mutation(
        field, " ".join(_selected(name, part) for name, part in payload.fields.items() if name != "userErrors")
    )


def _selected(name: str, part: Any) -> str:
    kind: Any = get_named_type(part.type)
    if is_leaf_type(kind):
        return name
    leaves = [own for own, field in kind.fields.items() if is_leaf_type(get_named_type(field.type))]
    return f"{name} {{ {' '.join(leaves)} }}"


async def stock(api: Api) -> None:
    await prepare(api)
    await api.locker("l1", "ada")
    await api.locker("l2", "ada", locationId=ulid(0), size="L")
    await api.reservation("r0", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await api.reservation("r1", "l1", "ada", "2026-03-05T10:00:00Z", "2026-03-05T11:00:00Z")
    await book(api, "b1")
    await create_location(api, 8)
    await api.mutate(DEACTIVATE, locationId=ulid(8), expectedVersion=1)
    for field, values in (
        ("createCalendarEvent", {"eventId": "c0", "date": "2026-04-01"}),
        ("createApiKey", {"keyId": "k0"}),
        ("createAccessCode", {"codeId": "c1"}),
        ("provisionDevice", {"generation": 1}),
        ("verifyAccessCode", {"attemptId": "a1"}),
    ):
        await api.done(document(field), **GOOD[field] | values)
