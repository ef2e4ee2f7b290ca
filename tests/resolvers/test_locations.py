"""Locations: made, changed, put to rest, found again and listed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.api import unchanged
from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import (
    CREATE_LOCATION,
    DEACTIVATE,
    REACTIVATE,
    REGISTER,
    UPDATE_LOCATION,
    create_location,
    fresh,
    paged,
    refusal,
    ulid,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

ALL_FIELDS = """locationId code name address { formattedAddress street city region postalCode country placeId lat lng }
timeZone status createdAt updatedAt version"""
BY_ID = f"query ($id: ID!) {{ location(locationId: $id) {{ {ALL_FIELDS} }} }}"
BY_CODE = f"query ($code: String!) {{ locationByCode(code: $code) {{ {ALL_FIELDS} }} }}"
LIST = """query ($status: LocationStatus!, $first: Int, $after: String) {
  locations(status: $status, first: $first, after: $after) { nodes { code status } nextCursor }
}"""
ADDRESS = {
    "formattedAddress": "Via Appia 1, 00100 Roma RM, Italy",
    "street": "Via Appia 1",
    "city": "Roma",
    "region": "RM",
    "postalCode": "00100",
    "country": "Italy",
    "placeId": "ChIJ-maps",
}


async def codes(api: Api, status: str, size: int = 100) -> list[str]:
    return [node["code"] async for nodes in paged(api, LIST, size, status=status) for node in nodes]


async def test_a_location_keeps_all_that_it_was_created_with_to_the_last_digit(api: Api) -> None:
    address = ADDRESS | {"lat": "41.8902102000000001", "lng": "-12.4922309"}
    content = fresh(address=address)
    payload = await api.mutate(CREATE_LOCATION, **content)
    assert payload["userErrors"] == []
    location_id = payload["location"]["locationId"]
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", location_id)
    assert (await api.run(BY_ID, id=location_id))["location"] == {
        "locationId": location_id,
        "code": "rome",
        "name": "Room of rome",
        "address": address,
        "timeZone": "Europe/Rome",
        "status": "ACTIVE",
        "createdAt": NOW,
        "updatedAt": NOW,
        "version": 1,
    }


async def test_a_location_is_found_by_its_id_and_by_its_code(api: Api) -> None:
    location_id = await create_location(api, code="a-1")
    by_id = (await api.run(BY_ID, id=location_id))["location"]
    assert by_id["locationId"] == location_id
    assert (await api.run(BY_CODE, code="a-1"))["locationByCode"] == by_id


async def test_a_code_belongs_to_one_location(api: Api, dump: Callable[[], Any]) -> None:
    await create_location(api, 1, code="rome")
    async with unchanged(dump):
        payload = await api.mutate(CREATE_LOCATION, **fresh("rome", name="Another", locationId=ulid(2)))
        assert payload["location"] is None
        assert refusal(payload) == ("CODE_TAKEN", 409, ["input", "code"])


async def test_the_claim_of_a_code_says_since_when(api: Api, dump: Callable[[], Any]) -> None:
    location_id = await create_location(api, 1, code="rome")
    claim = (await dump())["LOCATION_CODE#rome", "META"]
    assert (claim["locationId"], claim["createdAt"]) == (location_id, NOW)


async def test_the_code_of_an_inactive_location_stays_taken(api: Api, dump: Callable[[], Any]) -> None:
    location_id = await create_location(api, 1, code="rome")
    await api.mutate(DEACTIVATE, locationId=location_id, expectedVersion=1)
    async with unchanged(dump):
        payload = await api.mutate(CREATE_LOCATION, **fresh("rome"))
        assert refusal(payload) == ("CODE_TAKEN", 409, ["input", "code"])
    assert (await api.run(BY_CODE, code="rome"))["locationByCode"]["status"] == "INACTIVE"


async def test_an_update_changes_given_fields_removes_null_ones_and_keeps_the_rest(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    location_id = await create_location(api, 1, address={**ADDRESS, "lat": 1, "lng": 2})
    clock.move(hours=1)
    change = {"name": "New name", "address": {"city": None, "lat": "-89.50"}, "timeZone": "Asia/Tokyo"}
    payload = await api.mutate(UPDATE_LOCATION, locationId=location_id, expectedVersion=1, **change)
    assert payload["userErrors"] == []
    shown = (await api.run(BY_ID, id=location_id))["location"]
    assert shown == {
        "locationId": location_id,
        "code": "place-1",
        "name": "New name",
        "address": {**ADDRESS, "city": None, "lat": "-89.5", "lng": "2"},
        "timeZone": "Asia/Tokyo",
        "status": "ACTIVE",
        "createdAt": NOW,
        "updatedAt": "2026-03-01T13:00:00.000Z",
        "version": 2,
    }
    kept = {name: shown["address"][name] for name in payload["location"]["address"]}
    assert payload["location"] == {name: shown[name] for name in payload["location"]} | {"address": kept}
    stored = (await dump())[f"LOCATION#{location_id}", "META"]
    assert "city" not in stored
    await api.mutate(UPDATE_LOCATION, locationId=location_id, expectedVersion=2, address=None)
    assert set((await api.run(BY_ID, id=location_id))["location"]["address"].values()) == {None}
    assert not {"formattedAddress", "placeId", "lat"} & (await dump())[f"LOCATION#{location_id}", "META"].keys()


async def test_an_update_of_nothing_is_refused(api: Api, dump: Callable[[], Any]) -> None:
    location_id = await create_location(api, 1)
    async with unchanged(dump):
        payload = await api.mutate(UPDATE_LOCATION, locationId=location_id, expectedVersion=1)
        assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input"])


async def test_a_location_moves_between_the_lists_with_its_status_and_keeps_its_place_by_age(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    for number in range(4):
        await create_location(api, number)
        clock.move(minutes=1)
    assert await codes(api, "ACTIVE") == ["place-3", "place-2", "place-1", "place-0"]
    assert await codes(api, "INACTIVE") == []
    payload = await api.mutate(DEACTIVATE, locationId=ulid(1), expectedVersion=1)
    assert (payload["location"]["status"], payload["location"]["version"]) == ("INACTIVE", 2)
    assert await codes(api, "ACTIVE") == ["place-3", "place-2", "place-0"]
    assert await codes(api, "INACTIVE") == ["place-1"]
    payload = await api.mutate(REACTIVATE, locationId=ulid(1), expectedVersion=2)
    assert (payload["location"]["status"], payload["location"]["version"]) == ("ACTIVE", 3)
    assert await codes(api, "ACTIVE") == ["place-3", "place-2", "place-1", "place-0"]
    assert await codes(api, "INACTIVE") == []
    check_invariants(await dump(), clock.now)


@pytest.mark.parametrize("mutations", [(DEACTIVATE,), (DEACTIVATE, REACTIVATE)])
async def test_a_change_to_the_present_status_changes_nothing_and_with_an_old_version_is_a_conflict(
    api: Api, dump: Callable[[], Any], mutations: tuple[str, ...]
) -> None:
    location_id = await create_location(api, 1)
    for version, mutation in enumerate(mutations, 1):
        first = await api.mutate(mutation, locationId=location_id, expectedVersion=version)
    version = first["location"]["version"]
    before = await dump()
    assert await api.mutate(mutations[-1], locationId=location_id, expectedVersion=version) == first
    payload = await api.mutate(mutations[-1], locationId=location_id, expectedVersion=version - 1)
    assert refusal(payload) == ("VERSION_CONFLICT", 409, ["input", "expectedVersion"])
    assert await dump() == before


@pytest.mark.parametrize("size", [1, 2, 3, 9])
async def test_without_a_status_the_locations_of_all_are_one_list(
    api: Api, clock: Clock, wire: Wire, size: int
) -> None:
    for number in range(8):
        await create_location(api, number)
        clock.move(milliseconds=number % 2)
        if number % 3:
            await api.mutate(DEACTIVATE, locationId=ulid(number), expectedVersion=1)
    everything = [f"place-{number}" for number in reversed(range(8))]
    query = LIST.replace("$status: LocationStatus!, ", "").replace("status: $status, ", "")
    pages = [[node["code"] for node in nodes] async for nodes in paged(api, query, size)]
    assert pages == [everything[start : start + size] for start in range(0, 8, size)]
    backward = query.replace("first: $first, after: $after", "last: $first, before: $after")
    pages = [[node["code"] for node in nodes] async for nodes in paged(api, backward, size)]
    assert [code for page in reversed(pages) for code in page] == everything
    wire.reset()
    await api.run(query, first=size)
    assert wire.operations == {"Query": 2}


async def test_a_location_that_changes_its_status_between_two_pages_of_all_is_shown_once(
    api: Api, clock: Clock
) -> None:
    for number in range(6):
        await create_location(api, number)
        clock.move(minutes=1)
    query = LIST.replace("$status: LocationStatus!, ", "").replace("status: $status, ", "")
    pages = []
    async for nodes in paged(api, query, 2):
        pages.append([node["code"] for node in nodes])
        if len(pages) == 1:  # the one that the cursor names, and the next one
            for number in (4, 3):
                await api.mutate(DEACTIVATE, locationId=ulid(number), expectedVersion=1)
    assert pages == [["place-5", "place-4"], ["place-3", "place-2"], ["place-1", "place-0"]]


async def test_a_cursor_of_a_list_of_one_status_continues_in_the_list_of_all_but_no_other_does(api: Api) -> None:
    for number in range(3):
        await create_location(api, number)
    cursor = (await api.run(LIST, status="ACTIVE", first=1))["locations"]["nextCursor"]
    query = "query ($after: String) { locations(after: $after) { nodes { code } } }"
    assert [node["code"] for node in (await api.run(query, after=cursor))["locations"]["nodes"]] == [
        "place-1",
        "place-0",
    ]
    for wrong in (
        "nonsense",
        (await api.run("{ pendingBookings { nextCursor } }"))["pendingBookings"]["nextCursor"] or "e30",
    ):
        (error,) = (await api.send(query, after=wrong))["errors"]
        assert error["extensions"]["code"] == "INVALID_CURSOR"


async def test_a_location_deactivated_between_two_pages_hides_no_other(api: Api, clock: Clock) -> None:
    for number in range(6):
        await create_location(api, number)
        clock.move(minutes=1)
    pages = []
    async for nodes in paged(api, LIST, 2, status="ACTIVE"):
        pages.append([node["code"] for node in nodes])
        if len(pages) == 1:  # the one that the cursor names, and the next one
            for number in (4, 3):
                await api.mutate(DEACTIVATE, locationId=ulid(number), expectedVersion=1)
    assert pages == [["place-5", "place-4"], ["place-2", "place-1"], ["place-0"]]


async def test_an_inactive_location_still_shows_its_lockers(api: Api) -> None:
    await api.owner("ada")
    here = await create_location(api, 1)
    await api.mutate(REGISTER, lockerId="l1", ownerId="ada", locationId=here)
    await api.mutate(DEACTIVATE, locationId=here, expectedVersion=1)
    query = "query ($id: ID!) { location(locationId: $id) { status lockers { nodes { lockerId } } } }"
    data = await api.run(query, id=here)
    assert data["location"] == {"status": "INACTIVE", "lockers": {"nodes": [{"lockerId": "l1"}]}}
