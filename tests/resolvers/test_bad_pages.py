"""Page sizes and cursors that break a rule, in every list: the list is null, its error says which argument."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

LIST = """query ($first: Int, $after: String, $last: Int, $before: String) { %s { ownerId
  %s(first: $first, after: $after, last: $last, before: $before) { nodes { id } edges { cursor } }
} }"""
LISTS = {
    "lockers": LIST % ('owner(ownerId: "ada")', "lockers"),
    "mine": LIST % ('owner(ownerId: "ada")', "reservations"),
    "reservations": LIST % ('locker(lockerId: "l1")', "reservations"),
    "events": LIST % ('locker(lockerId: "l1")', "accessEvents"),
}
RANGES = {
    "lockers": ("OWNER#ada", "LOCKER#l1"),
    "mine": ("OWNER#ada", "RES#2026-03-02T10:00:00.000Z#r1"),
    "reservations": ("LOCKER#l1", "RES#2026-03-02T10:00:00.000Z#r1"),
    "events": ("LOCKER#l1", "EVT#2026-03-01T12:00:00.000Z#e1"),
}
BOTH = "Page with first and after, or with last and before, not with both."


@pytest_asyncio.fixture
async def one(api: Api, wire: Wire) -> Api:
    """One entry in each list."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    await api.reservation("r1", "l1", "ada", "2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z")
    await api.event("l1", eventId="e1")
    wire.reset()
    return api


def encoded(content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content, separators=(",", ":")).encode()).decode().rstrip("=")


def key(pk: str, sk: str, **more: Any) -> str:
    return encoded({"PK": pk, "SK": sk, **more})


async def refused(api: Api, wire: Wire, query: str, arguments: dict[str, Any]) -> tuple[str, str, list[str]]:
    """What a list says that is refused; the rest of the answer is there, and the list was not read."""
    answer = await api.send(query, **arguments)
    ((parent, shown),) = answer["data"].items()
    assert shown["ownerId"] == "ada"
    (field,) = shown.keys() - {"ownerId"}
    assert shown[field] is None
    (error,) = answer["errors"]
    assert error["path"] == [parent, field]
    assert error["extensions"]["status"] == 400
    assert wire.operations["Query"] == 0
    return error["extensions"]["code"], error["message"], error["extensions"]["inputPath"]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("argument", ["first", "last"])
@pytest.mark.parametrize("size", [0, -1, 101, 2147483647, -2147483648])
async def test_a_page_of_none_or_of_more_than_a_hundred_is_refused(
    one: Api, wire: Wire, name: str, argument: str, size: int
) -> None:
    found = await refused(one, wire, LISTS[name], {argument: size})
    assert found == ("BAD_USER_INPUT", f"{argument} must be 1 to 100, not {size}.", [argument])


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("pair", [("first", "last"), ("after", "last"), ("first", "before"), ("after", "before")])
async def test_both_directions_at_once_are_refused(one: Api, wire: Wire, name: str, pair: tuple[str, str]) -> None:
    arguments = {argument: 1 if argument in {"first", "last"} else key(*RANGES[name]) for argument in pair}
    assert await refused(one, wire, LISTS[name], arguments) == ("BAD_USER_INPUT", BOTH, ["last"])


@pytest.mark.parametrize("size", [2147483648, 1.5, "1", True])
async def test_a_page_size_that_is_no_int_is_refused_with_its_variable(api: Api, wire: Wire, size: object) -> None:
    answer = await api.send(LISTS["lockers"], first=size)
    (error,) = answer["errors"]
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", ["first"])
    assert not wire.calls


@pytest.mark.parametrize("name", LISTS)
async def test_the_cursors_of_a_list_are_the_keys_of_its_items_and_nothing_else(one: Api, name: str) -> None:
    data = await one.run(LISTS[name])
    ((_, shown),) = data.items()
    (field,) = shown.keys() - {"ownerId"}
    assert [edge["cursor"] for edge in shown[field]["edges"]] == [key(*RANGES[name])]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("argument", ["after", "before"])
async def test_a_cursor_that_this_list_did_not_make_is_refused_without_a_query(
    one: Api, wire: Wire, name: str, argument: str
) -> None:
    pk, sk = RANGES[name]
    good = key(pk, sk)
    bad = {
        "empty": "",
        "no base64": "!!!",
        "no ascii": "Ä" * 8,
        "standard base64": base64.b64encode(b'{"PK":"???","SK":">>>"}').decode(),
        "no JSON": base64.urlsafe_b64encode(b"nonsense").decode().rstrip("="),
        "no UTF-8": base64.urlsafe_b64encode(b"\xff\xfe\xfd").decode(),
        "no object": encoded([pk, sk]),
        "null": encoded(None),
        "text": encoded("PK SK"),
        "deep": base64.urlsafe_b64encode(b"[" * 30_000).decode().rstrip("="),
        "missing SK": encoded({"PK": pk}),
        "missing PK": encoded({"SK": sk}),
        "extra attribute": key(pk, sk, GSI1PK="x"),
        "typed attributes": encoded({"PK": {"S": pk}, "SK": {"S": sk}}),
        "number": encoded({"PK": pk, "SK": 1}),
        "other order": encoded({"SK": sk, "PK": pk}),
        "padded": good + "=" * (-len(good) % 4 or 4),
        "newline": good + "\n",
        "spaces": base64.urlsafe_b64encode(json.dumps({"PK": pk, "SK": sk}).encode()).decode().rstrip("="),
        "another partition": key(pk + "2", sk),
        "a partition that it begins like": key(pk[:-1], sk),
        "the record": key(pk, "META"),
        "the pointer": key(pk, "RES#ACTIVE"),
        "the guard": key(pk, "GUARD#RES"),
        "beyond the range": key(pk, "~"),
        **{f"the list of {other}": key(*RANGES[other]) for other in RANGES if other != name},
    }
    for what, cursor in bad.items():
        code, message, path = await refused(one, wire, LISTS[name], {argument: cursor})
        assert (code, path) == ("INVALID_CURSOR", [argument]), what
        assert message in {"This is not a cursor of this API.", "This cursor belongs to another list."}


async def test_a_cursor_from_outside_the_window_is_refused(one: Api, wire: Wire) -> None:
    query = """query ($after: String) { locker(lockerId: "l1") { ownerId
      reservations(window: { from: "2026-03-03T00:00:00Z" }, after: $after) { nodes { id } }
    } }"""
    found = await refused(one, wire, query, {"after": key(*RANGES["reservations"])})
    assert found == ("INVALID_CURSOR", "This cursor belongs to another list.", ["after"])


async def test_a_bad_page_leaves_its_siblings_alone(one: Api) -> None:
    answer = await one.send("""{ locker(lockerId: "l1") {
      good: reservations(first: 1) { nodes { reservationId } } bad: accessEvents(first: 0) { nodes { id } } version
    } }""")
    assert answer["data"] == {
        "locker": {"good": {"nodes": [{"reservationId": "r1"}]}, "bad": None, "version": 1},
    }
    assert [error["path"] for error in answer["errors"]] == [["locker", "bad"]]
