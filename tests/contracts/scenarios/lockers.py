"""Owners, lockers, reservations and access events."""

from collections.abc import Awaitable
from functools import partial
from operator import attrgetter
from typing import Any

from domain.models import AccessAction, AccessResult, LockerSize, LockerStatus, OwnerKind, OwnerRole
from loaders import keys
from loaders.backend import Backend
from loaders.writes.moments import end_due_reservations
from loaders.writes.timeline import settle
from tests.contracts.samples import Names, at
from tests.contracts.scenarios.actions import Call, changed, does, its, owner, wait, without

OWNER = does(
    "createOwner",
    owner_id=its.owner,
    kind=OwnerKind.ORGANIZATION,
    name=its.name,
    email=its.email,
    phone=its.phone,
    role=OwnerRole.ADMIN,
)
OTHER_OWNER = does("createOwner", owner_id=its.other_owner, kind=OwnerKind.USER, name=its.name)
CHANGE_OWNER = partial(does, "updateOwner")
_LOCATION = partial(
    does, "createLocation", name=its.name, time_zone=its.time_zone, address=lambda names: dict(names.place)
)
LOCATION = _LOCATION(location_id=its.location, code=its.code)
OTHER_LOCATION = _LOCATION(location_id=its.other_location, code=its.other_code)
LOCKER = does("registerLocker", locker_id=its.locker, alias=its.name, location_id=its.location, features=its.features)
RENAME = does("renameLocker", alias=lambda names: names.name.replace("A", "B").swapcase())


def reserve(start: int, end: int, reservation: str = "reservation", **values: Any) -> Call:
    return does(
        "createReservation", reservation_id=attrgetter(reservation), start_at=at(start), end_at=at(end), **values
    )


def change(field: str, reservation: str = "reservation", **values: Any) -> Call:
    """A change of a reservation; if it has a reason, by the owner of the locker."""
    by = {"by": owner} if "reason" in values else {}
    return does(field, reservation_id=attrgetter(reservation), **by, **values)


def use(field: str, reservation: str = "reservation", **values: Any) -> Call:
    """A change of a reservation that can be repeated."""
    return change(field, reservation, change_id=lambda names: f"{field[0]}{str(names.change)[1:]}", **values)


def extend(end: int, reservation: str = "reservation") -> Call:
    return change("extendReservation", reservation, new_end_at=at(end))


def record_events(*event_ids: str | None) -> Call:
    def events(names: Names) -> list[dict[str, Any]]:
        return [
            {
                "locker_id": names.locker,
                "event_id": event_id and names.event[:-2] + event_id,
                "action": AccessAction.UNLOCK,
                "actor_id": names.owner,
                "result": AccessResult.SUCCESS,
                "metadata": names.metadata,
            }
            for event_id in event_ids
        ]

    return does("recordAccessEvents", events=events)


CANCEL, START, RELEASE = change("cancelReservation"), use("startReservation"), use("releaseReservation")
LEAVE = does("updateLockerStatus", new_status=LockerStatus.AVAILABLE, expected_version=2)
CANCEL_LATER = change("cancelReservation", "later")
FOR_OTHER: dict[str, Any] = {"owner_id": its.other_owner, "reference": its.reference}
FOR_RECIPIENT = reserve(
    0,
    60,
    recipient=lambda names: {"name": names.name, "email": names.email, "phone": names.phone},
    metadata=its.metadata,
    **FOR_OTHER,
)
RESERVE_ANY = does("reserveAnyLocker", size=LockerSize.M, reservation_id=its.reservation, start_at=at(0), end_at=at(60))
NO_POINTER = without(keys.active_pointer)
PLACED = (OWNER, LOCATION, LOCKER)
RESERVED = (*PLACED, reserve(0, 60))
UPCOMING = (*PLACED, reserve(30, 60))
FOLLOWED = (*RESERVED, reserve(60, 120, "later"))
FAR_FOLLOWED = (*RESERVED, reserve(120, 180, "later"))
UNFOLLOWED = (*FAR_FOLLOWED, CANCEL_LATER)


def end_due(backend: Backend, names: Names) -> Awaitable[Any]:
    return end_due_reservations(backend, keys.log_shard(names.location), backend.clock())


def settle_last_change(backend: Backend, names: Names) -> Awaitable[Any]:
    return settle(backend.store, names.locker)


