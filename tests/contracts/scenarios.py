"""Examples of every contract: calls of the product on a table that earlier calls have prepared.

A scenario is a list of actions; the last one is the contract's own. Each can be run with short names, for requests that
can be read, and with the longest, for what they cost at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from domain.access_codes import MAX_LIVE_CODES, AccessCodeKind
from domain.api_keys import ApiKeyRole
from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role, Scope
from domain.bookings import CalendarSlot, DayPart, DaySlot
from domain.budgets import Budget
from domain.commands import access_codes as code_commands
from domain.commands import api_keys as key_commands
from domain.commands import bookings as booking_commands
from domain.commands import locations as location_commands
from domain.commands import owners as owner_commands
from domain.commands import reservations as reservation_commands
from domain.commands.calendar import CreateCalendarEvent, DeleteCalendarEvent
from domain.commands.events import RecordAccessEvent
from domain.commands.lockers import (
    ConfigureLocker,
    MoveLocker,
    RegisterLocker,
    RenameLocker,
    TransferLocker,
    UpdateLockerStatus,
)
from domain.commands.payments import Money, RecordPayment
from domain.models import (
    AccessAction,
    AccessResult,
    EventId,
    LockerSize,
    LockerStatus,
    OwnerKind,
    OwnerRole,
    ReservableBy,
    ReservationStatus,
    door_of,
)
from domain.times import EARLIEST, LATEST
from loaders import keys
from loaders.codecs import CALENDAR_SLOT
from loaders.contracts.access_codes import ACCESS_CODE_BY_ID
from loaders.contracts.base import Consistency
from loaders.contracts.bookings import LOCATION_CALENDAR
from loaders.contracts.doctor import DOCTOR_SCAN
from loaders.contracts.events import LATEST_EVENT
from loaders.contracts.maintenance import IMPORT_ITEM, LOAD_DEMO_DATA, TRANSFER_SCAN
from loaders.contracts.reading import ReadOne
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.reservations import CURRENT_RESERVATION, NEXT_RESERVATION, RESERVATION_BEFORE
from loaders.cursors import encode_cursor
from loaders.pages import PageRequest
from loaders.reads.code_keys import key_uses
from loaders.reads.table_format import CURRENT_FORMAT, FIRST_FORMAT, saving
from loaders.table.keys import Key
from loaders.table.operations import Action, Step, Transact
from loaders.table.values import item_from_wire
from loaders.tools.doctor import Doctor, Records
from loaders.tools.invariants import table_violations
from loaders.tools.migration import Migration
from loaders.writes import (
    access_codes,
    api_keys,
    bookings,
    calendar,
    code_devices,
    events,
    locations,
    lockers,
    owners,
    reservations,
    verification,
)
from loaders.writes.any_locker import reserve_any_locker
from loaders.writes.budgets import TableRates
from tests.contracts.lists import LISTS
from tests.contracts.samples import DAY, NOON, SHORT, at, day

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from loaders.backend import Backend
    from loaders.table.client import DynamoStore
    from tests.contracts.samples import Names

    Call = Callable[[Backend, Names], Awaitable[Any]]

ADMIN = DEVELOPMENT_ADMIN
TWO = 2


@dataclass(frozen=True)
class Scenario:
    """`contract` is what `run` is about; `prepare` brings the table to where it begins."""

    contract: str
    run: Call
    prepare: tuple[Call, ...] = ()


def does(write: Any, command: Any, by: Any = ADMIN, **values: Any) -> Call:
    """A write of the product by somebody, or by nobody; what is a function is asked with the names."""

    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        def said(value: Any) -> Any:
            return value(names) if callable(value) else value

        given = command(**{name: said(value) for name, value in values.items()})
        done: Awaitable[Any] = write(backend, given) if by is None else write(backend, given, said(by))
        return done

    return run


class _Its:
    """`its.locker` is the locker of whichever names there are."""

    def __getattr__(self, name: str) -> Callable[[Names], Any]:
        return attrgetter(name)


its = _Its()
owner = does(
    owners.create_owner,
    owner_commands.CreateOwner,
    by=None,
    owner_id=its.owner,
    kind=OwnerKind.ORGANIZATION,
    name=its.name,
    email=its.email,
    phone=its.phone,
    role=OwnerRole.ADMIN,
)
other_owner = does(
    owners.create_owner,
    owner_commands.CreateOwner,
    by=None,
    owner_id=its.other_owner,
    kind=OwnerKind.USER,
    name=its.name,
)
change_owner = partial(
    does,
    owners.update_owner,
    owner_commands.UpdateOwner,
    owner_id=its.owner,
    expected_version=1,
    change_id=its.change,
)
_location = partial(
    does,
    locations.create_location,
    location_commands.CreateLocation,
    by=None,
    name=its.name,
    time_zone=its.time_zone,
    address=lambda names: location_commands.Address(**names.place),
)
location = _location(location_id=its.location, code=its.code)
other_location = _location(location_id=its.other_location, code=its.other_code)


def managed_location(backend: Backend, names: Names) -> Awaitable[Any]:
    command = location_commands.CreateLocation(
        location_id=names.location, code=names.code, name="R", time_zone=names.time_zone, manager_id=names.owner
    )
    return locations.create_location(backend, command)


def manage(backend: Backend, names: Names) -> Awaitable[Any]:
    """Makes the owner the manager of the location."""
    command = location_commands.UpdateLocation(location_id=names.location, expected_version=1, manager_id=names.owner)
    return locations.update_location(backend, command)


def change_location(write: Any, command: Any, version: int = 1, **values: Any) -> Call:
    change = its.change if version == 1 else None
    return does(write, command, None, location_id=its.location, expected_version=version, change_id=change, **values)


locker = does(
    lockers.register_locker,
    RegisterLocker,
    locker_id=its.locker,
    owner_id=its.owner,
    alias=its.name,
    location_id=its.location,
    features=lambda names: list(names.features),
)
locker_anywhere = does(lockers.register_locker, RegisterLocker, locker_id=its.locker, owner_id=its.owner)


def change_locker(write: Any, command: Any, version: int = 1, **values: Any) -> Call:
    change = its.change if version == 1 else None
    return does(write, command, locker_id=its.locker, expected_version=version, change_id=change, **values)


RENAME = change_locker(lockers.rename_locker, RenameLocker, alias=lambda names: names.name.replace("A", "B").swapcase())
_status = partial(change_locker, lockers.update_locker_status, UpdateLockerStatus)
OCCUPY = _status(new_status=LockerStatus.OCCUPIED)
STOP_SERVICE = _status(new_status=LockerStatus.MAINTENANCE)
START_SERVICE = _status(TWO, new_status=LockerStatus.AVAILABLE)
ENLARGE = change_locker(lockers.configure_locker, ConfigureLocker, size=LockerSize.XL)
OPEN_TO_EVERYONE = change_locker(lockers.configure_locker, ConfigureLocker, reservable_by=ReservableBy.EVERYONE)
TRANSFER = change_locker(lockers.transfer_locker, TransferLocker, new_owner_id=its.other_owner)
MOVE = change_locker(lockers.move_locker, MoveLocker, new_location_id=its.other_location)
TAKE_AWAY = change_locker(lockers.move_locker, MoveLocker, new_location_id=None)


def reserve(start: int, end: int, reservation: str = "reservation", **values: Any) -> Call:
    return does(
        reservations.create_reservation,
        reservation_commands.CreateReservation,
        locker_id=its.locker,
        reservation_id=attrgetter(reservation),
        start_at=at(start),
        end_at=at(end),
        **{"owner_id": its.owner, **values},
    )


reserve_for_another = partial(reserve, owner_id=its.other_owner, reference=its.reference)
reserve_for_a_recipient = reserve_for_another(
    0,
    60,
    recipient=lambda names: reservation_commands.Recipient(name=names.name, email=names.email, phone=names.phone),
    metadata=its.metadata,
)
reserve_any = does(
    reserve_any_locker,
    reservation_commands.ReserveAnyLocker,
    location_id=its.location,
    size=LockerSize.M,
    reservation_id=its.reservation,
    owner_id=its.owner,
    start_at=at(0),
    end_at=at(60),
)


def use(write: Any, command: Any, reservation: str = "reservation", **values: Any) -> Call:
    """A change of a reservation by an admin; if it has a reason, by the owner of the locker."""
    return does(
        write,
        command,
        its_owner if values else ADMIN,
        locker_id=its.locker,
        reservation_id=attrgetter(reservation),
        change_id=lambda names: f"{write.__name__[0]}{str(names.change)[1:]}",
        **values,
    )


def its_owner(names: Names) -> Principal:
    """The owner of the locker."""
    return Principal(subject=names.subject, role=Role.OWNER, owner_id=names.owner)


def wait(minutes: int) -> Call:
    async def run(backend: Backend, _: Names) -> None:
        cast("Any", backend.clock).move(minutes=minutes)

    return run


START_WRITE = (reservations.start_reservation, reservation_commands.StartReservation)
RELEASE_WRITE = (reservations.release_reservation, reservation_commands.ReleaseReservation)
START, RELEASE = use(*START_WRITE), use(*RELEASE_WRITE)
EVICT = use(*RELEASE_WRITE, reason=its.name)
WITHDRAW = use(reservations.cancel_reservation, reservation_commands.CancelReservation, reason=its.name)


def extend(end: int, reservation: str = "reservation") -> Call:
    return does(
        reservations.extend_reservation,
        reservation_commands.ExtendReservation,
        locker_id=its.locker,
        reservation_id=attrgetter(reservation),
        new_end_at=at(end),
    )


def cancel(reservation: str = "reservation") -> Call:
    return does(
        reservations.cancel_reservation,
        reservation_commands.CancelReservation,
        locker_id=its.locker,
        reservation_id=attrgetter(reservation),
    )


def record_events(*event_ids: str | None) -> Call:
    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        commands = [
            RecordAccessEvent(
                locker_id=names.locker,
                event_id=None if event_id is None else EventId(names.event[:-2] + event_id),
                action=AccessAction.UNLOCK,
                actor_id=names.owner,
                result=AccessResult.SUCCESS,
                metadata=names.metadata,
            )
            for event_id in event_ids
        ]
        paths = [("input", str(number)) for number in range(len(commands))]
        return events.record_access_events(backend, commands, ADMIN, paths)

    return run


def deciding(names: Names) -> Principal:
    """An admin who is also an owner."""
    return Principal(subject=names.subject, role=Role.ADMIN, owner_id=names.owner)


book = does(
    bookings.request_booking,
    booking_commands.RequestBooking,
    booking_id=its.booking,
    location_id=its.location,
    owner_id=its.owner,
    date=DAY,
    duration=DayPart.FULL_DAY,
    description=its.text,
    attendees=99_999,
)
_decide = partial(does, by=deciding, booking_id=its.booking)
_approve = partial(_decide, bookings.approve_booking, booking_commands.ApproveBooking)
approve = _approve(expected_version=1, change_id=its.change)
approve_approved = _approve(expected_version=2)
reject = _decide(
    bookings.reject_booking, booking_commands.RejectBooking, reason=its.text, expected_version=1, change_id=its.change
)
cancel_booking = does(bookings.cancel_booking, booking_commands.CancelBooking, booking_id=its.booking)
pay = does(
    calendar.record_payment,
    RecordPayment,
    by=None,
    payment_id=its.payment,
    booking_id=its.booking,
    amount=Money(amount=Decimal("12345678901234.5678"), currency="EUR"),
    method=its.name,
    paid_at=NOON,
)
calendar_event = does(
    calendar.create_calendar_event,
    CreateCalendarEvent,
    by=deciding,
    event_id=its.calendar_event,
    location_id=its.location,
    date=DAY,
    duration=DayPart.FULL_DAY,
    title=its.name,
)
delete_calendar_event = does(
    calendar.delete_calendar_event,
    DeleteCalendarEvent,
    by=deciding,
    location_id=its.location,
    event_id=its.calendar_event,
)
api_key = does(
    api_keys.create_api_key,
    key_commands.CreateApiKey,
    by=its.subject,
    key_id=its.key,
    name=its.name,
    role=ApiKeyRole.PARTNER,
    owner_ids=lambda names: list(names.key_owners),
    scopes=list(Scope),
    expires_at=LATEST,
)
revoke_api_key = does(api_keys.revoke_api_key, key_commands.RevokeApiKey, by=None, key_id=its.key)


def spend(backend: Backend, names: Names) -> Awaitable[Any]:
    rates = TableRates(lambda: cast("Any", backend.store), Budget(60, 60), lambda: 1_772_366_400_000_000)
    return rates.take(names.subject, 1)


def without(key: Callable[[Names], Key]) -> Call:
    """Deletes an item, as older versions did not write it."""
    return lambda backend, names: backend.store.transact(Transact("", (Step("item", Action.DELETE, key(names)),)))


def older(key: Callable[[Names], Key], *attributes: str) -> Call:
    """Removes attributes of an item, as older versions did not write them."""
    changes = {"lockerId": None} | dict.fromkeys(attributes)

    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        step = Step("item", Action.UPDATE, key(names), changes | {"lockerId": names.locker}, "attribute_exists(#PK)")
        return backend.store.transact(Transact("", (step,)))

    return run


def written_by_others(pk: str, sk: str, **attributes: Any) -> Call:
    """Writes an item as another program wrote it; names in braces are replaced."""

    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        def spelled(text: Any) -> Any:
            return text.format(**vars(names)) if isinstance(text, str) else text

        content = {name: spelled(value) for name, value in attributes.items()}
        step = Step("item", Action.PUT, Key(spelled(pk), spelled(sk)), content)
        return backend.store.transact(Transact("", (step,)))

    return run


def old_reservation(start: str, reservation: str, status: str = "ACTIVE") -> Call:
    return written_by_others(
        "LOCKER#{locker}",
        f"RES#{start}#{{{reservation}}}",
        entityType="RESERVATION",
        ownerId="{owner}",
        endAt=start.replace("T12", "T13"),
        status=status,
    )


def save_format(backend: Backend, _: Names) -> Awaitable[Any]:
    return backend.store.transact(saving(FIRST_FORMAT, CURRENT_FORMAT)[0])


def run_migration(backend: Backend, names: Names) -> Awaitable[Any]:
    migration = Migration(cast("Any", backend.store), now=backend.clock(), location_id=names.location)
    return migration.run(items_per_second=1e9, progress=lambda _: None)


def load_demo_items(backend: Backend, names: Names) -> Awaitable[Any]:
    content = {"name": names.text[:400]}
    steps = [LOAD_DEMO_DATA.step("item", (f"DEMO#{number}", "META"), content) for number in range(TWO)]
    return backend.store.transact(LOAD_DEMO_DATA.transact(*steps))


def export_items(backend: Backend, _: Names) -> Awaitable[Any]:
    return TRANSFER_SCAN.page(cast("DynamoStore", backend.store), None)


def import_item(step: str) -> Call:
    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        content = {"GSI1PK": names.owner, "GSI1SK": step, "name": names.text * 3}
        return backend.store.put(IMPORT_ITEM.put(IMPORT_ITEM.step(step, ("IMPORTED", "META"), content)))

    return run


def damaged(*steps: Callable[[Names], tuple[Action, Key, dict[str, Any]]]) -> Call:
    """Changes items behind the product's back."""

    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        parts = [Step("item", *step(names)) for step in steps]
        return backend.store.transact(Transact("", tuple(parts)))

    return run


