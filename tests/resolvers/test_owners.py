"""Owners: their profile, and the e-mail address that only one of them may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loaders.table.values import item_to_wire
from tests.api import mutation, unchanged, user_error
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


async def holder(api: Api, email: str) -> str | None:
    """The owner of an address."""
    answer = await api.send(BY_EMAIL, email=email)
    if "errors" in answer:
        assert [found["extensions"]["code"] for found in answer["errors"]] == ["NOT_FOUND"]
        return None
    found: str = answer["data"]["ownerByEmail"]["ownerId"]
    return found


async def test_a_created_owner_is_shown_whole_and_found_by_id(api: Api) -> None:
    assert await api.mutate(CREATE, **ADA) == {"owner": ADA_SHOWN, "userErrors": []}
    assert await api.run(OWNER, id="ada") == {"owner": ADA_SHOWN}


async def test_a_name_is_kept_without_the_spaces_around_it(api: Api) -> None:
    payload = await api.mutate(CREATE, kind="USER", name="  Ada Lovelace ", email=" ada@example.com ")
    assert (payload["owner"]["name"], payload["owner"]["email"]) == ("Ada Lovelace", "ada@example.com")


@pytest.mark.parametrize("spelling", ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM"])
async def test_an_address_of_another_owner_is_taken_regardless_of_case(
    api: Api, dump: Callable[[], Any], spelling: str
) -> None:
    await api.mutate(CREATE, **ADA)
    async with unchanged(dump):
        payload = await api.mutate(CREATE, ownerId="eve", kind="USER", name="Eve", email=spelling)
    message = f"Another owner has the address {spelling}."
    assert payload == {"owner": None, "userErrors": [user_error("EMAIL_TAKEN", message, 409, "email")]}


@pytest.mark.parametrize("spelling", ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM", " ada@example.com"])
async def test_an_owner_is_found_by_email_in_any_case_and_shows_the_address_as_written(api: Api, spelling: str) -> None:
    await api.mutate(CREATE, **ADA)
    data = await api.run(BY_EMAIL, email=spelling)
    assert data == {"ownerByEmail": {"ownerId": "ada", "email": "Ada@Example.com"}}


async def test_an_address_whose_claim_names_another_owner_is_not_found(api: Api, plain_client: Any, table: str) -> None:
    await api.mutate(CREATE, **ADA)
    await api.owner("eve", email="eve@example.com")
    # As a reader sees it that gets the claim before, and the owner after, the address moved on.
    stale = {"PK": {"S": "EMAIL#ada@example.com"}, "SK": {"S": "META"}, "entityType": {"S": "EMAIL_CLAIM"}}
    await plain_client.put_item(TableName=table, Item=stale | {"ownerId": {"S": "eve"}})
    assert await holder(api, "ada@example.com") is None


async def test_an_update_of_an_owner_changes_only_the_given_fields(api: Api, clock: Clock) -> None:
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


async def test_a_null_address_removes_the_present_one(api: Api, dump: Callable[[], Any]) -> None:
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
    assert payload == {"owner": None, "userErrors": [user_error("EMAIL_TAKEN", message, 409, "email")]}


@pytest.mark.parametrize("email", ["king@example.com", None])
async def test_a_damaged_claim_of_the_present_address_is_an_internal_error_and_not_a_taken_address(
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


async def test_a_change_that_names_nothing_to_change_is_refused_before_a_read(api: Api, wire: Wire) -> None:
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1)
    message = "Name at least one field to change."
    assert payload == {"owner": None, "userErrors": [user_error("BAD_USER_INPUT", message, 400)]}
    assert not wire.calls


async def test_an_owner_is_a_user_without_a_telephone_by_default(api: Api) -> None:
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


@pytest.mark.parametrize("change", [{"role": None}, {"name": None}, {"phone": "no"}, {"email": "x"}])
async def test_a_change_to_an_invalid_value_is_refused(
    api: Api, dump: Callable[[], Any], change: dict[str, Any]
) -> None:
    await api.owner("ada", phone="+39 123 456", email="ada@example.com")
    async with unchanged(dump):
        payload = await api.mutate(CHANGE, ownerId="ada", expectedVersion=1, **change)
        assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", *change])
        assert payload["owner"] is None


async def test_an_owner_who_is_no_longer_an_admin_decides_nothing(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await book(api, "b1")
    await api.mutate(CHANGE, ownerId="root", expectedVersion=1, role="USER")
    async with unchanged(dump):
        assert refusal(await approve(api, "b1")) == ("FORBIDDEN", 403, ["input"])
    await api.mutate(CHANGE, ownerId="root", expectedVersion=2, role="ADMIN")
    assert (await approve(api, "b1"))["booking"]["status"] == "APPROVED"