SCENARIOS: dict[str, tuple[Call, ...]] = {
    "create an owner": (OWNER,),
    "create an owner without an address": (OTHER_OWNER,),
    "create an owner again": (OWNER, OWNER),
    "rename an owner": (OWNER, CHANGE_OWNER(name=its.code)),
    "change an owner's address and phone number": (OWNER, CHANGE_OWNER(email=its.other_email, phone="00 39 0612 346")),
    "remove an owner's address": (OWNER, CHANGE_OWNER(email=None)),
    "register a locker": PLACED,
    "register a locker without a location": (OWNER, does("registerLocker", locker_id=its.locker)),
    "register a locker again": (*PLACED, LOCKER),
    "create a locker's first reservation": RESERVED,
    "create a reservation after another": FOLLOWED,
    "create a reservation before another": (*PLACED, reserve(60, 120, "later"), reserve(0, 60)),
    "create a reservation between two others": (*RESERVED, reserve(200, 260, "later"), reserve(60, 120, "between")),
    "create a reservation after a cancellation": (*UNFOLLOWED, reserve(60, 120, "between")),
    "create a reservation for a recipient": (*PLACED, OTHER_OWNER, FOR_RECIPIENT),
    "create a reservation again": (*RESERVED, reserve(0, 60)),
    "reserve any locker": (*PLACED, RESERVE_ANY),
    "reserve any locker again": (*PLACED, RESERVE_ANY, RESERVE_ANY),
    "extend a reservation": (*RESERVED, extend(90)),
    "extend a reservation before another": (*FAR_FOLLOWED, extend(90)),
    "extend a reservation after another": (*FAR_FOLLOWED, extend(200, "later")),
    "extend a reservation after a cancellation": (*UNFOLLOWED, extend(90)),
    "extend a reservation without a pointer": (*RESERVED, NO_POINTER, extend(90)),
    "cancel the only reservation": (*UPCOMING, CANCEL),
    "cancel a reservation before another": (*UPCOMING, reserve(60, 120, "later"), CANCEL),
    "cancel a reservation after another": (*FOLLOWED, CANCEL_LATER),
    "cancel a reservation without a pointer": (*UPCOMING, NO_POINTER, CANCEL),
    "cancel a reservation of another owner": (
        *PLACED,
        OTHER_OWNER,
        reserve(0, 30, "later"),
        reserve(60, 120, **FOR_OTHER),
        use("cancelReservation", reason=its.name),
    ),
    "start a reservation": (*RESERVED, START),
    "start a reservation while another overstays": (
        *RESERVED,
        START,
        reserve(60, 120, "later"),
        wait(60),
        use("startReservation", "later"),
    ),
    "start a reservation after a cancellation": (*UNFOLLOWED, START),
    "start a reservation without a pointer": (*RESERVED, NO_POINTER, START),
    "release a started reservation": (*RESERVED, START, RELEASE),
    "release a reservation before another": (*FOLLOWED, RELEASE),
    "release a reservation of another owner": (
        *PLACED,
        OTHER_OWNER,
        reserve(0, 60, **FOR_OTHER),
        use("releaseReservation", reason=its.name),
    ),
    "release a reservation without a pointer": (*RESERVED, NO_POINTER, RELEASE),
    "end a reservation that expired": (*RESERVED, wait(61), end_due),
    "end a reservation that has left its locker": (*RESERVED, START, LEAVE, wait(61), end_due),
    "end a reservation that is overdue": (*RESERVED, START, wait(61), end_due),
    "release an overdue reservation": (*RESERVED, START, wait(61), end_due, RELEASE),
    "empty an overdue locker": (*RESERVED, START, wait(61), end_due, LEAVE),
    "retire an overdue locker": (*RESERVED, START, wait(90), end_due, does("retireLocker", expected_version=2)),
    "settle a lost live copy": (*RESERVED, without(keys.live_reservation), settle_last_change),
    "settle a cancellation": (*UPCOMING, CANCEL, settle_last_change),
    "settle a change of no reservation": (
        *RESERVED,
        changed(keys.reservation_guard, changedReservationId=its.later),
        settle_last_change,
    ),
    "settle a lost guard": (*RESERVED, without(keys.reservation_guard), settle_last_change),
    "record an event": (*PLACED, record_events(None)),
    "record an event with an id": (*PLACED, record_events("01")),
    "record an event again": (*PLACED, record_events("01"), record_events("01")),
    "record two events": (*PLACED, record_events("01", "02")),
}
