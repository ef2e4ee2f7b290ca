import asyncio
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from loaders.backend import Backend
from tests.api import RENAME, TRANSFER, UPDATE_STATUS, Api, mutation, unchanged
from tests.codes import Device
from tests.conftest import NOW, Clock, Dump, Prepared
from tests.inputs import CHOSEN_IDS, GOOD, MUTATIONS, document
from tests.inputs import stock as stock_all
from tests.invariants import check_invariants
from tests.places import approve, book, create_location, refusal, ulid
from tests.principals import owner
from tests.wire import WRITES, Answer, Call, Lose, Meeting, Twice, Wire, conflict, once

INPUTS = GOOD | {
    "moveLocker from another location": {"lockerId": "l2", "newLocationId": ulid(1), "expectedVersion": 1},
    "cancelBooking once approved": {"bookingId": "approved"},
}
WITHOUT_IDS = {
    name: {field: value for field, value in content.items() if field != CHOSEN_IDS.get(name)}
    for name, content in INPUTS.items()
} | {"recordAccessEvents": {"events": [GOOD["recordAccessEvent"] | {"eventId": None}] * 2}}
WITH_IDS = {
    name: content | ({"changeId": "c1"} if "expectedVersion" in content else {}) for name, content in INPUTS.items()
}
EVERY_MUTATION = pytest.mark.parametrize("name", INPUTS)
CHANGE = {"lockerId": "l1", "expectedVersion": 1, "changeId": "c1"}


async def stock(api: Api, backend: Backend) -> None:
    await stock_all(api, backend)
    await create_location(api, 1)
    await book(api, "approved", date="2026-03-11")
    await approve(api, "approved")


@pytest_asyncio.fixture
async def ready(api: Api, wire: Wire, prepared: Prepared, backend: Backend) -> Api:
    await prepared(stock, api, backend)
    wire.reset()
    return api


def document_of(name: str) -> str:
    return document(name.partition(" ")[0])


async def change(api: Api, name: str, content: dict[str, Any] | None = None) -> tuple[list[Any], dict[str, Any]]:
    """The user errors and the result of a mutation, without a key's secret, which only its first answer has."""
    payload = await api.mutate(document_of(name), **content or WITH_IDS[name])
    payload.pop("secret", None)
    return payload.pop("userErrors"), payload


def lost_then_forgotten() -> Callable[[Call], Lose | None]:
    """The first answer is lost, and then the store has forgotten the tokens that it knew, as after a restart."""
    lose = once(Lose(), *WRITES)

    def fault(call: Call) -> Lose | None:
        lost: Lose | None = lose(call)
        if lost is None and "ClientRequestToken" in call.request:
            call.request["ClientRequestToken"] = str(uuid4())
        return lost

    return fault


def check_sent_twice(wire: Wire) -> None:
    """One write was sent two times, whatever its tokens."""
    sent = [call.request | {"ClientRequestToken": None} for call in wire.calls if call.operation in WRITES]
    assert len(sent) == 2
    assert len({json.dumps(request, sort_keys=True) for request in sent}) == 1


def test_every_mutation_is_tested_here() -> None:
    assert GOOD.keys() == MUTATIONS.keys()


@EVERY_MUTATION
async def test_a_change_that_is_delivered_twice_has_one_effect(ready: Api, wire: Wire, dump: Dump, name: str) -> None:
    wire.fault = lambda call: Twice() if call.operation == "TransactWriteItems" else None
    first = await change(ready, name)
    assert first[0] == []
    assert wire.operations["TransactWriteItems"] == 1
    check_invariants(await dump(), NOW)
    wire.reset()
    async with unchanged(dump):
        assert await change(ready, name) == first


@EVERY_MUTATION
async def test_a_mutation_sent_many_times_at_once_has_one_effect(ready: Api, wire: Wire, dump: Dump, name: str) -> None:
    before = await dump()
    times = 10 if name in CHOSEN_IDS else 2
    wire.fault = Meeting(times)
    first, *others = await asyncio.gather(*(change(ready, name) for _ in range(times)))
    assert others == [first] * (times - 1)
    assert first[0] == []
    after = await dump()
    check_invariants(after, NOW)
    versions = [
        item["version"] - before[key]["version"] for key, item in after.items() if "version" in before.get(key, {})
    ]
    assert set(versions) <= {0, 1}
    wire.reset()
    async with unchanged(dump):
        assert await change(ready, name) == first


@EVERY_MUTATION
async def test_conflicts_of_transactions_are_none_for_the_client(ready: Api, wire: Wire, dump: Dump, name: str) -> None:
    left = [True] * 3
    wire.fault = lambda call: conflict(call) if call.operation == "TransactWriteItems" and left and left.pop() else None
    assert (await change(ready, name))[0] == []
    tokens = [call.request["ClientRequestToken"] for call in wire.of("TransactWriteItems")]
    assert (len(tokens), len(set(tokens))) == (4, 1)
    check_invariants(await dump(), NOW)


