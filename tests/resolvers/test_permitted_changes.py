import asyncio
from typing import Any

import pytest

from domain.authorization import Principal, Scope
from loaders.backend import Backend
from tests.api import CREATE_RESERVATION, RECORD_EVENT, REGISTER_LOCKER, Api, mutation, unchanged, user_error
from tests.conftest import Dump, Prepared
from tests.inputs import GOOD, document, stock
from tests.principals import REFUSAL, device, owner, partner
from tests.wire import Call, Until, Wire

RENAME = mutation("renameLocker", "locker { alias ownerId }")
TRANSFER = mutation("transferLocker", "locker { ownerId }")
UPDATE_OWNER = mutation("updateOwner", "owner { name role }")
RECORD_EVENTS = mutation("recordAccessEvents", "accessEvents { eventId }")


def forbidden(payload: dict[str, Any], message: str = REFUSAL) -> list[str]:
    """The path of a mutation's one refusal."""
    (error,) = payload.pop("userErrors")
    assert (error["__typename"], error["code"], error["status"]) == ("PlainError", "FORBIDDEN", 403)
    assert error["message"] == message
    assert list(payload.values()) == [None]
    path: list[str] = error["path"]
    return path


def hold(wire: Wire, text: str) -> tuple[asyncio.Event, asyncio.Event]:
    """Keeps back the write that holds a text: one event is set when it arrives, the other releases it."""
    came, free = asyncio.Event(), asyncio.Event()

    def fault(call: Call) -> Until | None:
        if call.operation != "TransactWriteItems" or text not in str(call.request):
            return None
        came.set()
        return Until(free)

    wire.fault = fault
    return came, free


# What each of these changes, and what it would have to exist; GOOD refers to ada's locker, reservation and booking.
FOREIGN = {
    **dict.fromkeys(("renameLocker", "updateLockerStatus", "moveLocker", "transferLocker"), "lockerId"),
    **dict.fromkeys(("cancelReservation", "extendReservation"), "reservationId"),
    **dict.fromkeys(("createReservation", "recordAccessEvent"), "lockerId"),
    "updateOwner": "ownerId",
    "cancelBooking": "bookingId",
}


@pytest.mark.parametrize("principal", [owner("bob"), partner(*Scope, of="bob"), partner(Scope.LOCKERS_READ)])
async def test_something_foreign_is_not_changed_and_looks_like_something_missing(
    api: Api, wire: Wire, dump: Dump, prepared: Prepared, backend: Backend, principal: Principal
) -> None:
    await prepared(stock, api, backend)
    await api.owner("bob")
    wire.reset()
    async with unchanged(dump):
        for name, id_name in FOREIGN.items():
            for version in (1, 9):
                values = GOOD[name] | ({"expectedVersion": version} if "expectedVersion" in GOOD[name] else {})
                if name == "createReservation" and principal.owner_id:
                    values |= {"ownerId": principal.owner_id}
                seen = [
                    await api.by(principal).mutate(document(name), **values | {id_name: own_id})
                    for own_id in (values[id_name], "missing")
                ]
                assert seen[0] == seen[1], name
                message = seen[0]["userErrors"][0]["message"]
                assert message == REFUSAL or message.startswith("This requires the ")
                assert forbidden(seen[0], message)[0] == "input"
    assert not wire.of("TransactWriteItems")


async def test_a_member_reserves_a_locker_of_its_organization_for_itself_only(shared: Api, wire: Wire) -> None:
    window = {"startAt": "2026-06-01T00:00:00Z", "endAt": "2026-06-02T00:00:00Z"}
    bob = shared.by(owner("bob", "org"))
    refused = await bob.mutate(CREATE_RESERVATION, lockerId="l2", ownerId="ada", **window)
    assert forbidden(refused) == ["input", "ownerId"]
    assert wire.calls == []
    made = await bob.mutate(CREATE_RESERVATION, lockerId="l3", ownerId="bob", **window)
    assert (made["userErrors"], made["reservation"]["ownerId"]) == ([], "bob")


async def test_an_overlapping_reservation_is_shown_to_its_owner_and_only_its_times_to_others(shared: Api) -> None:
    await shared.reservation("secret", "l3", "ada", "2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z")
    wanted = {"lockerId": "l3", "startAt": "2026-06-01T12:00:00Z", "endAt": "2026-06-03T00:00:00Z"}
    (mine,) = (await shared.by(owner("ada", "org")).mutate(CREATE_RESERVATION, ownerId="ada", **wanted))["userErrors"]
    assert mine["reservation"] == {"reservationId": "secret"}
    (other,) = (await shared.by(owner("bob", "org")).mutate(CREATE_RESERVATION, ownerId="bob", **wanted))["userErrors"]
    assert other == {
        "__typename": "PlainError",
        "code": "RESERVATION_OVERLAP",
        "message": "The locker is already reserved from 2026-06-01T00:00:00.000Z to 2026-06-02T00:00:00.000Z.",
        "path": ["input", "startAt"],
        "status": 409,
    }


async def test_a_device_records_events_of_its_own_locker_only(shared: Api, wire: Wire, dump: Dump) -> None:
    event = {"action": "OPEN", "actorId": "x", "result": "SUCCESS"}
    door = shared.by(device("l1"))
    async with unchanged(dump):
        batch = [{"lockerId": "l1", **event}, {"lockerId": "l2", **event}]
        assert forbidden(await door.mutate(RECORD_EVENTS, events=batch)) == ["input", "events", "1", "lockerId"]
    assert wire.calls == []
    payload = await door.mutate(RECORD_EVENT, lockerId="l1", **event)
    assert (payload["userErrors"], payload["accessEvent"]["action"]) == ([], "OPEN")


