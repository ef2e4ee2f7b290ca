"""Inputs and arguments that break a rule: refused at their place, before anything is read or written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from graphql import GraphQLEnumType, GraphQLID, GraphQLInputObjectType, get_named_type, get_nullable_type, is_leaf_type
from graphql import GraphQLList as ListType

from resolvers.schema import build_schema
from tests.api import mutation
from tests.places import DAY, book, prepare, ulid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.api import Api
    from tests.wire import Wire

SCHEMA = build_schema().bound.graphql_schema
assert SCHEMA.mutation_type is not None
MUTATIONS = SCHEMA.mutation_type.fields
LONG = "x" * 10_000
VERSION = {"expectedVersion": 1}
EVENT = {"lockerId": "l1", "eventId": "e1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
DECISION = {"bookingId": "b1", "adminId": "root", **VERSION}
GOOD: dict[str, dict[str, Any]] = {
    "createOwner": {"ownerId": "bob", "kind": "USER", "name": "Bob", "email": "bob@example.com"},
    "updateOwner": {"ownerId": "ada", "name": "Ada", "email": "ada@example.com", **VERSION},
    "registerLocker": {"lockerId": "l9", "ownerId": "ada", "alias": "Front", "locationId": ulid(0)},
    "renameLocker": {"lockerId": "l1", "alias": "Front", **VERSION},
    "moveLocker": {"lockerId": "l1", "newLocationId": ulid(0), **VERSION},
    "updateLockerStatus": {"lockerId": "l1", "newStatus": "OCCUPIED", **VERSION},
    "transferLocker": {"lockerId": "l1", "newOwnerId": "root", **VERSION},
    "createReservation": {
        "lockerId": "l1",
        "reservationId": "r9",
        "ownerId": "ada",
        "startAt": "2026-03-02T10:00:00Z",
        "endAt": "2026-03-02T12:00:00Z",
    },
    "cancelReservation": {"lockerId": "l1", "reservationId": "r1"},
    "extendReservation": {"lockerId": "l1", "reservationId": "r1", "newEndAt": "2026-03-05T12:00:00Z"},
    "recordAccessEvent": EVENT,
    "recordAccessEvents": {"events": [EVENT]},
    "createLocation": {"locationId": ulid(9), "code": "rome", "name": "Rome", "timeZone": "Europe/Rome"},
    "updateLocation": {"locationId": ulid(0), "city": "Roma", **VERSION},
    "deactivateLocation": {"locationId": ulid(0), **VERSION},
    "reactivateLocation": {"locationId": ulid(0), **VERSION},
    "requestBooking": {
        "bookingId": "b9",
        "locationId": ulid(0),
        "ownerId": "ada",
        "date": DAY,
        "duration": "FULL_DAY",
        "description": "Chess",
        "attendees": 5,
    },
    "cancelBooking": {"bookingId": "b1", "ownerId": "ada"},
    "approveBooking": DECISION,
    "rejectBooking": {**DECISION, "reason": "No"},
    "recordPayment": {"bookingId": "b1", "paymentId": "p1", "amount": 1, "currency": "EUR"},
    "createCalendarEvent": {
        "eventId": "c1",
        "locationId": ulid(0),
        "adminId": "root",
        "date": DAY,
        "duration": "MORNING",
        "title": "Works",
    },
    "deleteCalendarEvent": {"locationId": ulid(0), "adminId": "root", "eventId": "c0"},
    "createApiKey": {"keyId": "k1", "name": "Hall 3", "role": "DEVICE", "lockerId": "l1"},
    "revokeApiKey": {"keyId": "k0"},
}
ID_RULE = "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"
BAD_IDS = ["", "#", "a#b", "a b", " a", "a ", "a\n", "é", "a/b", "a.b", "~", "a\u0000", "l" * 65]
NAME_RULE, LINE_RULE = "must have 1 to 200 characters", "must not contain control characters"
EMAIL_RULE = "must be an email address such as ada@example.com"
BAD_EMAILS = [
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@example",
    "ada@@example.com",
    "ada lovelace@example.com",
    "ada\n@example.com",
    "adä@example.com",
    "a" * 65 + "@example.com",
    "ada@" + "x" * 250 + ".com",
]
ADDRESS = ("formattedAddress", "street", "city", "region", "country", "postalCode", "placeId")
# Values of the right type that a rule refuses, with the rule where its words are part of the promise.
BAD: list[tuple[str, str, list[Any], str]] = [
    *((field, "email", BAD_EMAILS, EMAIL_RULE) for field in ("createOwner", "updateOwner")),
    *(
        (field, name, values, rule)
        for field, name in (
            ("createOwner", "name"),
            ("updateOwner", "name"),
            ("registerLocker", "alias"),
            ("renameLocker", "alias"),
            ("createLocation", "name"),
            ("createCalendarEvent", "title"),
            ("createApiKey", "name"),
        )
        for values, rule in (
            (["", "   ", "\t\n", "\u00a0\u3000", "x" * 201, LONG], NAME_RULE),
            (["a\nb", "a\u0000b", "a\u007fb", "a\u0085b", "a\u2028b"], LINE_RULE),
        )
    ),
    ("createOwner", "phone", ["", "phone", "1234", "+", "++39 123 456", "1" * 31, "+39 123 456;", "٣٩١٢٣٤٥٦"], ""),
    ("createLocation", "locationId", ["place", ulid(0).lower(), f"8{ulid(0)[1:]}", f"{ulid(0)}0", "l1"], ""),
    ("createLocation", "code", ["", "ab", "x" * 41, "Rome", "ro me", "rome_1", "ròme", "rome\n", LONG], ""),
    ("createLocation", "timeZone", ["", "Mars/Base", "europe/rome", "CEST", "+01:00", "../etc/passwd"], ""),
    ("createLocation", "lat", [91, -90.0001, "90.00000000000000000001", "1e99", "0." + "1" * 39], ""),
    ("createLocation", "lng", [181, "-180.5"], ""),
    *(("createLocation", name, ["", " ", LONG], "") for name in ADDRESS),
    ("updateLocation", "name", [None, "", LONG], ""),
    ("updateLocation", "timeZone", [None, "Mars/Base"], ""),
    ("updateLocation", "lat", [91], ""),
    ("requestBooking", "description", ["", " \n ", "a\0b", "x" * 2001, LONG], ""),
    ("requestBooking", "attendees", [0, -1, 100_001], ""),
    ("rejectBooking", "reason", ["", " \t", "\x07", "x" * 2001, LONG], ""),
    ("recordPayment", "amount", [0, "-1", "-0.01", "0.00001", "1.00001", "123456789012345", "1e99"], ""),
    ("recordPayment", "currency", ["", "eur", "EU", "EURO", "€", "E R"], ""),
    ("recordPayment", "method", ["", LONG], ""),
]
NO_DATES = ["2026-02-30", "26-1-1", f"{DAY}T00:00:00Z", "20260310", "10.03.2026", "", "0000-01-01", "\uff12026-03-10"]
# Values that the schema's own types refuse.
BROKEN: list[tuple[str, str, list[Any]]] = [
    ("requestBooking", "date", [*NO_DATES, 20260310, None]),
    ("createCalendarEvent", "date", NO_DATES),
    ("requestBooking", "attendees", ["5", 1.5, 2**31, None]),
    ("rejectBooking", "reason", [None, 7]),
    ("recordPayment", "amount", ["", "1,5", "NaN", "Infinity", "0x1", "1" * 41, True, None, "1e9999"]),
    ("recordPayment", "currency", [None, 978]),
    ("recordPayment", "paidAt", ["2026-03-01", "2026-03-01T12:00:00", "yesterday"]),
    ("createLocation", "lat", ["north", "", True, [1]]),
    ("approveBooking", "expectedVersion", ["1", 2**31, None]),
]


def document(field: str) -> str:
    """A mutation that shows its entity by its type, or by its value."""
    payload: Any = get_named_type(MUTATIONS[field].type)
    name, shown = next((name, shown) for name, shown in payload.fields.items() if name != "userErrors")
    return mutation(field, name if is_leaf_type(get_named_type(shown.type)) else f"{name} {{ __typename }}")


def input_fields(wanted: Callable[[Any], bool]) -> Iterator[tuple[str, str]]:
    """The input fields of a kind: a mutation and the field's name; those of events in a list are under its own."""
    for field, definition in MUTATIONS.items():
        given: Any = get_named_type(definition.args["input"].type)
        for name, value in given.fields.items():
            inner: Any = get_named_type(value.type)
            if isinstance(inner, GraphQLInputObjectType):
                yield from ((field, nested) for nested, own in inner.fields.items() if wanted(own.type))
            elif wanted(value.type):
                yield field, name