@EVERY_MUTATION
async def test_a_store_that_takes_nothing_leaves_nothing_behind(ready: Api, wire: Wire, dump: Dump, name: str) -> None:
    wire.fault = lambda call: (
        Answer.error("ProvisionedThroughputExceededException") if call.operation == "TransactWriteItems" else None
    )
    async with unchanged(dump):
        answer = await ready.send(document_of(name), input=INPUTS[name])
    has_results = "results" in document_of(name)  # of which each may fail
    assert answer["data"] == ({name: {"results": [None], "userErrors": []}} if has_results else None)
    (error,) = answer["errors"]
    assert (error["extensions"]["code"], error["extensions"]["status"]) == ("UNAVAILABLE", 503)
    assert wire.operations["TransactWriteItems"] == 3


@pytest.mark.parametrize("is_forgotten", [False, True])
@pytest.mark.parametrize(
    ("name", "content"),
    [*WITH_IDS.items(), *((name, content) for name, content in WITHOUT_IDS.items() if content != WITH_IDS[name])],
)
async def test_a_lost_answer_is_found_again_within_the_request(
    ready: Api, wire: Wire, dump: Dump, name: str, content: dict[str, Any], *, is_forgotten: bool
) -> None:
    wire.fault = lost_then_forgotten() if is_forgotten else once(Lose(), *WRITES)
    payload = await ready.mutate(document_of(name), **content)
    assert payload.pop("userErrors") == []
    assert name == "verifyAccessCode" or None not in payload.values()
    check_sent_twice(wire)
    check_invariants(await dump(), NOW)


@EVERY_MUTATION
async def test_a_mutation_that_was_never_answered_is_repeated_by_its_client_much_later(
    ready: Api, wire: Wire, dump: Dump, clock: Clock, name: str
) -> None:
    before = await dump()
    wire.fault = lambda call: Lose() if call.operation in WRITES else None
    (error,) = (await ready.send(document_of(name), input=WITH_IDS[name]))["errors"]
    assert error["extensions"]["code"] == "UNAVAILABLE"
    after = await dump()
    assert after != before
    check_invariants(after, clock.now)
    wire.reset()
    clock.move(minutes=11)  # the store knows a token for ten minutes
    errors, payload = await change(ready, name)
    assert errors == []
    assert name == "verifyAccessCode" or None not in payload.values()
    assert await dump() == after


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("verifyAccessCode", {"digits": "000000", "attemptId": "a9"}),
        ("clearLockout", {}),
        ("provisionDevice", {"generation": 2}),
        ("acknowledgeAccessCodes", {"revision": None}),
        ("reportAccessCodeUse", {"codeId": "booked", "eventId": "u1", "usedAt": "2026-03-01T11:00:00Z"}),
    ],
)
async def test_a_lost_answer_at_the_door_of_a_location_leaves_one_effect(
    ready: Api, wire: Wire, dump: Dump, name: str, more: dict[str, Any]
) -> None:
    door = {"locationId": ulid(0)}
    for field, values in (
        ("createAccessCode", {"kind": "BOOKING", "bookingId": "approved", "codeId": "booked"}),
        ("provisionDevice", door | {"generation": 1}),
        ("verifyAccessCode", door | {"digits": "000000", "attemptId": "a1"}),
    ):
        assert (await change(ready, field, values))[0] == []
    if "revision" in more:
        more = {"revision": (await Device(ready, "00", **door).listed())["revision"]}
    wire.reset()
    wire.fault = lost_then_forgotten()
    first = await change(ready, name, door | more)
    assert first[0] == []
    check_sent_twice(wire)
    check_invariants(await dump(), NOW)
    async with unchanged(dump):
        assert await change(ready, name, door | more) == first


async def test_a_change_id_belongs_to_one_change(ready: Api, dump: Dump) -> None:
    occupied = CHANGE | {"newStatus": "OCCUPIED"}
    first = await ready.mutate(UPDATE_STATUS, **occupied)
    async with unchanged(dump):
        assert await ready.mutate(UPDATE_STATUS, **occupied) == first
        for document, other in (
            (UPDATE_STATUS, occupied | {"newStatus": "MAINTENANCE"}),
            (UPDATE_STATUS, occupied | {"expectedVersion": 2}),
            (mutation("renameLocker", "locker { version }"), CHANGE | {"alias": "A"}),
        ):
            assert refusal(await ready.mutate(document, **other)) == ("ID_TAKEN", 409, ["input", "changeId"])
    payload = await ready.mutate(RENAME, lockerId="l1", alias="A", expectedVersion=2, changeId="c2")
    assert payload["userErrors"] == []
    # Only the latest change is known.
    assert refusal(await ready.mutate(UPDATE_STATUS, **occupied))[0] == "VERSION_CONFLICT"


async def test_only_the_member_who_gave_a_locker_to_its_organization_may_repeat_that(ready: Api, dump: Dump) -> None:
    await ready.owner("acme", kind="ORGANIZATION")
    given = CHANGE | {"newOwnerId": "acme"}
    first = await ready.by(owner("ada", "acme")).mutate(TRANSFER, **given)
    assert first["userErrors"] == []
    async with unchanged(dump):
        assert await ready.by(owner("ada", "acme")).mutate(TRANSFER, **given) == first
        for other, expected in ((owner("bob", "acme"), "FORBIDDEN"), (owner("acme"), "ID_TAKEN")):
            payload = await ready.by(other).mutate(TRANSFER, **given)
            assert [error["code"] for error in payload["userErrors"]] == [expected]
            assert payload["locker"] is None
