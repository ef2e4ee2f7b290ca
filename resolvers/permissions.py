"""Who may use which field: every field of the schema is declared here, and a schema with one that is not is not built.

A rule says which callers may use a field at all, before anything is read. Whose things they may use it for is decided
by the predicates of `domain.principal`, where the arguments or the record say whose a thing is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from graphql import GraphQLObjectType

from domain.errors import ForbiddenError
from domain.principal import Role, Scope, is_admin
from resolvers.lazy import AbsentError, HiddenError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from graphql import GraphQLFieldResolver, GraphQLResolveInfo, GraphQLSchema

    from domain.principal import Principal
    from loaders.backend import Backend
    from resolvers.context import Info

__all__ = ["DECLARED", "SEEN", "Rule", "UndeclaredFieldError", "admits", "authorised", "found_for", "guard_schema"]

C = TypeVar("C")
E = TypeVar("E")
R = TypeVar("R")

NO, YES, OWN, OFFERED = "no", "yes", "own", "own, organisation's"
BOUND, OWN_LOCKER, AS_OBJECT = "bound", "own locker", "as the object"


class UndeclaredFieldError(Exception):
    """The schema and the declarations name different fields."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What each role may use a field for; an admin may use all. A partner's is a scope, or one of the words above."""

    owner: str = NO
    partner: str = NO
    device: str = NO

    def admits(self, principal: Principal) -> bool:
        """Whether a caller may use the field for anything at all."""
        match principal.role:
            case Role.ADMIN:
                return True
            case Role.OWNER:
                return self.owner != NO
            case Role.PARTNER:
                return self.partner in {YES, BOUND, AS_OBJECT} or self.partner in principal.scopes
            case Role.DEVICE:
                return self.device != NO


SEEN = Rule(AS_OBJECT, AS_OBJECT, AS_OBJECT)
"""Whoever was given the object; nothing is left to decide."""

_ADMINS = Rule()
_PLACES = Rule(YES, YES)
_REACH = Rule(OFFERED, BOUND)
_PROFILE = Rule(OWN, Scope.OWNERS_READ)
_NOTICES = Rule(OWN)
_LOCKERS = Rule(OFFERED, Scope.LOCKERS_READ)
_LOCKER_CHANGES = Rule(OWN, Scope.LOCKERS_WRITE)
_RESERVATIONS = Rule(OWN, Scope.RESERVATIONS_READ)
_RESERVATION_CHANGES = Rule(OWN, Scope.RESERVATIONS_WRITE)
_EVENTS = Rule(OWN, Scope.EVENTS_READ)
_RECORDING = Rule(NO, Scope.EVENTS_WRITE, OWN_LOCKER)
_BOOKINGS = Rule(OWN, Scope.BOOKINGS_READ)
_BOOKING_CHANGES = Rule(OWN, Scope.BOOKINGS_WRITE)