async def check_records(backend: Backend, names: Names) -> None:
    records = Records((names.locker,), (names.owner,), (names.location,), (names.booking,))
    assert await Doctor(cast("DynamoStore", backend.store), backend.clock).check(records) == []


async def repair_table(backend: Backend, _: Names) -> None:
    """Scans, and repairs what is found there."""
    page = await DOCTOR_SCAN.page(cast("DynamoStore", backend.store), None)
    findings = table_violations(map(item_from_wire, page.items), backend.clock())
    for repair in [finding.repair for finding in findings if finding.repair]:
        await backend.store.transact(repair)


def create_code(kind: AccessCodeKind, reservation: str = "reservation", **values: Any) -> Call:
    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        given: dict[str, Any] = {"locker_id": names.locker}
        if kind is AccessCodeKind.RESERVATION:
            given["reservation_id"] = getattr(names, reservation)
        if kind is AccessCodeKind.BOOKING:
            given = {"booking_id": names.booking}
        command = code_commands.CreateAccessCode(
            **{"kind": kind, "code_id": names.code_id, "label": names.name, **given, **values}
        )
        return access_codes.create_access_code(backend, command, coder(names))

    return run


def coder(names: Names) -> Principal:
    """An admin with the longest possible name."""
    return Principal(subject=names.subject, role=Role.ADMIN)


