from collections.abc import Callable
from typing import Any

import pytest

from domain.models import Locker
from loaders.backend import Backend
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.table.errors import UnreadKeysError
from tests import places
from tests.api import CREATE_RESERVATION, REGISTER_LOCKER, UPDATE_STATUS, Api, unchanged
from tests.conftest import Dump
from tests.reservations import hours
from tests.wire import Answer, Call, Lose, Wire, conflict, once

VERSION = '{ locker(lockerId: "l1") { version } }'

BESIDE_ANOTHER = '{ locker(lockerId: "l1") { version } another: locker(lockerId: "l1") { version } }'


def _answer_with_a_list(call: Call) -> None:
    call.response = []  # type: ignore[assignment]  # it is no answer of a store


UNUSUAL: dict[str, tuple[Any, Callable[[Call], Any], int, str | None]] = {
    "throttled": (Answer.error("ThrottlingException"), lambda _: None, 2, None),
    "lost": (Lose(), lambda _: None, 2, None),
    "no JSON object": (None, _answer_with_a_list, 3, "UNAVAILABLE"),
    "refused": (Answer.error("ValidationException"), lambda _: None, 1, "INTERNAL_SERVER_ERROR"),
    "no item": (None, lambda call: call.response.pop("Item"), 1, "NOT_FOUND"),
    "no units": (None, lambda call: call.response.pop("ConsumedCapacity"), 1, None),
    "damaged": (None, lambda call: call.response["Item"].pop("version"), 1, "INTERNAL_SERVER_ERROR"),
    "of another kind": (
        None,
        lambda call: call.response["Item"].update(entityType={"S": "Owner"}),
        1,
        "INTERNAL_SERVER_ERROR",
    ),
    "with more than we know": (None, lambda call: call.response["Item"].update(more={"NULL": True}), 1, None),
}
"""By name: a fault of the first answer, a change of every answer, how often it is asked for, and the error's code."""


def code(answer: dict[str, Any]) -> str:
    (error,) = answer["errors"]
    return str(error["extensions"]["code"])


async def test_a_failed_condition_beside_a_conflict_is_asked_again_until_it_fails_alone(one: Api, wire: Wire) -> None:
    wire.fault = once(Answer.canceled("TransactionConflict", "None", "ConditionalCheckFailed"), "TransactWriteItems")
    payload = await one.mutate(REGISTER_LOCKER, lockerId="new", ownerId="nobody")
    assert places.refusal(payload) == ("NOT_FOUND", 404, ["input", "ownerId"])
    assert wire.operations == {"TransactWriteItems": 2}
    assert len({call.request["ClientRequestToken"] for call in wire.calls}) == 1


async def test_conflicts_without_end_become_unavailable(one: Api, wire: Wire, dump: Dump) -> None:
    wire.fault = lambda call: conflict(call) if call.operation == "TransactWriteItems" else None
    async with unchanged(dump):
        change = {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 1}
        assert code(await one.send(UPDATE_STATUS, input=change)) == "UNAVAILABLE"


async def test_a_key_that_is_never_read_is_an_error_and_not_a_null(backend: Backend, two: Api, wire: Wire) -> None:
    def all_but_the_first(call: Call) -> None:
        ((table, part),) = call.request["RequestItems"].items()
        left_out = [key for key in part["Keys"] if key["PK"]["S"] != "LOCKER#l1"]
        answered = call.response["Responses"][table]
        call.response["Responses"][table] = [item for item in answered if item["PK"]["S"] == "LOCKER#l1"]
        call.response["UnprocessedKeys"] = {table: {**part, "Keys": left_out}}

    assert two
    wire.amend = all_but_the_first
    read, *unread = await LOCKER_BY_ID.read_many(backend.store, [("l1",), ("l2",), ("missing",)])
    assert isinstance(read, Locker)
    assert [type(error) for error in unread] == [UnreadKeysError] * 2


async def test_a_write_is_refused_where_a_key_that_decides_is_never_read(one: Api, wire: Wire) -> None:
    wire.fault = lambda call: (
        Answer(200, {"Responses": {}, "UnprocessedKeys": call.request["RequestItems"]})
        if call.operation == "BatchGetItem"
        else None
    )
    answer = await one.send(CREATE_RESERVATION, input={"lockerId": "l1", "ownerId": "ada", **hours(1, 2)})
    assert code(answer) == "UNAVAILABLE"
    assert "TransactWriteItems" not in wire.operations


@pytest.mark.parametrize("name", UNUSUAL)
async def test_a_look_up_is_told_of_an_unusual_answer_alone_as_beside_another(one: Api, wire: Wire, name: str) -> None:
    """The only look-up of an operation takes a way of its own, as long as its answer is usual."""
    fault, wire.amend, asked, expected = UNUSUAL[name]
    told = []
    for document in (VERSION, BESIDE_ANOTHER):
        wire.calls, wire.fault = [], once(fault, "GetItem")
        answer = await one.send(document)
        errors = [error for error in answer.get("errors", []) if error["path"] == ["locker"]]
        told.append((answer["data"]["locker"], [error["extensions"]["code"] for error in errors]))
        assert wire.operations == {"GetItem": asked}
    assert told == [({"version": 1}, []) if expected is None else (None, [expected])] * 2
