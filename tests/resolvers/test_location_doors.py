from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import Principal, Scope
from tests import places
from tests.api import Api, unchanged
from tests.codes import CLEAR, CREATE, PROVISION, REPORT, VERIFY, Device, wrong
from tests.conftest import Clock, Dump
from tests.principals import device, device_at, owner, partner

PLACE = places.ulid(0)
REFUSES = "refuses access codes until 2026-03-01T12:05:00.000Z"
EVENTS = """query ($id: ID!) { location(locationId: $id) {
  lockout { failures lockedUntil }
  accessEvents { nodes { id lockerId locationId action result actorId metadata locker { lockerId } } }
} }"""
CODES = """query ($id: ID!) {
  booking(bookingId: "b1") { accessCodes { nodes { codeId uses validity { validFrom validUntil } } } }
  location(locationId: $id) {
    calendar(window: {from: "2026-03-01", to: "2026-03-01"}) { afternoon { accessCodes { nodes { codeId } } } }
  } }"""
NODE = "query ($id: ID!) { node(id: $id) { id ... on AccessEvent { action locationId } } }"
NOTICES = '{ owner(ownerId: "root") { notifications { nodes { locationId lockerId message } } } }'
LIST = "query ($id: ID!) { location(locationId: $id) { name accessCodeList { codes { codeId } } } }"


@pytest_asyncio.fixture
async def digits(api: Api) -> str:
    """The digits of the code c1 for the booking b1 of this afternoon, at a location that root manages."""
    await places.prepare(api, managerId="root")
    await places.book(api, "b1", date="2026-03-01", duration="AFTERNOON")
    await places.approve(api, "b1")
    payload = await api.by(owner("ada")).mutate(CREATE, codeId="c1", kind="BOOKING", bookingId="b1")
    return str(payload["digits"])


async def enter(api: Api, digits: str, attempt_id: str) -> str:
    payload = await api.by(device_at(PLACE)).mutate(VERIFY, locationId=PLACE, digits=digits, attemptId=attempt_id)
    assert not payload["userErrors"], payload
    return str(payload["decision"])


async def events(api: Api) -> list[dict[str, Any]]:
    """The events of the door, newest first."""
    nodes: list[dict[str, Any]] = (await api.run(EVENTS, id=PLACE))["location"]["accessEvents"]["nodes"]
    return nodes


async def test_a_code_of_an_approved_booking_opens_the_door_in_its_time(api: Api, digits: str, clock: Clock) -> None:
    assert await enter(api, digits, "a1") == "GRANTED"
    listed = await api.by(owner("ada")).run(CODES, id=PLACE)
    validity = {"validFrom": "2026-03-01T11:00:00.000Z", "validUntil": "2026-03-01T23:00:00.000Z"}
    assert listed["booking"]["accessCodes"]["nodes"] == [{"codeId": "c1", "uses": 1, "validity": validity}]
    assert listed["location"]["calendar"] == [{"afternoon": {"accessCodes": {"nodes": [{"codeId": "c1"}]}}}]
    clock.move(hours=11)
    assert await enter(api, digits, "a2") == "DENIED", "the day is over where the location is"
    await places.book(api, "b2")
    payload = await api.mutate(CREATE, kind="BOOKING", bookingId="b2")
    assert payload["userErrors"][0]["path"] == ["input", "bookingId"], "it is not approved yet"


async def test_a_code_for_the_last_day_of_the_calendar_is_valid_until_the_last_instant(api: Api) -> None:
    await places.prepare(api)
    await places.book(api, "b1", date="9999-12-31", duration="FULL_DAY")
    await places.approve(api, "b1")
    await api.mutate(CREATE, codeId="c1", kind="BOOKING", bookingId="b1")
    (code,) = (await api.run(CODES, id=PLACE))["booking"]["accessCodes"]["nodes"]
    assert code["validity"] == {"validFrom": "9999-12-30T23:00:00.000Z", "validUntil": "9999-12-31T23:59:59.999Z"}


async def test_every_decision_is_recorded_under_the_location(api: Api, digits: str) -> None:
    assert [await enter(api, digits, "a1"), await enter(api, wrong(digits), "a2")] == ["GRANTED", "DENIED"]
    denied, unlocked = sorted(await events(api), key=lambda event: event["action"])
    of_door = {"lockerId": None, "locationId": PLACE, "locker": None}
    of_code = {"action": "UNLOCK", "result": "SUCCESS", "actorId": "ada", "metadata": {"codeId": "c1"}}
    assert unlocked == {"id": unlocked["id"]} | of_door | of_code
    assert (denied["action"], denied["result"], denied["metadata"]) == ("DENIED", "FAIL", None)
    node = {"id": denied["id"], "action": "DENIED", "locationId": PLACE}
    assert await api.run(NODE, id=denied["id"]) == {"node": node}
    hidden = await api.by(owner("ada")).send(NODE, id=unlocked["id"])
    assert (hidden["data"]["node"], hidden["errors"][0]["extensions"]["code"]) == (None, "FORBIDDEN")