def change_code(write: Any, command: Any, **values: Any) -> Call:
    return lambda backend, names: write(
        backend, command(locker_id=names.locker, code_id=names.code_id, **values), coder(names)
    )


def enter(digits: str | None, attempt: str = "attempt", *, booked: bool = False) -> Call:
    """Enters digits at the door of the locker or the location, by default those of its code."""

    async def run(backend: Backend, names: Names) -> Any:
        entered = digits
        if entered is None:
            name = door_of(None if booked else names.locker, names.location)
            code = await ACCESS_CODE_BY_ID.read(backend.store, name, names.code_id)
            assert code is not None
            entered = backend.code_ring().digits(name, code)
        command = code_commands.VerifyAccessCode(**door(names, booked=booked), digits=entered, attempt_id=attempt)
        return await verification.verify_access_code(backend, command, coder(names))

    return run


def crowd(backend: Backend, names: Names) -> Awaitable[Any]:
    """Gives the locker's door as many other codes as it may have."""
    ids = [f"{names.code_id[:-2]}{number}" for number in range(10, 10 + MAX_LIVE_CODES - 1)]
    changes = {"live": [f"{code_id} 12345678" for code_id in ids], "loaded": [f"{code_id} 1" for code_id in ids]}
    place = keys.code_door(door_of(names.locker, None))
    return backend.store.transact(Transact("", (Step("item", Action.UPDATE, place, changes, "attribute_exists(#PK)"),)))