def is_single(kind: Any) -> bool:
    return not isinstance(get_nullable_type(kind), ListType)


IDS = list(input_fields(lambda kind: get_named_type(kind) is GraphQLID and is_single(kind)))
ENUMS = list(input_fields(lambda kind: isinstance(get_named_type(kind), GraphQLEnumType) and is_single(kind)))


def changed(field: str, name: str, value: object) -> tuple[dict[str, Any], list[str]]:
    """A mutation's good input but for one value, and that value's path."""
    if field == "recordAccessEvents":
        return {"events": [EVENT, {**EVENT, "eventId": "e2", name: value}]}, ["input", "events", "1", name]
    return GOOD[field] | {name: value}, ["input", name]


async def refused(api: Api, field: str, name: str, value: object, rule: str = "") -> None:
    values, path = changed(field, name, value)
    payload = await api.mutate(document(field), **values)
    (error,) = payload.pop("userErrors")
    assert list(payload.values()) == [None]
    assert error.pop("message").startswith(f"{name} {rule}"), (value, rule)
    assert error == {
        "__typename": "PlainError",
        "code": "BAD_USER_INPUT",
        "path": path,
        "status": 400,
        "retryable": False,
    }, value


async def broken(api: Api, field: str, name: str, value: object) -> dict[str, Any]:
    values, path = changed(field, name, value)
    answer = await api.send(document(field), input=values)
    assert "data" not in answer, value
    (error,) = answer["errors"]
    expected = {"code": "BAD_USER_INPUT", "status": 400, "inputPath": path, "requestId": ""}
    assert error["extensions"] | {"requestId": ""} == expected
    found: dict[str, Any] = error
    return found


