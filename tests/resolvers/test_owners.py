"""Owners: their profile, and the e-mail address that only one of them may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loaders.table.values import item_to_wire
from tests.api import mutation, unchanged
from tests.invariants import check_invariants
from tests.places import approve, book, prepare, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

PROFILE = "ownerId kind name email version createdAt updatedAt"
ROLE = "name email phone role version"
CHANGE = mutation("updateOwner", f"owner {{ {ROLE} }}")
CREATE = mutation("createOwner", f"owner {{ {PROFILE} }}")
UPDATE = mutation("updateOwner", f"owner {{ {PROFILE} }}")
OWNER = f"query ($id: ID!) {{ owner(ownerId: $id) {{ {PROFILE} }} }}"
ROLES = f'query {{ owner(ownerId: "ada") {{ {ROLE} }} }}'
BY_EMAIL = "query ($email: String!) { ownerByEmail(email: $email) { ownerId email } }"

NOW = "2026-03-01T12:00:00.000Z"
ADA = {"ownerId": "ada", "kind": "USER", "name": "Ada", "email": "Ada@Example.com"}
ADA_SHOWN = {**ADA, "version": 1, "createdAt": NOW, "updatedAt": NOW}


def error(code: str, message: str, *path: str, status: int = 409) -> dict[str, Any]:
    return {
        "__typename": "PlainError",
        "message": message,
        "code": code,
        "path": ["input", *path],
        "status": status,
        "retryable": False,
    }


async def holder(api: Api, email: str) -> str | None:
    """Whose an address is, as the API tells it."""
    answer = await api.send(BY_EMAIL, email=email)
    if "errors" in answer:
        assert [found["extensions"]["code"] for found in answer["errors"]] == ["NOT_FOUND"]
        return None
    found: str = answer["data"]["ownerByEmail"]["ownerId"]
    return found


async def test_a_created_owner_is_shown_whole_and_found_by_id(api: Api) -> None:
    assert await api.mutate(CREATE, **ADA) == {"owner": ADA_SHOWN, "userErrors": []}
    assert await api.run(OWNER, id="ada") == {"owner": ADA_SHOWN}


async def test_an_owner_without_an_id_is_given_one_that_sorts_by_time(api: Api) -> None:
    made = [(await api.mutate(CREATE, kind="ORGANIZATION", name="Acme"))["owner"] for _ in range(2)]
    assert [len(owner["ownerId"]) for owner in made] == [26, 26]
    assert made[0]["ownerId"] != made[1]["ownerId"]
    assert made[0] | {"ownerId": ""} == {
        "ownerId": "",
        "kind": "ORGANIZATION",
        "name": "Acme",
        "email": None,
        "version": 1,
        "createdAt": NOW,
        "updatedAt": NOW,
    }


async def test_a_name_is_kept_without_the_spaces_around_it(api: Api) -> None:
    payload = await api.mutate(CREATE, kind="USER", name="  Ada Lovelace ", email=" ada@example.com ")
    assert (payload["owner"]["name"], payload["owner"]["email"]) == ("Ada Lovelace", "ada@example.com")


async def test_the_same_creation_again_gives_the_first_result_and_writes_nothing(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await api.mutate(CREATE, **ADA)
    clock.move(days=400)
    async with unchanged(dump):
        assert await api.mutate(CREATE, **ADA) == {"owner": ADA_SHOWN, "userErrors": []}


async def test_the_same_creation_after_a_change_gives_the_owner_as_it_is_now(api: Api, dump: Callable[[], Any]) -> None:
    await api.mutate(CREATE, **ADA)
    changed = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, name="Ada King", email="king@example.com")
    async with unchanged(dump):
        assert await api.mutate(CREATE, **ADA) == changed
    # The address that the repeat names was given up, and stays free.
    assert await holder(api, "ada@example.com") is None


@pytest.mark.parametrize(
    "other", [{"name": "Eve"}, {"kind": "ORGANIZATION"}, {"email": None}, {"email": "eve@example.com"}]
)
async def test_an_owners_id_used_for_other_content_is_taken(
    api: Api, dump: Callable[[], Any], other: dict[str, Any]
) -> None:
    await api.mutate(CREATE, **ADA)
    async with unchanged(dump):
        payload = await api.mutate(CREATE, **ADA | other)
    message = "The id ada was used before, for another owner."
    assert payload == {"owner": None, "userErrors": [error("ID_TAKEN", message, "ownerId")]}


@pytest.mark.parametrize("spelling", ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM"])
async def test_an_address_that_another_owner_has_is_taken_in_any_case(
    api: Api, dump: Callable[[], Any], spelling: str
) -> None:
    await api.mutate(CREATE, **ADA)
    async with unchanged(dump):
        payload = await api.mutate(CREATE, ownerId="eve", kind="USER", name="Eve", email=spelling)
    message = f"Another owner has the address {spelling}."
    assert payload == {"owner": None, "userErrors": [error("EMAIL_TAKEN", message, "email")]}


@pytest.mark.parametrize("spelling", ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM", " ada@example.com"])
async def test_an_owner_is_found_by_email_in_any_case_and_shows_the_address_as_written(api: Api, spelling: str) -> None:
    await api.mutate(CREATE, **ADA)
    data = await api.run(BY_EMAIL, email=spelling)
    assert data == {"ownerByEmail": {"ownerId": "ada", "email": "Ada@Example.com"}}


async def test_an_address_that_nobody_has_is_not_found(api: Api, wire: Wire) -> None:
    answer = await api.send(BY_EMAIL, email="nobody@example.com")
    (found,) = answer["errors"]
    assert answer["data"] == {"ownerByEmail": None}
    assert (found["message"], found["path"]) == ("No owner has this email address.", ["ownerByEmail"])
    assert (found["extensions"]["code"], found["extensions"]["status"]) == ("NOT_FOUND", 404)
    assert wire.operations == {"GetItem": 1}


async def test_an_address_whose_claim_names_somebody_else_by_now_is_nobodys(
    api: Api, plain_client: Any, table: str
) -> None:
    await api.mutate(CREATE, **ADA)
    await api.owner("eve", email="eve@example.com")
    # As a reader sees it that gets the claim before, and the owner after, the address moved on.
    stale = {"PK": {"S": "EMAIL#ada@example.com"}, "SK": {"S": "META"}, "entityType": {"S": "EMAIL_CLAIM"}}
    await plain_client.put_item(TableName=table, Item=stale | {"ownerId": {"S": "eve"}})
    assert await holder(api, "ada@example.com") is None


async def test_changing_an_owner_changes_what_was_given_and_leaves_the_rest(api: Api, clock: Clock) -> None:
    await api.mutate(CREATE, **ADA)
    clock.move(minutes=1)
    later = "2026-03-01T12:01:00.000Z"
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, name="Ada King")
    assert payload == {
        "owner": ADA_SHOWN | {"name": "Ada King", "version": 2, "updatedAt": later},
        "userErrors": [],
    }
    assert await api.run(OWNER, id="ada") == {"owner": payload["owner"]}
    assert await holder(api, "ada@example.com") == "ada"


async def test_a_changed_address_is_found_and_the_old_one_is_free_for_another(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await api.mutate(CREATE, **ADA)
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, email="king@example.com")
    assert payload["owner"]["email"] == "king@example.com"
    assert await holder(api, "KING@example.com") == "ada"
    assert await holder(api, "ada@example.com") is None
    await api.owner("eve", email="ADA@example.com")
    assert await holder(api, "ada@example.com") == "eve"
    check_invariants(await dump(), clock.now)


async def test_an_address_may_change_its_case_alone(api: Api, dump: Callable[[], Any]) -> None:
    await api.mutate(CREATE, **ADA)
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, email="ADA@example.com")
    assert (payload["owner"]["email"], payload["userErrors"]) == ("ADA@example.com", [])
    assert [key for key in await dump() if key[0].startswith("EMAIL#")] == [("EMAIL#ada@example.com", "META")]


async def test_a_null_address_takes_the_present_one_away(api: Api, dump: Callable[[], Any]) -> None:
    await api.mutate(CREATE, **ADA)
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, email=None)
    assert payload == {"owner": ADA_SHOWN | {"email": None, "version": 2}, "userErrors": []}
    table = await dump()
    assert list(table) == [("OWNER#ada", "META")]
    assert "email" not in table["OWNER#ada", "META"]
    await api.owner("eve", email="ada@example.com")


async def test_changing_to_an_address_that_another_owner_has_is_refused(api: Api, dump: Callable[[], Any]) -> None:
    await api.mutate(CREATE, **ADA)
    await api.owner("eve", email="eve@example.com")
    async with unchanged(dump):
        payload = await api.mutate(UPDATE, ownerId="eve", expectedVersion=1, name="E", email="ADA@example.com")
    message = "Another owner has the address ADA@example.com."
    assert payload == {"owner": None, "userErrors": [error("EMAIL_TAKEN", message, "email")]}


@pytest.mark.parametrize("email", ["king@example.com", None])
async def test_a_present_address_whose_claim_is_somebody_elses_is_not_told_as_a_new_one_that_is_taken(
    api: Api, plain_client: Any, table: str, dump: Callable[[], Any], email: str | None
) -> None:
    await api.mutate(CREATE, **ADA)
    claim = {"PK": "EMAIL#ada@example.com", "SK": "META", "entityType": "EMAIL_CLAIM", "ownerId": "eve"}
    await plain_client.put_item(TableName=table, Item=item_to_wire(claim))
    async with unchanged(dump):
        answer = await api.send(UPDATE, input={"ownerId": "ada", "expectedVersion": 1, "email": email})
    assert answer["data"] is None
    (failure,) = answer["errors"]
    assert (failure["path"], failure["extensions"]["code"]) == (["updateOwner"], "INTERNAL_SERVER_ERROR")
    assert "address" not in failure["message"]


async def test_changing_an_owner_with_a_stale_version_conflicts_and_returns_the_current_owner(
    api: Api, dump: Callable[[], Any]
) -> None:
    await api.mutate(CREATE, **ADA)
    current = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, name="Ada King")
    async with unchanged(dump):
        payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, email=None)
    assert payload == {
        "owner": current["owner"],
        "userErrors": [
            {
                "__typename": "VersionConflict",
                "message": "The current version is 2. Read the current state and retry with its version.",
                "code": "CONFLICT",
                "path": ["input", "expectedVersion"],
                "status": 409,
                "retryable": True,
                "currentVersion": 2,
            }
        ],
    }


async def test_changing_an_owner_that_does_not_exist_is_not_found(api: Api, dump: Callable[[], Any]) -> None:
    async with unchanged(dump):
        payload = await api.mutate(UPDATE, ownerId="nobody", expectedVersion=1, name="N")
    message = "Owner nobody does not exist."
    assert payload == {"owner": None, "userErrors": [error("NOT_FOUND", message, "ownerId", status=404)]}


async def test_a_change_that_names_nothing_to_change_is_refused_before_a_read(api: Api, wire: Wire) -> None:
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1)
    message = "Name at least one field to change."
    assert payload == {"owner": None, "userErrors": [error("BAD_USER_INPUT", message, status=400)]}
    assert not wire.calls


async def test_an_owner_is_a_user_without_a_telephone_unless_it_says_otherwise(api: Api) -> None:
    await api.owner("ada")
    shown = {"name": "ada", "email": None, "phone": None, "role": "USER", "version": 1}
    assert (await api.run(ROLES))["owner"] == shown


async def test_an_owner_keeps_its_telephone_and_its_role(api: Api) -> None:
    await api.owner("ada", phone=" +39 06 (123) 456.78-9/0 ", role="ADMIN")
    owner = (await api.run(ROLES))["owner"]
    assert (owner["phone"], owner["role"]) == ("+39 06 (123) 456.78-9/0", "ADMIN")


async def test_a_telephone_and_a_role_change_and_a_telephone_can_be_taken_away(
    api: Api, dump: Callable[[], Any]
) -> None:
    await api.owner("ada", phone="+39 123 456", email="ada@example.com")
    payload = await api.mutate(CHANGE, ownerId="ada", expectedVersion=1, role="ADMIN")
    shown = {"name": "ada", "email": "ada@example.com", "phone": "+39 123 456", "role": "ADMIN", "version": 2}
    assert payload == {"owner": shown, "userErrors": []}
    payload = await api.mutate(CHANGE, ownerId="ada", expectedVersion=2, phone=None)
    assert payload == {"owner": {**shown, "phone": None, "version": 3}, "userErrors": []}
    assert (await api.run(ROLES))["owner"] == payload["owner"]
    assert "phone" not in (await dump())["OWNER#ada", "META"]


async def test_a_creation_sent_again_with_its_defaults_written_out_gives_the_first_result(
    api: Api, dump: Callable[[], Any]
) -> None:
    await api.owner("ada")
    before = await dump()
    content = {"ownerId": "ada", "kind": "USER", "name": "ada", "role": "USER", "phone": None}
    assert (await api.mutate(CREATE, **content))["userErrors"] == []
    for other in ({"role": "ADMIN"}, {"phone": "+39 123 456"}):
        payload = await api.mutate(CREATE, **content | other)
        assert refusal(payload) == ("ID_TAKEN", 409, ["input", "ownerId"])
    assert await dump() == before


@pytest.mark.parametrize("change", [{"role": None}, {"name": None}, {"phone": "no"}, {"email": "x"}])
async def test_a_change_to_what_cannot_be_is_refused(api: Api, dump: Callable[[], Any], change: dict[str, Any]) -> None:
    await api.owner("ada", phone="+39 123 456", email="ada@example.com")
    before = await dump()
    payload = await api.mutate(CHANGE, ownerId="ada", expectedVersion=1, **change)
    assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", *change])
    assert payload["owner"] is None
    assert await dump() == before


async def test_an_admin_who_is_one_no_more_decides_nothing(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await book(api, "b1")
    await api.mutate(CHANGE, ownerId="root", expectedVersion=1, role="USER")
    before = await dump()
    assert refusal(await approve(api, "b1")) == ("FORBIDDEN", 403, ["input", "adminId"])
    assert await dump() == before
    await api.mutate(CHANGE, ownerId="root", expectedVersion=2, role="ADMIN")
    assert (await approve(api, "b1"))["booking"]["status"] == "APPROVED"
