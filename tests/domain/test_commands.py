"""What a mutation's input is understood as, and every problem at its own place."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from domain import commands
from domain.commands import CreateOwner, RecordAccessEvent, RecordAccessEvents, UpdateOwner, fingerprint, understand
from domain.errors import BadInputError
from domain.models import AccessAction, AccessResult, LockerStatus, OwnerKind

if TYPE_CHECKING:
    from domain.commands import Command

BAD_ID = "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"
EVENT: dict[str, Any] = {
    "locker_id": "l1",
    "action": AccessAction.OPEN,
    "actor_id": "ada",
    "result": AccessResult.SUCCESS,
}


def problems(command: type[Command], values: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    with pytest.raises(BadInputError) as refusal:
        understand(command, values)
    assert refusal.value.message == refusal.value.problems[0].message
    assert refusal.value.path == refusal.value.problems[0].path
    return [(problem.path, problem.message) for problem in refusal.value.problems]


def test_a_good_input_becomes_a_command_with_canonical_values() -> None:
    command = understand(CreateOwner, {"kind": OwnerKind.USER, "name": "  Ada  ", "email": " Ada@Example.com "})
    assert command == CreateOwner(owner_id=None, kind=OwnerKind.USER, name="Ada", email="Ada@Example.com")


def test_every_problem_of_an_input_is_told_at_once() -> None:
    found = problems(CreateOwner, {"owner_id": "a#b", "kind": OwnerKind.USER, "name": " ", "email": "ada"})
    assert found == [
        (("input", "ownerId"), f"ownerId {BAD_ID}"),
        (("input", "name"), "name must have 1 to 200 characters"),
        (("input", "email"), "email must be an e-mail address such as ada@example.com"),
    ]


@pytest.mark.parametrize(
    ("command", "values", "paths"),
    [
        (commands.UpdateOwner, {"owner_id": "", "expected_version": 1, "name": "\x00"}, ["ownerId", "name"]),
        (
            commands.UpdateOwner,
            {"owner_id": "ada", "expected_version": 1, "phone": "12", "role": "ADMIN"},
            ["phone", "role"],
        ),
        (
            commands.CreateOwner,
            {"kind": OwnerKind.USER, "name": "Ada", "phone": "x", "role": None},
            ["phone", "role"],
        ),
        (
            commands.RegisterLocker,
            {"locker_id": "a#", "owner_id": "#", "alias": "", "location_id": "#"},
            ["lockerId", "ownerId", "alias", "locationId"],
        ),
        (commands.RenameLocker, {"locker_id": "#", "alias": "", "expected_version": 1}, ["lockerId", "alias"]),
        (
            commands.UpdateLockerStatus,
            {"locker_id": "~", "new_status": LockerStatus.OCCUPIED, "expected_version": "1"},
            ["lockerId", "expectedVersion"],
        ),
        (
            commands.TransferLocker,
            {"locker_id": "~", "new_owner_id": "~", "expected_version": True},
            ["lockerId", "newOwnerId", "expectedVersion"],
        ),
        (
            commands.CreateReservation,
            {"locker_id": "~", "reservation_id": "~", "owner_id": "~", "start_at": "s", "end_at": "e"},
            ["lockerId", "reservationId", "ownerId"],
        ),
        (commands.CancelReservation, {"locker_id": "~", "reservation_id": "~"}, ["lockerId", "reservationId"]),
        (
            commands.ExtendReservation,
            {"locker_id": "~", "reservation_id": "~", "new_end_at": 5},
            ["lockerId", "reservationId", "newEndAt"],
        ),
        (
            commands.RecordAccessEvent,
            {**EVENT, "locker_id": "~", "event_id": "~", "actor_id": "~", "metadata": []},
            ["lockerId", "eventId", "actorId", "metadata"],
        ),
    ],
)
def test_each_problem_has_its_fields_path_in_camel_case(
    command: type[Command], values: dict[str, Any], paths: list[str]
) -> None:
    assert [path for path, _ in problems(command, values)] == [("input", path) for path in paths]


def test_a_problem_of_one_event_among_several_names_its_position() -> None:
    events = [EVENT, {**EVENT, "actor_id": "a b"}, {**EVENT, "metadata": {"a": 1.5}, "event_id": ""}]
    assert problems(RecordAccessEvents, {"events": events}) == [
        (("input", "events", "1", "actorId"), f"actorId {BAD_ID}"),
        (("input", "events", "2", "eventId"), f"eventId {BAD_ID}"),
        (("input", "events", "2", "metadata"), "metadata must be JSON, which has no float"),
    ]


@pytest.mark.parametrize("count", [0, 26])
def test_events_come_1_to_25_at_once(count: int) -> None:
    ((path, message),) = problems(RecordAccessEvents, {"events": [EVENT] * count})
    assert path == ("input", "events")
    assert message.startswith("events List should have at ")


def test_25_events_at_once_are_understood() -> None:
    assert len(understand(RecordAccessEvents, {"events": [EVENT] * 25}).events) == 25


def test_what_no_command_has_and_what_one_lacks_is_refused() -> None:
    assert [path for path, _ in problems(CreateOwner, {"kind": OwnerKind.USER, "version": 1})] == [
        ("input", "name"),
        ("input", "version"),
    ]


def test_an_update_knows_what_was_given_from_what_was_left_out() -> None:
    values = {"owner_id": "ada", "expected_version": 1}
    assert understand(UpdateOwner, values).model_fields_set == {"owner_id", "expected_version"}
    for field in ("email", "phone"):
        assert field in understand(UpdateOwner, {**values, field: None}).model_fields_set


def test_a_name_cannot_be_taken_away() -> None:
    values = {"owner_id": "ada", "expected_version": 1, "name": None}
    assert [path for path, _ in problems(UpdateOwner, values)] == [("input", "name")]


def recorded(**values: Any) -> str:
    return fingerprint(understand(RecordAccessEvent, {**EVENT, **values}), without="event_id")


def test_a_fingerprint_leaves_the_id_out_and_holds_everything_else() -> None:
    same = recorded(event_id="e1", metadata={"a": 1, "b": [Decimal("1.5")]})
    assert same == recorded(event_id="e2", metadata={"b": [Decimal("1.50")], "a": 1})
    others = [
        recorded(),
        recorded(metadata={}),
        recorded(metadata={"a": 1}),
        recorded(metadata={"a": 1, "b": [Decimal("1.6")]}),
        recorded(metadata={"a": 1, "b": ["1.5"]}),
        recorded(metadata={"a": True, "b": [Decimal("1.5")]}),
        recorded(metadata={"a": "1", "b": [Decimal("1.5")]}),
        recorded(metadata={"a": 1, "b": [Decimal("1.5"), None]}),
        recorded(metadata={"a": 1, "b": [Decimal("1.5")], "c": None}),
        recorded(locker_id="l2", metadata={"a": 1, "b": [Decimal("1.5")]}),
        recorded(actor_id="bob", metadata={"a": 1, "b": [Decimal("1.5")]}),
        recorded(action=AccessAction.CLOSE, metadata={"a": 1, "b": [Decimal("1.5")]}),
        recorded(result=AccessResult.FAIL, metadata={"a": 1, "b": [Decimal("1.5")]}),
        recorded(timestamp="2026-03-01T12:00:00.000Z", metadata={"a": 1, "b": [Decimal("1.5")]}),
    ]
    assert len({same, *others}) == 1 + len(others)


def test_numbers_that_differ_in_their_38th_digit_have_different_fingerprints() -> None:
    digits = "1." + "2" * 36
    assert recorded(metadata={"a": Decimal(digits + "3")}) != recorded(metadata={"a": Decimal(digits + "4")})


def test_two_spellings_of_the_same_number_have_the_same_fingerprint() -> None:
    assert recorded(metadata={"a": 1000}) == recorded(metadata={"a": Decimal("1E+3")})
    assert recorded(metadata={"a": 1}) == recorded(metadata={"a": Decimal("1.0")})
    assert recorded(metadata={"a": Decimal("0.50")}) == recorded(metadata={"a": Decimal("0.5")})


def test_a_fingerprint_stays_the_same_in_every_release() -> None:
    command = CreateOwner(owner_id=None, kind=OwnerKind.USER, name="Ada", email="ada@example.com")
    # SHA-256 of {"email":"ada@example.com","kind":"USER","name":"Ada"}
    assert fingerprint(command, without="owner_id") == (
        "a072ad096da604371914208570ed524cbcd3f83e76bf556edadd4d20a144f0cf"
    )
