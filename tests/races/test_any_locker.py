import asyncio
from typing import Any

import pytest

from domain.authorization import Scope
from tests.api import CREATE_RESERVATION, Api, mutation, unchanged
from tests.conftest import NOW, Dump
from tests.invariants import check_invariants
from tests.places import DEACTIVATE, create_location, ulid
from tests.principals import owner, partner
from tests.reservations import CANCEL
from tests.wire import Wire

ANY = mutation("reserveAnyLocker", "reservation { reservationId lockerId ownerId status }")
WINDOW = {"startAt": "2026-03-02T10:00:00Z", "endAt": "2026-03-02T12:00:00Z"}
ASKED = {"locationId": ulid(0), "ownerId": "ada", "reservationId": "r1", **WINDOW}
LOCKERS = 10
CLIENTS = 20


async def stock(api: Api, lockers: int = LOCKERS, **values: Any) -> None:
    await create_location(api)
    await api.owner("acme")
    await api.owner("ada")
    for number in range(lockers):
        await api.locker(f"l{number}", "acme", locationId=ulid(0), **{"reservableBy": "EVERYONE", **values})


def codes(payload: dict[str, Any]) -> list[str]:
    return [error["code"] for error in payload["userErrors"]]


@pytest.mark.parametrize("own", [True, False])
async def test_twenty_clients_for_ten_lockers_get_one_each_and_the_others_a_clear_error(
    api: Api, open_api: Any, dump: Dump, *, own: bool
) -> None:
    await stock(api)
    for number in range(CLIENTS):
        await api.owner(f"o{number}")
    async with open_api() as second:

        async def client(number: int) -> dict[str, Any]:
            reserves = f"o{number}" if own else "ada"
            server = (api, second)[number % 2].by(owner(reserves))
            return await server.mutate(ANY, **ASKED | {"ownerId": reserves, "reservationId": f"r{number}"})

        payloads = await asyncio.gather(*map(client, range(CLIENTS)))
    made = [payload["reservation"]["lockerId"] for payload in payloads if payload["reservation"]]
    assert sorted(made) == sorted(f"l{number}" for number in range(LOCKERS))
    refused = {
        (error["code"], error["status"], error["retryable"], error["message"])
        for payload in payloads
        for error in payload["userErrors"]
    }
    message = "No locker that you may reserve here is free in this window."
    assert refused == {("NO_LOCKER_AVAILABLE", 409, True, message)}
    items = await dump()
    check_invariants(items, NOW)
    assert len([sk for _, sk in items if sk.startswith("ANY#")]) == LOCKERS


async def test_a_repeated_request_returns_the_first_reservation_as_it_is_now(api: Api, wire: Wire, dump: Dump) -> None:
    await stock(api)
    first = (await api.mutate(ANY, **ASKED))["reservation"]
    await api.mutate(CANCEL, lockerId=first["lockerId"], reservationId="r1")
    async with unchanged(dump):
        wire.reset()
        payload = await api.mutate(ANY, **ASKED)
        assert payload["reservation"] == first | {"status": "CANCELLED"}
        assert wire.operations == {"GetItem": 2}
        for other in ({"size": "M"}, {"endAt": "2026-03-02T13:00:00Z"}, {"locationId": ulid(1)}):
            (error,) = (await api.mutate(ANY, **ASKED | other))["userErrors"]
            where = "reservationByReference finds it, if it has a reference"
            message = f"The id r1 was used before, for another reservation of any locker; {where}."
            assert (error["code"], error["message"]) == ("ID_TAKEN", message)


@pytest.mark.parametrize("lockers", [1, 5])
async def test_the_id_of_a_canceled_reservation_of_one_locker_is_taken_for_any_locker_and_the_other_way_round(
    api: Api, wire: Wire, dump: Dump, lockers: int
) -> None:
    await stock(api, lockers)
    await api.reservation("r1", "l0", "ada", *WINDOW.values())
    await api.mutate(CANCEL, lockerId="l0", reservationId="r1")
    async with unchanged(dump):
        wire.reset()
        assert codes(await api.mutate(ANY, **ASKED)) == ["ID_TAKEN"]
        assert wire.operations["TransactWriteItems"] <= 1
    any_locker = (await api.mutate(ANY, **ASKED | {"reservationId": "r2"}))["reservation"]["lockerId"]
    await api.mutate(CANCEL, lockerId=any_locker, reservationId="r2")
    async with unchanged(dump):
        values = {"lockerId": any_locker, "reservationId": "r2", "ownerId": "ada", **WINDOW}
        assert codes(await api.mutate(CREATE_RESERVATION, **values)) == ["ID_TAKEN"]


@pytest.mark.parametrize("taken", [["l0"], ["l1"], ["l0", "l1"]])
async def test_an_id_that_another_owner_has_used_leaves_other_lockers(api: Api, dump: Dump, taken: list[str]) -> None:
    await stock(api, 2)
    for locker in taken:
        await api.reservation("r1", locker, "acme", f"2026-03-0{3 + int(locker[1:])}T10:00:00Z", "2026-03-05T10:00:00Z")
    payload = await api.mutate(ANY, **ASKED)
    found = payload["reservation"] and payload["reservation"]["lockerId"]
    left = {"l0", "l1"} - set(taken)
    assert (found, codes(payload)) == ((left.pop(), []) if left else (None, ["ID_TAKEN"]))
    check_invariants(await dump(), NOW)


async def test_any_locker_is_one_of_the_size_that_is_offered_to_the_caller(api: Api, dump: Dump) -> None:
    await stock(api, 1, size="S", reservableBy="OWNER")
    await api.locker("big", "acme", locationId=ulid(0), size="XL", reservableBy="EVERYONE")
    ada, of_acme = api.by(owner("ada")), api.by(partner(Scope.RESERVATIONS_WRITE, of=("acme", "ada")))
    async with unchanged(dump):
        assert codes(await ada.mutate(ANY, **ASKED | {"size": "S"})) == ["NO_LOCKER_AVAILABLE"]
        assert codes(await ada.mutate(ANY, **ASKED | {"ownerId": "acme"})) == ["FORBIDDEN"]
        assert codes(await api.by(owner("eve")).mutate(ANY, **ASKED)) == ["FORBIDDEN"]
    assert (await ada.mutate(ANY, **ASKED | {"size": "XL"}))["reservation"]["lockerId"] == "big"
    payload = await of_acme.mutate(ANY, **ASKED | {"reservationId": "r2"})
    assert payload["reservation"]["lockerId"] == "l0"


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"locationId": ulid(9)}, "NOT_FOUND"),
        ({"ownerId": "nobody"}, "NOT_FOUND"),
        ({"endAt": WINDOW["startAt"]}, "BAD_USER_INPUT"),
        ({"startAt": "2026-02-01T00:00:00Z", "endAt": "2026-02-02T00:00:00Z"}, "BAD_USER_INPUT"),
        ({"endAt": "2026-06-01T00:00:00Z"}, "BAD_USER_INPUT"),
        ({}, "LOCATION_INACTIVE"),
    ],
)
async def test_a_wrong_request_for_any_changes_nothing(api: Api, dump: Dump, values: dict[str, Any], code: str) -> None:
    await stock(api, 1)
    if not values:
        await api.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    async with unchanged(dump):
        assert codes(await api.mutate(ANY, **ASKED | values)) == [code]