async def test_the_input_of_a_forbidden_mutation_is_not_validated(shared: Api, wire: Wire) -> None:
    event = {"lockerId": "#", "action": "OPEN", "actorId": "#", "result": "SUCCESS", "metadata": []}
    for caller, missing in ((owner("ada"), "role PARTNER or DEVICE or ADMIN"), (partner(), "scope events:write")):
        payload = await shared.by(caller).mutate(RECORD_EVENTS, events=[event])
        assert forbidden(payload, f"This requires the {missing}.") == ["input"]
    payload = await shared.by(device("l1")).mutate(RECORD_EVENTS, events=[event])
    assert {error["code"] for error in payload["userErrors"]} == {"BAD_USER_INPUT"}
    assert wire.calls == []


async def test_a_partner_records_for_the_lockers_of_its_owners_as_they_are_now(shared: Api, wire: Wire) -> None:
    event = {"action": "OPEN", "actorId": "x", "result": "SUCCESS"}
    courier = shared.by(partner(Scope.EVENTS_WRITE))
    for locker_id in ("l2", "l9"):
        payload = await courier.mutate(RECORD_EVENTS, events=[{"lockerId": locker_id, **event}])
        assert forbidden(payload) == ["input", "events", "0", "lockerId"]
    assert all(call.request["ConsistentRead"] for call in wire.calls)
    assert wire.operations == {"GetItem": 2}
    assert not (await courier.mutate(RECORD_EVENT, lockerId="l1", **event))["userErrors"]


async def test_an_owner_changes_its_profile_but_not_its_role(shared: Api, dump: Dump) -> None:
    ada = shared.by(owner("ada"))
    async with unchanged(dump):
        changes = {"ownerId": "ada", "expectedVersion": 1, "role": "ADMIN"}
        refused = user_error("FORBIDDEN", "This requires the role ADMIN.", 403, "role")
        assert (await ada.mutate(UPDATE_OWNER, **changes))["userErrors"] == [refused]
    payload = await ada.mutate(UPDATE_OWNER, ownerId="ada", expectedVersion=1, name="Ada L.")
    assert payload["owner"] == {"name": "Ada L.", "role": "USER"}


async def test_a_locker_transferred_between_the_read_and_the_write_is_neither_changed_nor_shown(
    shared: Api, wire: Wire, dump: Dump
) -> None:
    came, free = hold(wire, "'Mine'")
    renaming = asyncio.ensure_future(
        shared.by(owner("ada")).mutate(RENAME, lockerId="l1", alias="Mine", expectedVersion=1)
    )
    await came.wait()
    await shared.mutate(TRANSFER, lockerId="l1", newOwnerId="bob", expectedVersion=1)
    free.set()
    assert forbidden(await renaming) == ["input", "lockerId"]
    item = (await dump())["LOCKER#l1", "META"]
    assert (item["ownerId"], item["alias"], item["version"]) == ("bob", "A1", 2)


async def test_a_locker_transferred_during_a_reservation_is_not_reserved(shared: Api, wire: Wire, dump: Dump) -> None:
    came, free = hold(wire, "'RESERVATION'")
    wanted = {"startAt": "2026-06-01T00:00:00Z", "endAt": "2026-06-02T00:00:00Z"}
    reserving = asyncio.ensure_future(
        shared.by(owner("bob")).mutate(CREATE_RESERVATION, lockerId="l2", ownerId="bob", **wanted)
    )
    await came.wait()
    await shared.mutate(TRANSFER, lockerId="l2", newOwnerId="ada", expectedVersion=1)
    free.set()
    assert forbidden(await reserving) == ["input", "lockerId"]
    assert not [key for key in await dump() if key[0] == "LOCKER#l2" and key[1].startswith("R")]


async def test_a_registration_sent_again_does_not_show_a_transferred_locker(shared: Api) -> None:
    bob = shared.by(owner("bob"))
    await bob.mutate(REGISTER_LOCKER, lockerId="l4", ownerId="bob")
    again = await bob.mutate(REGISTER_LOCKER, lockerId="l4", ownerId="bob")
    assert again["locker"]["lockerId"] == "l4"
    await shared.mutate(TRANSFER, lockerId="l4", newOwnerId="ada", expectedVersion=1)
    payload = await bob.mutate(REGISTER_LOCKER, lockerId="l4", ownerId="bob")
    assert [(error["code"], error["path"]) for error in payload["userErrors"]] == [("FORBIDDEN", ["input", "lockerId"])]
    assert payload["locker"] is None


async def test_an_owner_transfers_a_locker_only_to_its_organization(shared: Api) -> None:
    ada = shared.by(owner("ada", "org"))
    for other in ("bob", "nobody"):
        refused = await ada.mutate(TRANSFER, lockerId="l1", newOwnerId=other, expectedVersion=1)
        assert forbidden(refused) == ["input", "newOwnerId"]
    given = await ada.mutate(TRANSFER, lockerId="l1", newOwnerId="org", expectedVersion=1)
    assert (given["userErrors"], given["locker"]) == ([], {"ownerId": "org"})
