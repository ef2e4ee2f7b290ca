"""Everything that can be asked, once for each tenant, so that every field of the schema stands in some document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PAGE = "edges { cursor node { __typename } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nextCursor"
LIST = f"(first: 1) {{ {PAGE} nodes {{ __typename }} }}"
COMMON = "message code path status retryable"
ERRORS = f"""userErrors {{
  {COMMON}
  ... on PlainError {{ {COMMON} }}
  ... on VersionConflictError {{ {COMMON} currentVersion }}
  ... on InvalidTransitionError {{ {COMMON} currentStatus allowedStatuses }}
  ... on ReservationOverlapError {{ {COMMON} reservation {{ reservationId }} }}
  ... on SlotTakenError {{ {COMMON} event {{ eventId }} }}
}}"""
PROFILE = "id ownerId kind name email phone role version createdAt updatedAt"
PLACE = """id locationId code name address { formattedAddress street city region postalCode country placeId lat lng }
  timeZone status createdAt updatedAt version"""
EVENT = """id eventId lockerId locationId timestamp recordedAt action actorId result metadata locker { lockerId }"""
LOCKER = f"""id lockerId alias size features reservableBy status updatedAt version createdAt ownerId locationId
  owner {{ ownerId }} location {{ locationId }} activeReservation {{ endAt }}
  nextReservation {{ endAt }}
  busy(window: {{from: "2026-03-01T12:00:00Z", to: "2026-03-02T12:00:00Z"}}) {{ startAt endAt }}
  latestEvent {{ eventId }}
  reservations{LIST} accessEvents{LIST}"""
RESERVATION = """id reservationId lockerId ownerId startAt endAt status createdAt updatedAt version startedAt
  endedAt endedBy endReason reference details { recipient { name email phone } metadata }
  locker { lockerId } owner { ownerId } accessCodes(first: 1) { nodes { codeId } }"""
SLOT = """id eventId locationId date duration title bookingId createdAt booking { bookingId } location { locationId }
  accessCodes(first: 1) { nodes { codeId } }"""
NOTICE = """id notificationId bookingId bookingStatus lockerId locationId reservationId message createdAt
  booking { bookingId }"""
CODE = """id codeId lockerId locationId kind ownerId reservationId bookingId label length maxUses uses lastUsedAt
  rotation createdAt createdBy updatedAt revokedAt reveals { revealedAt revealedBy }
  validity { state validFrom validUntil deviceStatus needsReveal }"""
KEY = (
    "id keyId name role ownerIds lockerId locationId scopes createdAt createdBy expiresAt revokedAt owners { ownerId }"
)
DOOR = """accessCodeList {
    revision generation refreshBefore codes { codeId digitsMac validFrom validUntil usesLeft }
  }
  lockout { failures lockedUntil lockouts }"""
LOCKER_CODES = f"accessCodes(first: 1) {{ {PAGE} nodes {{ {CODE} }} }} {DOOR}"
PAYMENT = "id paymentId bookingId amount { amount currency } method paidAt recordedAt booking { bookingId }"


@dataclass(frozen=True)
class Case:
    """A document; `rules` names the declaration that decides at a path, where that is not the field's own.

    At the paths of `optional` some callers have nothing. The owner guest may use the paths of `reserved`.
    """

    document: str
    rules: dict[tuple[str, ...], str] = field(default_factory=dict)
    optional: tuple[tuple[str, ...], ...] = ()
    reserved: tuple[tuple[str, ...], ...] = ()


def _mutation(*fields: tuple[str, str, dict[str, Any]]) -> str:
    parts = [f"{name}(input: {_literal(values)}) {{ {shown} {ERRORS} }}" for name, shown, values in fields]
    return "mutation { " + "\n".join(parts) + " }"


def _literal(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{name}: {_literal(part)}" for name, part in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case str():
            return value[1:] if value.startswith(":") else f'"{value}"'  # a colon marks the value of an enum
        case _:
            return str(value)


STALE = {"expectedVersion": 999}
OLD = {"lockerId": "locker-@tenant", **STALE}
PLACED = {"locationId": "@place", **STALE}
ACCESS = {
    "lockerId": "locker-@tenant",
    "eventId": "event-@tenant",
    "action": ":CLOSE",
    "actorId": "x",
    "result": ":FAIL",
}
BOOKED = {
    "locationId": "@place",
    "ownerId": "@tenant",
    "date": "2026-12-01",
    "duration": ":MORNING",
    "description": "Other",
    "attendees": 1,
}
DECIDED = {"bookingId": "booking-@tenant", **STALE}
WINDOW = {"startAt": "2026-03-01T11:30:00Z", "endAt": "2026-03-01T12:30:00Z"}

# Where a mutation is allowed it is refused for another reason, or repeats what was done: none of them writes anything.
_OWNERS_AND_LOCKERS: list[tuple[str, str, dict[str, Any]]] = [
    ("createOwner", "owner { ownerId }", {"ownerId": "@tenant", "kind": ":USER", "name": "Another"}),
    ("updateOwner", "owner { ownerId }", {"ownerId": "@tenant", "name": "Another", **STALE}),
    ("registerLocker", "locker { lockerId }", {"lockerId": "locker-@tenant", "ownerId": "@tenant", "alias": "Another"}),
    ("renameLocker", "locker { lockerId }", {"alias": "Another", **OLD}),
    ("configureLocker", "locker { lockerId }", {"size": ":XL", **OLD}),
    ("moveLocker", "locker { lockerId }", {"newLocationId": "@place", **OLD}),
    ("updateLockerStatus", "locker { lockerId }", {"newStatus": ":OCCUPIED", **OLD}),
    ("transferLocker", "locker { lockerId }", {"newOwnerId": "@tenant", **OLD, "expectedVersion": 1}),
]
_USES: list[tuple[str, str, dict[str, Any]]] = [
    ("createReservation", "reservation { endAt }", {"lockerId": "locker-@tenant", "ownerId": "@reserves", **WINDOW}),
    (
        "reserveAnyLocker",
        "reservation { endAt }",
        {"locationId": "@place", "size": ":XL", "ownerId": "@reserves", **WINDOW},
    ),
    (
        "cancelReservation",
        "reservation { reservationId }",
        {"lockerId": "locker-@tenant", "reservationId": "cancelled-@tenant"},
    ),
    (
        "extendReservation",
        "reservation { reservationId }",
        {"lockerId": "locker-@tenant", "reservationId": "cancelled-@tenant", "newEndAt": "2026-05-03T00:00:00Z"},
    ),
    (
        "shortenReservation",
        "reservation { reservationId }",
        {"lockerId": "locker-@tenant", "reservationId": "cancelled-@tenant", "newEndAt": "2026-05-03T00:00:00Z"},
    ),
    (
        "startReservation",
        "reservation { reservationId }",
        {"lockerId": "locker-@tenant", "reservationId": "cancelled-@tenant"},
    ),
    (
        "releaseReservation",
        "reservation { reservationId }",
        {"lockerId": "locker-@tenant", "reservationId": "cancelled-@tenant"},
    ),
    ("recordAccessEvent", "accessEvent { eventId }", ACCESS),
    ("recordAccessEvents", "accessEvents { eventId }", {"events": [ACCESS]}),
]
CODED = {"lockerId": "locker-@tenant", "codeId": "revoked-@tenant"}
_CODES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "createAccessCode",
        "accessCode { codeId } digits",
        {
            "codeId": "code-@tenant",
            "kind": ":RESERVATION",
            "lockerId": "locker-@tenant",
            "reservationId": "current-@tenant",
        },
    ),
    ("rotateAccessCode", "accessCode { codeId } digits", {"expectedRotation": 0, **CODED}),
    ("revealAccessCode", "accessCode { codeId } digits", CODED),
    ("revokeAccessCode", "accessCode { codeId }", CODED),
    (
        "verifyAccessCode",
        "decision codeId lockedUntil",
        {"lockerId": "locker-@tenant", "digits": "000000", "attemptId": "attempt-@tenant"},
    ),
    ("provisionDevice", "generation deviceKey", {"lockerId": "locker-@tenant", "generation": 9}),
    (
        "acknowledgeAccessCodes",
        "acknowledgedRevision",
        {"lockerId": "locker-@tenant", "revision": "old"},
    ),
    (
        "reportAccessCodeUse",
        "accessCode { codeId }",
        {
            "lockerId": "locker-@tenant",
            "codeId": "code-@tenant",
            "eventId": "event-@tenant",
            "usedAt": "2026-03-01T11:00:00Z",
        },
    ),
    ("clearLockout", "lockout { failures lockedUntil lockouts }", {"lockerId": "locker-@tenant"}),
]
_PLACES: list[tuple[str, str, dict[str, Any]]] = [
    ("createLocation", "location { locationId }", {"code": "rome", "name": "Another", "timeZone": "Europe/Rome"}),
    ("updateLocation", "location { locationId }", {"name": "Another", **PLACED}),
    ("deactivateLocation", "location { locationId }", PLACED),
    ("reactivateLocation", "location { locationId }", PLACED),
    (
        "createCalendarEvent",
        "calendarEvent { eventId }",
        {"locationId": "@place", "date": "@day", "duration": ":MORNING", "title": "Another"},
    ),
    ("deleteCalendarEvent", "deletedEventId", {"locationId": "@place", "eventId": "nothing"}),
]
_BOOKINGS: list[tuple[str, str, dict[str, Any]]] = [
    ("requestBooking", "booking { bookingId }", {"bookingId": "booking-@tenant", **BOOKED}),
    ("cancelBooking", "booking { bookingId }", {"bookingId": "rejected-@tenant"}),
    ("approveBooking", "booking { bookingId }", DECIDED),
    ("rejectBooking", "booking { bookingId }", {"reason": "No", **DECIDED}),
    (
        "recordPayment",
        "payment { paymentId }",
        {"bookingId": "booking-@tenant", "paymentId": "payment-@tenant", "amount": {"amount": 99, "currency": "EUR"}},
    ),
]

# A role that lacks what it needs is refused for that, and there is no such key: nothing is written here either.
_KEYS: list[tuple[str, str, dict[str, Any]]] = [
    ("createApiKey", f"apiKey {{ {KEY} }} secret", {"name": "Another", "role": ":DEVICE"}),
    ("revokeApiKey", "apiKey { keyId }", {"keyId": "nothing"}),
]

CASES = [
    Case(
        """{ viewer { subject role scopes ownerId organizationIds ownerIds lockerId locationId owner { ownerId }
          locker { lockerId } rateLimit { limit remaining resetSeconds } } }""",
        optional=(("viewer", "owner"), ("viewer", "locker"), ("viewer", "rateLimit")),
    ),
    Case(f'{{ owner(ownerId: "@tenant") {{ {PROFILE} }} }}'),
    Case(f"""{{ owner(ownerId: "@tenant") {{
      ownerId lockers{LIST} reservations{LIST} bookings{LIST}
      notifications(first: 1) {{ {PAGE} nodes {{ {NOTICE} }} }}
    }} }}"""),
    Case('{ ownerByEmail(email: "@tenant@example.com") { ownerId } }'),
    Case(f'{{ locker(lockerId: "locker-@tenant") {{ {LOCKER} {LOCKER_CODES} }} }}'),
    Case(
        f"""{{ reservation(lockerId: "locker-@tenant", reservationId: "guest-@tenant") {{
          reservationId locker {{ {LOCKER} }}
        }} }}""",
        reserved=(("reservation",),),
    ),
    Case(f'{{ reservation(lockerId: "locker-@tenant", reservationId: "current-@tenant") {{ {RESERVATION} }} }}'),
    Case(f'{{ reservationByReference(ownerId: "@tenant", reference: "order-@tenant") {{ {RESERVATION} }} }}'),
    Case(f'{{ node(id: "@event") {{ id ... on AccessEvent {{ {EVENT} }} }} }}', {("node",): "Locker.accessEvents"}),
    Case('{ nodes(ids: ["@locker"]) { id } }', {("nodes",): "Query.locker"}),
    Case(f'{{ location(locationId: "@place") {{ {PLACE} managerId lockers{LIST} accessEvents{LIST} {DOOR} }} }}'),
    Case(
        """{ location(locationId: "@place") {
          availableLockers(window: {from: "2026-03-02T12:00:00Z", to: "2026-03-03T12:00:00Z"}) {
            lockers { lockerId } isComplete
          }
        } }"""
    ),
    Case(f"""{{ locationByCode(code: "rome") {{
      calendar(window: {{from: "@day", to: "@day"}}) {{ date morning {{ {SLOT} }} afternoon {{ eventId }} }}
      availability(window: {{from: "@day", to: "@day"}}) {{ date freeSlots }}
    }} }}"""),
    Case(f"{{ locations{LIST} pendingBookings{LIST} }}"),
    Case(f"""{{ booking(bookingId: "booking-@tenant") {{
      id bookingId locationId ownerId date duration description attendees status requestedAt updatedAt decidedById
      decidedBySubject decidedBy {{ ownerId }}
      reason version location {{ locationId }} owner {{ ownerId }}
      payments(first: 1) {{ {PAGE} nodes {{ {PAYMENT} }} }} accessCodes{LIST}
    }} }}"""),
    Case(f'{{ apiKey(keyId: "key-1") {{ {KEY} }} apiKeys{LIST} }}'),
    *(Case(_mutation(*fields)) for fields in (_OWNERS_AND_LOCKERS, _USES, _CODES, _PLACES, _BOOKINGS, _KEYS)),
]
