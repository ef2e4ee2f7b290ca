import asyncio
from typing import Any

import pytest
import pytest_asyncio

from domain.activity import ActivityKind
from loaders.codecs import LOG_ENTRY
from loaders.contracts.cost import Cost
from loaders.log import activities_of
from tests.api import REGISTER_LOCKER, UPDATE_STATUS, Api, mutation, unchanged, user_error
from tests.conftest import NOW, Clock, Dump, Prepared
from tests.invariants import check_invariants
from tests.places import create_location, ulid
from tests.principals import owner
from tests.resolvers.plans import price
from tests.wire import Answer, Call, Meeting, Wire

MOST = 25
ERRORS = "userErrors { __typename message code path status retryable ... on VersionConflictError { currentVersion } }"
RESULTS = f"results {{ locker {{ lockerId status size reservableBy version }} {ERRORS} }}"
CHANGE, REGISTER = (mutation(name, RESULTS) for name in ("changeLockers", "registerLockers"))
ONE_STATUS, ONE_SIZE = (mutation(name, "locker { lockerId }") for name in ("updateLockerStatus", "configureLocker"))
LOCKERS = [f"l{number:02d}" for number in range(MOST)]


async def stock(api: Api) -> None:
    for name in ("ada", "bob"):
        await api.owner(name)
    await create_location(api, 0)
    new = [{"lockerId": one, "ownerId": "ada", "locationId": ulid(0)} for one in LOCKERS[1:]]
    await api.done(REGISTER, lockers=[{"lockerId": LOCKERS[0], "ownerId": "bob"}, *new])


@pytest_asyncio.fixture
async def stocked(api: Api, prepared: Prepared, wire: Wire) -> Api:
    """25 lockers, all but the first of one owner and at one location."""
    await prepared(stock, api)
    wire.reset()
    return api


def change(locker_id: str, **values: Any) -> dict[str, Any]:
    return {"lockerId": locker_id, "expectedVersion": 1, **values}


def rooted(error: dict[str, Any], position: int) -> dict[str, Any]:
    """An error of a single mutation as it is in the result of an entry."""
    return error | {"path": ["input", "lockers", str(position), *error["path"][1:]]}


async def test_25_lockers_are_read_at_once_and_changed_by_one_transaction_each(
    stocked: Api, wire: Wire, dump: Dump
) -> None:
    statuses, others = LOCKERS[:13], LOCKERS[13:]
    changes = [change(one, newStatus="MAINTENANCE") for one in statuses]
    changes += [change(one, size="XL", reservableBy="EVERYONE") for one in others]
    before = await dump()
    wire.fault = Meeting(5)
    payload = await stocked.done(CHANGE, lockers=changes[::-1])
    assert [result["locker"] for result in payload["results"]] == [
        {"lockerId": one, "status": "AVAILABLE", "size": "XL", "reservableBy": "EVERYONE", "version": 2}
        if one in others
        else {"lockerId": one, "status": "MAINTENANCE", "size": "M", "reservableBy": "MEMBERS", "version": 2}
        for one in LOCKERS[::-1]
    ]
    assert wire.operations == {"BatchGetItem": 2, "TransactWriteItems": MOST}
    assert [len(call.keys) for call in wire.of("BatchGetItem")] == [len(statuses), len(others)]
    assert all(
        part["ConsistentRead"] for call in wire.of("BatchGetItem") for part in call.request["RequestItems"].values()
    )
    assert wire.most_running == 5
    after = await dump()
    check_invariants(after, NOW)
    entries = [item for key, item in after.items() if key not in before and item["entityType"] == LOG_ENTRY.entity_type]
    told = [activity.happening for entry in entries for activity in activities_of(LOG_ENTRY.decode(entry))]
    assert len(entries) == len(told) == MOST
    assert {one.locker_id: one.kind for one in told} == {
        **dict.fromkeys(statuses, ActivityKind.LOCKER_STATUS_CHANGED),
        **dict.fromkeys(others, ActivityKind.LOCKER_CHANGED),
    }


