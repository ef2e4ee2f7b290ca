import re

import pytest

from tests import places
from tests.api import Api, refused
from tests.conftest import NOW, Clock, Dump
from tests.invariants import check_invariants
from tests.wire import Wire

ALL_FIELDS = """locationId code name address { formattedAddress street city region postalCode country placeId lat lng }
timeZone status createdAt updatedAt version"""
BY_ID = f"query ($id: ID!) {{ location(locationId: $id) {{ {ALL_FIELDS} }} }}"
BY_CODE = f"query ($code: String!) {{ locationByCode(code: $code) {{ {ALL_FIELDS} }} }}"
LIST = """query ($status: LocationStatus!, $first: Int, $after: String) {
  locations(status: $status, first: $first, after: $after) { nodes { code status } nextCursor }
}"""
ALL = LIST.replace("$status: LocationStatus!, ", "").replace("status: $status, ", "")
ADDRESS = {
    "formattedAddress": "Via Appia 1, 00100 Roma RM, Italy",
    "street": "Via Appia 1",
    "city": "Roma",
    "region": "RM",
    "postalCode": "00100",
    "country": "Italy",
    "placeId": "ChIJ-maps",
}


SHOWN = {"timeZone": "Europe/Rome", "status": "ACTIVE", "createdAt": NOW, "updatedAt": NOW, "version": 1}
CODE_TAKEN = ("CODE_TAKEN", 409, ["input", "code"])


async def codes(api: Api, status: str) -> list[str]:
    return [node["code"] async for nodes in places.paged(api, LIST, 100, status=status) for node in nodes]


async def create_aged(api: Api, clock: Clock, count: int) -> None:
    """Locations, one a minute."""
    for number in range(count):
        await places.create_location(api, number)
        clock.move(minutes=1)


async def test_a_location_keeps_all_that_it_was_created_with_to_the_last_digit(api: Api) -> None:
    address = ADDRESS | {"lat": "41.8902102000000001", "lng": "-12.4922309"}
    payload = await api.mutate(places.CREATE_LOCATION, **places.fresh(address=address))
    assert payload["userErrors"] == []
    location_id = payload["location"]["locationId"]
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", location_id)
    shown = {**SHOWN, "locationId": location_id, "code": "rome", "name": "Room of rome", "address": address}
    assert await api.run(BY_ID, id=location_id) == {"location": shown}
    assert await api.run(BY_CODE, code="rome") == {"locationByCode": shown}


async def test_a_code_belongs_to_one_location_even_if_it_is_inactive(api: Api, dump: Dump) -> None:
    location_id = await places.create_location(api, 1, code="rome")
    claim = (await dump())["LOCATION_CODE#rome", "META"]
    assert (claim["locationId"], claim["createdAt"]) == (location_id, NOW)
    for status in ("ACTIVE", "INACTIVE"):
        payload = await refused(
            api, dump, places.CREATE_LOCATION, **places.fresh("rome", name="Another", locationId=places.ulid(2))
        )
        assert (payload["location"], places.refusal(payload)) == (None, CODE_TAKEN)
        assert (await api.run(BY_CODE, code="rome"))["locationByCode"]["status"] == status
        await api.mutate(places.DEACTIVATE, locationId=location_id, expectedVersion=1)


async def test_an_update_changes_given_fields_and_removes_null_ones(api: Api, clock: Clock, dump: Dump) -> None:
    location_id = await places.create_location(api, 1, address={**ADDRESS, "lat": 1, "lng": 2})
    clock.move(hours=1)
    change = {"name": "New name", "address": {"city": None, "lat": "-89.50"}, "timeZone": "Asia/Tokyo"}
    payload = await api.mutate(places.UPDATE_LOCATION, locationId=location_id, expectedVersion=1, **change)
    assert payload["userErrors"] == []
    shown = (await api.run(BY_ID, id=location_id))["location"]
    assert shown == {
        **SHOWN,
        **change,
        "locationId": location_id,
        "code": "place-1",
        "address": {**ADDRESS, "city": None, "lat": "-89.5", "lng": "2"},
        "updatedAt": clock.now,
        "version": 2,
    }
    kept = {name: shown["address"][name] for name in payload["location"]["address"]}
    assert payload["location"] == {name: shown[name] for name in payload["location"]} | {"address": kept}
    stored = (await dump())[f"LOCATION#{location_id}", "META"]
    assert "city" not in stored
    await api.mutate(places.UPDATE_LOCATION, locationId=location_id, expectedVersion=2, address=None)
    assert set((await api.run(BY_ID, id=location_id))["location"]["address"].values()) == {None}
    assert not {"formattedAddress", "placeId", "lat"} & (await dump())[f"LOCATION#{location_id}", "META"].keys()


