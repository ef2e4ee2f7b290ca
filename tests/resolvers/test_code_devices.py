import asyncio
import traceback
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from domain.times import Instant, shift
from loaders.table.values import item_to_wire
from tests import places
from tests.api import Api, refused, unchanged
from tests.codes import CREATE, END, PROVISION, REPORT, REVEAL, REVOKE, START, VERIFY, Device, create, furnish, verify
from tests.conftest import Clock, Dump, Prepared
from tests.explained import brief, explain
from tests.principals import device, device_at, owner
from tests.reservations import CANCEL, RELEASE
from tests.tables import PlainClient
from tests.wire import Answer, Call, Hold, Wire

CODES = "accessCodes { nodes { codeId validity { state deviceStatus } } }"
EVENTS = "{ %s { accessEvents { nodes { action metadata } } } }"
STALE = "STALE_ACCESS_CODE_LIST"


@dataclass
class Door:
    """A door with its device, and what holds a code of today, c1, and of tomorrow, c2."""

    api: Api
    device: Device
    here: str
    holders: dict[str, str]
    cancel: tuple[str, dict[str, str]]
    digits: dict[str, str]

    async def enter(self, digits: str, attempt_id: str) -> str:
        payload = await self.device.api.mutate(VERIFY, **self.device.door, digits=digits, attemptId=attempt_id)
        return str(payload["decision"])

    async def statuses(self) -> dict[str, tuple[str, str]]:
        """State of each code, and whether the device has it."""
        found = {}
        for holder in self.holders.values():
            ((node,),) = [
                one["accessCodes"]["nodes"] for one in (await self.api.run(f"{{ {holder} {{ {CODES} }} }}")).values()
            ]
            found[node["codeId"]] = (node["validity"]["state"], node["validity"]["deviceStatus"])
        return found


async def furnish_locker(api: Api) -> dict[str, Any]:
    await furnish(api)
    await api.reservation("r2", "l1", "ada", "2026-03-02T11:00:00Z", "2026-03-02T23:00:00Z")
    holder = 'reservation(lockerId: "l1", reservationId: "{}")'
    return {
        "here": 'locker(lockerId: "l1")',
        "holders": {"c1": holder.format("r1"), "c2": holder.format("r2")},
        "cancel": (CANCEL, {"lockerId": "l1", "reservationId": "r2"}),
        "digits": {"c1": await create(api, "c1"), "c2": await create(api, "c2", reservationId="r2")},
    }


async def furnish_location(api: Api) -> dict[str, Any]:
    await places.prepare(api)
    digits = {}
    for number in (1, 2):
        await places.book(api, f"b{number}", date=f"2026-03-0{number}", duration="AFTERNOON")
        await places.approve(api, f"b{number}")
        payload = await api.mutate(CREATE, codeId=f"c{number}", kind="BOOKING", bookingId=f"b{number}")
        digits[f"c{number}"] = payload["digits"]
    return {
        "here": f'location(locationId: "{places.ulid(0)}")',
        "holders": {f"c{number}": f'booking(bookingId: "b{number}")' for number in (1, 2)},
        "cancel": (places.CANCEL, {"bookingId": "b2"}),
        "digits": digits,
    }


@pytest_asyncio.fixture(params=["locker", "location"])
async def door(request: pytest.FixtureRequest, api: Api) -> Door:
    is_locker = request.param == "locker"
    made = await (furnish_locker if is_locker else furnish_location)(api)
    place = {"lockerId": "l1"} if is_locker else {"locationId": places.ulid(0)}
    principal = device("l1") if is_locker else device_at(places.ulid(0))
    key = (await api.mutate(PROVISION, **place, generation=1))["deviceKey"]
    return Door(api, Device(api.by(principal), key, **place), **made)


@pytest_asyncio.fixture
async def provisioned(api: Api) -> Device:
    await furnish(api)
    payload = await api.mutate(PROVISION, lockerId="l1", generation=1)
    return Device(api.by(device("l1")), payload["deviceKey"], lockerId="l1")


