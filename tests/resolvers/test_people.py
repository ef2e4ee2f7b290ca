"""People: their telephone, their role, and an address that is one person's at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api import CREATE_OWNER
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import approve, book, prepare, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Wire

OWNER = 'query { owner(ownerId: "ada") { name email phone role version } }'
BY_EMAIL = "query ($email: String!) { ownerByEmail(email: $email) { ownerId } }"
UPDATE = """
mutation ($input: UpdateOwnerInput!) {
  updateOwner(input: $input) {
    owner { name email phone role version }
    userErrors { __typename code message path status ... on VersionConflict { currentVersion } }
  }
}"""


async def found(api: Api, email: str) -> str | None:
    owner = (await api.send(BY_EMAIL, email=email))["data"]["ownerByEmail"]
    return owner and str(owner["ownerId"])


async def test_an_owner_is_a_user_without_a_telephone_unless_it_says_otherwise(api: Api) -> None:
    await api.owner("ada")
    shown = {"name": "ada", "email": None, "phone": None, "role": "USER", "version": 1}
    assert (await api.run(OWNER))["owner"] == shown


async def test_an_owner_keeps_its_telephone_and_its_role(api: Api) -> None:
    await api.owner("ada", phone=" +39 06 (123) 456.78-9/0 ", role="ADMIN")
    owner = (await api.run(OWNER))["owner"]
    assert (owner["phone"], owner["role"]) == ("+39 06 (123) 456.78-9/0", "ADMIN")


async def test_a_telephone_and_a_role_change_and_a_telephone_can_be_taken_away(
    api: Api, dump: Callable[[], Any]
) -> None:
    await api.owner("ada", phone="+39 123 456", email="ada@example.com")
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, role="ADMIN")
    shown = {"name": "ada", "email": "ada@example.com", "phone": "+39 123 456", "role": "ADMIN", "version": 2}
    assert payload == {"owner": shown, "userErrors": []}
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=2, phone=None)
    assert payload == {"owner": {**shown, "phone": None, "version": 3}, "userErrors": []}
    assert (await api.run(OWNER))["owner"] == payload["owner"]
    assert "phone" not in (await dump())["OWNER#ada", "META"]


async def test_a_creation_sent_again_with_its_defaults_written_out_gives_the_first_result(
    api: Api, dump: Callable[[], Any]
) -> None:
    await api.owner("ada")
    before = await dump()
    content = {"ownerId": "ada", "kind": "USER", "name": "ada", "role": "USER", "phone": None}
    assert (await api.mutate(CREATE_OWNER, **content))["userErrors"] == []
    for other in ({"role": "ADMIN"}, {"phone": "+39 123 456"}):
        payload = await api.mutate(CREATE_OWNER, **content | other)
        assert refusal(payload) == ("ID_TAKEN", 409, ["input", "ownerId"])
    assert await dump() == before


async def test_a_new_address_moves_the_claim_in_one_transaction(api: Api, wire: Wire, dump: Callable[[], Any]) -> None:
    await api.owner("ada", email="Ada@example.com")
    wire.reset()
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, email="Ada@new.example")
    assert payload["owner"]["email"] == "Ada@new.example"
    assert [call.operation for call in wire.calls] == ["GetItem", "TransactWriteItems"]
    assert wire.calls[1].keys == [
        ("OWNER#ada", "META"),
        ("EMAIL#ada@new.example", "META"),
        ("EMAIL#ada@example.com", "META"),
    ]
    assert await found(api, "ada@example.com") is None
    assert await found(api, "ADA@NEW.EXAMPLE") == "ada"
    check_invariants(await dump(), NOW)


async def test_an_address_that_was_given_up_is_free_for_another(api: Api, dump: Callable[[], Any]) -> None:
    await api.owner("ada", email="ada@example.com")
    await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, email=None)
    await api.owner("bob", email="ADA@example.com")
    assert await found(api, "ada@example.com") == "bob"
    check_invariants(await dump(), NOW)


async def test_an_address_spelled_in_other_letters_stays_its_owners(
    api: Api, wire: Wire, dump: Callable[[], Any]
) -> None:
    await api.owner("ada", email="ada@example.com")
    wire.reset()
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, email="ADA@example.com")
    assert payload["userErrors"] == []
    assert wire.calls[1].keys == [("OWNER#ada", "META")]
    assert await found(api, "ada@example.com") == "ada"
    check_invariants(await dump(), NOW)


async def test_an_address_of_another_is_refused_and_nothing_moves(api: Api, dump: Callable[[], Any]) -> None:
    await api.owner("ada", email="ada@example.com")
    await api.owner("bob", email="bob@example.com")
    before = await dump()
    payload = await api.mutate(UPDATE, ownerId="bob", expectedVersion=1, email="Ada@Example.com", name="Bobby")
    assert refusal(payload) == ("EMAIL_TAKEN", 409, ["input", "email"])
    assert await dump() == before


@pytest.mark.parametrize("change", [{"role": None}, {"name": None}, {"phone": "no"}, {"email": "x"}])
async def test_a_change_to_what_cannot_be_is_refused(api: Api, dump: Callable[[], Any], change: dict[str, Any]) -> None:
    await api.owner("ada", phone="+39 123 456", email="ada@example.com")
    before = await dump()
    payload = await api.mutate(UPDATE, ownerId="ada", expectedVersion=1, **change)
    assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", *change])
    assert payload["owner"] is None
    assert await dump() == before


async def test_an_admin_who_is_one_no_more_decides_nothing(api: Api, dump: Callable[[], Any]) -> None:
    await prepare(api)
    await book(api, "b1")
    await api.mutate(UPDATE, ownerId="root", expectedVersion=1, role="USER")
    before = await dump()
    assert refusal(await approve(api, "b1")) == ("FORBIDDEN", 403, ["input", "adminId"])
    assert await dump() == before
    await api.mutate(UPDATE, ownerId="root", expectedVersion=2, role="ADMIN")
    assert (await approve(api, "b1"))["booking"]["status"] == "APPROVED"
