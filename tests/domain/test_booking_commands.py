"""What the inputs of locations, bookings, the calendar and payments are understood as, each problem at its place."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from domain import booking_commands, commands
from domain.booking_commands import CreateLocation, RecordPayment, RequestBooking, UpdateLocation
from domain.bookings import Duration
from domain.commands import CreateOwner, MoveLocker, RegisterLocker, fingerprint, understand
from domain.errors import BadInputError
from domain.models import OwnerKind, OwnerRole

if TYPE_CHECKING:
    from domain.commands import Command

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
PLACE: dict[str, Any] = {"code": "rome-1", "name": "Rome", "time_zone": "Europe/Rome"}
BOOKING: dict[str, Any] = {
    "location_id": ULID,
    "owner_id": "ada",
    "date": "2026-03-10",
    "duration": Duration.FULL_DAY,
    "description": "A fair",
    "attendees": 40,
}
EVENT: dict[str, Any] = {
    "location_id": ULID,
    "admin_id": "root",
    "date": "2026-03-10",
    "duration": Duration.MORNING,
    "title": "Cleaning",
}
PAYMENT: dict[str, Any] = {"booking_id": "b1", "amount": Decimal("12.50"), "currency": "EUR"}
DECISION: dict[str, Any] = {"booking_id": "b1", "admin_id": "root", "expected_version": 1}
GOOD: dict[type[Command], dict[str, Any]] = {
    booking_commands.CreateLocation: PLACE,
    booking_commands.UpdateLocation: {"location_id": ULID, "expected_version": 1},
    booking_commands.DeactivateLocation: {"location_id": ULID, "expected_version": 1},
    booking_commands.ReactivateLocation: {"location_id": ULID, "expected_version": 1},
    booking_commands.RequestBooking: BOOKING,
    booking_commands.CancelBooking: {"booking_id": "b1", "owner_id": "ada"},
    booking_commands.ApproveBooking: DECISION,
    booking_commands.RejectBooking: {**DECISION, "reason": "The hall is closed"},
    booking_commands.CreateCalendarEvent: EVENT,
    booking_commands.DeleteCalendarEvent: {"location_id": ULID, "event_id": "e1", "admin_id": "root"},
    booking_commands.RecordPayment: PAYMENT,
    commands.MoveLocker: {"locker_id": "l1", "new_location_id": None, "expected_version": 1},
}
TEXTS = ("formatted_address", "street", "city", "region", "postal_code", "country", "place_id")
BAD_NAMES: list[Any] = ["", " ", "a\nb", "x" * 201, "\ud800", 5]
BAD_IDS: list[Any] = ["", "a#b", "a~b", "x" * 65, "é", 5]
BAD_NUMBERS: list[Any] = ["1", 1.5, True, None]
BAD: dict[type[Command], dict[str, list[Any]]] = {
    booking_commands.CreateLocation: {
        "location_id": ["", "rome", ULID.lower(), "8" + ULID[1:], ULID + "\n", 5],
        "code": ["", "ab", "Rome", "a" * 41, "a_b", None, 5],
        "name": [*BAD_NAMES, None],
        "time_zone": ["", "Rome", "europe/rome", "localtime", None, 5],
        **dict.fromkeys(TEXTS, BAD_NAMES),
        "lat": [
            Decimal("90.1"),
            Decimal(-91),
            Decimal("NaN"),
            Decimal("Infinity"),
            Decimal("1." + "1" * 38),
            "1",
            True,
        ],
        "lng": [Decimal("180.1"), Decimal(-181), Decimal("NaN"), Decimal("1E-39"), "1", []],
    },
    booking_commands.UpdateLocation: {
        "location_id": [*BAD_IDS, None],
        "expected_version": BAD_NUMBERS,
        "name": [*BAD_NAMES, None],
        "time_zone": ["", "Rome", None],
        **dict.fromkeys(TEXTS, BAD_NAMES),
        "lat": [Decimal("-90.0001")],
        "lng": [Decimal("-180.0001")],
    },
    booking_commands.DeactivateLocation: {"location_id": BAD_IDS, "expected_version": BAD_NUMBERS},
    booking_commands.ReactivateLocation: {"location_id": BAD_IDS, "expected_version": BAD_NUMBERS},
    booking_commands.RequestBooking: {
        "booking_id": BAD_IDS,
        "location_id": [*BAD_IDS, None],
        "owner_id": [*BAD_IDS, None],
        "date": [None, 5],
        "duration": ["EVENING", "", None],
        "description": ["", " \n ", "x" * 2001, "a\x00", "\ud800", None],
        "attendees": [0, -1, 100_001, *BAD_NUMBERS],
    },
    booking_commands.CancelBooking: {"booking_id": BAD_IDS, "owner_id": BAD_IDS},
    booking_commands.ApproveBooking: {"booking_id": BAD_IDS, "admin_id": BAD_IDS, "expected_version": BAD_NUMBERS},
    booking_commands.RejectBooking: {
        "booking_id": BAD_IDS,
        "admin_id": BAD_IDS,
        "reason": ["", " ", "x" * 2001, "\x7f", None],
        "expected_version": BAD_NUMBERS,
    },
    booking_commands.CreateCalendarEvent: {
        "event_id": BAD_IDS,
        "location_id": BAD_IDS,
        "admin_id": BAD_IDS,
        "date": [None, 5],
        "duration": ["EVENING", None],
        "title": [*BAD_NAMES, None],
    },
    booking_commands.DeleteCalendarEvent: {"location_id": BAD_IDS, "event_id": [*BAD_IDS, None], "admin_id": BAD_IDS},
    booking_commands.RecordPayment: {
        "payment_id": BAD_IDS,
        "booking_id": BAD_IDS,
        "amount": [Decimal(0), Decimal("-0.01"), Decimal("0.00001"), Decimal("1E+18"), Decimal("NaN"), "1", 1.5, None],
        "currency": ["", "eur", "EURO", None],
        "method": BAD_NAMES,
        "paid_at": [5],
    },
    commands.MoveLocker: {"locker_id": BAD_IDS, "new_location_id": BAD_IDS, "expected_version": BAD_NUMBERS},
}
CASES = [
    pytest.param(command, field, value, id=f"{command.__name__}-{field}-{position}")
    for command, fields in BAD.items()
    for field, values in fields.items()
    for position, value in enumerate(values)
]


def problems(command: type[Command], values: dict[str, Any]) -> list[tuple[str, ...]]:
    with pytest.raises(BadInputError) as refusal:
        understand(command, values)
    return [problem.path for problem in refusal.value.problems]


def camel(field: str) -> str:
    first, *rest = field.split("_")
    return first + "".join(map(str.capitalize, rest))


def test_every_command_and_every_field_of_it_is_tried_here() -> None:
    named = {getattr(booking_commands, name) for name in booking_commands.__all__}
    assert named | {MoveLocker} == set(GOOD) == set(BAD)
    for command, fields in BAD.items():
        assert set(fields) == set(command.model_fields)


@pytest.mark.parametrize("command", GOOD, ids=lambda command: command.__name__)
def test_a_good_input_is_understood(command: type[Command]) -> None:
    assert understand(command, GOOD[command]).model_dump(exclude_unset=True) == GOOD[command]


@pytest.mark.parametrize(("command", "field", "value"), CASES)
def test_each_bad_value_is_refused_at_its_own_path(command: type[Command], field: str, value: Any) -> None:
    assert problems(command, {**GOOD[command], field: value}) == [("input", camel(field))]


@pytest.mark.parametrize("command", GOOD, ids=lambda command: command.__name__)
def test_what_is_missing_and_what_is_too_much_is_named(command: type[Command]) -> None:
    required = [name for name, field in command.model_fields.items() if field.is_required()]
    assert problems(command, {}) == [("input", camel(name)) for name in required]
    assert problems(command, {**GOOD[command], "status": "ACTIVE"}) == [("input", "status")]


def test_the_bounds_themselves_are_allowed() -> None:
    for lat, lng in (
        (Decimal(90), Decimal(-180)),
        (Decimal(-90), Decimal(180)),
        (Decimal("1." + "1" * 37), Decimal(0)),
    ):
        assert understand(CreateLocation, {**PLACE, "lat": lat, "lng": lng}).lat == lat
    for attendees in (1, 100_000):
        assert understand(RequestBooking, {**BOOKING, "attendees": attendees}).attendees == attendees
    for amount in (Decimal("0.0001"), Decimal("99999999999999.9999")):
        assert understand(RecordPayment, {**PAYMENT, "amount": amount}).amount == amount


def test_texts_are_trimmed() -> None:
    assert understand(CreateLocation, {**PLACE, "name": " Rome ", "city": " Roma\n"}).model_dump(
        exclude_unset=True
    ) == {
        **PLACE,
        "city": "Roma",
    }
    assert understand(RequestBooking, {**BOOKING, "description": "\n A fair\nwith a band "}).description == (
        "A fair\nwith a band"
    )


def test_a_change_of_a_location_knows_what_was_given_from_what_was_left_out() -> None:
    command = understand(UpdateLocation, {"location_id": ULID, "expected_version": 1, "city": None})
    assert command.model_fields_set == {"location_id", "expected_version", "city"}


def test_a_field_at_its_default_changes_no_fingerprint() -> None:
    owner = {"kind": OwnerKind.USER, "name": "Ada", "email": "ada@example.com"}
    # As it was before an owner had a telephone number or a role.
    known = "a072ad096da604371914208570ed524cbcd3f83e76bf556edadd4d20a144f0cf"
    for more in ({}, {"phone": None}, {"role": OwnerRole.USER}, {"phone": None, "role": OwnerRole.USER}):
        assert fingerprint(understand(CreateOwner, {**owner, **more}), without="owner_id") == known
    for other in ({"phone": "+39 123 456"}, {"role": OwnerRole.ADMIN}):
        assert fingerprint(understand(CreateOwner, {**owner, **other}), without="owner_id") != known


def test_a_locker_without_a_location_has_the_fingerprint_that_it_always_had() -> None:
    locker = {"owner_id": "acme", "alias": "Hall 3"}
    # SHA-256 of {"alias":"Hall 3","owner_id":"acme"}
    known = "dd456f4c05be47e40e5d75c33824c93aa089fa09058ec959b9b690543cd49329"
    placed = {**locker, "location_id": ULID}
    assert fingerprint(understand(RegisterLocker, locker), without="locker_id") == known
    assert fingerprint(understand(RegisterLocker, {**locker, "location_id": None}), without="locker_id") == known
    assert fingerprint(understand(RegisterLocker, placed), without="locker_id") != known


def test_a_payments_fingerprint_knows_the_amount_and_not_its_spelling() -> None:
    def paid(amount: str, **more: Any) -> str:
        return fingerprint(
            understand(RecordPayment, {**PAYMENT, "amount": Decimal(amount), **more}), without="payment_id"
        )

    assert paid("12.50") == paid("12.5") == paid("12.5", payment_id="p1", method=None, paid_at=None)
    assert paid("1E+1") == paid("10") == paid("10.0")
    others = [paid("12.5"), paid("12.51"), paid("12.5", method="card"), paid("12.5", currency="USD"), paid("10")]
    assert len(set(others)) == 5
