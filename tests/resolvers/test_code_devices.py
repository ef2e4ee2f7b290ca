"""Devices that know the codes of their door, and open it without the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import unchanged
from tests.codes import CODE_LIST, PROVISION, REPORT, REVEAL, REVOKE, Device, create, furnish, verify
from tests.principals import device, owner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

LIST = '{ locker(lockerId: "l1") { accessCodeList { %s } } }' % CODE_LIST  # noqa: UP031  # it has braces
STATUSES = '{ locker(lockerId: "l1") { accessCodes { nodes { codeId validity { deviceStatus } } } } }'
CANCEL = 'mutation { cancelReservation(input: {lockerId: "l1", reservationId: "r2"}) { userErrors { code } } }'


@pytest_asyncio.fixture
async def provisioned(api: Api) -> Device:
    await furnish(api)
    payload = await api.mutate(PROVISION, lockerId="l1", generation=1)
    return Device(api.by(device("l1")), payload["deviceKey"], lockerId="l1")


async def statuses(api: Api) -> dict[str, str]:
    nodes = (await api.run(STATUSES))["locker"]["accessCodes"]["nodes"]
    return {node["codeId"]: node["validity"]["deviceStatus"] for node in nodes}


async def test_a_device_recognises_the_codes_of_the_next_72_hours(api: Api, provisioned: Device) -> None:
    await api.reservation("r2", "l1", "ada", "2026-03-05T10:00:00Z", "2026-03-05T11:00:00Z")
    now, later = await create(api, "c1"), await create(api, "c2", reservationId="r2")
    always = await create(api, "c3", "STANDING")
    found = await provisioned.listed()
    assert [provisioned.knows(found, digits) for digits in (now, later, always)] == [["c1"], [], ["c3"]]
    assert (found["generation"], found["refreshBefore"]) == (1, "2026-03-02T12:00:00.000Z")
    assert [(code["validUntil"], code["usesLeft"]) for code in found["codes"]] == [
        ("2026-03-01T13:15:00.000Z", None),
        ("2026-03-04T12:00:00.000Z", None),
    ]


@pytest.mark.parametrize(("next_start", "grace_until"), [(None, "13:15"), ("13:00", "13:00"), ("13:05", "13:05")])
async def test_a_list_has_the_same_grace_period_as_a_verification(
    api: Api, provisioned: Device, clock: Clock, next_start: str | None, grace_until: str
) -> None:
    digits = await create(api, "c1")
    await api.owner("bob")
    if next_start is not None:
        await api.reservation("r2", "l1", "bob", f"2026-03-01T{next_start}:00Z", "2026-03-01T14:00:00Z")
    (code,) = (await provisioned.listed())["codes"]
    assert code["validUntil"] == f"2026-03-01T{grace_until}:00.000Z"
    for minutes in (59, 1, 4, 1, 9, 1):
        clock.move(minutes=minutes)
        found = provisioned.knows(await provisioned.listed(), digits)
        assert (found == ["c1"]) is (await verify(api, digits, clock().replace(":", "").replace(".", "")) == "GRANTED")
        assert (found == ["c1"]) is (await statuses(api) == {"c1": "PENDING"})


async def test_a_reservation_that_follows_changes_the_revision_and_the_grace_period(
    api: Api, provisioned: Device
) -> None:
    await create(api, "c1")
    before = await provisioned.listed()
    await api.owner("bob")
    await api.reservation("r2", "l1", "bob", "2026-03-01T13:10:00Z", "2026-03-01T14:00:00Z")
    after = await provisioned.listed()
    assert before["revision"] != after["revision"]
    assert [code["validUntil"] for code in after["codes"]] == ["2026-03-01T13:10:00.000Z"]
    assert [error["code"] for error in await provisioned.acknowledge(before["revision"])] == ["STALE_ACCESS_CODE_LIST"]


async def test_each_code_shows_whether_the_device_has_it(
    api: Api, provisioned: Device, dump: Callable[[], Any]
) -> None:
    await create(api, "c1")
    assert await statuses(api) == {"c1": "PENDING"}
    found = await provisioned.listed()
    assert await provisioned.acknowledge(found["revision"]) == []
    async with unchanged(dump):
        assert await provisioned.acknowledge(found["revision"]) == []
    assert await statuses(api) == {"c1": "LOADED"}
    await api.mutate(REVOKE, lockerId="l1", codeId="c1")
    assert await statuses(api) == {"c1": "REMOVING"}
    assert [error["code"] for error in await provisioned.acknowledge(found["revision"])] == ["STALE_ACCESS_CODE_LIST"]
    assert await provisioned.acknowledge((await provisioned.listed())["revision"]) == []
    assert await statuses(api) == {"c1": "REMOVED"}


async def test_a_cancelled_reservation_changes_the_revision(api: Api, provisioned: Device) -> None:
    await api.reservation("r2", "l1", "ada", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z")
    await create(api, "c2", reservationId="r2")
    before = await provisioned.listed()
    await api.run(CANCEL)
    after = await provisioned.listed()
    assert before["revision"] != after["revision"]
    assert (len(before["codes"]), len(after["codes"])) == (1, 0)


async def test_an_offline_use_counts_once(api: Api, provisioned: Device, clock: Clock, dump: Callable[[], Any]) -> None:
    digits = await create(api, "c1", "ONE_TIME")
    clock.move(hours=1)
    use = {"lockerId": "l1", "codeId": "c1", "eventId": "u1", "usedAt": "2026-03-01T12:30:00Z"}
    first = await provisioned.api.mutate(REPORT, **use)
    assert (first["userErrors"], first["accessCode"]["uses"]) == ([], 1)
    async with unchanged(dump):
        assert await provisioned.api.mutate(REPORT, **use) == first
        other = await provisioned.api.mutate(REPORT, **use | {"usedAt": "2026-03-01T12:31:00Z"})
    assert other["userErrors"][0]["code"] == "ID_TAKEN"
    assert await verify(api, digits, "a1") == "DENIED", "it was used up without the server"
    assert (await provisioned.listed())["codes"] == []


async def test_a_use_counts_once_that_the_server_granted_but_the_device_decided(
    api: Api, provisioned: Device, dump: Callable[[], Any]
) -> None:
    digits = await create(api, "c1", "ONE_TIME")
    assert await verify(api, digits, "lost") == "GRANTED"
    use = {"lockerId": "l1", "codeId": "c1", "eventId": "lost", "usedAt": "2026-03-01T12:00:00Z"}
    async with unchanged(dump):
        payload = await provisioned.api.mutate(REPORT, **use)
    assert (payload["userErrors"], payload["accessCode"]["uses"]) == ([], 1)


async def test_a_lost_device_voids_all_digits_and_its_list_until_they_are_revealed(
    api: Api, provisioned: Device
) -> None:
    digits = await create(api, "c1")
    assert provisioned.knows(await provisioned.listed(), digits) == ["c1"]
    replaced = await api.mutate(PROVISION, lockerId="l1", generation=2, voidsDigits=True)
    assert await verify(api, digits, "a1") == "DENIED"
    successor = Device(api.by(device("l1")), replaced["deviceKey"], lockerId="l1")
    assert (await successor.listed())["codes"] == []
    revealed = await api.mutate(REVEAL, lockerId="l1", codeId="c1")
    assert (revealed["accessCode"]["rotation"], revealed["accessCode"]["validity"]["needsReveal"]) == (2, False)
    assert await verify(api, revealed["digits"], "a2") == "GRANTED"
    found = await successor.listed()
    assert successor.knows(found, revealed["digits"]) == ["c1"]
    assert provisioned.knows(found, revealed["digits"]) == [], "the key of the lost device is of no use"


async def test_digits_are_not_void_just_because_a_repeated_provisioning_says_so(
    api: Api, provisioned: Device, dump: Callable[[], Any]
) -> None:
    digits = await create(api, "c1")
    async with unchanged(dump):
        refused = await api.mutate(PROVISION, lockerId="l1", generation=1, voidsDigits=True)
    assert (refused["deviceKey"], refused["userErrors"][0]["path"]) == (None, ["input", "generation"])
    for _ in range(2):
        payload = await api.mutate(PROVISION, lockerId="l1", generation=2, voidsDigits=True)
        assert (payload["userErrors"], payload["generation"]) == ([], 2)
    assert bytes.fromhex(payload["deviceKey"]) != provisioned.key
    assert await verify(api, digits, "a1") == "DENIED"


async def test_a_device_key_is_shown_again_only_before_the_device_uses_it(api: Api, provisioned: Device) -> None:
    again = await api.mutate(PROVISION, lockerId="l1", generation=1)
    assert bytes.fromhex(again["deviceKey"]) == provisioned.key
    other = await api.by(owner("ada")).mutate(PROVISION, lockerId="l1", generation=1)
    assert (other["deviceKey"], other["userErrors"][0]["path"]) == (None, ["input", "generation"])
    await provisioned.acknowledge((await provisioned.listed())["revision"])
    used = await api.mutate(PROVISION, lockerId="l1", generation=1)
    assert (used["deviceKey"], used["userErrors"][0]["path"]) == (None, ["input", "generation"])


async def test_nobody_but_the_device_reads_its_list(api: Api, provisioned: Device) -> None:
    await create(api, "c1")
    for principal in (owner("ada"), device("l2")):
        answer = await api.by(principal).send(LIST)
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
    assert (await provisioned.listed())["codes"]
