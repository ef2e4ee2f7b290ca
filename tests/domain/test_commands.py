import re
from decimal import Decimal
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from domain.api_keys import ApiKeyRole
from domain.bookings import DayPart
from domain.commands import api_keys, bookings, calendar, events, locations, lockers, owners, payments, reservations
from domain.commands.base import Change, Command, OptionalChange, fingerprint, parse_command
from domain.errors import BadInputError
from domain.models import AccessAction, AccessResult, LockerSize, LockerStatus, OwnerKind, OwnerRole

MODULES = (api_keys, bookings, calendar, events, locations, lockers, owners, payments, reservations)
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
NOON = "2026-03-01T12:00:00.000Z"
OWNER: dict[str, Any] = {"kind": OwnerKind.USER, "name": "Ada", "email": "ada@example.com"}
EVENT: dict[str, Any] = {
    "locker_id": "l1",
    "action": AccessAction.OPEN,
    "actor_id": "ada",
    "result": AccessResult.SUCCESS,
}
LOCATION: dict[str, Any] = {"code": "rome-1", "name": "Rome", "time_zone": "Europe/Rome"}
LOCATION_CHANGE: dict[str, Any] = {"location_id": ULID, "expected_version": 1}
BOOKING: dict[str, Any] = {
    "location_id": ULID,
    "owner_id": "ada",
    "date": "2026-03-10",
    "duration": DayPart.FULL_DAY,
    "description": "A fair",
    "attendees": 40,
}
DAY: dict[str, Any] = {"location_id": ULID, "date": "2026-03-10", "duration": DayPart.MORNING}
MONEY: dict[str, Any] = {"amount": Decimal("12.50"), "currency": "EUR"}
PAYMENT: dict[str, Any] = {"booking_id": "b1", "amount": MONEY}
DECISION: dict[str, Any] = {"booking_id": "b1", "expected_version": 1}
RESERVATION: dict[str, Any] = {"locker_id": "l1", "reservation_id": "r1"}
CONFIGURED: dict[str, Any] = {
    "locker_id": "l1",
    "size": LockerSize.S,
    "features": ["warm"],
    "expected_version": 1,
}
VALID: dict[type[Command], dict[str, Any]] = {
    api_keys.CreateApiKey: {"name": "Hall 3", "role": ApiKeyRole.DEVICE, "locker_id": "l1"},
    api_keys.SuspendApiKey: {"key_id": "k1", "expected_version": 1},
    api_keys.ResumeApiKey: {"key_id": "k1", "expected_version": 2},
    api_keys.RevokeApiKey: {"key_id": "k1"},
    bookings.RequestBooking: BOOKING,
    bookings.CancelBooking: {"booking_id": "b1"},
    bookings.ApproveBooking: DECISION,
    bookings.RejectBooking: {**DECISION, "reason": "The hall is closed"},
    calendar.CreateCalendarEvent: {**DAY, "title": "Cleaning"},
    calendar.DeleteCalendarEvent: {"location_id": ULID, "event_id": "e1"},
    events.RecordAccessEvent: EVENT,
    events.RecordAccessEvents: {"events": [EVENT] * 25},
    locations.Address: {},
    locations.CreateLocation: {**LOCATION, "address": {"city": "Rome"}},
    locations.UpdateLocation: LOCATION_CHANGE,
    locations.DeactivateLocation: LOCATION_CHANGE,
    locations.ReactivateLocation: LOCATION_CHANGE,
    lockers.RegisterLocker: {"owner_id": "acme", "alias": "Hall 3"},
    lockers.RegisterLockers: {"lockers": [{"owner_id": "acme"}] * 25},
    lockers.ConfigureLocker: CONFIGURED,
    lockers.ChangeLocker: CONFIGURED,
    lockers.ChangeLockers: {"lockers": [CONFIGURED] * 25},
    lockers.RenameLocker: {"locker_id": "l1", "alias": "Hall 3", "expected_version": 1},
    lockers.UpdateLockerStatus: {"locker_id": "l1", "new_status": LockerStatus.OCCUPIED, "expected_version": 1},
    lockers.RetireLocker: {"locker_id": "l1", "expected_version": 1},
    lockers.TransferLocker: {"locker_id": "l1", "new_owner_id": "ada", "expected_version": 1},
    lockers.MoveLocker: {"locker_id": "l1", "new_location_id": None, "expected_version": 1},
    owners.CreateOwner: OWNER,
    owners.EraseOwner: {"owner_id": "ada"},
    owners.UpdateOwner: {"owner_id": "ada", "expected_version": 1},
    payments.Money: MONEY,
    payments.RecordPayment: PAYMENT,
    reservations.CreateReservation: {"locker_id": "l1", "owner_id": "ada", "start_at": NOON, "end_at": NOON},
    reservations.Reserve: {"owner_id": "ada", "start_at": NOON, "end_at": NOON},
    reservations.ReserveAnyLocker: {"location_id": ULID, "owner_id": "ada", "start_at": NOON, "end_at": NOON},
    reservations.Recipient: {"name": "Ada", "phone": "+39 123 456 7890"},
    reservations.CancelReservation: {**RESERVATION, "reason": "The hall is closed"},
    reservations.StartReservation: RESERVATION,
    reservations.ReleaseReservation: RESERVATION,
    reservations.ExtendReservation: {**RESERVATION, "new_end_at": NOON},
    reservations.ShortenReservation: {**RESERVATION, "new_end_at": NOON},
}