async def test_a_device_loads_the_codes_of_its_door_and_forgets_those_that_are_over(door: Door, dump: Dump) -> None:
    own = door.device
    assert await door.statuses() == {"c1": ("ACTIVE", "PENDING"), "c2": ("SCHEDULED", "PENDING")}
    found = await own.listed()
    assert {code_id: own.knows(found, digits) for code_id, digits in door.digits.items()} == {
        "c1": ["c1"],
        "c2": ["c2"],
    }
    tomorrow = found["codes"][1]
    assert (tomorrow["validFrom"], tomorrow["usesLeft"]) == ("2026-03-02T11:00:00.000Z", None)
    assert await own.acknowledge(found["revision"]) == []
    async with unchanged(dump):
        assert await own.acknowledge(found["revision"]) == []
    assert await door.statuses() == {"c1": ("ACTIVE", "LOADED"), "c2": ("SCHEDULED", "LOADED")}
    document, values = door.cancel
    assert (await door.api.mutate(document, **values))["userErrors"] == []
    after = await own.listed()
    assert own.knows(after, door.digits["c2"]) == []
    assert after["revision"] != found["revision"]
    await door.api.mutate(REVOKE, **own.door, codeId="c1")
    assert await door.statuses() == {"c1": ("REVOKED", "REMOVING"), "c2": ("EXPIRED", "REMOVING")}
    for old in (found, after):
        assert [error["code"] for error in await own.acknowledge(old["revision"])] == [STALE]
    last = await own.listed()
    assert last["codes"] == []
    assert await own.acknowledge(last["revision"]) == []
    assert await door.statuses() == {"c1": ("REVOKED", "REMOVED"), "c2": ("EXPIRED", "REMOVED")}


async def test_an_offline_use_counts_once_even_if_the_code_was_revoked(door: Door, dump: Dump) -> None:
    await door.api.mutate(REVOKE, **door.device.door, codeId="c1")
    use = {**door.device.door, "codeId": "c1", "eventId": "u1", "usedAt": "2026-03-01T11:30:00Z"}
    first = await door.device.api.mutate(REPORT, **use)
    assert (first["userErrors"], first["accessCode"]["uses"]) == ([], 1)
    async with unchanged(dump):
        assert await door.device.api.mutate(REPORT, **use) == first
        other = await door.device.api.mutate(REPORT, **use | {"usedAt": "2026-03-01T11:31:00Z"})
        ahead = await door.device.api.mutate(REPORT, **use | {"eventId": "u2", "usedAt": "2026-03-01T13:00:00Z"})
    assert other["userErrors"][0]["code"] == "ID_TAKEN"
    assert ahead["userErrors"][0]["message"] == "usedAt must not be more than 5 minutes in the future"
    (place,) = (await door.api.run(EVENTS % door.here)).values()
    offline = {"action": "UNLOCK", "metadata": {"codeId": "c1", "offline": True}}
    assert place["accessEvents"]["nodes"] == [offline]


async def test_a_lost_device_voids_all_digits_and_its_list_until_they_are_revealed(door: Door) -> None:
    replaced = await door.api.mutate(PROVISION, **door.device.door, generation=2, voidsDigits=True)
    assert await door.enter(door.digits["c1"], "a1") == "DENIED"
    successor = Device(door.device.api, replaced["deviceKey"], **door.device.door)
    assert (await successor.listed())["codes"] == []
    revealed = await door.api.by(owner("ada")).mutate(REVEAL, **door.device.door, codeId="c1")
    assert (revealed["accessCode"]["rotation"], revealed["accessCode"]["validity"]["needsReveal"]) == (2, False)
    assert await door.enter(revealed["digits"], "a2") == "GRANTED"
    found = await successor.listed()
    assert successor.knows(found, revealed["digits"]) == ["c1"]
    assert door.device.knows(found, revealed["digits"]) == [], "the key of the lost device is of no use"


async def test_a_list_has_the_codes_of_the_next_72_hours(api: Api, provisioned: Device) -> None:
    await api.reservation("r2", "l1", "ada", "2026-03-05T10:00:00Z", "2026-03-05T11:00:00Z")
    now, later = await create(api, "c1"), await create(api, "c2", reservationId="r2")
    always = await create(api, "c3", "STANDING")
    found = await provisioned.listed()
    assert [provisioned.knows(found, digits) for digits in (now, later, always)] == [["c1"], [], ["c3"]]
    assert (found["generation"], found["refreshBefore"]) == (1, "2026-03-02T12:00:00.000Z")
    ends = [(code["validUntil"], code["usesLeft"]) for code in found["codes"]]
    assert ends == [("2026-03-01T13:15:00.000Z", None), ("2026-03-04T12:00:00.000Z", None)]