async def test_25_lockers_are_registered_one_after_another(stocked: Api, wire: Wire, dump: Dump) -> None:
    new = [{"lockerId": f"new-{one}", "ownerId": "ada", "locationId": ulid(0)} for one in LOCKERS]
    payload = await stocked.done(REGISTER, lockers=new)
    assert [result["locker"]["lockerId"] for result in payload["results"]] == [one["lockerId"] for one in new]
    assert wire.operations == {"TransactWriteItems": MOST}
    assert wire.most_running == 1
    check_invariants(await dump(), NOW)
    async with unchanged(dump):
        assert await stocked.done(REGISTER, lockers=new) == payload


async def test_each_locker_has_the_error_of_its_own_mutation(stocked: Api, dump: Dump) -> None:
    await stocked.done(UPDATE_STATUS, **change("l03", newStatus="MAINTENANCE"))
    ada = stocked.by(owner("ada"))
    changes = [
        change("l00", newStatus="OCCUPIED"),  # of another owner
        change("nothing", size="L"),
        change("l03", size="L"),  # changed since
        change("l03", newStatus="OCCUPIED") | {"expectedVersion": 2},  # no such transition
    ]
    single = [await ada.mutate(ONE_STATUS if "newStatus" in one else ONE_SIZE, **one) for one in changes]
    codes = [payload["userErrors"][0]["code"] for payload in single]
    assert codes == ["FORBIDDEN", "FORBIDDEN", "VERSION_CONFLICT", "INVALID_TRANSITION"]
    before = await dump()
    for place, (one, alone) in enumerate(zip(changes, single, strict=True)):
        both = [change("l01", newStatus="OCCUPIED", changeId="c1"), one]
        payload = await ada.done(CHANGE, lockers=both)
        (expected,) = alone["userErrors"]
        (error,) = payload["results"][1]["userErrors"]
        assert error == rooted({name: expected[name] for name in expected if name in error}, 1), place
        assert (payload["results"][0]["userErrors"], payload["results"][0]["locker"]["version"]) == ([], 2)
        shown = payload["results"][1]["locker"]
        assert (shown and shown["lockerId"]) == (alone["locker"] and alone["locker"]["lockerId"])
    after = await dump()
    changed = {item["lockerId"] for key, item in after.items() if "lockerId" in item and before.get(key) != item}
    assert changed == {"l01"}


async def test_a_registration_that_fails_keeps_no_other_from_being_made(stocked: Api) -> None:
    new = [
        {"lockerId": "new", "ownerId": "ada"},
        {"lockerId": "l01", "ownerId": "ada", "alias": "Other"},
        {"lockerId": "foreign", "ownerId": "bob"},
        {"ownerId": "ada", "locationId": ulid(9)},
        {"ownerId": "ada"},
    ]
    ada = stocked.by(owner("ada"))
    payload = await ada.done(REGISTER, lockers=new)
    assert [result["locker"] is not None for result in payload["results"]] == [True, False, False, False, True]
    for position in (1, 2, 3):
        (error,) = (await ada.mutate(REGISTER_LOCKER, **new[position]))["userErrors"]
        assert payload["results"][position]["userErrors"] == [rooted(error, position)]


@pytest.mark.parametrize(
    ("document", "lockers", "message", "path"),
    [
        (CHANGE, [], "lockers must have 1 entries or more, not 0", ()),
        (CHANGE, [change(f"x{number}", size="L") for number in range(26)], "lockers must have 25 entries or", ()),
        (REGISTER, [{"ownerId": "ada"}] * 26, "lockers must have 25 entries or fewer, not 26", ()),
        (REGISTER, [{"ownerId": "ada", "lockerId": "n"}] * 2, "lockerId is repeated in this req", ("1", "lockerId")),
        (
            CHANGE,
            [change("l01", size="L"), change("l02", size="L"), change("l01", newStatus="OCCUPIED")],
            "lockerId is repeated in this request",
            ("2", "lockerId"),
        ),
        (CHANGE, [change("l01", size="L"), change("l02")], "lockers must each name newStatus or other fi", ("1",)),
        (CHANGE, [change("l01", size="L", newStatus="OCCUPIED")], "lockers must each name newStatus or ot", ("0",)),
        (CHANGE, [change("l01", size="L"), change("l02", size=None)], "size must not be null", ("1", "size")),
    ],
)
async def test_a_list_that_is_wrong_is_refused_as_a_whole_before_a_read(
    api: Api, wire: Wire, document: str, lockers: list[Any], message: str, path: tuple[str, ...]
) -> None:
    payload = await api.mutate(document, lockers=lockers)
    (error,) = payload["userErrors"]
    assert error.pop("message").startswith(message)
    expected = user_error("BAD_USER_INPUT", "", 400, "lockers", *path)
    assert (error | {"message": ""}, payload["results"]) == (expected, None)
    assert not wire.calls