def reveal(number: int = 0) -> Call:
    reveal_id = f"{number:064d}"
    return change_code(access_codes.reveal_access_code, code_commands.RevealAccessCode, reveal_id=reveal_id)


def door(names: Names, *, booked: bool) -> dict[str, Any]:
    """The door of the locker or of the location, as inputs name it."""
    return {"location_id": names.location} if booked else {"locker_id": names.locker}


def provision(*, booked: bool = False) -> Call:
    return lambda backend, names: code_devices.provision_device(
        backend, code_commands.ProvisionDevice(**door(names, booked=booked), generation=1), coder(names)
    )


def acknowledge(*, booked: bool = False) -> Call:
    async def run(backend: Backend, names: Names) -> Any:
        place = door(names, booked=booked)
        found = await code_devices.read_code_list(backend, **place)
        assert found is not None
        command = code_commands.AcknowledgeAccessCodes(**place, revision=found.revision)
        return await code_devices.acknowledge_access_codes(backend, command, coder(names))

    return run


def report(*, booked: bool = False) -> Call:
    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        command = code_commands.ReportAccessCodeUse(
            **door(names, booked=booked), code_id=names.code_id, event_id=names.event, used_at=NOON
        )
        return code_devices.report_access_code_use(backend, command, coder(names))

    return run


def check_keys(backend: Backend, _: Names) -> Awaitable[Any]:
    return key_uses(cast("DynamoStore", backend.store), backend.clock())


def clear(*, booked: bool = False) -> Call:
    return lambda backend, names: verification.clear_lockout(
        backend, code_commands.ClearLockout(**door(names, booked=booked)), coder(names)
    )


PLACED = (owner, location, locker)
RESERVED = (*PLACED, reserve(0, 60))
UPCOMING = (*PLACED, reserve(30, 60))
STARTED = (*RESERVED, START)
FOR_ANOTHER = (*PLACED, other_owner, reserve_for_another(0, 60))
BOOKED = (owner, location, book)
BOOKING_CODED = (*BOOKED, approve, create_code(AccessCodeKind.BOOKING))
CODED = (*RESERVED, create_code(AccessCodeKind.RESERVATION))
CODE_LATER = create_code(AccessCodeKind.RESERVATION, reservation="later")
ANOTHER_CODE = create_code(AccessCodeKind.STANDING, code_id="other")
ROTATE_CODE = change_code(access_codes.rotate_access_code, code_commands.RotateAccessCode, expected_rotation=1)
REVEALED = (*(reveal(number) for number in range(10)), crowd)
OWNER_COPY, LOCATION_COPY = (
    lambda names: keys.owner_locker(names.owner, names.locker),
    lambda names: keys.location_locker(names.location, names.locker),
)
WITHOUT_FORMAT = without(lambda _: keys.table_format())
WITHOUT_AUDIENCE = older(lambda names: keys.locker(names.locker), "reservableBy", "size", "features")
OLD_COPIES = (
    *PLACED,
    WITHOUT_FORMAT,
    older(OWNER_COPY, "GSI1PK", "GSI1SK"),
    older(LOCATION_COPY, "GSI1PK", "GSI1SK"),
)
OLD_LATEST_END = (*RESERVED, WITHOUT_FORMAT, older(lambda names: keys.active_pointer(names.locker), "lastEndAt"))
WHOLE = (*RESERVED, other_owner, book, reject)
SURPLUS: tuple[Callable[[Names], tuple[Action, Key, dict[str, Any]]], ...] = (
    lambda names: (Action.DELETE, keys.owner_locker(names.owner, names.locker), {}),
    lambda names: (
        Action.PUT,
        keys.owner_locker(names.other_owner, names.locker),
        {
            "entityType": "OWNER_LOCKER",
            "ownerId": names.other_owner,
            "lockerId": names.locker,
            "status": LockerStatus.AVAILABLE,
            "updatedAt": NOON,
        },
    ),
    lambda names: (Action.DELETE, keys.reservation_claim(names.locker, names.reservation), {}),
    lambda names: (
        Action.PUT,
        keys.reservation_claim(names.locker, names.later),
        {
            "entityType": "RESERVATION_CLAIM",
            "reservationId": names.later,
            "lockerId": names.locker,
            "startAt": NOON,
            "fingerprint": "",
        },
    ),
    lambda names: (
        Action.PUT,
        keys.pending_count(names.owner),
        {"entityType": "PENDING_BOOKINGS", "ownerId": names.owner, "pendingBookings": 3},
    ),
    lambda names: (
        Action.PUT,
        keys.email_claim(names.other_email.lower()),
        {"entityType": "EMAIL_CLAIM", "ownerId": names.owner},
    ),
    lambda names: (
        Action.PUT,
        keys.calendar_slot(names.location, day(9), DaySlot.MORNING),
        CALENDAR_SLOT.encode(
            CalendarSlot(
                location_id=names.location,
                date=day(9),
                slot=DaySlot.MORNING,
                event_id=names.booking,
                title="",
                booking_id=names.booking,
                created_by=names.owner,
                created_at=NOON,
            )
        ),
    ),
    lambda names: (Action.DELETE, keys.owner_booking(names.owner, DAY, names.booking), {}),
    lambda names: (Action.UPDATE, keys.booking(names.booking), {"GSI1PK": "BOOKING#PENDING", "GSI1SK": "x"}),
)

