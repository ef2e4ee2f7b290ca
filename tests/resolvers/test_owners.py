from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api, mutation, refused, unchanged, user_error
from tests.conftest import Clock, Dump
from tests.invariants import check_invariants
from tests.tables import put
from tests.wire import unlogged

PROFILE = "ownerId kind name email phone role version createdAt updatedAt"
CREATE = mutation("createOwner", f"owner {{ {PROFILE} }}")
CHANGE = mutation("updateOwner", f"owner {{ {PROFILE} }}")
OWNER = f"query ($id: ID!) {{ owner(ownerId: $id) {{ {PROFILE} }} }}"
BY_EMAIL = "query ($email: String!) { ownerByEmail(email: $email) { ownerId email } }"

NOW = "2026-03-01T12:00:00.000Z"
ADA = {"ownerId": "ada", "kind": "USER", "name": "Ada", "email": "Ada@Example.com"}
SHOWN = {**ADA, "phone": None, "role": "USER", "version": 1, "createdAt": NOW, "updatedAt": NOW}
SPELLINGS = ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM"]
STALE = {"PK": "EMAIL#ada@example.com", "SK": "META", "entityType": "EMAIL_CLAIM", "ownerId": "eve"}
"""A claim of ada's address that names another owner."""


@pytest_asyncio.fixture
async def ada(api: Api) -> Api:
    assert await api.mutate(CREATE, **ADA) == {"owner": SHOWN, "userErrors": []}
    return api


async def change(api: Api, version: int = 1, **values: Any) -> dict[str, Any]:
    return await api.mutate(CHANGE, ownerId="ada", expectedVersion=version, **values)


async def holder(api: Api, email: str) -> str | None:
    """The owner of an address."""
    answer = await api.send(BY_EMAIL, email=email)
    if "errors" in answer:
        assert [found["extensions"]["code"] for found in answer["errors"]] == ["NOT_FOUND"]
        return None
    found: str = answer["data"]["ownerByEmail"]["ownerId"]
    return found


async def test_a_created_owner_is_found_by_id_and_keeps_its_telephone_and_its_role(ada: Api) -> None:
    assert await ada.run(OWNER, id="ada") == {"owner": SHOWN}
    await ada.owner("eve", phone=" +39 06 (123) 456.78-9/0 ", role="ADMIN")
    eve = (await ada.run(OWNER, id="eve"))["owner"]
    assert (eve["email"], eve["phone"], eve["role"]) == (None, "+39 06 (123) 456.78-9/0", "ADMIN")


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_an_address_of_another_owner_is_taken_regardless_of_case(ada: Api, dump: Dump, spelling: str) -> None:
    await ada.owner("bob")
    eve = {"ownerId": "eve", "kind": "USER", "name": "Eve"}
    for document, values in ((CREATE, eve), (CHANGE, {"ownerId": "bob", "name": "B", "expectedVersion": 1})):
        payload = await refused(ada, dump, document, **values, email=spelling)
        message = f"Another owner has the address {spelling}."
        assert payload == {"owner": None, "userErrors": [user_error("EMAIL_TAKEN", message, 409, "email")]}


@pytest.mark.parametrize("spelling", [*SPELLINGS, " ada@example.com"])
async def test_an_owner_is_found_by_email_in_any_case_and_shows_the_address_as_written(ada: Api, spelling: str) -> None:
    data = await ada.run(BY_EMAIL, email=spelling)
    assert data == {"ownerByEmail": {"ownerId": "ada", "email": "Ada@Example.com"}}


async def test_an_address_whose_claim_names_another_owner_is_not_found(ada: Api, plain_client: Any, table: str) -> None:
    await ada.owner("eve", email="eve@example.com")
    # As a reader sees it that gets the claim before, and the owner after, the address moved on.
    await put(plain_client, table, STALE)
    assert await holder(ada, "ada@example.com") is None


async def test_an_update_of_an_owner_changes_given_fields_and_null_removes(ada: Api, clock: Clock, dump: Dump) -> None:
    clock.move(minutes=1)
    shown = SHOWN | {"updatedAt": clock.now}
    named, promoted = {"name": "Ada King"}, {"role": "ADMIN", "phone": "+39 123 456"}
    changes: list[dict[str, Any]] = [named, promoted, {"phone": None}, {"email": None}]
    for version, values in enumerate(changes, 1):
        shown |= values | {"version": version + 1}
        assert await change(ada, version, **values) == {"owner": shown, "userErrors": []}
        assert await ada.run(OWNER, id="ada") == {"owner": shown}
        assert await holder(ada, "ada@example.com") == (None if "email" in values else "ada")
    table = await dump()
    assert unlogged(table) == [("OWNER#ada", "META"), ("OWNER#ada", "NAME")]
    assert not {"email", "phone"} & table["OWNER#ada", "META"].keys()


async def test_a_changed_address_is_found_and_the_old_one_free_again(ada: Api, clock: Clock, dump: Dump) -> None:
    payload = await change(ada, email="king@example.com")
    assert payload["owner"]["email"] == "king@example.com"
    assert await holder(ada, "KING@example.com") == "ada"
    assert await holder(ada, "ada@example.com") is None
    await ada.owner("eve", email="ADA@example.com")
    assert await holder(ada, "ada@example.com") == "eve"
    check_invariants(await dump(), clock.now)


async def test_an_address_may_change_its_case_alone(ada: Api, dump: Dump) -> None:
    payload = await change(ada, email="ADA@example.com")
    assert (payload["owner"]["email"], payload["userErrors"]) == ("ADA@example.com", [])
    assert [key for key in await dump() if key[0].startswith("EMAIL#")] == [("EMAIL#ada@example.com", "META")]


@pytest.mark.parametrize("email", ["king@example.com", None])
async def test_a_damaged_claim_of_the_present_address_is_an_internal_error_and_not_a_taken_address(
    ada: Api, plain_client: Any, table: str, dump: Dump, email: str | None
) -> None:
    await put(plain_client, table, STALE)
    async with unchanged(dump):
        answer = await ada.send(CHANGE, input={"ownerId": "ada", "expectedVersion": 1, "email": email})
    assert answer["data"] is None
    (failure,) = answer["errors"]
    assert (failure["path"], failure["extensions"]["code"]) == (["updateOwner"], "INTERNAL_SERVER_ERROR")
    assert "address" not in failure["message"]
