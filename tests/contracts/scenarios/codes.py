"""Access codes: issuing, verification, and the lists of devices."""

from collections.abc import Awaitable
from functools import partial
from typing import Any

from domain.access_codes import MAX_LIVE_CODES, AccessCodeKind, CodeList
from domain.models import door_of
from loaders import keys
from loaders.backend import Backend
from loaders.contracts.access_codes import ACCESS_CODE_BY_ID
from loaders.reads.code_keys import key_uses
from loaders.reads.code_lists import read_code_lists
from tests.contracts.samples import NOON, Names, at
from tests.contracts.scenarios.actions import Call, admin, changed, does, its, wait
from tests.contracts.scenarios.bookings import BOOKED, MANAGE, approve
from tests.contracts.scenarios.lockers import (
    CANCEL_LATER,
    LOCATION,
    NO_POINTER,
    PLACED,
    RESERVED,
    START,
    end_due,
    reserve,
)

AT_LOCKER: dict[str, Any] = {"locker_id": its.locker}
AT_LOCATION: dict[str, Any] = {"location_id": its.location}
_CREATE = partial(does, "createAccessCode", admin, label=its.name)


def create_code(kind: AccessCodeKind, **values: Any) -> Call:
    return _CREATE(kind=kind, **{"code_id": its.code_id, **AT_LOCKER, **values})


def change_code(field: str, **values: Any) -> Call:
    return does(field, admin, **AT_LOCKER, **values)


def enter(digits: str | None, attempt: str = "attempt", **door: Any) -> Call:
    """Enters digits at a door, by default those of its code."""

    async def run(backend: Backend, names: Names) -> Any:
        entered = digits
        if entered is None:
            name = door_of(None if door else names.locker, names.location)
            code = await ACCESS_CODE_BY_ID.read(backend.store, name, names.code_id)
            assert code is not None
            entered = backend.code_ring().digits(name, code)
        call = does("verifyAccessCode", admin, **door or AT_LOCKER, digits=entered, attempt_id=attempt)
        return await call(backend, names)

    return run


def acknowledge(**door: Any) -> Call:
    async def run(backend: Backend, names: Names) -> Any:
        name = door_of(names.locker if door == AT_LOCKER else None, names.location)
        found = (await read_code_lists(backend, [name]))[name]
        assert isinstance(found, CodeList)
        return await does("acknowledgeAccessCodes", admin, **door, revision=found.revision)(backend, names)

    return run


def crowded(names: Names, mark: str) -> list[str]:
    """As many other codes as the door of the locker may have."""
    return [f"{names.code_id[:-2]}{number} {mark}" for number in range(10, 10 + MAX_LIVE_CODES - 1)]


def check_keys(backend: Backend, _: Names) -> Awaitable[Any]:
    store: Any = backend.store
    return key_uses(store, backend.clock())


OF_RESERVATION = create_code(AccessCodeKind.RESERVATION, reservation_id=its.reservation)
ONE_TIME = create_code(AccessCodeKind.ONE_TIME, valid_until=at(60))
ANOTHER = create_code(AccessCodeKind.STANDING, code_id="other")
CODED = (*RESERVED, OF_RESERVATION)
BOOKING_CODED = (*BOOKED, approve, create_code(AccessCodeKind.BOOKING, locker_id=None, booking_id=its.booking))
CROWD = changed(keys.code_door, live=lambda names: crowded(names, "12345678"), loaded=lambda names: crowded(names, "1"))
REVEAL = partial(change_code, "revealAccessCode")
REVEALED = (*(REVEAL(reveal_id=f"{number:064d}") for number in range(10)), CROWD)
PROVISION = partial(does, "provisionDevice", admin, generation=1)
REPORT = partial(does, "reportAccessCodeUse", admin, event_id=its.event, used_at=NOON)
GUESSES = ("first", "second", "third", "fourth")
TO_THE_BOOKING = wait(9 * 24 * 60)