def test_every_mutation_is_tried() -> None:
    assert GOOD.keys() == MUTATIONS.keys()


@pytest.mark.parametrize("field", GOOD)
async def test_what_every_refusal_here_changes_is_good_otherwise(api: Api, field: str) -> None:
    await prepare(api)
    await api.locker("l1", "ada")
    await api.reservation("r1", "l1", "ada", "2026-03-05T10:00:00Z", "2026-03-05T11:00:00Z")
    await book(api, "b1")
    for setup, values in (
        ("createCalendarEvent", {"eventId": "c0", "date": "2026-04-01"}),
        ("createApiKey", {"keyId": "k0"}),
    ):
        await api.mutate(document(setup), **GOOD[setup] | values)
    assert (await api.mutate(document(field), **GOOD[field]))["userErrors"] == []


@pytest.mark.parametrize(("field", "name"), IDS)
async def test_a_bad_id_in_an_input_is_refused_before_a_read(api: Api, wire: Wire, field: str, name: str) -> None:
    rule = "" if (field, name) == ("createLocation", "locationId") else ID_RULE
    for bad in BAD_IDS:
        await refused(api, field, name, bad, rule)
    for wrong in (1.5, True, ["l1"], {"id": "l1"}):
        await broken(api, field, name, wrong)
    assert not wire.calls