BAD_ID = "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"
IDS: list[Any] = ["", "a#b", "a~b", "x" * 65, "é", 5]
NAMES: list[Any] = ["", " ", "a\nb", "x" * 201, "\ud800", 5]
TEXTS: list[Any] = ["", " \n ", "x" * 2001, "a\x00", "\x7f", "\ud800", None]
ENUMS: list[Any] = ["NOPE", "", 5, None]
# What is invalid for a field of this name in every command; fields that end in "_id" are ids.
INVALID: dict[str, list[Any]] = {
    "action": ENUMS,
    "address": ["Rome", 5, []],
    "alias": NAMES,
    "amount": [Decimal(0), Decimal("-0.01"), Decimal("0.00001"), Decimal("1E+18"), Decimal("NaN"), "1", 1.5, None],
    "attendees": [0, -1, 100_001, "1", 1.5, True, None],
    "code": ["", "ab", "Rome", "a" * 41, "a_b", None, 5],
    "currency": ["", "eur", "EURO", "XXQ", "XXX", None],
    "date": [None, 5],
    "description": TEXTS,
    "duration": ENUMS,
    "email": ["", "ada", 5],
    "end_at": [None, 5],
    "events": [[], [EVENT] * 26, None],
    "expected_version": ["1", 1.5, True, None],
    "expires_at": [5],
    "features": [["Warm"], [""], ["x" * 33], [5], [f"f{number}" for number in range(9)], "warm"],
    "kind": ENUMS,
    "lat": [Decimal("90.0001"), Decimal(-91), Decimal("NaN"), Decimal("Infinity"), Decimal("1." + "1" * 38), "1", True],
    "lng": [Decimal("180.0001"), Decimal(-181), Decimal("NaN"), Decimal("1E-39"), "1", []],
    "lockers": [[], "l1", None],
    "metadata": [[], "text", {"a": 1.5}, {"": 1}],
    "method": NAMES,
    "name": [*NAMES, None],
    "new_end_at": [None, 5],
    "new_status": ENUMS,
    "owner_ids": [["ada"] * 26, "ada", None],
    "paid_at": [5],
    "phone": ["", "12", "x", 5],
    "reason": TEXTS,
    "recipient": ["Ada", 5, {}],
    "reference": ["", " ", "é", "a\nb", "x" * 65, 5],
    "reservable_by": ENUMS,
    "result": ENUMS,
    "role": ENUMS,
    "scopes": [["lockers:read"] * 15, "lockers:read", None],
    "size": ENUMS,
    "start_at": [None, 5],
    "subjects": [["a@b"] * 11, "a@b", None],
    "time_zone": ["", "Rome", "europe/rome", "localtime", None, 5],
    "timestamp": [5],
    "title": [*NAMES, None],
    **dict.fromkeys(("formatted_address", "street", "city", "region", "postal_code", "country", "place_id"), NAMES),
}
# All that a message may say of a field. What pydantic says ("Input should be a valid string") is not for clients.
OURS = re.compile(
    r"\w+ (is required$|is not a field of this input$|must (not )?(be|have|contain) (?!.*(\bvalid|[<>\[])))"
)
CASES = [
    *[
        pytest.param(command, field, value, id=f"{command.__name__}-{field}-{position}")
        for command in VALID
        for field in command.model_fields
        for position, value in enumerate(INVALID.get(field, IDS))
        if value is not None or command.model_fields[field].default is not None
    ],
    *[
        pytest.param(locations.CreateLocation, "location_id", value, id=f"ULID-{value!r}")
        for value in ("rome", ULID.lower(), "8" + ULID[1:], ULID + "\n")
    ],
]