async def test_the_same_changes_sent_at_once_and_once_more_in_another_order_have_one_effect(
    stocked: Api, wire: Wire, dump: Dump
) -> None:
    changes = [change(one, newStatus="OCCUPIED", changeId="c1") for one in LOCKERS[:5]]
    wire.fault = Meeting(10)
    first, second = await asyncio.gather(*(stocked.done(CHANGE, lockers=changes) for _ in range(2)))
    assert first == second
    assert {(one["locker"]["version"], len(one["userErrors"])) for one in first["results"]} == {(2, 0)}
    wire.reset()
    async with unchanged(dump):
        again = await stocked.done(CHANGE, lockers=changes[:2:-1])
        assert again["results"] == first["results"][:2:-1]
        single = await stocked.done(UPDATE_STATUS, **changes[0])
        assert single["locker"]["version"] == 2


async def test_a_locker_that_the_store_does_not_take_is_an_error_of_its_entry(stocked: Api, wire: Wire) -> None:
    def fault(call: Call) -> Answer | None:
        refuses = call.operation == "TransactWriteItems" and ("LOCKER#l02", "META") in call.keys
        return Answer.error("ProvisionedThroughputExceededException") if refuses else None

    wire.fault = fault
    answer = await stocked.send(CHANGE, input={"lockers": [change(one, size="S") for one in LOCKERS[1:4]]})
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["changeLockers", "results", 1], "UNAVAILABLE")
    first, missing, last = answer["data"]["changeLockers"]["results"]
    assert (first["locker"]["size"], missing, last["locker"]["size"]) == ("S", None, "S")


async def test_nothing_is_begun_once_the_time_of_the_request_is_nearly_over(
    stocked: Api, wire: Wire, clock: Clock, dump: Dump
) -> None:
    def fault(_: Call) -> None:
        if len(wire.of("TransactWriteItems")) == 2:
            clock.move(minutes=5)

    wire.fault = fault
    new = [{"lockerId": f"new-{number}", "ownerId": "ada"} for number in range(4)]
    answer = await stocked.send(REGISTER, input={"lockers": new})
    results = answer["data"]["registerLockers"]["results"]
    assert [result and result["locker"]["lockerId"] for result in results] == ["new-0", "new-1", None, None]
    assert [(error["path"][-1], error["extensions"]["code"]) for error in answer["errors"]] == [
        (2, "UNAVAILABLE"),
        (3, "UNAVAILABLE"),
    ]
    assert len(wire.calls) == 2
    wire.reset()
    assert all(result["locker"] for result in (await stocked.done(REGISTER, lockers=new))["results"])
    check_invariants(await dump(), clock.now)


async def test_the_price_is_the_sum_of_the_single_changes_but_that_they_are_read_together() -> None:
    status, size = change("l1", newStatus="OCCUPIED"), change("l2", size="L")
    each = [await price(document, input=one) for document, one in ((ONE_STATUS, status), (ONE_SIZE, size))]
    for times in (1, 12):
        statuses = [status | {"lockerId": f"a{number}"} for number in range(times)]
        sizes = [size | {"lockerId": f"b{number}"} for number in range(times)]
        several = await price(CHANGE, input={"lockers": statuses + sizes})
        saved = Cost(2 * (times - 1))
        for name in ("expected", "maximum"):
            total = sum((getattr(one, name) * times for one in each), Cost())
            assert getattr(several, name) + saved == total
    below = mutation("changeLockers", "results { locker { owner { name } } }")
    priced = await price(below, input={"lockers": [status, size]})
    assert priced.expected.items == 2 + 2