OLD_RESERVATIONS = (
    *PLACED,
    old_reservation("2026-03-02T12:00:00.000Z", "reservation"),
    old_reservation("2026-03-03T12:00:00Z", "later"),
)
OLD_POINTER = written_by_others(
    "LOCKER#{locker}",
    "RES#ACTIVE",
    entityType="RESERVATION_ACTIVE",
    reservationId="{reservation}",
    ownerId="{owner}",
    startAt="2026-03-01T12:00:00Z",
    endAt="2026-03-01T13:00:00Z",
)
OLD_CANCELLED = old_reservation("2026-03-02T12:00:00Z", "reservation", "CANCELLED")
OLD_RELEASED = old_reservation("2026-02-02T12:00:00Z", "reservation", "COMPLETED")
OTHER_PROGRAM = (
    location,
    WITHOUT_FORMAT,
    written_by_others(
        "LOCKER#{locker}", "META", entityType="LOCKER", ownerId="{owner}", status="AVAILABLE", updatedAt=1772366400000
    ),
    written_by_others(
        "USER#{owner}",
        "METADATA",
        entityType="User",
        name="{name}",
        email="{email}",
        createdAt="2025-10-21T10:00:00Z",
    ),
    written_by_others(
        "BOOKING#{booking}",
        "METADATA",
        entityType="Booking",
        userId="{owner}",
        date=DAY,
        duration="FULL_DAY",
        eventDescription="{name}",
        attendees=50,
        status="approved",
        requestedAt="2025-10-21T10:00:00Z",
    ),
)

