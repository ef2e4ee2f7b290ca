"""Everything that can be asked, once for each tenant, so that every field of the schema stands in some document."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from graphql import get_named_type, is_leaf_type

from resolvers.schema import bound_schema

SCHEMA = bound_schema().graphql_schema
PAGE = "edges { cursor node { __typename } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nextCursor"
DAYS = '(window: {from: "@day", to: "@day"})'
ARGUMENTS = {
    "busy": '(window: {from: "2026-03-01T12:00:00Z", to: "2026-03-02T12:00:00Z"})',
    "availableLockers": '(window: {from: "2026-03-02T12:00:00Z", to: "2026-03-03T12:00:00Z"})',
    "calendar": DAYS,
    "availability": DAYS,
}


def everything(kind: str, *whole: str) -> str:
    """Every field of a type; of the entities below it only the ids, except at the fields that are wanted as a whole."""
    fields: dict[str, Any] = SCHEMA.type_map[kind].fields  # type: ignore[attr-defined]
    return " ".join(_selected(name, get_named_type(part.type), whole) for name, part in fields.items())


def _selected(name: str, kind: Any, whole: tuple[str, ...]) -> str:
    if is_leaf_type(kind):
        return name
    if kind.name == "UserError":
        errors = SCHEMA.get_possible_types(kind)
        return f"{name} {{ code status {' '.join(f'... on {one} {{ {everything(one.name)} }}' for one in errors)} }}"
    if kind.name.endswith("Connection"):
        entity = everything(kind.name.removesuffix("Connection"), *whole) if name in whole else "__typename"
        return f"{name}(first: 1) {{ {PAGE} nodes {{ {entity} }} }}"
    is_entity = "Node" in {interface.name for interface in kind.interfaces}
    inside = "id" if is_entity and name not in whole else everything(kind.name, *whole)
    return f"{name}{ARGUMENTS.get(name, '')} {{ {inside} }}"


@dataclass(frozen=True)
class Case:
    """A document; `rules` names the declaration that decides at a path, where that is not the field's own.

    At the paths of `optional` some callers have nothing. The owner guest may use the paths of `reserved`.
    """

    document: str
    rules: dict[tuple[str, ...], str] = field(default_factory=dict)
    optional: tuple[tuple[str, ...], ...] = ()
    reserved: tuple[tuple[str, ...], ...] = ()


STALE = "expectedVersion: 999"
LOCKER = 'lockerId: "locker-@tenant"'
PLACE = 'locationId: "@place"'
DECIDED = f'bookingId: "booking-@tenant", {STALE}'
CANCELLED = f'{LOCKER}, reservationId: "cancelled-@tenant"'
REVOKED = f'{LOCKER}, codeId: "revoked-@tenant"'
EVENT = f'{LOCKER}, eventId: "event-@tenant", action: CLOSE, actorId: "x", result: FAIL'
RESERVED = 'ownerId: "@reserves", startAt: "2026-03-01T11:30:00Z", endAt: "2026-03-01T12:30:00Z"'
# Where a mutation is allowed it is refused for another reason, or repeats what was done: none of them writes anything.
MUTATIONS = {
    "createOwner": 'ownerId: "@tenant", kind: USER, name: "Another"',
    "updateOwner": f'ownerId: "@tenant", name: "Another", {STALE}',
    "registerLocker": f'{LOCKER}, ownerId: "@tenant", alias: "Another"',
    "renameLocker": f'{LOCKER}, alias: "Another", {STALE}',
    "configureLocker": f"{LOCKER}, size: XL, {STALE}",
    "moveLocker": f'{LOCKER}, newLocationId: "@place", {STALE}',
    "updateLockerStatus": f"{LOCKER}, newStatus: OCCUPIED, {STALE}",
    "transferLocker": f'{LOCKER}, newOwnerId: "@tenant", expectedVersion: 1',
    "createReservation": f"{LOCKER}, {RESERVED}",
    "reserveAnyLocker": f"{PLACE}, size: XL, {RESERVED}",
    "cancelReservation": CANCELLED,
    "extendReservation": f'{CANCELLED}, newEndAt: "2026-05-03T00:00:00Z"',
    "shortenReservation": f'{CANCELLED}, newEndAt: "2026-05-03T00:00:00Z"',
    "startReservation": CANCELLED,
    "releaseReservation": CANCELLED,
    "recordAccessEvent": EVENT,
    "recordAccessEvents": f"events: [{{{EVENT}}}]",
    "createAccessCode": f'{LOCKER}, codeId: "code-@tenant", kind: RESERVATION, reservationId: "current-@tenant"',
    "rotateAccessCode": f"{REVOKED}, expectedRotation: 0",
    "revealAccessCode": REVOKED,
    "revokeAccessCode": REVOKED,
    "verifyAccessCode": f'{LOCKER}, digits: "000000", attemptId: "attempt-@tenant"',
    "provisionDevice": f"{LOCKER}, generation: 9",
    "acknowledgeAccessCodes": f'{LOCKER}, revision: "old"',
    "reportAccessCodeUse": (
        f'{LOCKER}, codeId: "code-@tenant", eventId: "event-@tenant", usedAt: "2026-03-01T11:00:00Z"'
    ),
    "clearLockout": LOCKER,
    "createLocation": 'code: "rome", name: "Another", timeZone: "Europe/Rome"',
    "updateLocation": f'{PLACE}, name: "Another", {STALE}',
    "deactivateLocation": f"{PLACE}, {STALE}",
    "reactivateLocation": f"{PLACE}, {STALE}",
    "createCalendarEvent": f'{PLACE}, date: "@day", duration: MORNING, title: "Another"',
    "deleteCalendarEvent": f'{PLACE}, eventId: "nothing"',
    "requestBooking": (
        f'{PLACE}, bookingId: "booking-@tenant", ownerId: "@tenant", date: "2026-12-01", duration: MORNING, '
        'description: "Other", attendees: 1'
    ),
    "cancelBooking": 'bookingId: "rejected-@tenant"',
    "approveBooking": DECIDED,
    "rejectBooking": f'reason: "No", {DECIDED}',
    "recordPayment": (
        'bookingId: "booking-@tenant", paymentId: "payment-@tenant", amount: {amount: 99, currency: "EUR"}'
    ),
    # A role that lacks what it needs is refused for that, and there is no such key.
    "createApiKey": 'name: "Another", role: DEVICE',
    "revokeApiKey": 'keyId: "nothing"',
}


def _mutations() -> list[Case]:
    fields = (
        f"{name}(input: {{{given}}}) {{ {everything(f'{name[0].upper()}{name[1:]}Payload')} }}"
        for name, given in MUTATIONS.items()
    )
    return [Case(f"mutation {{ {' '.join(some)} }}") for some in iter(lambda: tuple(islice(fields, 8)), ())]


RESERVATION = everything("Reservation")
CASES = [
    Case(
        f"{{ viewer {{ {everything('Viewer')} }} }}",
        optional=(("viewer", "owner"), ("viewer", "locker"), ("viewer", "rateLimit")),
    ),
    Case(f'{{ owner(ownerId: "@tenant") {{ {everything("Owner", "notifications")} }} }}'),
    Case('{ ownerByEmail(email: "@tenant@example.com") { ownerId } }'),
    Case(f"{{ locker({LOCKER}) {{ {everything('Locker', 'accessCodes')} }} }}"),
    Case(
        f'{{ reservation({LOCKER}, reservationId: "guest-@tenant") {{ id locker {{ {everything("Locker")} }} }} }}',
        reserved=(("reservation",),),
    ),
    Case(f'{{ reservation({LOCKER}, reservationId: "current-@tenant") {{ {RESERVATION} }} }}'),
    Case(f'{{ reservationByReference(ownerId: "@tenant", reference: "order-@tenant") {{ {RESERVATION} }} }}'),
    Case(
        f'{{ node(id: "@event") {{ id ... on AccessEvent {{ {everything("AccessEvent")} }} }} }}',
        {("node",): "Locker.accessEvents"},
    ),
    Case('{ nodes(ids: ["@locker"]) { id } }', {("nodes",): "Query.locker"}),
    Case(f"{{ location({PLACE}) {{ {everything('Location')} }} }}"),
    Case(f'{{ locationByCode(code: "rome") {{ calendar{DAYS} {{ {everything("CalendarDay", "morning")} }} }} }}'),
    Case(
        f"{{ locations(first: 1) {{ {PAGE} nodes {{ id }} }} pendingBookings(first: 1) {{ {PAGE} nodes {{ id }} }} }}"
    ),
    Case(f'{{ booking(bookingId: "booking-@tenant") {{ {everything("Booking", "payments")} }} }}'),
    Case(f'{{ apiKey(keyId: "key-1") {{ {everything("ApiKey")} }} apiKeys(first: 1) {{ {PAGE} nodes {{ id }} }} }}'),
    *_mutations(),
]
