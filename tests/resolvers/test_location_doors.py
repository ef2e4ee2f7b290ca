"""The door of a location: codes of bookings, what is recorded of it, its lockout and its device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.authorization import Principal, Scope
from tests import places
from tests.api import unchanged
from tests.codes import CLEAR, CREATE, PROVISION, REPORT, REVEAL, REVOKE, VERIFY, Device, wrong
from tests.principals import device, device_at, owner, partner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.wire import Wire

PLACE = places.ulid(0)
REFUSES = "refuses access codes until 2026-03-01T12:05:00.000Z"
EVENTS = """query ($id: ID!) { location(locationId: $id) {
  lockout { failures lockedUntil }
  accessEvents { nodes { id lockerId locationId action result actorId metadata locker { lockerId } } }
} }"""
NODE = "query ($id: ID!) { node(id: $id) { id ... on AccessEvent { action locationId } } }"
NOTICES = '{ owner(ownerId: "root") { notifications { nodes { locationId lockerId message } } } }'
STATUSES = '{ booking(bookingId: "b2") { accessCodes { nodes { codeId validity { state deviceStatus } } } } }'
LIST = "query ($id: ID!) { location(locationId: $id) { name accessCodeList { codes { codeId } } } }"


@pytest_asyncio.fixture
async def digits(api: Api) -> str:
    """The digits of the code c1 for the booking b1 of this afternoon, at a location that root manages."""
    await places.prepare(api, managerId="root")
    return await booked(api, "b1", "c1", "2026-03-01")


async def booked(api: Api, booking_id: str, code_id: str, date: str) -> str:
    """The digits of a code for a new approved booking of an afternoon."""
    await places.book(api, booking_id, date=date, duration="AFTERNOON")
    await places.approve(api, booking_id)
    payload = await api.by(owner("ada")).mutate(CREATE, codeId=code_id, kind="BOOKING", bookingId=booking_id)
    return str(payload["digits"])


async def provision(api: Api, generation: int = 1, **values: Any) -> Device:
    payload = await api.mutate(PROVISION, locationId=PLACE, generation=generation, **values)
    return Device(api.by(device_at(PLACE)), payload["deviceKey"], locationId=PLACE)


async def enter(api: Api, digits: str, attempt_id: str) -> str:
    payload = await api.by(device_at(PLACE)).mutate(VERIFY, locationId=PLACE, digits=digits, attemptId=attempt_id)
    assert not payload["userErrors"], payload
    return str(payload["decision"])


async def events(api: Api) -> list[dict[str, Any]]:
    """The events of the door, newest first."""
    nodes: list[dict[str, Any]] = (await api.run(EVENTS, id=PLACE))["location"]["accessEvents"]["nodes"]
    return nodes


async def status(api: Api) -> tuple[str, str | None]:
    """State of the code of tomorrow's booking, and whether the device has it."""
    (code,) = (await api.run(STATUSES))["booking"]["accessCodes"]["nodes"]
    return code["validity"]["state"], code["validity"]["deviceStatus"]


async def test_every_decision_is_recorded_under_the_location(api: Api, digits: str) -> None:
    assert [await enter(api, digits, "a1"), await enter(api, wrong(digits), "a2")] == ["GRANTED", "DENIED"]
    denied, unlocked = sorted(await events(api), key=lambda event: event["action"])
    of_door = {"lockerId": None, "locationId": PLACE, "locker": None}
    assert {name: unlocked[name] for name in (*of_door, "action", "result", "actorId", "metadata")} == of_door | {
        "action": "UNLOCK",
        "result": "SUCCESS",
        "actorId": "ada",
        "metadata": {"codeId": "c1"},
    }
    assert (denied["action"], denied["result"], denied["metadata"]) == ("DENIED", "FAIL", None)
    assert await api.run(NODE, id=denied["id"]) == {
        "node": {"id": denied["id"], "action": "DENIED", "locationId": PLACE}
    }
    hidden = await api.by(owner("ada")).send(NODE, id=unlocked["id"])
    assert (hidden["data"]["node"], hidden["errors"][0]["extensions"]["code"]) == (None, "FORBIDDEN")


async def test_a_decision_at_a_location_is_one_transaction_with_its_event(api: Api, digits: str, wire: Wire) -> None:
    wire.reset()
    await enter(api, digits, "a1")
    (granted,) = wire.of("TransactWriteItems")
    written = [next(iter(step.values())) for step in granted.request["TransactItems"]]
    names = [(step.get("Key") or step["Item"])["SK"]["S"].partition("#")[0] for step in written]
    assert names == ["LOCKOUT", "CODE", "DOOR", "META", "EVT", "ATTEMPT"]
    wire.reset()
    await enter(api, wrong(digits), "a2")
    assert wire.operations == {"BatchGetItem": 1, "GetItem": 2, "TransactWriteItems": 1}