_WRITES: dict[str, tuple[str, tuple[Call, ...]]] = {
    "update a locker's status": ("QC-03", (*PLACED, OCCUPY)),
    "take a locker out of service": ("QC-03", (*PLACED, STOP_SERVICE)),
    "put a locker back into service": ("QC-03", (*PLACED, STOP_SERVICE, START_SERVICE)),
    "update the status of a locker without copies": (
        "QC-03",
        (*PLACED, without(OWNER_COPY), without(LOCATION_COPY), OCCUPY),
    ),
    "create a locker's first reservation": ("QC-04", (*PLACED, reserve(0, 60))),
    "create a reservation after another": ("QC-04", (*RESERVED, reserve(60, 120, "later"))),
    "create a reservation before another": ("QC-04", (*PLACED, reserve(60, 120, "later"), reserve(0, 60))),
    "create a reservation between two others": (
        "QC-04",
        (*RESERVED, reserve(200, 260, "later"), reserve(60, 120, "between")),
    ),
    "create a reservation beside older ones": ("QC-04", (*OLD_RESERVATIONS, reserve(60, 120, "between"))),
    "create a reservation where an older pointer names none": ("QC-04", (*PLACED, OLD_POINTER, reserve(0, 60))),
    "create a reservation after a cancellation": (
        "QC-04",
        (*RESERVED, reserve(120, 180, "later"), cancel("later"), reserve(60, 120, "between")),
    ),
    "create a reservation for a recipient": ("QC-04", (*PLACED, other_owner, reserve_for_a_recipient)),
    "create a reservation again": ("QC-04", (*RESERVED, reserve(0, 60))),
    "reserve any locker": ("QC-04", (*PLACED, reserve_any)),
    "reserve any locker again": ("QC-24", (*PLACED, reserve_any, reserve_any)),
    "transfer a locker": ("QC-06", (*PLACED, other_owner, TRANSFER)),
    "transfer a locker without copies": (
        "QC-06",
        (*PLACED, other_owner, without(OWNER_COPY), without(LOCATION_COPY), TRANSFER),
    ),
    "record an event": ("QC-08", (*PLACED, record_events(None))),
    "record an event with an id": ("QC-08", (*PLACED, record_events("01"))),
    "record an event again": ("QC-08", (*PLACED, record_events("01"), record_events("01"))),
    "record two events": ("QC-08", (*PLACED, record_events("01", "02"))),
    "register a locker": ("QC-11", (owner, location, locker)),
    "register a locker without a location": ("QC-11", (owner, locker_anywhere)),
    "register a locker again": ("QC-11", (*PLACED, locker)),
    "rename a locker": ("QC-12", (*PLACED, RENAME)),
    "rename a locker without copies": (
        "QC-12",
        (*PLACED, without(OWNER_COPY), without(LOCATION_COPY), RENAME),
    ),
    "enlarge a locker": ("QC-12", (*PLACED, ENLARGE)),
    "offer a locker to everyone": ("QC-12", (*PLACED, OPEN_TO_EVERYONE)),
    "move a locker": ("QC-12", (*PLACED, other_location, MOVE)),
    "take a locker away from its location": ("QC-12", (*PLACED, TAKE_AWAY)),
    "extend a reservation": ("QC-13", (*RESERVED, extend(90))),
    "extend a reservation before another": ("QC-13", (*RESERVED, reserve(120, 180, "later"), extend(90))),
    "extend a reservation after another": ("QC-13", (*RESERVED, reserve(120, 180, "later"), extend(200, "later"))),
    "extend a reservation after a cancellation": (
        "QC-13",
        (*RESERVED, reserve(120, 180, "later"), cancel("later"), extend(90)),
    ),
    "cancel the only reservation": ("QC-13", (*UPCOMING, cancel())),
    "cancel a reservation before another": ("QC-13", (*UPCOMING, reserve(60, 120, "later"), cancel())),
    "cancel a reservation after another": ("QC-13", (*RESERVED, reserve(60, 120, "later"), cancel("later"))),
    "cancel a reservation without a pointer": (
        "QC-13",
        (*UPCOMING, without(lambda names: keys.active_pointer(names.locker)), cancel()),
    ),
    "cancel an older reservation": ("QC-13", (*OLD_RESERVATIONS, cancel())),
    "cancel an older reservation again": ("QC-13", (*PLACED, OLD_CANCELLED, cancel())),
    "extend a reservation without a pointer": (
        "QC-13",
        (*RESERVED, without(lambda names: keys.active_pointer(names.locker)), extend(90)),
    ),
    "cancel a reservation of another owner": (
        "QC-13",
        (*PLACED, other_owner, reserve(0, 30, "later"), reserve_for_another(60, 120), WITHDRAW),
    ),
    "start a reservation": ("QC-87", STARTED),
    "start a reservation of a locker without copies": (
        "QC-87",
        (*RESERVED, without(OWNER_COPY), without(LOCATION_COPY), START),
    ),
    "start a reservation while another overstays": (
        "QC-87",
        (*STARTED, reserve(60, 120, "later"), wait(60), use(*START_WRITE, "later")),
    ),
    "start a reservation after a cancellation": (
        "QC-87",
        (*RESERVED, reserve(120, 180, "later"), cancel("later"), START),
    ),
    "release a started reservation": ("QC-87", (*STARTED, RELEASE)),
    "release a reservation before another": ("QC-87", (*RESERVED, reserve(60, 120, "later"), RELEASE)),
    "release a reservation of another owner": ("QC-87", (*FOR_ANOTHER, EVICT)),
    "release a reservation without a pointer": (
        "QC-87",
        (*RESERVED, without(lambda names: keys.active_pointer(names.locker)), RELEASE),
    ),
    "start a reservation without a pointer": (
        "QC-87",
        (*RESERVED, without(lambda names: keys.active_pointer(names.locker)), START),
    ),
    "start an older reservation": ("QC-87", (*OLD_RESERVATIONS, wait(24 * 60), START)),
    "release an older reservation again": ("QC-87", (*PLACED, OLD_RELEASED, RELEASE)),
    "create an owner": ("QC-22", (owner,)),
    "create an owner without an address": ("QC-22", (other_owner,)),
    "create an owner again": ("QC-22", (owner, owner)),
    "rename an owner": ("QC-22", (owner, change_owner(name=its.code))),
    "change an owner's address": ("QC-22", (owner, change_owner(email=its.other_email))),
    "remove an owner's address": ("QC-22", (owner, change_owner(email=None))),
    "create a location": ("QC-30", (location,)),
    "create a location again": ("QC-30", (location, location)),
    "create a location with a manager": ("QC-30", (owner, managed_location)),
    "give a location a manager": ("QC-33", (owner, location, manage)),
    "update a location": (
        "QC-33",
        (location, change_location(locations.update_location, location_commands.UpdateLocation, name="New")),
    ),
    "deactivate a location": (
        "QC-33",
        (location, change_location(locations.deactivate_location, location_commands.DeactivateLocation)),
    ),
    "reactivate a location": (
        "QC-33",
        (
            location,
            change_location(locations.deactivate_location, location_commands.DeactivateLocation),
            change_location(locations.reactivate_location, location_commands.ReactivateLocation, version=2),
        ),
    ),
    "request a booking": ("QC-40", BOOKED),
    "request a booking again": ("QC-40", (*BOOKED, book)),
    "approve a booking": ("QC-43", (*BOOKED, approve)),
    "approve a booking again": ("QC-43", (*BOOKED, approve, approve)),
    "approve an approved booking": ("QC-43", (*BOOKED, approve, approve_approved)),
    "reject a booking": ("QC-43", (*BOOKED, reject)),
    "cancel a pending booking": ("QC-43", (*BOOKED, cancel_booking)),
    "cancel an approved booking": ("QC-43", (*BOOKED, approve, cancel_booking)),
    "record a payment": ("QC-46", (*BOOKED, reject, pay)),
    "record a payment again": ("QC-46", (*BOOKED, pay, pay)),
    "create a calendar event": ("QC-49", (owner, location, calendar_event)),
    "create a calendar event again": ("QC-49", (owner, location, calendar_event, calendar_event)),
    "delete a calendar event": ("QC-49", (owner, location, calendar_event, delete_calendar_event)),
    "charge a new budget": ("QC-50", (spend,)),
    "charge a budget": ("QC-50", (spend, spend)),
    "create an API key": ("QC-61", (api_key,)),
    "create an API key again": ("QC-61", (api_key, api_key)),
    "revoke an API key": ("QC-62", (api_key, revoke_api_key)),
    "create an access code of a reservation": ("QC-105", CODED),
    "create an access code again": ("QC-105", (*CODED, create_code(AccessCodeKind.RESERVATION))),
    "create another access code": ("QC-105", (*CODED, crowd, ANOTHER_CODE)),
    "create a standing access code": ("QC-105", (*PLACED, create_code(AccessCodeKind.STANDING))),
    "create an access code of a booking": ("QC-105", BOOKING_CODED),
    "rotate an access code": ("QC-106", (*CODED, *REVEALED, ROTATE_CODE)),
    "reveal an access code": ("QC-106", (*CODED, reveal())),
    "revoke an access code": (
        "QC-106",
        (*CODED, change_code(access_codes.revoke_access_code, code_commands.RevokeAccessCode)),
    ),
    "enter the digits of a reservation's code": ("QC-107", (*CODED, enter(None))),
    "enter the digits of a one-time code": (
        "QC-107",
        (*PLACED, create_code(AccessCodeKind.ONE_TIME, valid_until=at(60)), enter(None)),
    ),
    "enter the digits of a booking's code": (
        "QC-107",
        (*BOOKING_CODED, wait(9 * 24 * 60), enter(None, booked=True)),
    ),
    "enter digits of a reservation's code again": ("QC-107", (*CODED, enter(None, "first"), enter(None))),
    "enter digits after a failure and a change": (
        "QC-107",
        (*CODED, reserve(120, 180, "later"), enter("000000", "first"), enter(None)),
    ),
    "enter digits after a cancellation": (
        "QC-107",
        (*CODED, reserve(120, 180, "later"), cancel("later"), enter(None)),
    ),
    "enter digits where older data has no copies": (
        "QC-107",
        (*CODED, without(OWNER_COPY), without(LOCATION_COPY), enter(None)),
    ),
    "enter digits where there is no pointer": (
        "QC-107",
        (*CODED, without(lambda names: keys.active_pointer(names.locker)), enter(None)),
    ),
    "enter digits while another overstays": (
        "QC-107",
        (*RESERVED, START, reserve(60, 120, "later"), CODE_LATER, *REVEALED, wait(61), enter(None)),
    ),
    "enter wrong digits": ("QC-107", (*CODED, enter("000000"))),
    "enter wrong digits for the fifth time": (
        "QC-107",
        (*CODED, *(enter("000000", f"attempt-{number}") for number in range(4)), enter("000000")),
    ),
    "enter wrong digits at a location for the fifth time": (
        "QC-107",
        (
            *BOOKED,
            manage,
            *(enter("000000", f"attempt-{number}", booked=True) for number in range(4)),
            enter("000000", booked=True),
        ),
    ),
    "enter digits in the grace period": ("QC-107", (*CODED, wait(61), enter(None))),
    "end a lockout": ("QC-108", (*CODED, enter("000000"), clear())),
    "end a lockout of a location": ("QC-108", (*BOOKED, enter("000000", booked=True), clear(booked=True))),
    "provision a locker's first device": ("QC-110", (*PLACED, provision())),
    "provision a device of a locker with codes": ("QC-110", (*CODED, crowd, provision())),
    "provision the first device of a location": ("QC-110", (location, provision(booked=True))),
    "acknowledge a list": ("QC-111", (*CODED, ANOTHER_CODE, provision(), acknowledge())),
    "acknowledge the list of a full door": ("QC-111", (*CODED, provision(), crowd, acknowledge())),
    "acknowledge the list of a location": (
        "QC-111",
        (*BOOKING_CODED, provision(booked=True), wait(9 * 24 * 60), acknowledge(booked=True)),
    ),
    "report a use": ("QC-112", (*CODED, *REVEALED, report())),
    "report a use at a location": ("QC-112", (*BOOKING_CODED, report(booked=True))),
    "report the last use of a code": (
        "QC-112",
        (*PLACED, create_code(AccessCodeKind.ONE_TIME, valid_until=at(60)), *REVEALED, report()),
    ),
    "find out which secrets are in use": ("QC-113", (*CODED, provision(), check_keys)),
    "save the first table format": ("QC-71", (WITHOUT_FORMAT, save_format)),
    "migrate copies that are not in the index": ("QC-78", (*OLD_COPIES, run_migration)),
    "migrate an older pointer": ("QC-74", (*OLD_LATEST_END, run_migration)),
    "migrate a table without guards": (
        "QC-74",
        (*OLD_LATEST_END, without(lambda names: keys.reservation_guard(names.locker)), run_migration),
    ),
    "migrate older reservations": ("QC-74", (*OLD_RESERVATIONS, WITHOUT_FORMAT, run_migration)),
    "migrate an older reservation that was cancelled": (
        "QC-74",
        (*PLACED, WITHOUT_FORMAT, OLD_CANCELLED, run_migration),
    ),
    "migrate a locker without offers": ("QC-78", (*PLACED, WITHOUT_FORMAT, WITHOUT_AUDIENCE, run_migration)),
    "migrate items of other programs": ("QC-78", (*OTHER_PROGRAM, run_migration)),
    "load demo data": ("QC-72", (load_demo_items,)),
    "export the table": ("QC-76", (export_items,)),
    "import an item": ("QC-77", (import_item("new item"),)),
    "import a differing item": ("QC-77", (import_item("new item"), import_item("differing item"))),
    "check the whole table": ("QC-80", (*WHOLE, repair_table)),
    "check a locker, an owner, a location and a booking": ("QC-81", (*WHOLE, check_records)),
    "check a lone locker": ("QC-82", (*PLACED, book, check_records)),
    "repair what is derived from records": ("QC-83", (*WHOLE, damaged(*SURPLUS), repair_table)),
    "repair a missing pointer": (
        "QC-84",
        (*RESERVED, without(lambda names: keys.active_pointer(names.locker)), repair_table),
    ),
    "repair a wrong pointer of a locker without a guard": (
        "QC-84",
        (
            *RESERVED,
            without(lambda names: keys.reservation_guard(names.locker)),
            damaged(lambda names: (Action.UPDATE, keys.active_pointer(names.locker), {"endAt": at(30)})),
            repair_table,
        ),
    ),
    "repair a pointer to a cancelled reservation": (
        "QC-84",
        (
            *RESERVED,
            damaged(
                lambda names: (
                    Action.UPDATE,
                    keys.reservation(names.locker, NOON, names.reservation),
                    {"status": ReservationStatus.CANCELLED},
                ),
                lambda names: (
                    Action.UPDATE,
                    keys.owner_reservation(names.owner, NOON, names.reservation),
                    {"status": ReservationStatus.CANCELLED},
                ),
            ),
            repair_table,
        ),
    ),
    "repair a missing live copy": (
        "QC-84",
        (
            *RESERVED,
            without(lambda names: keys.live_reservation(names.locker, NOON, names.reservation)),
            repair_table,
        ),
    ),
    "repair a guard that names no reservation": (
        "QC-84",
        (
            *RESERVED,
            damaged(
                lambda names: (
                    Action.UPDATE,
                    keys.reservation_guard(names.locker),
                    {"changedReservationId": names.later},
                )
            ),
            repair_table,
        ),
    ),
}

