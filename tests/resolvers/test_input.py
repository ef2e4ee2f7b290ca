import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from graphql import GraphQLEnumType, GraphQLID, GraphQLInputObjectType, get_named_type, get_nullable_type
from graphql import GraphQLList as ListType

from domain.times import Instant
from loaders.backend import Backend
from tests.api import Api
from tests.conftest import Clock, Prepared
from tests.inputs import GOOD, MUTATIONS, document, stock
from tests.places import DAY, prepare, ulid
from tests.wire import Wire

ID_RULE = "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"
BAD_IDS = ["", "#", "a#b", "a b", " a", "a ", "a\n", "é", "a/b", "a.b", "~", "a\u0000", "l" * 65]
EMAIL_RULE = "must be an email address such as ada@example.com"
ADDRESS = ("formattedAddress", "street", "city", "region", "country", "postalCode", "placeId", "lat", "lng")
# Values of the right type that a rule refuses; the rules themselves are tested in the domain.
BAD: list[tuple[str, str, Any, str]] = [
    ("createOwner", "email", "ada", EMAIL_RULE),
    ("renameLocker", "alias", "x" * 201, "must have 1 to 200 characters"),
    ("createLocation", "locationId", "place", "must be a ULID"),
    ("createLocation", "lat", "90.00000000000000000001", "must be 90 or less"),
    ("updateLocation", "timeZone", None, "must not be null"),
    ("requestBooking", "attendees", 0, "must be 1 or more"),
    ("recordPayment", "amount", "0.00001", "must have 4 decimals or fewer"),
    ("recordPayment", "currency", "XXX", "must be"),
    ("recordAccessEvent", "action", "OVERSTAY", "must not be OVERSTAY"),
]
NO_DATES = ["2026-02-30", "26-1-1", f"{DAY}T00:00:00Z", "20260310", "10.03.2026", "", "0000-01-01", "\uff12026-03-10"]
NO_TIMES = {
    "2026-03-02T10:00:00": "has no time zone: add Z or an offset such as +02:00.",
    "2026-03-02T24:00:00Z": "has an invalid hour: a day ends at 23:59:59.999.",
    "2026-02-29T00:00:00Z": "is not a valid time",
    "RES#ACTIVE": "is not an RFC 3339 time such as 2026-03-01T09:30:00Z.",
    1767225600: 'DateTime must be a string such as "2026-03-01T12:00:00Z".',
}
# Values that the schema's own types refuse.
BROKEN: list[tuple[str, str, list[Any]]] = [
    ("requestBooking", "attendees", ["5", 1.5, 2**31, None]),
    ("rejectBooking", "reason", [None, 7]),
    ("recordPayment", "amount", ["", "1,5", "NaN", "Infinity", "0x1", "1" * 41, True, None, "1e9999"]),
    ("recordPayment", "currency", [None, 978]),
    ("createLocation", "lat", ["north", "", True, [1]]),
    ("approveBooking", "expectedVersion", ["1", 2**31, None]),
]


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
DATES = list(input_fields(lambda kind: get_named_type(kind).name == "Date"))
TIMES = list(input_fields(lambda kind: get_named_type(kind).name == "DateTime"))
BROKEN += [(field, name, [*NO_DATES, 20260310]) for field, name in DATES]
BROKEN += [(field, name, ["NOPE", "", "available", 1]) for field, name in ENUMS]


def changed(field: str, name: str, value: object) -> tuple[dict[str, Any], list[str]]:
    """A mutation's good input but for one value, and that value's path."""
    if field == "recordPayment" and name in {"amount", "currency"}:
        return GOOD[field] | {"amount": {"amount": 1, "currency": "EUR", name: value}}, ["input", "amount", name]
    if name in ADDRESS:
        return GOOD[field] | {"address": {name: value}}, ["input", "address", name]
    for entries, listed in GOOD[field].items():
        if isinstance(listed, list) and isinstance(listed[0], dict):
            more = {entries: [*listed, listed[-1] | {name: value}]}
            return GOOD[field] | more, ["input", entries, str(len(listed)), name]
    return GOOD[field] | {name: value}, ["input", name]


async def refused(api: Api, field: str, name: str, value: object, rule: str = "") -> None:
    values, path = changed(field, name, value)
    payload = await api.mutate(document(field), **values)
    (error,) = payload.pop("userErrors")
    assert set(payload.values()) == {None}
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
async def test_every_input_that_is_changed_here_is_valid_otherwise(
    api: Api, prepared: Prepared, backend: Backend, field: str
) -> None:
    await prepared(stock, api, backend)
    assert (await api.mutate(document(field), **GOOD[field]))["userErrors"] == []