def problems(command: type[Command], values: dict[str, Any]) -> dict[tuple[str, ...], str]:
    with pytest.raises(BadInputError) as error:
        parse_command(command, values)
    found = {problem.path: problem.message for problem in error.value.problems}
    assert (error.value.path, error.value.message) == next(iter(found.items()))
    return found


def test_every_command_is_tested_here() -> None:
    items = [item for module in MODULES for name, item in vars(module).items() if not name.startswith("_")]
    commands = {item for item in items if isinstance(item, type) and issubclass(item, Command)}
    assert commands - {Change, Command, OptionalChange} == set(VALID)
    ids = {field for command in VALID for field in command.model_fields} - set(INVALID)
    assert all(field.endswith("_id") for field in ids)


@pytest.mark.parametrize("command", VALID)
def test_a_valid_input_becomes_a_command(command: type[Command]) -> None:
    assert parse_command(command, VALID[command]).model_dump(exclude_unset=True) == VALID[command]


@pytest.mark.parametrize(("command", "field", "value"), CASES)
def test_an_invalid_value_is_rejected_at_its_own_path(command: type[Command], field: str, value: Any) -> None:
    ((path, message),) = problems(command, {**VALID[command], field: value}).items()
    assert path[:2] == ("input", to_camel(field))
    assert OURS.match(message), message


@pytest.mark.parametrize("command", VALID)
def test_a_missing_and_an_unknown_field_are_named(command: type[Command]) -> None:
    required = [to_camel(name) for name, field in command.model_fields.items() if field.is_required()]
    if required:
        assert problems(command, {}) == {("input", name): f"{name} is required" for name in required}
    unknown = {("input", "unknownField"): "unknownField is not a field of this input"}
    assert problems(command, {**VALID[command], "unknown_field": 1}) == unknown


def test_a_problem_of_one_event_of_a_batch_names_its_position() -> None:
    batch = [EVENT, {**EVENT, "actor_id": "a b"}, {**EVENT, "metadata": {"a": 1.5}, "event_id": ""}]
    assert problems(events.RecordAccessEvents, {"events": batch}) == {
        ("input", "events", "1", "actorId"): f"actorId {BAD_ID}",
        ("input", "events", "2", "eventId"): f"eventId {BAD_ID}",
        ("input", "events", "2", "metadata"): "metadata must contain only JSON values, not float",
    }


@pytest.mark.parametrize(
    ("command", "values", "message"),
    [
        (events.RecordAccessEvents, {"events": []}, "events must have 1 entries or more, not 0"),
        (events.RecordAccessEvents, {"events": [EVENT] * 26}, "events must have 25 entries or fewer, not 26"),
        (payments.Money, {"amount": Decimal(0)}, "amount must be greater than 0"),
        (payments.Money, {"amount": Decimal("0.00001")}, "amount must have 4 decimals or fewer"),
        (bookings.RequestBooking, {"attendees": "1"}, "attendees must be a whole number"),
    ],
)
def test_a_message_names_the_field_and_the_rule(command: type[Command], values: dict[str, Any], message: str) -> None:
    assert list(problems(command, {**VALID[command], **values}).values()) == [message]


@pytest.mark.parametrize(
    ("command", "values"),
    [
        (locations.Address, {"lat": Decimal(90), "lng": Decimal(-180)}),
        (locations.Address, {"lat": Decimal(-90), "lng": Decimal(180)}),
        (locations.Address, {"lat": Decimal("1." + "1" * 37)}),
        (bookings.RequestBooking, {"attendees": 1}),
        (bookings.RequestBooking, {"attendees": 100_000}),
        (payments.Money, {"amount": Decimal("0.0001")}),
        (payments.Money, {"amount": Decimal("99999999999999.9999")}),
    ],
)
def test_the_bounds_are_included(command: type[Command], values: dict[str, Any]) -> None:
    parsed = parse_command(command, {**VALID[command], **values})
    assert parsed.model_dump(include=set(values)) == values


