from typing import Any

import pytest

from domain.changes import ChangeRequest
from domain.commands.locations import DeactivateLocation, ReactivateLocation
from domain.commands.lockers import MoveLocker
from domain.commands.owners import UpdateOwner
from domain.models import LocationId, LockerId, OwnerId

OWNER: dict[str, Any] = {"owner_id": OwnerId("ada"), "expected_version": 1, "change_id": "c1"}
LOCATION: dict[str, Any] = {"location_id": LocationId("rome"), "expected_version": 1, "change_id": "c1"}


def token(command: Any, subject: str = "") -> str:
    return ChangeRequest.of(command, lambda: "generated", subject).token


def test_the_same_input_has_the_same_token_and_without_a_chosen_id_a_generated_one() -> None:
    assert token(UpdateOwner(**OWNER, name="A", email=None)) == token(UpdateOwner(email=None, name="A", **OWNER))
    assert token(UpdateOwner(**OWNER, name="A")).startswith("c1#")
    assert token(UpdateOwner(**OWNER | {"change_id": None}, name="A")) == "generated"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (UpdateOwner(**OWNER, name="A"), UpdateOwner(**OWNER, name="B")),
        (UpdateOwner(**OWNER, name="A"), UpdateOwner(**OWNER | {"expected_version": 2}, name="A")),
        (UpdateOwner(**OWNER, email=None), UpdateOwner(**OWNER, phone=None)),
        (DeactivateLocation(**LOCATION), ReactivateLocation(**LOCATION)),
    ],
)
def test_other_input_has_another_token_and_so_has_a_null_and_another_mutation(one: Any, other: Any) -> None:
    assert token(one) != token(other)


def test_another_caller_has_another_token() -> None:
    command = MoveLocker(locker_id=LockerId("l1"), new_location_id=None, expected_version=1, change_id="c1")
    assert token(command, "ada") != token(command, "bob")