async def test_a_lockout_writes_one_tamper_and_notifies_the_manager_and_an_admin_clears_it(
    api: Api, digits: str, dump: Callable[[], Any]
) -> None:
    answers = [await enter(api, wrong(digits), f"a{number}") for number in range(5)]
    assert answers == ["DENIED"] * 5
    async with unchanged(dump):
        assert await enter(api, digits, "b") == "LOCKED_OUT"
        for principal in (owner("ada"), owner("root"), partner(Scope.CODES_WRITE), device_at(PLACE)):
            refused = await api.by(principal).mutate(CLEAR, locationId=PLACE)
            assert refused["userErrors"][0]["code"] == "FORBIDDEN"
        missing = await api.mutate(CLEAR, locationId=places.ulid(9))
        assert (missing["userErrors"][0]["code"], missing["userErrors"][0]["path"]) == (
            "NOT_FOUND",
            ["input", "locationId"],
        )
    assert sorted(event["action"] for event in await events(api)) == [*["DENIED"] * 5, "TAMPER"]
    (notice,) = (await api.run(NOTICES))["owner"]["notifications"]["nodes"]
    assert notice == {
        "locationId": PLACE,
        "lockerId": None,
        "message": f"The door of Room of place-0 {REFUSES}: too many failures.",
    }
    cleared = await api.mutate(CLEAR, locationId=PLACE)
    assert cleared["lockout"] == {"failures": [], "lockedUntil": None, "lockouts": 0}
    assert await enter(api, digits, "b") == "GRANTED"


async def test_a_location_without_a_manager_records_a_lockout_and_notifies_nobody(
    api: Api, dump: Callable[[], Any]
) -> None:
    await places.prepare(api)
    for number in range(5):
        assert await enter(api, "000000", f"a{number}") == "DENIED"
    assert (await events(api))[0]["action"] in {"TAMPER", "DENIED"}
    kinds = [item["entityType"] for item in (await dump()).values()]
    assert (kinds.count("ACCESS_EVENT"), kinds.count("NOTIFICATION")) == (6, 0)


async def test_the_device_of_a_location_loads_the_codes_of_bookings_and_forgets_them(api: Api, digits: str) -> None:
    tomorrow = await booked(api, "b2", "c2", "2026-03-02")
    assert await status(api) == ("SCHEDULED", None)
    door = await provision(api)
    assert await status(api) == ("SCHEDULED", "PENDING")
    found = await door.listed()
    assert (door.knows(found, digits), door.knows(found, tomorrow)) == (["c1"], ["c2"])
    assert [(code["validFrom"], code["validUntil"], code["usesLeft"]) for code in found["codes"]] == [
        ("2026-03-01T11:00:00.000Z", "2026-03-01T23:00:00.000Z", None),
        ("2026-03-02T11:00:00.000Z", "2026-03-02T23:00:00.000Z", None),
    ]
    assert await door.acknowledge(found["revision"]) == []
    assert await status(api) == ("SCHEDULED", "LOADED")
    assert not (await api.mutate(places.CANCEL, bookingId="b2"))["userErrors"]
    assert await status(api) == ("EXPIRED", "REMOVING")
    assert [error["code"] for error in await door.acknowledge(found["revision"])] == ["STALE_ACCESS_CODE_LIST"]
    after = await door.listed()
    assert door.knows(after, tomorrow) == []
    assert await door.acknowledge(after["revision"]) == []
    assert await status(api) == ("EXPIRED", "REMOVED")


async def test_an_offline_use_at_a_location_counts_once_even_if_the_code_was_revoked(
    api: Api, digits: str, dump: Callable[[], Any]
) -> None:
    assert len(digits) == 6
    door = await provision(api)
    await api.by(owner("ada")).mutate(REVOKE, locationId=PLACE, codeId="c1")
    use = {"locationId": PLACE, "codeId": "c1", "eventId": "u1", "usedAt": "2026-03-01T11:30:00Z"}
    first = await door.api.mutate(REPORT, **use)
    assert (first["userErrors"], first["accessCode"]["uses"]) == ([], 1)
    async with unchanged(dump):
        assert await door.api.mutate(REPORT, **use) == first
        other = await door.api.mutate(REPORT, **use | {"usedAt": "2026-03-01T11:31:00Z"})
        assert other["userErrors"][0]["code"] == "ID_TAKEN"
    (event,) = await events(api)
    assert (event["action"], event["metadata"]) == ("UNLOCK", {"codeId": "c1", "offline": True})


async def test_a_lost_device_of_a_location_voids_the_digits_of_its_bookings(api: Api, digits: str) -> None:
    lost = await provision(api)
    successor = await provision(api, generation=2, voidsDigits=True)
    assert await enter(api, digits, "a1") == "DENIED"
    revealed = (await api.by(owner("ada")).mutate(REVEAL, locationId=PLACE, codeId="c1"))["digits"]
    assert await enter(api, revealed, "a2") == "GRANTED"
    found = await successor.listed()
    assert (successor.knows(found, revealed), lost.knows(found, revealed)) == (["c1"], [])


@pytest.mark.parametrize(
    "principal", [owner("ada"), device("l1"), device_at(places.ulid(1))], ids=lambda one: one.subject
)
async def test_nobody_but_its_device_and_admins_uses_the_device_of_a_location(
    api: Api, digits: str, dump: Callable[[], Any], principal: Principal
) -> None:
    door = await provision(api)
    revision = (await door.listed())["revision"]
    caller = Device(api.by(principal), door.key.hex(), locationId=PLACE)
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


async def test_a_manager_must_exist_and_can_be_replaced_and_removed(api: Api, dump: Callable[[], Any]) -> None:
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
