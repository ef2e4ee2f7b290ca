"""Guesses, uses and changes of access codes at the same time."""

import asyncio
from collections import Counter
from typing import Any

from tests import places
from tests.api import TRANSFER, Api, mutation
from tests.codes import CREATE, PROVISION, REPORT, VERIFY, Device, create, furnish, verify
from tests.conftest import NOW, Dump, OpenApi
from tests.invariants import check_invariants
from tests.principals import device, device_at
from tests.races.holding import Held
from tests.wire import Call, Wire


async def guess(api: Api, digits: str, attempt_id: str, **door: str) -> str:
    """The decision at a door, by default l1, or the code of a retryable error."""
    place = device_at(door["locationId"]) if door else device("l1")
    values = {"digits": digits, "attemptId": attempt_id, **(door or {"lockerId": "l1"})}
    answer = await api.by(place).send(VERIFY, input=values)
    if "errors" in answer:
        return str(answer["errors"][0]["extensions"]["code"])
    return str(answer["data"]["verifyAccessCode"]["decision"])


async def test_of_a_hundred_guesses_at_once_five_are_evaluated(api: Api, open_api: OpenApi, dump: Dump) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    wrong = [text for text in map("{:06d}".format, range(100)) if text != digits]
    async with open_api() as other:
        answers = await asyncio.gather(
            *(guess((api, other)[number % 2], wrong[number % len(wrong)], f"a{number}") for number in range(100))
        )
    counted = Counter(answers)
    assert counted["DENIED"] <= 5
    assert counted.keys() <= {"DENIED", "LOCKED_OUT", "UNAVAILABLE"}
    while await guess(api, wrong[0], f"b{counted.total()}") == "DENIED":  # where all were too busy to count five
        counted["later"] += 1
    assert counted["DENIED"] + counted["later"] == 5
    assert await verify(api, digits, "right") == "LOCKED_OUT", "the right digits are not looked at either"
    items = (await dump()).values()
    actions = Counter(item["action"] for item in items if item["entityType"] == "ACCESS_EVENT")
    assert actions == {"DENIED": 5, "TAMPER": 1}
    assert [item["ownerId"] for item in items if item["entityType"] == "NOTIFICATION"] == ["ada"]


async def test_guesses_at_the_door_of_a_location_are_counted_one_by_one_and_notify_its_manager_once(
    api: Api, dump: Dump
) -> None:
    place = await places.prepare(api, managerId="root")
    decided = await asyncio.gather(*(guess(api, "000000", f"a{number}", locationId=place) for number in range(30)))
    while decided.count("DENIED") < 5:  # where all were too busy to count five
        decided.append(await guess(api, "000000", f"b{len(decided)}", locationId=place))
    assert decided.count("DENIED") == 5
    items = (await dump()).values()
    events = [(item["PK"], item["action"]) for item in items if item["entityType"] == "ACCESS_EVENT"]
    assert Counter(events) == {(f"LOCATION#{place}", "DENIED"): 5, (f"LOCATION#{place}", "TAMPER"): 1}
    assert [item["ownerId"] for item in items if item["entityType"] == "NOTIFICATION"] == ["root"]
    check_invariants(await dump(), NOW)


async def test_a_one_time_code_that_is_entered_many_times_at_once_opens_once(api: Api) -> None:
    await furnish(api)
    digits = await create(api, "c1", "ONE_TIME")
    answers = await asyncio.gather(*(guess(api, digits, f"a{number}") for number in range(4)))
    assert answers.count("GRANTED") == 1


async def test_one_attempt_that_is_sent_several_times_at_once_is_counted_once(api: Api, dump: Dump) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    assert set(await asyncio.gather(*(guess(api, digits, "same") for _ in range(5)))) == {"GRANTED"}
    items = await dump()
    check_invariants(items, NOW)
    (code,) = [item for item in items.values() if item["entityType"] == "ACCESS_CODE"]
    assert code["uses"] == 1
    (reservation,) = [item for item in items.values() if item["entityType"] == "RESERVATION"]
    assert (reservation["startedAt"], reservation["version"]) == (NOW, 2)
    (locker,) = [item for item in items.values() if item["PK"] == "LOCKER#l1" and item["SK"] == "META"]
    assert (locker["status"], locker["occupiedBy"]) == ("OCCUPIED", "r1")


async def test_codes_that_are_created_at_once_have_different_digits(api: Api, dump: Dump) -> None:
    await furnish(api)
    inputs = [
        {"codeId": f"c{number // 2}", "kind": "ONE_TIME", "lockerId": "l1", "validUntil": "2026-03-01T20:00:00Z"}
        for number in range(12)
    ]
    payloads = await asyncio.gather(*(api.mutate(CREATE, **values) for values in inputs))
    assert not any(payload["userErrors"] for payload in payloads)
    digits = [payload["digits"] for payload in payloads]
    assert digits[::2] == digits[1::2], "each request was sent twice"
    assert len(set(digits)) == 6
    check_invariants(await dump(), NOW)