def _all(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


_ERROR = "message code path status retryable"

DECLARED: dict[str, dict[str, Rule]] = {
    "Query": {
        **_all(SEEN, "node nodes"),  # by the rule of what is found, each for itself
        "locker": _LOCKERS,
        "owner": _REACH,
        "ownerByEmail": _PROFILE,
        "reservation": _RESERVATIONS,
        **_all(_PLACES, "location locationByCode locations"),
        "booking": _BOOKINGS,
        **_all(_ADMINS, "pendingBookings apiKey apiKeys"),
    },
    "Mutation": {
        "createOwner": _ADMINS,
        "updateOwner": Rule(OWN, Scope.OWNERS_WRITE),
        **_all(_LOCKER_CHANGES, "registerLocker renameLocker moveLocker updateLockerStatus transferLocker"),
        "createReservation": Rule(OFFERED, Scope.RESERVATIONS_WRITE),
        **_all(_RESERVATION_CHANGES, "cancelReservation extendReservation"),
        **_all(_RECORDING, "recordAccessEvent recordAccessEvents"),
        **_all(_ADMINS, "createLocation updateLocation deactivateLocation reactivateLocation"),
        **_all(_BOOKING_CHANGES, "requestBooking cancelBooking"),
        **_all(_ADMINS, "approveBooking rejectBooking recordPayment createCalendarEvent deleteCalendarEvent"),
        **_all(_ADMINS, "createApiKey revokeApiKey"),
    },
    "Owner": {
        **_all(SEEN, "id ownerId"),
        **_all(_PROFILE, "kind name email phone role version createdAt updatedAt"),
        "lockers": _LOCKERS,
        "reservations": _RESERVATIONS,
        "bookings": _BOOKINGS,
        "notifications": _NOTICES,
    },
    "Locker": {
        **_all(SEEN, "id lockerId alias status updatedAt version createdAt ownerId locationId"),
        "owner": _PROFILE,
        "location": _PLACES,
        **_all(_RESERVATIONS, "activeReservation reservations"),
        **_all(_EVENTS, "latestEvent accessEvents"),
    },
    "Reservation": {
        **_all(SEEN, "id reservationId lockerId ownerId startAt endAt status createdAt updatedAt"),
        "locker": _LOCKERS,
        "owner": _PROFILE,
    },
    "AccessEvent": {
        **_all(SEEN, "id eventId lockerId timestamp recordedAt action actorId result metadata"),
        "locker": _LOCKERS,
    },
    "Location": {
        **_all(SEEN, "id locationId code name formattedAddress street city region postalCode country placeId lat lng"),
        **_all(SEEN, "timeZone status createdAt updatedAt version"),
        "lockers": _ADMINS,
        **_all(_PLACES, "calendar availability"),
    },
    "CalendarDay": _all(SEEN, "date morning afternoon"),
    "CalendarEvent": {
        **_all(SEEN, "eventId locationId date slot title bookingId createdAt"),
        "booking": _BOOKINGS,
    },
    "DayAvailability": _all(SEEN, "date freeSlots"),
    "Booking": {
        **_all(SEEN, "id bookingId locationId ownerId date duration description attendees status requestedAt"),
        **_all(SEEN, "updatedAt decidedBy reason version"),
        "location": _PLACES,
        "owner": _PROFILE,
        "payments": _BOOKINGS,
    },
    "Payment": _all(SEEN, "paymentId bookingId amount currency method paidAt recordedAt"),
    "Notification": {
        **_all(SEEN, "notificationId bookingId bookingStatus message createdAt"),
        "booking": _BOOKINGS,
    },
    "ApiKey": _all(SEEN, "keyId name role ownerIds lockerId scopes createdAt createdBy expiresAt revokedAt"),
    "CreateApiKeyPayload": _all(SEEN, "apiKey secret userErrors"),
    "PageInfo": _all(SEEN, "hasNextPage hasPreviousPage startCursor endCursor"),
    "PlainError": _all(SEEN, _ERROR),
    "VersionConflict": _all(SEEN, f"{_ERROR} currentVersion"),
    "InvalidTransition": _all(SEEN, f"{_ERROR} currentStatus allowedStatuses"),
    "ReservationOverlap": _all(SEEN, f"{_ERROR} reservation"),
    "SlotTaken": _all(SEEN, f"{_ERROR} event"),
}
for _kind in ("Locker", "Reservation", "AccessEvent", "Location", "Booking", "Payment", "Notification", "ApiKey"):
    DECLARED[f"{_kind}Connection"] = _all(SEEN, "edges nodes pageInfo nextCursor")
    DECLARED[f"{_kind}Edge"] = _all(SEEN, "cursor node")
for _names, _entity in (
    ("CreateOwner UpdateOwner", "owner"),
    ("RegisterLocker RenameLocker MoveLocker UpdateLockerStatus TransferLocker", "locker"),
    ("CreateReservation CancelReservation ExtendReservation", "reservation"),
    ("RecordAccessEvent", "accessEvent"),
    ("RecordAccessEvents", "accessEvents"),
    ("CreateLocation UpdateLocation DeactivateLocation ReactivateLocation", "location"),
    ("RequestBooking CancelBooking ApproveBooking RejectBooking", "booking"),
    ("RecordPayment", "payment"),
    ("CreateCalendarEvent", "calendarEvents"),
    ("DeleteCalendarEvent", "deletedEventId"),
    ("RevokeApiKey", "apiKey"),
):
    for _name in _names.split():
        DECLARED[f"{_name}Payload"] = _all(SEEN, f"{_entity} userErrors")


def admits(principal: Principal, kind: str, name: str) -> bool:
    """Whether a caller may use a field for anything at all."""
    return DECLARED[kind][name].admits(principal)


def guard_schema(schema: GraphQLSchema) -> None:
    """Puts its rule before every field that has one; a mutation's is asked by `attempt`, whose refusals are payloads.

    Raises:
        UndeclaredFieldError: where a field has no declaration, or a declaration no field.
    """
    kinds = [kind for kind in schema.type_map.values() if isinstance(kind, GraphQLObjectType) and kind.name[:2] != "__"]
    served = {(kind.name, name) for kind in kinds for name in kind.fields}
    declared = {(kind, name) for kind, rules in DECLARED.items() for name in rules}
    if served != declared:
        names = sorted(".".join(pair) for pair in served ^ declared)
        raise UndeclaredFieldError(f"who may use {', '.join(names)}?")
    for kind in kinds:
        for name, field in kind.fields.items() if kind.name != "Mutation" else ():
            rule = DECLARED[kind.name][name]
            if rule is not SEEN and field.resolve is not None:
                field.resolve = _guarded(field.resolve, rule)


def _guarded(resolve: GraphQLFieldResolver, rule: Rule) -> GraphQLFieldResolver:
    def guarded(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        if not rule.admits(info.context.principal):
            raise ForbiddenError
        return resolve(source, info, **arguments)

    return guarded


def found_for(principal: Principal, record: R | None, message: str, *, seen: bool) -> R:
    """What a look-up found, where only the record says whose it is.

    Only an admin is told that there is nothing: to all others that is the same as what is not theirs.
    """
    if record is not None and seen:
        return record
    raise AbsentError(message) if is_admin(principal) else HiddenError


def authorised(
    info: Info, write: Callable[[Backend, C, Principal], Awaitable[E]]
) -> Callable[[Backend, C], Awaitable[E]]:
    """A write that decides by what it reads anyway, for who is asking."""
    return partial(_as, info.context.principal, write)


def _as(
    principal: Principal, write: Callable[[Backend, C, Principal], Awaitable[E]], backend: Backend, command: C
) -> Awaitable[E]:
    return write(backend, command, principal)