async def test_a_location_is_in_the_list_of_its_status_by_age(api: Api, clock: Clock, dump: Dump) -> None:
    await create_aged(api, clock, 4)
    newest_first = ["place-3", "place-2", "place-1", "place-0"]
    for version, (change, status) in enumerate(((places.DEACTIVATE, "INACTIVE"), (places.REACTIVATE, "ACTIVE")), 1):
        inactive = ["place-1"] if status == "ACTIVE" else []
        assert await codes(api, "ACTIVE") == [code for code in newest_first if code not in inactive]
        assert await codes(api, "INACTIVE") == inactive
        payload = await api.mutate(change, locationId=places.ulid(1), expectedVersion=version)
        assert (payload["location"]["status"], payload["location"]["version"]) == (status, version + 1)
    assert (await codes(api, "ACTIVE"), await codes(api, "INACTIVE")) == (newest_first, [])
    check_invariants(await dump(), clock.now)


@pytest.mark.parametrize("size", [1, 2, 3, 9])
async def test_without_a_status_all_locations_are_one_list(api: Api, clock: Clock, wire: Wire, size: int) -> None:
    for number in range(8):
        await places.create_location(api, number)
        clock.move(milliseconds=number % 2)
        if number % 3:
            await api.mutate(places.DEACTIVATE, locationId=places.ulid(number), expectedVersion=1)
    everything = [f"place-{number}" for number in reversed(range(8))]
    pages = [[node["code"] for node in nodes] async for nodes in places.paged(api, ALL, size)]
    assert pages == [everything[start : start + size] for start in range(0, 8, size)]
    backward = ALL.replace("first: $first, after: $after", "last: $first, before: $after")
    pages = [[node["code"] for node in nodes] async for nodes in places.paged(api, backward, size)]
    assert [code for page in reversed(pages) for code in page] == everything
    wire.reset()
    await api.run(ALL, first=size)
    assert wire.operations == {"Query": 2}


@pytest.mark.parametrize(
    ("query", "variables", "rest"),
    [(ALL, {}, [[3, 2], [1, 0]]), (LIST, {"status": "ACTIVE"}, [[2, 1], [0]])],
    ids=["all", "active ones"],
)
async def test_a_location_deactivated_between_two_pages_hides_no_other_and_is_not_shown_twice(
    api: Api, clock: Clock, query: str, variables: dict[str, str], rest: list[list[int]]
) -> None:
    await create_aged(api, clock, 6)
    pages = []
    async for nodes in places.paged(api, query, 2, **variables):
        pages.append([int(node["code"][-1]) for node in nodes])
        if len(pages) == 1:  # the one that the cursor names, and the next one
            for number in (4, 3):
                await api.mutate(places.DEACTIVATE, locationId=places.ulid(number), expectedVersion=1)
    assert pages == [[5, 4], *rest]


async def test_a_cursor_of_a_list_of_one_status_continues_in_the_list_of_all_but_no_other_does(api: Api) -> None:
    for number in range(3):
        await places.create_location(api, number)
    cursor = (await api.run(LIST, status="ACTIVE", first=1))["locations"]["nextCursor"]
    rest = (await api.run(ALL, after=cursor))["locations"]["nodes"]
    assert [node["code"] for node in rest] == ["place-1", "place-0"]
    for wrong in ("nonsense", "e30"):
        (error,) = (await api.send(ALL, after=wrong))["errors"]
        assert error["extensions"]["code"] == "INVALID_CURSOR"


async def test_an_inactive_location_still_shows_its_lockers(api: Api) -> None:
    await api.owner("ada")
    here = await places.create_location(api, 1)
    await api.mutate(places.REGISTER, lockerId="l1", ownerId="ada", locationId=here)
    await api.mutate(places.DEACTIVATE, locationId=here, expectedVersion=1)
    query = "query ($id: ID!) { location(locationId: $id) { status lockers { nodes { lockerId } } } }"
    data = await api.run(query, id=here)
    assert data["location"] == {"status": "INACTIVE", "lockers": {"nodes": [{"lockerId": "l1"}]}}
