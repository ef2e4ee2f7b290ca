"""Owners by the beginning of their names."""

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api, mutation, unchanged
from tests.conftest import NOW, Dump
from tests.invariants import check_invariants
from tests.wire import Wire

BY_NAME = """query ($prefix: String!, $order: SortDirection, $first: Int, $after: String) {
  ownersByName(prefix: $prefix, orderBy: $order, first: $first, after: $after) {
    nodes { ownerId name email phone role version } nextCursor
  }
}"""
RENAME = mutation("updateOwner", "owner { name version }")
NAMES = {
    "a1": "Ada Lovelace",
    "a2": "ÁDA",
    "a3": "Ada",
    "a4": "Adam",
    "a5": "ada  #1",
    "b1": "Bob Ada",
    "x1": "###",
}


@pytest_asyncio.fixture
async def named(api: Api) -> Api:
    for owner_id, name in NAMES.items():
        await api.owner(owner_id, name=name)
    return api


async def found(api: Api, prefix: str, **arguments: Any) -> list[str]:
    page = (await api.run(BY_NAME, prefix=prefix, **arguments))["ownersByName"]
    return [node["ownerId"] for node in page["nodes"]]


ADAS = ["a2", "a3", "a5", "a1", "a4"]
PREFIXES = {
    "ada": ADAS,
    " ADA ": ADAS,
    "adà l": ["a1"],
    "Ada  Lovelace": ["a1"],
    "lovelace": [],
    "#": ["x1"],
    "ada#": [],
    "ada a": [],
    "a*": [],
    "%": [],
    "b": ["b1"],
}


async def test_owners_are_found_by_the_beginning_of_their_names_in_their_order(named: Api, wire: Wire) -> None:
    for prefix, expected in PREFIXES.items():
        wire.reset()
        assert await found(named, prefix) == expected
        assert await found(named, prefix, order="DESC") == expected[::-1]
        assert wire.operations == {"Query": 2}


async def test_names_are_read_page_by_page_by_cursors_of_the_same_beginning_alone(named: Api) -> None:
    pages: list[list[str]] = []
    cursor = None
    while cursor is not None or not pages:
        page = (await named.run(BY_NAME, prefix="ada", first=2, after=cursor))["ownersByName"]
        pages.append([node["ownerId"] for node in page["nodes"]])
        cursor = page["nextCursor"] or cursor
        if page["nextCursor"] is None:
            break
    assert pages == [["a2", "a3"], ["a5", "a1"], ["a4"]]
    (error,) = (await named.send(BY_NAME, prefix="adam", after=cursor))["errors"]
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("INVALID_CURSOR", ["after"])


@pytest.mark.parametrize("prefix", ["", "  ", "a\x00", "x" * 201])
async def test_a_beginning_that_no_name_can_have_is_refused_before_anything_is_read(
    api: Api, wire: Wire, prefix: str
) -> None:
    wire.reset()
    (error,) = (await api.send(BY_NAME, prefix=prefix))["errors"]
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", ["prefix"])
    assert not wire.operations


async def test_a_changed_owner_is_in_the_list_as_it_is_now(named: Api, dump: Dump) -> None:
    change = {"ownerId": "a4", "expectedVersion": 1, "name": "Zoë", "phone": "+39 06 1", "role": "ADMIN"}
    assert not (await named.mutate(RENAME, **change))["userErrors"]
    assert await found(named, "ADAM") == []
    (shown,) = (await named.run(BY_NAME, prefix="zoe"))["ownersByName"]["nodes"]
    assert shown == {k: v for k, v in change.items() if k != "expectedVersion"} | {"email": None, "version": 2}
    assert not (await named.mutate(RENAME, ownerId="a4", expectedVersion=2, phone="0039 061"))["userErrors"]
    assert [key for key in await dump() if key[0].startswith("PHONE#")] == [("PHONE#39061", "OWNER#a4")]
    assert not (await named.mutate(RENAME, ownerId="a4", expectedVersion=3, phone=None))["userErrors"]
    assert [key for key in await dump() if key[0].startswith("PHONE#")] == []
    async with unchanged(dump):
        refusal = await named.mutate(RENAME, ownerId="a4", expectedVersion=1, name="Late", phone="12345")
    assert refusal["userErrors"][0]["code"] == "VERSION_CONFLICT"


async def test_of_two_who_rename_an_owner_at_once_one_does_and_the_owner_is_in_the_list_once(
    named: Api, dump: Dump
) -> None:
    for version in range(1, 6):
        names = [f"Ann {version}", f"Zoe {version}"]
        changes = ({"name": name, "phone": f"{version}{len(name)}{name[0] == 'Z':d}234"} for name in names)
        answers = await asyncio.gather(
            *(named.mutate(RENAME, ownerId="a4", expectedVersion=version, **change) for change in changes)
        )
        (won,) = [answer["owner"]["name"] for answer in answers if not answer["userErrors"]]
        (lost,) = set(names) - {won}
        assert (await found(named, won), await found(named, lost)) == (["a4"], [])
        check_invariants(await dump(), NOW)