@pytest.mark.parametrize(("next_start", "grace_until"), [(None, "13:15"), ("13:00", "13:00"), ("13:05", "13:05")])
async def test_a_list_has_the_same_grace_period_as_a_verification(
    api: Api, provisioned: Device, clock: Clock, next_start: str | None, grace_until: str
) -> None:
    digits = await create(api, "c1")
    await api.owner("bob")
    before = await provisioned.listed()
    if next_start is not None:
        await api.reservation("r2", "l1", "bob", f"2026-03-01T{next_start}:00Z", "2026-03-01T14:00:00Z")
        (error,) = await provisioned.acknowledge(before["revision"])
        assert error["code"] == STALE
    (code,) = (await provisioned.listed())["codes"]
    assert code["validUntil"] == f"2026-03-01T{grace_until}:00.000Z"
    for minutes in (59, 1, 4, 1, 9, 1):
        clock.move(minutes=minutes)
        assert await is_open(api, provisioned, clock, digits) is (clock() < code["validUntil"])


async def is_open(api: Api, locker: Device, clock: Clock, digits: str) -> bool:
    """Whether the only code opens the door: verification, the shown state and the device's list agree."""
    is_listed = locker.knows(await locker.listed(), digits) == ["c1"]
    assert is_listed is (await verify(api, digits, clock().replace(":", "").replace(".", "")) == "GRANTED")
    (node,) = (await api.run(f'{{ locker(lockerId: "l1") {{ {CODES} }} }}'))["locker"]["accessCodes"]["nodes"]
    assert is_listed is (node["validity"] == {"state": "ACTIVE", "deviceStatus": "PENDING"})
    assert is_listed is (node["validity"]["state"] != "EXPIRED")
    return bool(is_listed)


@pytest.mark.parametrize(
    ("others", "remains"),
    [
        ([("13:02", RELEASE, "13:03")], False),
        ([("13:05", CANCEL, "13:03")], True),  # it never began
        ([("13:00", RELEASE, "13:01"), ("13:05", RELEASE, "13:06")], False),
        ([("13:02", RELEASE, "13:03"), ("13:08", CANCEL, "13:04")], False),
        ([("13:04", CANCEL, "13:02"), ("13:06", CANCEL, "13:03")], True),
    ],
)
async def test_a_grace_period_is_over_for_good_once_another_reservation_has_begun(
    api: Api, provisioned: Device, clock: Clock, others: list[tuple[str, str, str]], *, remains: bool
) -> None:
    digits = await create(api, "c1")
    await api.owner("bob")
    for number, (start, _, _) in enumerate(others):
        start_at = Instant(f"2026-03-01T{start}:00.000Z")
        await api.reservation(f"o{number}", "l1", "bob", start_at, shift(start_at, timedelta(minutes=2)))
    for number, (_, ends, at) in enumerate(others):
        clock.now = Instant(f"2026-03-01T{at}:00.000Z")
        await api.done(ends, lockerId="l1", reservationId=f"o{number}")
        assert await is_open(api, provisioned, clock, digits) is remains
    clock.now = Instant("2026-03-01T13:14:59.000Z")
    assert await is_open(api, provisioned, clock, digits) is remains


async def test_a_reservation_that_began_before_it_was_made_ends_a_grace_period_too(
    api: Api, provisioned: Device, clock: Clock
) -> None:
    digits = await create(api, "c1")
    await api.owner("bob")
    clock.move(minutes=65)
    assert await is_open(api, provisioned, clock, digits)
    await api.reservation("r2", "l1", "bob", "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z")
    await api.done(RELEASE, lockerId="l1", reservationId="r2")
    clock.move(minutes=1)
    assert not await is_open(api, provisioned, clock, digits)


async def test_a_use_counts_once_that_the_server_granted_but_the_device_decided(
    api: Api, provisioned: Device, dump: Dump
) -> None:
    digits = await create(api, "c1", "ONE_TIME")
    assert await verify(api, digits, "lost") == "GRANTED"
    use = {"lockerId": "l1", "codeId": "c1", "eventId": "lost", "usedAt": "2026-03-01T12:00:00Z"}
    payload = await refused(provisioned.api, dump, REPORT, **use)
    assert (payload["userErrors"], payload["accessCode"]["uses"]) == ([], 1)
    assert await verify(api, digits, "again") == "DENIED"