async def test_a_late_acknowledgement_of_an_older_list_does_not_replace_that_of_a_newer_one(
    api: Api, wire: Wire, dump: Dump
) -> None:
    await furnish(api)
    await api.reservation("r2", "l1", "ada", "2026-03-02T11:00:00Z", "2026-03-02T13:00:00Z")
    await create(api, "c1", reservationId="r2")
    key = (await api.done(PROVISION, lockerId="l1", generation=1))["deviceKey"]
    at_door = Device(api.by(device("l1")), key, lockerId="l1")
    older = await at_door.listed()
    wire.fault = held = Held(lambda call: call.operation == "TransactWriteItems")
    late = asyncio.ensure_future(at_door.acknowledge(older["revision"]))
    await held.reached()
    await api.done(mutation("cancelReservation", "reservation { status }"), lockerId="l1", reservationId="r2")
    newer = await at_door.listed()
    assert (len(older["codes"]), newer["codes"]) == (1, [])
    assert await at_door.acknowledge(newer["revision"]) == []
    held.release()
    assert [error["code"] for error in await late] == ["STALE_ACCESS_CODE_LIST"]
    door = (await dump())["LOCKER#l1", "DOOR"]
    assert (door["acknowledgedRevision"], door["loaded"]) == (newer["revision"], [])


async def report(api: Api) -> list[dict[str, Any]]:
    """The errors of a report that the device used the code c1 at its attempt a1."""
    used = {"lockerId": "l1", "codeId": "c1", "eventId": "a1", "usedAt": NOW}
    errors: list[dict[str, Any]] = (await api.by(device("l1")).mutate(REPORT, **used))["userErrors"]
    return errors


async def test_a_use_that_is_reported_while_its_verification_is_decided_counts_once(
    api: Api, wire: Wire, dump: Dump
) -> None:
    await furnish(api)
    digits = await create(api, "c1", "COURIER", maxUses=3)
    # The verification has looked for a report, and not read the code.
    wire.fault = held = Held(lambda call: call.operation == "GetItem" and "DIGITS#" in call.keys[0][1])
    verification = asyncio.ensure_future(verify(api, digits, "a1"))
    await held.reached()
    assert await report(api) == []
    held.release()
    assert await verification == "DENIED"
    assert (await dump())["LOCKER#l1", "CODE#c1"]["uses"] == 1


async def test_a_use_that_is_reported_counts_once_though_its_verification_is_only_partly_visible(
    api: Api, wire: Wire, dump: Dump
) -> None:
    await furnish(api)
    digits = await create(api, "c1", "COURIER", maxUses=3)
    assert await verify(api, digits, "a1") == "GRANTED"
    unseen = [("LOCKER#l1", "ATTEMPT#a1")]

    def amend(call: Call) -> None:
        if call.operation == "BatchGetItem" and unseen:
            key = unseen.pop()
            (found,) = call.response["Responses"].values()
            found[:] = [item for item in found if (item["PK"]["S"], item["SK"]["S"]) != key]

    wire.amend = amend
    assert await report(api) == []
    assert (await dump())["LOCKER#l1", "CODE#c1"]["uses"] == 1


async def test_a_new_device_has_loaded_nothing_though_the_one_before_acknowledges_its_list_meanwhile(
    api: Api, wire: Wire, dump: Dump
) -> None:
    await furnish(api)
    await create(api, "c1")
    key = (await api.done(PROVISION, lockerId="l1", generation=1))["deviceKey"]
    before = Device(api.by(device("l1")), key, lockerId="l1")
    listed = await before.listed()
    wire.fault = held = Held(lambda call: call.operation == "TransactWriteItems")
    provisioning = asyncio.ensure_future(api.done(PROVISION, lockerId="l1", generation=2))
    await held.reached()
    assert await before.acknowledge(listed["revision"]) == []
    held.release()
    provisioned = await provisioning
    door = (await dump())["LOCKER#l1", "DOOR"]
    assert (door["loaded"], "acknowledgedRevision" in door) == ([], False)
    assert await api.done(PROVISION, lockerId="l1", generation=2) == provisioned, "its key can be shown again"


async def test_a_code_that_is_created_while_its_locker_is_given_away_and_comes_back_is_active(
    api: Api, wire: Wire
) -> None:
    await furnish(api)
    await api.owner("bob")
    wire.fault = held = Held(lambda call: call.operation == "TransactWriteItems")
    creating = asyncio.ensure_future(api.done(CREATE, kind="STANDING", lockerId="l1"))
    await held.reached()
    for version, new_owner in ((1, "bob"), (2, "ada")):
        await api.done(TRANSFER, lockerId="l1", newOwnerId=new_owner, expectedVersion=version)
    held.release()
    assert (await creating)["accessCode"]["validity"]["state"] == "ACTIVE"
