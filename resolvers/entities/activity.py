"""Activities: the type, the lists of the objects that have a history, and the query of the whole log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import strawberry

from domain.activity import ActivityKind, Change
from domain.activity import PastActivity as Record
from domain.authorization import (
    Principal,
    Role,
    Scope,
    acts_for,
    may_look_up_owner,
    may_see_actor,
    may_see_locker,
    sees_all,
)
from domain.ids import check_id
from domain.models import OwnerId
from domain.times import LATEST, Instant, parse_instant, shift
from loaders import keys
from loaders.codecs import ACTIVITY
from loaders.contracts.access_codes import ACCESS_CODE_BY_ID
from loaders.contracts.activity import ACTIVITY_BY_KEY, LOG_ACTIVITY, WHOLE_LOG
from loaders.contracts.bookings import BOOKING_BY_ID
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.owners import OWNER_BY_ID
from loaders.contracts.reading import ReadPage
from loaders.contracts.reservations import RESERVATION_BY_KEY
from loaders.cursors import encode_cursor
from loaders.log import HORIZON
from loaders.pages import ALL_TIMES
from resolvers.api.relay import Connection, Node, in_window
from resolvers.bindings.base import column, embedded
from resolvers.bindings.lists import pages
from resolvers.bindings.references import Visibility, one
from resolvers.bindings.rules import (
    AS_OBJECT,
    BOOKINGS,
    CODES,
    LOCATIONS,
    LOCKER,
    LOCKER_LOOKUP,
    OWNER_ACTIVITY,
    PROFILE,
    RESERVATIONS,
    STAFF,
)
from resolvers.entities.access_codes import VISIBLE_CODES, AccessCode
from resolvers.entities.base import entity, id_argument
from resolvers.entities.bindings.activity import (
    SELECTS_CURSOR,
    HistoryPages,
    LogPages,
    sees_activity,
    sees_of_locker,
    sees_of_owner,
)
from resolvers.entities.bindings.live import live
from resolvers.entities.reservations import VISIBLE_RESERVATIONS, Reservation
from resolvers.request_state import RequestState

if TYPE_CHECKING:
    from resolvers.entities.bookings import Booking
    from resolvers.entities.locations import Location
    from resolvers.entities.lockers import Locker
    from resolvers.entities.owners import Owner

_HOMES = frozenset({"locker", "location", "owner", "apikey", "webhook", "caller"})
_MOST_CHANGES = 12
"""No more fields of an object can change at once."""
_FOR_STAFF = frozenset({"managerId"})
"""Fields that only admins and support see."""


class _Actor(NamedTuple):
    """Who did something, as far as the caller may know."""

    role: Role
    subject: str | None = None
    key_id: str | None = None
    owner_id: str | None = None


def _check_home(value: str) -> str:
    kind, _, name = value.partition(":")
    if kind not in _HOMES:
        raise ValueError("must be an object with a history")
    check_id(name)
    return value


def cursor_of(row: Record, settled: Instant) -> str:
    """A cursor that passes nothing which may still be written or told, as all before a time was."""
    key = ACTIVITY.key_of(row)
    return encode_cursor(key if row.occurred_at <= settled else keys.activities(row.place, settled).beginning)


def _cursor(row: Record, request: RequestState) -> str:
    settled = request.settled_until or shift(request.backend.stamp().at, -HORIZON)
    kept = LATEST if row.place == WHOLE_LOG else request.kept_until or LATEST
    return cursor_of(row, min(settled, kept))


def _actor(row: Record, request: RequestState) -> _Actor | None:
    subject, role, owner_id = row.actor_subject, row.actor_role, row.actor_owner_id
    if subject is None or role is None:
        return None
    owners = row.owners if row.reserver_id is None else (*row.owners, row.reserver_id)
    if not may_see_actor(request.principal, subject, role, owner_id, owners):
        return _Actor(role)
    return _Actor(role, subject, row.actor_key_id, owner_id)


def _owner_id(row: Record, request: RequestState) -> str | None:
    """The owner of a locker knows whose reservations it has; its former owner does not know who has it now."""
    principal, owner_id, of_locker = request.principal, row.owner_id, row.locker_owner_id
    if owner_id is None or sees_all(principal) or may_look_up_owner(principal, owner_id):
        return owner_id
    return (
        owner_id
        if of_locker is not None and acts_for(principal, of_locker, row.kind.scope or Scope.OWNERS_READ)
        else None
    )


def _changes(row: Record, request: RequestState) -> list[Change]:
    principal, parts = request.principal, iter(row.changes)

    def known(field: str, value: str) -> str | None:
        """A value, unless it is the id of an owner of whom the caller may know nothing."""
        is_hidden = field == "ownerId" and not (sees_all(principal) or may_look_up_owner(principal, OwnerId(value)))
        return None if is_hidden else value or None

    return [
        Change(field, known(field, before), known(field, after))
        for field, before, after in zip(parts, parts, parts, strict=False)
        if field not in _FOR_STAFF or sees_all(principal)
    ]


@entity(_Actor)
class ActivityActor:
    """Who did something. Of callers who belong to others, only the role is shown."""

    role: Role = column("Role of the caller.")
    subject: str | None = column("Subject of the credentials; null if it is not shown.")
    key_id: strawberry.ID | None = column("Id of the API key; null if it is not shown, or if none was used.")
    owner_id: strawberry.ID | None = column("Id of the owner that the caller is; null if it is not shown, or none.")
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID, key="owner_id", rule=AS_OBJECT, description="Owner that the caller is."
    )


@entity(Change)
class ActivityChange:
    """A field that changed. Values are shown only of statuses, times, sizes and ids."""

    field: str = column("Name of the field.")
    before: str | None = column("Value before the change; null if there was none, or if it is not shown.", name="from")
    after: str | None = column("Value after the change; null if there is none, or if it is not shown.", name="to")


@entity(
    Record,
    node={
        "contract": ACTIVITY_BY_KEY,
        "key": {"home": _check_home, "occurred_at": parse_instant, "activity_id": check_id},
        "rule": AS_OBJECT.decided_by_result(),
        "visible": Visibility(LOCKER_BY_ID, "locker_id", sees_activity),
    },
)
class Activity(Node):
    """Something that happened: who did what, when, and to which object. Activities are immutable."""

    activity_id: strawberry.ID = column("Id of the activity.")
    cursor: str = column(
        "Cursor to continue from, in a subscription, or in this list in ascending order and without `window.from`. It "
        "is never later than 30 seconds ago, nor than what history was kept up to, so that nothing is missed which is "
        "still being written, and some activities come again, with the same `activityId`.",
        _cursor,
        reads=(SELECTS_CURSOR, "occurred_at", "activity_id"),
    )
    kind: ActivityKind = column("What happened.")
    occurred_at: Instant = column(
        "Time at which it was recorded. What a device reports late, and an end that is noticed late, has its own time."
    )
    actor: ActivityActor | None = embedded("Who did it; null if nobody did, such as when a reservation ends.", _actor)
    locker_id: strawberry.ID | None = column("Id of the locker.")
    location_id: strawberry.ID | None = column("Id of the location.")
    owner_id: strawberry.ID | None = column(
        "Id of the owner of the object that changed. Null also for callers who may not know it.", _owner_id
    )
    reservation_id: strawberry.ID | None = column("Id of the reservation.")
    booking_id: strawberry.ID | None = column("Id of the booking.")
    code_id: strawberry.ID | None = column("Id of the access code.")
    event_id: strawberry.ID | None = column("Id of the access event.")
    calendar_event_id: strawberry.ID | None = column("Id of the calendar event.")
    payment_id: strawberry.ID | None = column("Id of the payment.")
    key_id: strawberry.ID | None = column(
        "Id of the API key that was created or revoked, or got another budget.", "api_key_id"
    )
    webhook_id: strawberry.ID | None = column("Id of the webhook.")
    caller_id: strawberry.ID | None = column("Id of a caller without an API key that got another budget.")
    version: int | None = column("Version of the object after it, if the object has versions.")
    outcome: str | None = column("How a reservation ended whose time was over: COMPLETED, EXPIRED or OCCUPIED.")
    changes: list[ActivityChange] = embedded("Fields that changed.", _changes, most=_MOST_CHANGES)
    locker: Annotated[Locker, strawberry.lazy("resolvers.entities.lockers")] | None = one(
        LOCKER_BY_ID,
        key="locker_id",
        rule=LOCKER_LOOKUP.decided_by_result(quiet=True),
        description="The locker as it is now. Null also for callers who may not see it any more.",
    )
    location: Annotated[Location, strawberry.lazy("resolvers.entities.locations")] | None = one(
        LOCATION_BY_ID, key="location_id", rule=LOCATIONS, description="The location as it is now."
    )
    owner: Annotated[Owner, strawberry.lazy("resolvers.entities.owners")] | None = one(
        OWNER_BY_ID,
        key="owner_id",
        rule=PROFILE.decided_by_result(quiet=True),
        description="Owner of the object that changed. Null also for callers who may not see it.",
    )
    reservation: Reservation | None = one(
        RESERVATION_BY_KEY,
        key="reservation_key",
        rule=RESERVATIONS.decided_by_visibility(),
        visible=VISIBLE_RESERVATIONS,
        description="The reservation as it is now. Null also for callers who may not see it any more.",
    )
    booking: Annotated[Booking, strawberry.lazy("resolvers.entities.bookings")] | None = one(
        BOOKING_BY_ID,
        key="booking_id",
        rule=BOOKINGS.decided_by_result(quiet=True),
        description="The booking as it is now. Null also for callers who may not see it.",
    )
    access_code: AccessCode | None = one(
        ACCESS_CODE_BY_ID,
        key="code_key",
        rule=CODES.decided_by_visibility(),
        visible=VISIBLE_CODES,
        description="The access code as it is now. Null also for callers who may not see it any more.",
    )


def history(contract: ReadPage[Any], *, description: str, **binding: Any) -> Any:
    """A field with the history of an object."""
    return pages(
        contract,
        kind=HistoryPages,
        window=ALL_TIMES,
        arguments=[in_window("time of an activity")],
        description=f"{description} It is about a second behind, and kept for 400 days unless the server is set to "
        "another time. Without activities that the caller may not see, so a page can have fewer items than asked for.",
        **binding,
    )


@strawberry.type
class ActivityQueries:
    activity: Connection[Activity] | None = pages(
        LOG_ACTIVITY,
        kind=LogPages,
        window=ALL_TIMES,
        rule=STAFF,
        arguments=[in_window("time of an activity")],
        description="Everything that happened lately, by time, for as long as the server keeps its log. Requires an "
        "admin, or support, which does not see what happened to API keys.",
    )


def _locker_owner(activity: Record) -> OwnerId:
    """The owner of the locker when it happened."""
    return activity.locker_owner_id or activity.owner_id  # type: ignore[return-value]  # what names a locker has one


def _may_follow_locker(principal: Principal, activity: Record) -> bool:
    return may_see_locker(principal, _locker_owner(activity), activity.locker_id)  # type: ignore[arg-type]  # as above


@strawberry.type
class ActivitySubscriptions:
    locker_activity: Activity | None = live(
        contract=LOCKER_BY_ID,
        argument=id_argument("locker_id", "Id of the locker."),
        place="locker:{}",
        sees=sees_of_locker,
        owner_of=_locker_owner,
        may_follow=_may_follow_locker,
        rule=LOCKER,
        description="What happens to a locker and at its door, as in `Locker.activity`. Ends with an error when the "
        "locker is transferred to an owner whose lockers the caller may not see.",
    )
    location_activity: Activity | None = live(
        contract=LOCATION_BY_ID,
        argument=id_argument("location_id", "Id of the location."),
        place="location:{}",
        others="public:{}",
        rule=LOCATIONS,
        description="What happens at a location and to its lockers, as in `Location.activity`. Callers other than "
        "admins and support get what happens to the location itself and its calendar events.",
    )
    owner_activity: Activity | None = live(
        contract=OWNER_BY_ID,
        argument=id_argument("owner_id", "Id of the owner."),
        place="owner:{}",
        sees=sees_of_owner,
        rule=OWNER_ACTIVITY,
        description="What concerns an owner, as in `Owner.activity`.",
    )
    activity: Activity | None = live(rule=STAFF, description="Everything that happens. Requires an admin or support.")
