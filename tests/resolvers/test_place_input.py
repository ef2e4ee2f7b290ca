"""What clients may not write: every bad value is refused at its place, and nothing is written."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import CREATE_OWNER
from tests.places import (
    APPROVE,
    CANCEL,
    CREATE_EVENT,
    CREATE_LOCATION,
    DAY,
    DEACTIVATE,
    DELETE_EVENT,
    MOVE,
    PAY,
    REACTIVATE,
    REGISTER,
    REJECT,
    REQUEST,
    UPDATE_LOCATION,
    book,
    found_location,
    prepare,
    ulid,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Wire

LONG = "x" * 10_000
GOOD: dict[str, dict[str, Any]] = {
    CREATE_LOCATION: {"code": "rome", "name": "Rome", "timeZone": "Europe/Rome"},
    UPDATE_LOCATION: {"locationId": ulid(0), "expectedVersion": 1, "city": "Roma"},
    DEACTIVATE: {"locationId": ulid(0), "expectedVersion": 1},
    REACTIVATE: {"locationId": ulid(0), "expectedVersion": 1},
    REGISTER: {"lockerId": "l9", "ownerId": "ada"},
    MOVE: {"lockerId": "l1", "newLocationId": ulid(0), "expectedVersion": 1},
    REQUEST: {
        "locationId": ulid(0),
        "ownerId": "ada",
        "date": DAY,
        "duration": "FULL_DAY",
        "description": "Chess",
        "attendees": 5,
    },
    CANCEL: {"bookingId": "b1", "ownerId": "ada"},
    APPROVE: {"bookingId": "b1", "adminId": "root", "expectedVersion": 1},
    REJECT: {"bookingId": "b1", "adminId": "root", "expectedVersion": 1, "reason": "No"},
    CREATE_EVENT: {"locationId": ulid(0), "adminId": "root", "date": DAY, "duration": "MORNING", "title": "Works"},
    DELETE_EVENT: {"locationId": ulid(0), "adminId": "root", "eventId": "e1"},
    PAY: {"bookingId": "b1", "amount": 1, "currency": "EUR"},
    CREATE_OWNER: {"kind": "USER", "name": "Bob"},
}
IDS = [
    *((mutation, "locationId") for mutation in (UPDATE_LOCATION, DEACTIVATE, REACTIVATE, REGISTER, REQUEST)),
    *((mutation, "locationId") for mutation in (CREATE_EVENT, DELETE_EVENT)),
    *((mutation, "bookingId") for mutation in (REQUEST, CANCEL, APPROVE, REJECT, PAY)),
    *((mutation, "ownerId") for mutation in (REQUEST, CANCEL)),
    *((mutation, "adminId") for mutation in (APPROVE, REJECT, CREATE_EVENT, DELETE_EVENT)),
    *((mutation, "eventId") for mutation in (CREATE_EVENT, DELETE_EVENT)),
    (PAY, "paymentId"),
    (MOVE, "lockerId"),
    (MOVE, "newLocationId"),
]
# Refused by our own rules, each at its place in the payload.
BAD: list[tuple[str, str, list[Any]]] = [
    *((mutation, field, ["", "a#b", "é", "x" * 65]) for mutation, field in IDS),
    (
        CREATE_LOCATION,
        "locationId",
        ["", "place", ulid(0).lower(), f"8{ulid(0)[1:]}", f"{ulid(0)}0", f"{ulid(0)[:-1]}U"],
    ),
    (CREATE_LOCATION, "code", ["", "ab", "x" * 41, "Rome", "ro me", "rome_1", "ròme", "rome\n", LONG]),
    (CREATE_LOCATION, "name", ["", "  ", "a\nb", "x" * 201, LONG]),
    (CREATE_LOCATION, "timeZone", ["", "Mars/Base", "europe/rome", "CEST", "+01:00", "../etc/passwd", "localtime"]),
    (CREATE_LOCATION, "lat", [91, -90.0001, "90.00000000000000000001", "1e99", "0." + "1" * 39]),
    (CREATE_LOCATION, "lng", [181, "-180.5"]),
    *((CREATE_LOCATION, field, ["", LONG]) for field in ("formattedAddress", "street", "city", "region", "country")),
    *((CREATE_LOCATION, field, [" ", LONG]) for field in ("postalCode", "placeId")),
    (UPDATE_LOCATION, "name", [None, "", LONG]),
    (UPDATE_LOCATION, "timeZone", [None, "Mars/Base"]),
    (UPDATE_LOCATION, "lat", [91]),
    (REQUEST, "description", ["", " \n ", "a\0b", "x" * 2001, LONG]),
    (REQUEST, "attendees", [0, -1, 100_001]),
    (REJECT, "reason", ["", " \t", "\x07", "x" * 2001, LONG]),
    (CREATE_EVENT, "title", ["", " ", "a\nb", "x" * 201, LONG]),
    (PAY, "amount", [0, "-1", "-0.01", "0.00001", "1.00001", "123456789012345", "1e99"]),
    (PAY, "currency", ["", "eur", "EU", "EURO", "€", "E R"]),
    (PAY, "method", ["", LONG]),
    (CREATE_OWNER, "phone", ["", "phone", "1234", "+", "++39 123 456", "1" * 31, "+39 123 456;", "٣٩١٢٣٤٥٦"]),
]
# Refused before anything runs: the schema's own types say no.
NO_DATES = [
    "2026-02-30",
    "26-1-1",
    "2026-1-1",
    f"{DAY}T00:00:00Z",
    "20260310",
    "10.03.2026",
    "",
    "0000-01-01",
    "\uff12026-03-10",
]
BROKEN: list[tuple[str, str, list[Any]]] = [
    (REQUEST, "date", [*NO_DATES, 20260310, None]),
    (CREATE_EVENT, "date", NO_DATES),
    (REQUEST, "duration", ["EVENING", "morning", None]),
    (REQUEST, "attendees", ["5", 1.5, 2**31, None]),
    (REJECT, "reason", [None, 7]),
    (PAY, "amount", ["", "1,5", "NaN", "Infinity", "0x1", "1" * 41, True, None, "1e9999"]),
    (PAY, "currency", [None, 978]),
    (PAY, "paidAt", ["2026-03-01", "2026-03-01T12:00:00", "yesterday"]),
    (CREATE_LOCATION, "lat", ["north", "", True, [1]]),
    (CREATE_OWNER, "role", ["ROOT", "admin"]),
    (APPROVE, "expectedVersion", ["1", 2**31, None]),
]


@pytest_asyncio.fixture
async def ready(api: Api) -> Api:
    await prepare(api)
    await api.locker("l1", "ada")
    await book(api, "b1")
    return api


def name_of(mutation: str) -> str:
    """The field that a document calls."""
    return mutation.split("{")[1].split("(", maxsplit=1)[0].strip()


def cases(table: list[tuple[str, str, list[Any]]]) -> list[Any]:
    return [
        pytest.param(mutation, field, values, id=f"{name_of(mutation)}-{field}") for mutation, field, values in table
    ]


@pytest.mark.parametrize(("mutation", "field", "values"), cases(BAD))
async def test_a_value_that_breaks_a_rule_is_refused_at_its_place(
    ready: Api, wire: Wire, dump: Callable[[], Any], mutation: str, field: str, values: list[Any]
) -> None:
    before = await dump()
    wire.reset()
    for value in values:
        (payload,) = (await ready.run(mutation, input=GOOD[mutation] | {field: value})).values()
        errors = [(error["code"], error["status"], error["path"]) for error in payload.pop("userErrors")]
        assert errors == [("BAD_USER_INPUT", 400, ["input", field])], value
        assert list(payload.values()) == [None]
    assert wire.calls == []
    assert await dump() == before


@pytest.mark.parametrize(("mutation", "field", "values"), cases(BROKEN))
async def test_a_value_of_another_type_is_refused_before_anything_runs(
    ready: Api, wire: Wire, dump: Callable[[], Any], mutation: str, field: str, values: list[Any]
) -> None:
    before = await dump()
    wire.reset()
    for value in values:
        answer = await ready.send(mutation, input=GOOD[mutation] | {field: value})
        assert answer.get("data") is None, value
        (error,) = answer["errors"]
        assert (error["extensions"]["code"], error["extensions"]["status"]) == ("BAD_USER_INPUT", 400), value
        assert error["extensions"]["inputPath"] == ["input", field]
    assert wire.calls == []
    assert await dump() == before


@pytest.mark.parametrize("mutation", GOOD, ids=lambda mutation: mutation.split("{")[1].split("(")[0].strip())
async def test_what_every_refusal_here_changes_is_good_otherwise(ready: Api, mutation: str) -> None:
    if mutation is DELETE_EVENT:
        await ready.mutate(CREATE_EVENT, eventId="e1", **GOOD[CREATE_EVENT])
    assert (await ready.mutate(mutation, **GOOD[mutation]))["userErrors"] == []


async def test_every_problem_of_an_input_is_told_at_once(ready: Api, dump: Callable[[], Any]) -> None:
    before = await dump()
    bad = {"locationId": "a#b", "ownerId": "", "description": "", "attendees": 0}
    payload = await ready.mutate(REQUEST, **GOOD[REQUEST] | bad)
    assert [error["path"] for error in payload["userErrors"]] == [["input", field] for field in bad]
    assert await dump() == before


@pytest.mark.parametrize(
    ("query", "argument"),
    [
        ("query ($value: ID!) { location(locationId: $value) { code } }", "locationId"),
        ("query ($value: ID!) { booking(bookingId: $value) { date } }", "bookingId"),
        ("query ($value: String!) { locationByCode(code: $value) { name } }", "code"),
    ],
)
async def test_an_id_or_code_that_cannot_be_is_refused_before_the_store_is_asked(
    ready: Api, wire: Wire, query: str, argument: str
) -> None:
    wire.reset()
    for value in ("", "a#b", "é", "x" * 65, "~", "\n", LONG):
        answer = await ready.send(query, value=value)
        (error,) = answer["errors"]
        assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", [argument])
    assert wire.calls == []


@pytest.mark.parametrize("field", ["calendar(window: $window) { date }", "availability(window: $window) { date }"])
@pytest.mark.parametrize(
    ("window", "place"),
    [
        ({"from": "2026-03-01", "to": "2026-06-01"}, ["window", "to"]),
        ({"from": "0001-01-01", "to": "9999-12-31"}, ["window", "to"]),
        ({"from": "2026-03-02", "to": "2026-03-01"}, ["window", "from"]),
        ({"from": "2026-02-30", "to": "2026-03-01"}, ["window", "from"]),
        ({"from": "2026-03-01", "to": "26-3-1"}, ["window", "to"]),
        ({"from": "2026-03-01T00:00:00Z", "to": "2026-03-02"}, ["window", "from"]),
        ({"from": None, "to": "2026-03-02"}, ["window", "from"]),
    ],
)
async def test_a_window_that_is_backwards_too_long_or_no_dates_is_refused(
    ready: Api, wire: Wire, field: str, window: dict[str, str | None], place: list[str]
) -> None:
    wire.reset()
    query = f'query ($window: DateWindow!) {{ location(locationId: "{ulid(0)}") {{ {field} }} }}'
    answer = await ready.send(query, window=window)
    (error,) = answer["errors"]
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", place)
    assert "Query" not in wire.operations


@pytest.mark.parametrize("half", ['{ from: "2026-03-01" }', '{ to: "2026-03-01" }', "{}"])
async def test_a_window_without_both_its_ends_is_no_valid_document(ready: Api, half: str) -> None:
    answer = await ready.send(f'{{ location(locationId: "{ulid(0)}") {{ calendar(window: {half}) {{ date }} }} }}')
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"GRAPHQL_VALIDATION_FAILED"}


LISTS = {
    "active": "query ($after: String) { locations(first: 1, after: $after) { nextCursor } }",
    "inactive": "query ($after: String) { locations(status: INACTIVE, first: 1, after: $after) { nextCursor } }",
    "pending": "query ($after: String) { pendingBookings(first: 1, after: $after) { nextCursor } }",
    "mine": 'query ($after: String) { owner(ownerId: "ada") { bookings(first: 1, after: $after) { nextCursor } } }',
}


async def cursor_of(api: Api, name: str) -> str:
    connection = await api.run(LISTS[name])
    while "nextCursor" not in connection:
        (connection,) = connection.values()
    return str(connection["nextCursor"])


def forged(**content: Any) -> str:
    text = json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def opened(cursor: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    return content


async def refused(api: Api, wire: Wire, name: str, cursor: str) -> None:
    wire.reset()
    (error,) = (await api.send(LISTS[name], after=cursor))["errors"]
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("INVALID_CURSOR", 400), cursor
    assert wire.calls == []


@pytest_asyncio.fixture
async def listed(ready: Api) -> Api:
    """Two of everything that a list may show."""
    for number in (1, 2, 3):
        await found_location(ready, number)
    for number in (2, 3):
        await ready.mutate(DEACTIVATE, locationId=ulid(number), expectedVersion=1)
    await book(ready, "b2")
    return ready


async def test_a_cursor_is_good_for_its_own_list_alone(listed: Api, wire: Wire) -> None:
    cursors = {name: await cursor_of(listed, name) for name in LISTS}
    for own, cursor in cursors.items():
        assert "errors" not in await listed.send(LISTS[own], after=cursor)
        for name in LISTS.keys() - {own}:
            await refused(listed, wire, name, cursor)


@pytest.mark.parametrize("name", ["active", "inactive", "pending"])
async def test_a_cursor_of_the_index_that_was_tampered_with_is_refused(listed: Api, wire: Wire, name: str) -> None:
    content = opened(await cursor_of(listed, name))
    assert list(content) == ["PK", "SK", "GSI1PK", "GSI1SK"]
    for key in content:
        values: tuple[Any, ...] = ("", 7, None, [], {}, "é", "x" * 1025, "\ud800")
        for value in values:
            await refused(listed, wire, name, forged(**content | {key: value}))
        await refused(listed, wire, name, forged(**{other: content[other] for other in content if other != key}))
    await refused(listed, wire, name, forged(**content, more="1"))
    await refused(listed, wire, name, forged(**dict(reversed(content.items()))))
    await refused(listed, wire, name, forged(**content | {"GSI1PK": "LOCATION#GONE"}))
    for text in ("", "=", "null", "eyJ", "é", forged(), f"{forged(**content)}=", LONG):
        await refused(listed, wire, name, text)