_KEYS: dict[str, tuple[tuple[Call, ...], Callable[[Names], tuple[Any, ...]]]] = {
    "QC-01": (PLACED, lambda names: (names.locker,)),
    "QC-07": (RESERVED, lambda names: (names.locker,)),
    "QC-15": (RESERVED, lambda names: (names.locker, names.reservation)),
    "QC-16": (
        (*PLACED, record_events("01")),
        lambda names: (door_of(names.locker, None), NOON, names.event[:-2] + "01"),
    ),
    "QC-88": (FOR_ANOTHER, lambda names: (names.other_owner, names.reference)),
    "QC-89": ((*PLACED, other_owner, reserve_for_a_recipient), lambda names: (names.locker, names.reservation)),
    "QC-18": (RESERVED, lambda names: (names.locker, NOON, names.reservation)),
    "QC-20": ((owner,), lambda names: (names.owner,)),
    "QC-21": ((owner,), lambda names: (names.email.lower(),)),
    "QC-31": ((location,), lambda names: (names.location,)),
    "QC-36": ((location,), lambda names: (names.code,)),
    "QC-41": ((*BOOKED, reject), lambda names: (names.booking,)),
    "QC-51": ((*BOOKED, pay), lambda names: (names.booking, names.payment)),
    "QC-52": ((*BOOKED, reject), lambda names: (names.owner, NOON, f"{names.booking}-rejected")),
    "QC-53": ((*BOOKED, approve), lambda names: (names.location, DAY, DaySlot.MORNING)),
    "QC-60": ((api_key,), lambda names: (names.key,)),
    "QC-70": ((), lambda _: ()),
    "QC-100": ((*CODED, *REVEALED), lambda names: (door_of(names.locker, None), names.code_id)),
    "QC-103": ((*CODED, crowd), lambda names: (door_of(names.locker, None),)),
    "QC-109": ((location, enter("000000", booked=True)), lambda names: (names.location,)),
    "QC-104": ((*CODED, enter("000000")), lambda names: (names.locker,)),
}


