"""Times and windows that break a rule, wherever a time is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.api import mutation

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Wire

RESERVE = mutation("createReservation", "reservation { id }")
EXTEND = mutation("extendReservation", "reservation { id }")
RECORD = mutation("recordAccessEvent", "accessEvent { id }")
RECORD_ALL = mutation("recordAccessEvents", "accessEvents { id }")
WINDOW = "query ($window: TimeWindow) { %s(%s) { %s(window: $window) { nextCursor } } }"
LISTS = [
    ("locker", 'lockerId: "l1"', "reservations"),
    ("locker", 'lockerId: "l1"', "accessEvents"),
    ("owner", 'ownerId: "ada"', "reservations"),
]

RESERVATION = {
    "lockerId": "l1",
    "reservationId": "r1",
    "ownerId": "ada",
    "startAt": "2026-03-02T10:00:00Z",
    "endAt": "2026-03-02T12:00:00Z",
}
EVENT = {"lockerId": "l1", "eventId": "e1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
PLACES: list[tuple[str, Callable[[Any], dict[str, Any]], list[str]]] = [
    (RESERVE, lambda time: {"input": RESERVATION | {"startAt": time}}, ["input", "startAt"]),
    (RESERVE, lambda time: {"input": RESERVATION | {"endAt": time}}, ["input", "endAt"]),
    (
        EXTEND,
        lambda time: {"input": {"lockerId": "l1", "reservationId": "r1", "newEndAt": time}},
        ["input", "newEndAt"],
    ),
    (RECORD, lambda time: {"input": EVENT | {"timestamp": time}}, ["input", "timestamp"]),
    (
        RECORD_ALL,
        lambda time: {"input": {"events": [EVENT, EVENT | {"eventId": "e2", "timestamp": time}]}},
        ["input", "events", "1", "timestamp"],
    ),
    *((WINDOW % where, lambda time: {"window": {"from": time}}, ["window", "from"]) for where in LISTS),
    *((WINDOW % where, lambda time: {"window": {"to": time}}, ["window", "to"]) for where in LISTS),
]
TEXT = 'DateTime must be a string such as "2026-03-01T12:00:00Z".'
# The rules of times are tested in the domain; each kind of refusal is here once.
BAD_TIMES = [
    ("2026-03-02T10:00:00", "has no time zone: add Z or an offset such as +02:00."),
    ("2026-03-02T24:00:00Z", "has an invalid hour: a day ends at 23:59:59.999."),
    ("2026-02-29T00:00:00Z", "is not a valid time"),
    ("RES#ACTIVE", "is not an RFC 3339 time such as 2026-03-01T09:30:00Z."),
    (1767225600, TEXT),
    (1.5, TEXT),
    (["2026-03-02T10:00:00Z"], TEXT),
]


@pytest.mark.parametrize(("document", "variables", "path"), PLACES)
async def test_an_invalid_time_in_a_variable_is_refused_with_its_path(
    api: Api, wire: Wire, document: str, variables: Callable[[Any], dict[str, Any]], path: list[str]
) -> None:
    for bad, message in BAD_TIMES:
        answer = await api.send(document, **variables(bad))
        (error,) = answer["errors"]
        assert "data" not in answer
        assert message in error["message"]
        assert error["extensions"] | {"requestId": ""} == {
            "code": "BAD_USER_INPUT",
            "status": 400,
            "inputPath": path,
            "requestId": "",
        }
    assert not wire.calls


@pytest.mark.parametrize("bad", ['"2026-03-02T10:00:00"', '"now"', '"2026-03-02T24:00:00Z"', "1767225600", "NOW"])
async def test_an_invalid_time_in_the_document_fails_validation_with_its_location(
    api: Api, wire: Wire, bad: str
) -> None:
    answer = await api.send(
        f'{{ locker(lockerId: "l1") {{ reservations(window: {{ from: {bad} }}) {{ nextCursor }} }} }}'
    )
    (error,) = answer["errors"]
    assert "data" not in answer
    assert "DateTime" in error["message"]
    assert error["locations"] == [{"line": 1, "column": 57}]
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("GRAPHQL_VALIDATION_FAILED", 400)
    assert not wire.calls


@pytest.mark.parametrize("where", LISTS)
async def test_a_window_that_ends_before_it_begins_is_refused_without_a_query(
    one: Api, wire: Wire, where: tuple[str, str, str]
) -> None:
    window = {"from": "2026-03-02T10:00:00.001Z", "to": "2026-03-02T10:00:00Z"}
    answer = await one.send(WINDOW % where, window=window)
    (error,) = answer["errors"]
    assert answer["data"] == {where[0]: {where[2]: None}}
    assert error["message"] == "window.from must not be after window.to."
    assert error["path"] == [where[0], where[2]]
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", ["window", "from"])
    assert wire.operations["Query"] == 0


async def test_the_last_moments_that_can_be_named_can_be_reserved(one: Api, clock: Any) -> None:
    clock.now = "9999-12-31T00:00:00.000Z"
    window = {"startAt": "9999-12-31T00:00:00Z", "endAt": "9999-12-31T23:59:59.999Z"}
    assert (await one.mutate(RESERVE, **RESERVATION | window))["userErrors"] == []