@pytest.mark.parametrize(("field", "name"), ENUMS)
async def test_an_unknown_enum_value_is_refused_with_its_place(api: Api, wire: Wire, field: str, name: str) -> None:
    for bad in ("NOPE", "", "available", 1):
        error = await broken(api, field, name, bad)
        assert "does not exist in" in error["message"] or "cannot represent" in error["message"]
    literal = json.dumps(changed(field, name, "NOPE")[0])
    for key in [*changed(field, name, "NOPE")[0], *EVENT, "events"]:
        literal = literal.replace(f'"{key}":', f"{key}:")
    for value in ("NOPE", "USER", "FULL_DAY", "MORNING", "OPEN", "SUCCESS", "DEVICE", "OCCUPIED"):
        literal = literal.replace(f'"{value}"', value)
    answer = await api.send(f"mutation {{ {field}(input: {literal}) {{ __typename }} }}")
    (error,) = answer["errors"]
    assert error["message"].startswith("Value 'NOPE' does not exist in ")
    assert error["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
    assert not wire.calls


@pytest.mark.parametrize(("field", "name", "values", "rule"), BAD)
async def test_a_value_that_breaks_a_rule_is_refused_before_a_read(
    api: Api, wire: Wire, field: str, name: str, values: list[Any], rule: str
) -> None:
    for value in values:
        await refused(api, field, name, value, rule)
    assert not wire.calls


@pytest.mark.parametrize(("field", "name", "values"), BROKEN)
async def test_a_value_of_another_type_is_refused_before_anything_runs(
    api: Api, wire: Wire, field: str, name: str, values: list[Any]
) -> None:
    for value in values:
        await broken(api, field, name, value)
    assert not wire.calls


async def test_every_problem_of_an_input_is_named_at_once(api: Api, wire: Wire) -> None:
    bad = {"locationId": "a#b", "ownerId": "", "description": "", "attendees": 0}
    payload = await api.mutate(document("requestBooking"), **GOOD["requestBooking"] | bad)
    assert [error["path"] for error in payload["userErrors"]] == [["input", name] for name in bad]
    assert not wire.calls


@pytest.mark.parametrize("name", ["x", "x" * 200, "🔒" * 200, "Zoë Ångström-李"])
async def test_a_name_of_any_script_and_up_to_200_characters_is_taken(api: Api, name: str) -> None:
    payload = await api.mutate(mutation("createOwner", "owner { name }"), kind="USER", name=name)
    assert payload == {"owner": {"name": name}, "userErrors": []}


QUERIES = {
    "locker(lockerId: $value) { status }": "lockerId",
    "locker(lockerId: $value) { latestEvent { id } }": "lockerId",
    "locker(lockerId: $value, consistent: true) { status }": "lockerId",
    "owner(ownerId: $value) { name }": "ownerId",
    "owner(ownerId: $value) { lockers { nextCursor } }": "ownerId",
    "apiKey(keyId: $value) { name }": "keyId",
    'reservation(lockerId: $value, reservationId: "r1") { status }': "lockerId",
    'reservation(lockerId: "l1", reservationId: $value) { status }': "reservationId",
    "location(locationId: $value) { code }": "locationId",
    "booking(bookingId: $value) { date }": "bookingId",
    "locationByCode(code: $value) { name }": "code",
    "ownerByEmail(email: $value) { ownerId }": "email",
}


@pytest.mark.parametrize("query", QUERIES)
async def test_a_bad_id_code_or_address_in_a_query_is_refused_before_a_read(api: Api, wire: Wire, query: str) -> None:
    argument = QUERIES[query]
    kind = "String!" if argument in {"code", "email"} else "ID!"
    for bad in BAD_EMAILS if argument == "email" else BAD_IDS:
        answer = await api.send(f"query ($value: {kind}) {{ {query} }}", value=bad)
        (root,) = answer["data"]
        (error,) = answer["errors"]
        assert (answer["data"], error["path"]) == ({root: None}, [root])
        rule = {"code": "", "email": EMAIL_RULE}.get(argument, ID_RULE)
        assert error["message"].startswith(f"{argument} {rule}")
        assert error["extensions"] | {"requestId": ""} == {
            "code": "BAD_USER_INPUT",
            "status": 400,
            "inputPath": [argument],
            "requestId": "",
        }
    assert not wire.calls


@pytest.mark.parametrize("field", ["calendar", "availability"])
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
async def test_a_window_of_days_that_is_backward_too_long_or_no_dates_is_refused(
    api: Api, wire: Wire, field: str, window: dict[str, str | None], place: list[str]
) -> None:
    await prepare(api)
    wire.reset()
    shown = f"{field}(window: $window) {{ date }}"
    query = f'query ($window: DateWindow!) {{ location(locationId: "{ulid(0)}") {{ {shown} }} }}'
    (error,) = (await api.send(query, window=window))["errors"]
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", place)
    assert "Query" not in wire.operations


@pytest.mark.parametrize("half", ['{ from: "2026-03-01" }', '{ to: "2026-03-01" }', "{}"])
async def test_a_window_of_days_without_both_its_ends_is_no_valid_document(api: Api, half: str) -> None:
    answer = await api.send(f'{{ location(locationId: "{ulid(0)}") {{ calendar(window: {half}) {{ date }} }} }}')
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"GRAPHQL_VALIDATION_FAILED"}


@pytest.mark.parametrize(
    ("field", "name"), [*IDS, ("createOwner", "email"), ("renameLocker", "alias"), ("recordAccessEvent", "metadata")]
)
async def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands(
    api: Api, wire: Wire, field: str, name: str
) -> None:
    value: object = {"deep": ["HALF"]} if name == "metadata" else "HALF"
    values, _ = changed(field, name, value)
    for half in ("\\ud800", "\\udc00x", "x\\ud800\\ud800"):
        body = json.dumps({"query": document(field), "variables": {"input": values}}).replace("HALF", half)
        response = await api.client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
        (error,) = response.json()["errors"]
        assert (response.status_code, error["message"]) == (400, "The request is not valid JSON.")
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert not wire.calls