@pytest.mark.parametrize("field", GOOD)
async def test_a_bad_id_in_an_input_is_refused_before_a_read(api: Api, wire: Wire, field: str) -> None:
    for name in (name for mutation, name in IDS if mutation == field):
        rule = "" if (field, name) == ("createLocation", "locationId") else ID_RULE
        for bad in BAD_IDS:
            await refused(api, field, name, bad, rule)
        for wrong in (1.5, True, ["l1"], {"id": "l1"}):
            await broken(api, field, name, wrong)
    assert not wire.calls


@pytest.mark.parametrize(("field", "name", "value", "rule"), BAD)
async def test_a_value_that_breaks_a_rule_is_refused_before_a_read(
    api: Api, wire: Wire, field: str, name: str, value: Any, rule: str
) -> None:
    await refused(api, field, name, value, rule)
    assert not wire.calls


@pytest.mark.parametrize(("field", "name", "values"), BROKEN)
async def test_a_value_of_another_type_is_refused_before_anything_runs(
    api: Api, wire: Wire, field: str, name: str, values: list[Any]
) -> None:
    for value in values:
        await broken(api, field, name, value)
    assert not wire.calls


@pytest.mark.parametrize(("field", "name"), TIMES)
async def test_an_invalid_time_in_an_input_is_refused_with_reason(api: Api, wire: Wire, field: str, name: str) -> None:
    for bad, message in NO_TIMES.items():
        assert message in (await broken(api, field, name, bad))["message"]
    assert not wire.calls


async def test_an_invalid_time_in_a_window_is_refused_with_its_place(api: Api, wire: Wire) -> None:
    shown = "reservations(window: $window) { nextCursor }"
    query = f'query ($window: TimeWindow) {{ locker(lockerId: "l1") {{ {shown} }} }}'
    for bad, message in NO_TIMES.items():
        for bound in ("from", "to"):
            (error,) = (await api.send(query, window={bound: bad}))["errors"]
            assert message in error["message"]
            assert error["extensions"]["inputPath"] == ["window", bound]
    (error,) = (await api.send(query.replace("$window)", '{ from: "now" })').replace("($window: TimeWindow)", "")))[
        "errors"
    ]
    assert (error["extensions"]["code"], error["locations"]) == (
        "GRAPHQL_VALIDATION_FAILED",
        [{"line": 1, "column": 64}],
    )
    assert not wire.calls


async def test_the_last_moments_that_can_be_named_can_be_reserved(one: Api, clock: Clock) -> None:
    clock.now = Instant("9999-12-31T00:00:00.000Z")
    window = {"startAt": "9999-12-31T00:00:00Z", "endAt": "9999-12-31T23:59:59.999Z"}
    values = {"lockerId": "l1", "ownerId": "ada", **window}
    assert (await one.mutate(document("createReservation"), **values))["userErrors"] == []


# Words of the libraries beneath. What GraphQL itself says of a value of the wrong type is part of the language.
FOREIGN = re.compile(
    r"instance>|Decimal\(|NoneType|be None|<class|pydantic|Value error|should |after valid|"
    r"valid (string|integer|list|dict)"
)
ODD: list[Any] = [None, True, -1, 0, 1.5, 2**40, 1e30, "", "x", "\x00", "x" * 3000, "1e3"]
ODD += [[], ["x"] * 30, [1.5], {}, {"x": 1.5}]


def places_in(kind: Any) -> Iterator[list[Any]]:
    """Every place in an input; of a list, the first entry."""
    for name, field in get_named_type(kind).fields.items():
        yield [name]
        if isinstance(get_named_type(field.type), GraphQLInputObjectType):
            first = [] if is_single(field.type) else [0]
            yield from ([name, *first, *path] for path in places_in(field.type))


def with_value(good: Any, path: list[Any], value: Any) -> Any:
    """The same input with another value at one place."""
    if not path:
        return value
    if isinstance(good, list):
        return [with_value(good[0], path[1:], value), *good[1:]]
    given = dict(good or {})
    return given | {path[0]: with_value(given.get(path[0]), path[1:], value)}


@pytest.mark.parametrize("field", GOOD)
async def test_no_message_about_an_odd_value_is_in_the_words_of_a_library(api: Api, field: str) -> None:
    for path in places_in(MUTATIONS[field].args["input"].type):
        for odd in ODD:
            answer = await api.send(document(field), input=with_value(GOOD[field], path, odd))
            said = [error["message"] for error in answer.get("errors", ())]
            for payload in (answer.get("data") or {}).values():
                said += [error["message"] for error in payload["userErrors"]]
            assert not any(map(FOREIGN.search, said)), (path, odd, said)


async def test_every_problem_of_an_input_is_named_at_once(api: Api, wire: Wire) -> None:
    bad = {"locationId": "a#b", "ownerId": "", "description": "", "attendees": 0}
    payload = await api.mutate(document("requestBooking"), **GOOD["requestBooking"] | bad)
    assert [error["path"] for error in payload["userErrors"]] == [["input", name] for name in bad]
    assert not wire.calls


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
    for bad in ("ada", "ada@@example.com") if argument == "email" else BAD_IDS:
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
