"""Locations: made, changed, put to rest, found again and listed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import NOW
from tests.invariants import check_invariants
from tests.places import (
    CREATE_LOCATION,
    DEACTIVATE,
    REACTIVATE,
    REGISTER,
    UPDATE_LOCATION,
    found_location,
    fresh,
    paged,
    refusal,
    ulid,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

ALL_FIELDS = """locationId code name formattedAddress street city region postalCode country placeId lat lng timeZone
status createdAt updatedAt version"""
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
    content = fresh(**ADDRESS) | {"lat": "41.8902102000000001", "lng": "-12.4922309"}
    payload = await api.mutate(CREATE_LOCATION, **content)
    assert payload["userErrors"] == []
    location_id = payload["location"]["locationId"]
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", location_id)
    answer = await api.client.post("/graphql", json={"query": BY_ID, "variables": {"id": location_id}})
    assert '"lat":41.8902102000000001,"lng":-12.4922309' in answer.text
    assert answer.json()["data"]["location"] == {
        "locationId": location_id,
        "code": "rome",
        "name": "Room of rome",
        **ADDRESS,
        "lat": 41.8902102000000001,
        "lng": -12.4922309,
        "timeZone": "Europe/Rome",
        "status": "ACTIVE",
        "createdAt": NOW,
        "updatedAt": NOW,
        "version": 1,
    }


async def test_a_location_is_found_by_its_id_by_its_code_and_as_a_node(api: Api) -> None:
    location_id = await found_location(api, code="a-1")
    by_id = (await api.run(BY_ID, id=location_id))["location"]
    assert by_id["locationId"] == location_id
    assert (await api.run(BY_CODE, code="a-1"))["locationByCode"] == by_id
    global_id = (await api.run("query ($id: ID!) { location(locationId: $id) { id } }", id=location_id))["location"]
    query = "query ($id: ID!) { node(id: $id) { __typename id ... on Location { code } } }"
    assert (await api.run(query, **global_id))["node"] == {"__typename": "Location", **global_id, "code": "a-1"}


@pytest.mark.parametrize(("query", "variables"), [(BY_ID, {"id": ulid(9)}), (BY_CODE, {"code": "nowhere"})])
async def test_a_location_that_is_not_there_is_null_with_not_found(
    api: Api, query: str, variables: dict[str, str]
) -> None:
    answer = await api.send(query, **variables)
    assert list(answer["data"].values()) == [None]
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]


async def test_a_code_is_nobody_elses(api: Api, dump: Callable[[], Any]) -> None:
    await found_location(api, 1, code="rome")
    before = await dump()
    payload = await api.mutate(CREATE_LOCATION, **fresh("rome", name="Another", locationId=ulid(2)))
    assert payload["location"] is None
    assert refusal(payload) == ("CODE_TAKEN", 409, ["input", "code"])
    assert await dump() == before


async def test_the_code_of_a_location_at_rest_is_still_nobody_elses(api: Api, dump: Callable[[], Any]) -> None:
    location_id = await found_location(api, 1, code="rome")
    await api.mutate(DEACTIVATE, locationId=location_id, expectedVersion=1)
    before = await dump()
    payload = await api.mutate(CREATE_LOCATION, **fresh("rome"))
    assert refusal(payload) == ("CODE_TAKEN", 409, ["input", "code"])
    assert await dump() == before
    assert (await api.run(BY_CODE, code="rome"))["locationByCode"]["status"] == "INACTIVE"


async def test_a_creation_sent_again_gives_the_first_result_even_after_changes(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    content = fresh(locationId=ulid(1), lat=1.50, city=None)
    first = await api.mutate(CREATE_LOCATION, **content)
    clock.move(days=400)
    # A number is the same however it is written, and null says no more than nothing.
    again = fresh(locationId=ulid(1), lat="15e-1", lng=None)
    assert await api.mutate(CREATE_LOCATION, **again) == first
    await api.mutate(UPDATE_LOCATION, locationId=ulid(1), expectedVersion=1, name="Other")
    before = await dump()
    payload = await api.mutate(CREATE_LOCATION, **content)
    assert payload["userErrors"] == []
    assert (payload["location"]["locationId"], payload["location"]["createdAt"]) == (ulid(1), NOW)
    assert await dump() == before


async def test_an_id_that_was_used_is_refused_for_another_location(api: Api, dump: Callable[[], Any]) -> None:
    await found_location(api, 1, code="rome")
    before = await dump()
    for other in ({"code": "milan"}, {"code": "rome", "name": "Other"}):
        payload = await api.mutate(CREATE_LOCATION, **fresh(locationId=ulid(1)) | other)
        assert refusal(payload) == ("ID_TAKEN", 409, ["input", "locationId"])
    assert await dump() == before


async def test_an_update_changes_what_is_given_takes_away_what_is_null_and_leaves_the_rest(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    location_id = await found_location(api, 1, **ADDRESS, lat=1, lng=2)
    clock.move(hours=1)
    change = {"name": "New name", "city": None, "lat": "-89.5", "timeZone": "Asia/Tokyo"}
    payload = await api.mutate(UPDATE_LOCATION, locationId=location_id, expectedVersion=1, **change)
    assert payload["userErrors"] == []
    shown = (await api.run(BY_ID, id=location_id))["location"]
    assert shown == {
        **ADDRESS,
        "locationId": location_id,
        "code": "place-1",
        "name": "New name",
        "city": None,
        "lat": -89.5,
        "lng": 2,
        "timeZone": "Asia/Tokyo",
        "status": "ACTIVE",
        "createdAt": NOW,
        "updatedAt": "2026-03-01T13:00:00.000Z",
        "version": 2,
    }
    assert payload["location"] == {name: shown[name] for name in payload["location"]}
    assert "city" not in (await dump())[f"LOCATION#{location_id}", "META"]


@pytest.mark.parametrize("mutation", [UPDATE_LOCATION, DEACTIVATE])
async def test_a_stale_version_is_a_conflict_that_carries_the_location(
    api: Api, dump: Callable[[], Any], mutation: str
) -> None:
    location_id = await found_location(api, 1)
    await api.mutate(UPDATE_LOCATION, locationId=location_id, expectedVersion=1, name="Second")
    before = await dump()
    more = {"name": "Third"} if mutation is UPDATE_LOCATION else {}
    payload = await api.mutate(mutation, locationId=location_id, expectedVersion=1, **more)
    assert refusal(payload) == ("CONFLICT", 409, ["input", "expectedVersion"])
    assert (payload["location"]["name"], payload["location"]["version"]) == ("Second", 2)
    assert payload["userErrors"][0]["currentVersion"] == 2
    assert await dump() == before


@pytest.mark.parametrize("mutation", [UPDATE_LOCATION, DEACTIVATE, REACTIVATE])
async def test_a_location_that_is_not_there_cannot_be_changed(api: Api, dump: Callable[[], Any], mutation: str) -> None:
    more = {"name": "Name"} if mutation is UPDATE_LOCATION else {}
    payload = await api.mutate(mutation, locationId=ulid(1), expectedVersion=1, **more)
    assert refusal(payload) == ("NOT_FOUND", 404, ["input", "locationId"])
    assert await dump() == {}


async def test_an_update_of_nothing_is_refused(api: Api, dump: Callable[[], Any]) -> None:
    location_id = await found_location(api, 1)
    before = await dump()
    payload = await api.mutate(UPDATE_LOCATION, locationId=location_id, expectedVersion=1)
    assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input"])
    assert await dump() == before


async def test_a_location_moves_between_the_lists_with_its_status_and_keeps_its_place_by_age(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    for number in range(4):
        await found_location(api, number)
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
async def test_a_change_of_status_sent_again_changes_nothing(
    api: Api, dump: Callable[[], Any], mutations: tuple[str, ...]
) -> None:
    location_id = await found_location(api, 1)
    for version, mutation in enumerate(mutations, 1):
        first = await api.mutate(mutation, locationId=location_id, expectedVersion=version)
    before = await dump()
    assert await api.mutate(mutations[-1], locationId=location_id, expectedVersion=len(mutations)) == first
    assert await dump() == before


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
async def test_the_locations_page_exactly_in_both_directions(api: Api, clock: Clock, size: int) -> None:
    for number in range(7):
        await found_location(api, number)
        clock.move(milliseconds=number % 2)  # some are of the same millisecond
    everything = await codes(api, "ACTIVE")
    assert everything == [f"place-{number}" for number in reversed(range(7))]
    pages = [[node["code"] for node in nodes] async for nodes in paged(api, LIST, size, status="ACTIVE")]
    assert pages == [everything[start : start + size] for start in range(0, 7, size)]
    backward = LIST.replace("first: $first, after: $after", "last: $first, before: $after")
    pages = [[node["code"] for node in nodes] async for nodes in paged(api, backward, size, status="ACTIVE")]
    assert [code for page in reversed(pages) for code in page] == everything


async def test_a_location_put_to_rest_between_two_pages_takes_no_other_with_it(api: Api, clock: Clock) -> None:
    for number in range(6):
        await found_location(api, number)
        clock.move(minutes=1)
    pages = []
    async for nodes in paged(api, LIST, 2, status="ACTIVE"):
        pages.append([node["code"] for node in nodes])
        if len(pages) == 1:  # the one that the cursor names, and the next one
            for number in (4, 3):
                await api.mutate(DEACTIVATE, locationId=ulid(number), expectedVersion=1)
    assert pages == [["place-5", "place-4"], ["place-2", "place-1"], ["place-0"]]


async def test_the_lockers_of_a_location_page_exactly_and_are_its_own(api: Api) -> None:
    await api.owner("ada")
    here, there = await found_location(api, 1), await found_location(api, 2)
    for number in range(5):
        await api.locker(f"l{number}", "ada", locationId=here)
        await api.locker(f"m{number}", "ada", locationId=there)
    query = """query ($id: ID!, $first: Int, $after: String) {
      location(locationId: $id) { lockers(first: $first, after: $after) { nodes { lockerId } nextCursor } }
    }"""
    pages = [[node["lockerId"] for node in nodes] async for nodes in paged(api, query, 2, id=here)]
    assert pages == [["l0", "l1"], ["l2", "l3"], ["l4"]]


async def test_a_location_at_rest_still_shows_its_lockers(api: Api) -> None:
    await api.owner("ada")
    here = await found_location(api, 1)
    await api.mutate(REGISTER, lockerId="l1", ownerId="ada", locationId=here)
    await api.mutate(DEACTIVATE, locationId=here, expectedVersion=1)
    query = "query ($id: ID!) { location(locationId: $id) { status lockers { nodes { lockerId } } } }"
    data = await api.run(query, id=here)
    assert data["location"] == {"status": "INACTIVE", "lockers": {"nodes": [{"lockerId": "l1"}]}}