@pytest.mark.parametrize("reported_first", [False, True])
async def test_a_use_counts_once_whenever_its_verification_and_its_report_arrive(
    api: Api, provisioned: Device, dump: Dump, clock: Clock, *, reported_first: bool
) -> None:
    digits = await create(api, "c1", "STANDING")
    use = {"lockerId": "l1", "codeId": "c1", "eventId": "late", "usedAt": "2026-03-01T12:00:00Z"}
    if reported_first:
        await provisioned.api.mutate(REPORT, **use)
        held = await dump()
        for sent in (digits, "000000", digits):
            assert await verify(api, sent, "late") == "DENIED"
        assert await dump() == held
    else:
        assert await verify(api, digits, "late") == "GRANTED"
        clock.move(hours=72)
        await provisioned.api.mutate(REPORT, **use)
    items = await dump()
    assert [item["uses"] for item in items.values() if item["entityType"] == "ACCESS_CODE"] == [1]
    assert [item["action"] for item in items.values() if item["entityType"] == "ACCESS_EVENT"] == ["UNLOCK"]


async def test_a_code_is_used_up_without_the_server(api: Api, provisioned: Device) -> None:
    digits = await create(api, "c1", "ONE_TIME")
    before = await provisioned.listed()
    use = {"lockerId": "l1", "codeId": "c1", "eventId": "u1", "usedAt": "2026-03-01T12:00:00Z"}
    assert (await provisioned.api.mutate(REPORT, **use))["accessCode"]["validity"]["state"] == "USED_UP"
    after = await provisioned.listed()
    assert (after["codes"], after["revision"] != before["revision"]) == ([], True)
    assert await verify(api, digits, "a1") == "DENIED"


async def test_digits_are_not_void_just_because_a_repeated_provisioning_says_so(
    api: Api, provisioned: Device, dump: Dump
) -> None:
    digits = await create(api, "c1")
    payload = await refused(api, dump, PROVISION, lockerId="l1", generation=1, voidsDigits=True)
    assert (payload["deviceKey"], payload["userErrors"][0]["path"]) == (None, ["input", "generation"])
    for _ in range(2):
        payload = await api.mutate(PROVISION, lockerId="l1", generation=2, voidsDigits=True)
        assert (payload["userErrors"], payload["generation"]) == ([], 2)
    assert bytes.fromhex(payload["deviceKey"]) != provisioned.key
    assert await verify(api, digits, "a1") == "DENIED"


async def test_a_device_key_is_shown_again_to_its_creator_and_only_before_the_device_uses_it(
    api: Api, provisioned: Device
) -> None:
    again = await api.mutate(PROVISION, lockerId="l1", generation=1)
    assert bytes.fromhex(again["deviceKey"]) == provisioned.key
    for caller in (api.by(owner("ada")), api):
        payload = await caller.mutate(PROVISION, lockerId="l1", generation=1)
        assert (payload["deviceKey"], payload["userErrors"][0]["path"]) == (None, ["input", "generation"])
        await provisioned.acknowledge((await provisioned.listed())["revision"])


LISTS = """query ($first: Int) { owner(ownerId: "ada") { lockers(first: $first) { nodes {
  lockerId accessCodeList { revision codes { codeId } }
} } } }"""


async def stock_thirty(api: Api) -> dict[str, list[str] | None]:
    """Thirty lockers of ada and the codes in their lists: twenty have a device, and a code of a reservation."""
    await api.owner("ada")
    expected: dict[str, list[str] | None] = {}
    for number in range(30):
        locker_id = f"l{number:02}"
        await api.locker(locker_id, "ada")
        expected[locker_id] = None
        if number % 3:
            await api.reservation(f"r{number}", locker_id, "ada", START, END)
            await create(api, f"c{number}", lockerId=locker_id, reservationId=f"r{number}")
            await api.done(PROVISION, lockerId=locker_id, generation=1)
            expected[locker_id] = [f"c{number}"]
    await create(api, "standing", "STANDING", lockerId="l01")
    expected["l01"] = ["c1", "standing"]
    return expected


@pytest_asyncio.fixture
async def thirty(api: Api, wire: Wire, prepared: Prepared) -> dict[str, list[str] | None]:
    expected: dict[str, list[str] | None] = await prepared(stock_thirty, api)
    wire.reset()
    return expected