SCENARIOS: dict[str, tuple[Call, ...]] = {
    "create an access code of a reservation": CODED,
    "create an access code again": (*CODED, OF_RESERVATION),
    "create another access code": (*CODED, CROWD, ANOTHER),
    "create a standing access code": (*PLACED, create_code(AccessCodeKind.STANDING)),
    "create an access code of a booking": BOOKING_CODED,
    "rotate an access code": (*CODED, *REVEALED, change_code("rotateAccessCode", expected_rotation=1)),
    "reveal an access code": (*CODED, REVEAL(reveal_id="0" * 64)),
    "revoke an access code": (*CODED, change_code("revokeAccessCode")),
    "enter the digits of a reservation's code": (*CODED, enter(None)),
    "enter the digits of a one-time code": (*PLACED, ONE_TIME, enter(None)),
    "enter the digits of a booking's code": (*BOOKING_CODED, TO_THE_BOOKING, enter(None, **AT_LOCATION)),
    "enter digits of a reservation's code again": (*CODED, enter(None, "first"), enter(None)),
    "enter digits after a failure and a change": (
        *CODED,
        reserve(120, 180, "later"),
        enter("000000", "first"),
        enter(None),
    ),
    "enter digits after a cancellation": (*CODED, reserve(120, 180, "later"), CANCEL_LATER, enter(None)),
    "enter digits where there is no pointer": (*CODED, NO_POINTER, enter(None)),
    "enter digits while another is overdue": (
        *RESERVED,
        START,
        reserve(60, 120, "later"),
        create_code(AccessCodeKind.RESERVATION, reservation_id=its.later),
        *REVEALED,
        wait(61),
        end_due,
        enter(None),
    ),
    "enter digits while another overstays": (
        *RESERVED,
        START,
        reserve(60, 120, "later"),
        create_code(AccessCodeKind.RESERVATION, reservation_id=its.later),
        *REVEALED,
        wait(60),
        enter(None),
    ),
    "enter wrong digits": (*CODED, enter("000000")),
    "enter wrong digits for the fifth time": (*CODED, *(enter("000000", name) for name in GUESSES), enter("000000")),
    "enter wrong digits at a location for the fifth time": (
        *BOOKED,
        MANAGE,
        *(enter("000000", name, **AT_LOCATION) for name in GUESSES),
        enter("000000", **AT_LOCATION),
    ),
    "enter digits in the grace period": (*CODED, wait(61), enter(None)),
    "end a lockout": (*CODED, enter("000000"), does("clearLockout", admin, **AT_LOCKER)),
    "end a lockout of a location": (
        *BOOKED,
        enter("000000", **AT_LOCATION),
        does("clearLockout", admin, **AT_LOCATION),
    ),
    "provision a locker's first device": (*PLACED, PROVISION(**AT_LOCKER)),
    "provision a device of a locker with codes": (*CODED, CROWD, PROVISION(**AT_LOCKER)),
    "provision the first device of a location": (LOCATION, PROVISION(**AT_LOCATION)),
    "provision the next device": (
        *CODED,
        PROVISION(**AT_LOCKER),
        acknowledge(**AT_LOCKER),
        does("provisionDevice", admin, generation=2, **AT_LOCKER),
    ),
    "acknowledge a list": (*CODED, ANOTHER, PROVISION(**AT_LOCKER), acknowledge(**AT_LOCKER)),
    "acknowledge a newer list": (
        *CODED,
        PROVISION(**AT_LOCKER),
        acknowledge(**AT_LOCKER),
        ANOTHER,
        acknowledge(**AT_LOCKER),
    ),
    "acknowledge the list of a full door": (*CODED, PROVISION(**AT_LOCKER), CROWD, acknowledge(**AT_LOCKER)),
    "acknowledge the list of a location": (
        *BOOKING_CODED,
        PROVISION(**AT_LOCATION),
        TO_THE_BOOKING,
        acknowledge(**AT_LOCATION),
    ),
    "report a use": (*CODED, *REVEALED, REPORT(**AT_LOCKER)),
    "report a use at a location": (*BOOKING_CODED, REPORT(**AT_LOCATION)),
    "report the last use of a code": (*PLACED, ONE_TIME, *REVEALED, REPORT(**AT_LOCKER)),
    "find out which secrets are in use": (*CODED, PROVISION(**AT_LOCKER), check_keys),
}