def _read(contract: ReadOne[Any], key: Callable[[Names], tuple[Any, ...]], *, consistent: bool = False) -> Call:
    return lambda backend, names: contract.read(backend.store, *key(names), consistent=consistent)


def _read_two(contract: ReadOne[Any], key: Callable[[Names], tuple[Any, ...]]) -> Call:
    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        *parents, last = key(names)
        return contract.read_many(backend.store, [(*parents, last), (*parents, f"{last}-2")])

    return run


def _page(contract_id: str, order: Any, *, backward: bool) -> Call:
    def run(backend: Backend, _: Names) -> Awaitable[Any]:
        example = LISTS[contract_id]
        cursor = encode_cursor(example.position(1)) if backward else None
        return example.read(backend.store, PageRequest(3, backward, cursor), order)

    return run


def _scenarios() -> dict[str, Scenario]:
    found = {name: Scenario(contract, calls[-1], calls[:-1]) for name, (contract, calls) in _WRITES.items()}
    for contract_id, (prepare, key) in _KEYS.items():
        contract = CONTRACTS[contract_id]
        assert isinstance(contract, ReadOne)
        found[f"{contract.purpose}"] = Scenario(contract_id, _read(contract, key), prepare)
        if key(SHORT):
            found[f"{contract.purpose}, two of them"] = Scenario(contract_id, _read_two(contract, key), prepare)
        if contract.consistency is Consistency.EVENTUAL_OR_STRONG:
            found[f"{contract.purpose}, consistent"] = Scenario(
                contract_id, _read(contract, key, consistent=True), prepare
            )
    for example in LISTS.values():
        for order in example.contract.orders:
            purpose = f"{example.contract.purpose}, {order}"
            found[purpose] = Scenario(example.contract.id, _page(example.contract.id, order, backward=False))
            found[f"{purpose}, before a cursor"] = Scenario(
                example.contract.id, _page(example.contract.id, order, backward=True)
            )
    return found | {
        LATEST_EVENT.purpose: Scenario(
            LATEST_EVENT.id,
            lambda backend, names: LATEST_EVENT.first(backend.store, names.locker),
            (*PLACED, record_events("01")),
        ),
        LOCATION_CALENDAR.purpose: Scenario(
            LOCATION_CALENDAR.id,
            lambda backend, names: LOCATION_CALENDAR.whole(backend.store, names.location, day(0), day(91)),
        ),
        NEXT_RESERVATION.purpose: Scenario(
            NEXT_RESERVATION.id,
            lambda backend, names: NEXT_RESERVATION.first(backend.store, names.locker, NOON, LATEST),
            RESERVED,
        ),
        CURRENT_RESERVATION.purpose: Scenario(
            CURRENT_RESERVATION.id,
            lambda backend, names: CURRENT_RESERVATION.first(backend.store, names.locker, EARLIEST, at(60)),
            RESERVED,
        ),
        RESERVATION_BEFORE.purpose: Scenario(
            RESERVATION_BEFORE.id,
            lambda backend, names: RESERVATION_BEFORE.first(backend.store, names.locker, at(60)),
            RESERVED,
        ),
    }


SCENARIOS = dict(sorted(_scenarios().items(), key=lambda entry: int(entry[1].contract[3:])))