def test_names_texts_and_email_addresses_are_trimmed() -> None:
    owner = parse_command(owners.CreateOwner, {**OWNER, "name": "  Ada  ", "email": " Ada@Example.com "})
    booking = parse_command(bookings.RequestBooking, {**BOOKING, "description": "\n A fair\nwith a band "})
    assert (owner.name, owner.email, booking.description) == ("Ada", "Ada@Example.com", "A fair\nwith a band")


@pytest.mark.parametrize(("command", "field"), [(owners.UpdateOwner, "phone"), (locations.Address, "city")])
def test_an_update_distinguishes_null_from_a_field_that_is_not_set(command: type[Command], field: str) -> None:
    valid = VALID[command]
    assert parse_command(command, valid).model_fields_set == set(valid)
    assert parse_command(command, {**valid, field: None}).model_fields_set == {*valid, field}


def event_print(**values: Any) -> str:
    return fingerprint(parse_command(events.RecordAccessEvent, {**EVENT, **values}), without="event_id")


def test_a_fingerprint_contains_everything_except_the_id() -> None:
    metadata = {"a": 1, "b": [Decimal("1.5")]}
    same = event_print(event_id="e1", metadata=metadata)
    assert same == event_print(event_id="e2", metadata={"b": [Decimal("1.50")], "a": 1})
    others = [
        event_print(),
        event_print(metadata={}),
        event_print(metadata={"a": 1}),
        *[event_print(metadata={**metadata, "b": b}) for b in ([Decimal("1.6")], ["1.5"], [Decimal("1.5"), None])],
        *[event_print(metadata={**metadata, "a": a}) for a in (True, "1")],
        event_print(metadata={**metadata, "c": None}),
        event_print(locker_id="l2", metadata=metadata),
        event_print(actor_id="bob", metadata=metadata),
        event_print(action=AccessAction.CLOSE, metadata=metadata),
        event_print(result=AccessResult.FAIL, metadata=metadata),
        event_print(timestamp=NOON, metadata=metadata),
    ]
    assert len({same, *others}) == 1 + len(others)


@pytest.mark.parametrize(("one", "other"), [(1000, "1E+3"), (1, "1.0"), (Decimal("0.50"), "0.5"), (10, "1E+1")])
def test_equal_numbers_have_the_same_fingerprint(one: int | Decimal, other: str) -> None:
    assert event_print(metadata={"a": one}) == event_print(metadata={"a": Decimal(other)})


def test_numbers_that_differ_in_their_38th_digit_have_different_fingerprints() -> None:
    digits = "1." + "2" * 36
    assert event_print(metadata={"a": Decimal(digits + "3")}) != event_print(metadata={"a": Decimal(digits + "4")})


@pytest.mark.parametrize(
    ("command", "without", "sha256", "same", "different"),
    [
        (  # SHA-256 of {"email":"ada@example.com","kind":"USER","name":"Ada"}
            owners.CreateOwner,
            "owner_id",
            "a072ad096da604371914208570ed524cbcd3f83e76bf556edadd4d20a144f0cf",
            [{"owner_id": "ada"}, {"phone": None}, {"role": OwnerRole.USER}],
            [{"phone": "+39 123 456"}, {"role": OwnerRole.ADMIN}],
        ),
        (  # SHA-256 of {"alias":"Hall 3","owner_id":"acme"}
            lockers.RegisterLocker,
            "locker_id",
            "dd456f4c05be47e40e5d75c33824c93aa089fa09058ec959b9b690543cd49329",
            [{"locker_id": "l1"}, {"location_id": None}],
            [{"location_id": ULID}],
        ),
    ],
)
def test_a_fingerprint_is_stable_across_releases_that_add_optional_fields(
    command: type[Command], without: str, sha256: str, same: list[dict[str, Any]], different: list[dict[str, Any]]
) -> None:
    def fingerprint_of(values: dict[str, Any]) -> str:
        return fingerprint(parse_command(command, {**VALID[command], **values}), without=without)

    assert {fingerprint_of(values) for values in [{}, *same]} == {sha256}
    assert sha256 not in {fingerprint_of(values) for values in different}