async def test_a_lockout_is_one_tamper_the_manager_learns_and_admins_clear(api: Api, digits: str, dump: Dump) -> None:
    answers = [await enter(api, wrong(digits), f"a{number}") for number in range(5)]
    assert answers == ["DENIED"] * 5
    async with unchanged(dump):
        assert await enter(api, digits, "b") == "LOCKED_OUT"
        for principal in (owner("ada"), owner("root"), partner(Scope.CODES_WRITE), device_at(PLACE)):
            refused = await api.by(principal).mutate(CLEAR, locationId=PLACE)
            assert refused["userErrors"][0]["code"] == "FORBIDDEN"
        missing = await api.mutate(CLEAR, locationId=places.ulid(9))
        assert places.refusal(missing) == ("NOT_FOUND", 404, ["input", "locationId"])
    assert sorted(event["action"] for event in await events(api)) == [*["DENIED"] * 5, "TAMPER"]
    (notice,) = (await api.run(NOTICES))["owner"]["notifications"]["nodes"]
    message = f"The door of Room of place-0 {REFUSES}: too many failures."
    assert notice == {"locationId": PLACE, "lockerId": None, "message": message}
    cleared = await api.mutate(CLEAR, locationId=PLACE)
    assert cleared["lockout"] == {"failures": [], "lockedUntil": None, "lockouts": 0}
    assert await enter(api, digits, "b") == "GRANTED"


async def test_a_location_without_a_manager_records_a_lockout_and_notifies_nobody(api: Api, dump: Dump) -> None:
    await places.prepare(api)
    for number in range(5):
        assert await enter(api, "000000", f"a{number}") == "DENIED"
    assert (await events(api))[0]["action"] in {"TAMPER", "DENIED"}
    kinds = [item["entityType"] for item in (await dump()).values()]
    assert (kinds.count("ACCESS_EVENT"), kinds.count("NOTIFICATION")) == (6, 0)


@pytest.mark.parametrize(
    "principal", [owner("ada"), device("l1"), device_at(places.ulid(1))], ids=lambda one: one.subject
)
async def test_nobody_but_its_device_and_admins_uses_the_device_of_a_location(
    api: Api, digits: str, dump: Dump, principal: Principal
) -> None:
    key = (await api.mutate(PROVISION, locationId=PLACE, generation=1))["deviceKey"]
    revision = (await Device(api.by(device_at(PLACE)), key, locationId=PLACE).listed())["revision"]
    caller = Device(api.by(principal), key, locationId=PLACE)
    use = {"codeId": "c1", "eventId": "u1", "usedAt": "2026-03-01T11:30:00Z"}
    async with unchanged(dump):
        answer = await caller.api.send(LIST, id=PLACE)
        assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}
        assert [error["code"] for error in await caller.acknowledge(revision)] == ["FORBIDDEN"]
        for document, values in (
            (REPORT, use),
            (VERIFY, {"digits": digits, "attemptId": "x"}),
            (PROVISION, {"generation": 2}),
        ):
            payload = await caller.api.mutate(document, locationId=PLACE, **values)
            assert [error["code"] for error in payload["userErrors"]] == ["FORBIDDEN"]


async def test_the_device_of_a_location_reads_its_own_location_and_no_other(api: Api, digits: str) -> None:
    assert digits
    await places.create_location(api, 1)
    own = await api.by(device_at(PLACE)).run(LIST, id=PLACE)
    assert own == {"location": {"name": "Room of place-0", "accessCodeList": None}}
    other = await api.by(device_at(PLACE)).send(LIST, id=places.ulid(1))
    assert (other["data"], other["errors"][0]["extensions"]["code"]) == ({"location": None}, "FORBIDDEN")


async def test_a_manager_must_exist_and_can_be_replaced_and_removed(api: Api, dump: Dump) -> None:
    await places.prepare(api)
    async with unchanged(dump):
        for payload in (
            await api.mutate(places.CREATE_LOCATION, locationId=places.ulid(1), **places.fresh(), managerId="nobody"),
            await api.mutate(places.UPDATE_LOCATION, locationId=PLACE, expectedVersion=1, managerId="nobody"),
        ):
            assert places.refusal(payload) == ("NOT_FOUND", 404, ["input", "managerId"])
    for version, manager in enumerate(("root", "ada", None), 1):
        payload = await api.mutate(places.UPDATE_LOCATION, locationId=PLACE, expectedVersion=version, managerId=manager)
        assert payload["location"]["version"] == version + 1
        shown = await api.run("query ($id: ID!) { location(locationId: $id) { managerId } }", id=PLACE)
        assert shown["location"]["managerId"] == manager