def shown(answer: dict[str, Any]) -> dict[str, list[str] | None]:
    """The codes in the lists of lockers."""
    nodes = answer["data"]["owner"]["lockers"]["nodes"]
    lists = {node["lockerId"]: node["accessCodeList"] for node in nodes}
    return {locker_id: found and [code["codeId"] for code in found["codes"]] for locker_id, found in lists.items()}


def reads(wire: Wire) -> list[tuple[str, set[str], int]]:
    """The strongly consistent reads by key: the operation, the kinds of items, and how many there are."""
    calls = [call for call in wire.calls if call.keys and "'ConsistentRead': True" in str(call.request)]
    return [(call.operation, {sk.partition("#")[0] for _, sk in call.keys}, len(call.keys)) for call in calls]


async def test_the_lists_of_many_doors_are_read_together(
    api: Api, wire: Wire, thirty: dict[str, list[str] | None]
) -> None:
    hold = Hold("Query")
    wire.fault = lambda call: hold(call) if "LIVE#" in str(call.request) else None
    answer = asyncio.ensure_future(api.send(LISTS, first=50))
    await hold.arrivals(16)
    hold.release()
    assert shown(await answer) == thirty
    doors, guards, codes, *bases = reads(wire)
    assert (doors, guards) == (("BatchGetItem", {"DOOR"}, 30), ("BatchGetItem", {"GUARD"}, 20))
    assert codes == ("BatchGetItem", {"CODE"}, 21)
    assert sorted(bases) == [("BatchGetItem", {"RES"}, 20), ("GetItem", {"META"}, 1)]
    assert wire.operations == {"BatchGetItem": 4, "GetItem": 1, "Query": 1 + 20}
    assert wire.most_running == 16
    found = [one for one in await explain(api, LISTS, first=50) if one["contract"] == "QC-111"]
    batches = brief([one for one in found if one["operation"] == "BatchGetItem"], "path", "asked", "merged")
    assert batches == [("owner.lockers.nodes.accessCodeList", count, count) for count in (30, 20, 21, 20)]
    assert {one["merged"] for one in found if one["operation"] == "Query"} == {1}


async def test_only_the_doors_that_moved_are_read_again(
    api: Api, wire: Wire, thirty: dict[str, list[str] | None]
) -> None:
    await api.owner("bob")
    await api.reservation("later", "l07", "bob", "2026-03-01T13:05:00Z", "2026-03-01T14:00:00Z")
    wire.reset()
    late = ["LIVE#2026-03-01T13:05:00.000Z#later"]

    def not_yet(call: Call) -> None:
        """The first Query that finds the reservation does not show it."""
        if call.operation == "Query" and late and late[0] in str(call.response):
            late.pop()
            call.response |= {"Items": [], "Count": 0}

    wire.amend = not_yet
    assert shown(await api.send(LISTS, first=50)) == thirty
    assert not late
    assert reads(wire)[5:] == [("GetItem", {kind}, 1) for kind in ("DOOR", "GUARD", "CODE", "RES")]
    assert wire.operations["Query"] == 1 + 20 + 1


@pytest.mark.parametrize("damaged", ["DOOR", "GUARD#RES", "CODE#c7", f"RES#{START}#r7"])
async def test_a_damaged_item_fails_the_list_of_its_own_door_alone(
    api: Api, plain_client: PlainClient, table: str, thirty: dict[str, list[str] | None], damaged: str
) -> None:
    item = {"PK": "LOCKER#l07", "SK": damaged, "entityType": "STRANGER"}
    await plain_client.put_item(TableName=table, Item=item_to_wire(item))
    answer = await api.send(LISTS, first=50)
    assert shown(answer) == thirty | {"l07": None}
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
    assert error["path"] == ["owner", "lockers", "nodes", 7, "accessCodeList"]


async def test_a_batch_that_fails_fails_the_lists_that_need_it_and_its_traceback_does_not_grow_with_each(
    api: Api, wire: Wire, thirty: dict[str, list[str] | None], caplog: pytest.LogCaptureFixture
) -> None:
    wire.fault = lambda call: Answer.error("ValidationException") if "CODE#c7" in str(call.keys) else None
    answer = await api.send(LISTS, first=50)
    assert set(shown(answer).values()) == {None}
    assert len(answer["errors"]) == sum(codes is not None for codes in thirty.values())
    (found, *_) = [record.exc_info for record in caplog.records if record.exc_info]
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(found[2])]
    assert len(set(lines)) == len(lines)
