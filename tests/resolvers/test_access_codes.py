"""Access codes: who gets them, what they open, and that their digits are nowhere but in three payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.access_codes import CodeRing
from domain.authorization import Scope
from tests import places
from tests.api import unchanged
from tests.codes import CREATE, REVEAL, REVOKE, ROTATE, VERIFY, create, furnish, verify, wrong
from tests.conftest import CODE_KEYS
from tests.principals import device_at, owner, partner

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.api import Api
    from tests.conftest import Clock

CANCEL = 'mutation { cancelReservation(input: {lockerId: "l1", reservationId: "r1"}) { userErrors { code } } }'
EXTEND = """mutation ($end: DateTime!) {
  extendReservation(input: {lockerId: "l1", reservationId: "r1", newEndAt: $end}) { userErrors { code } }
}"""
RESERVED = """{ reservation(lockerId: "l1", reservationId: "r1") {
  accessCodes { nodes { codeId validity { state validFrom validUntil } } }
} }"""
OF_LOCKER = '{ locker(lockerId: "l1") { accessCodes { nodes { codeId kind validity { state } } } } }'


async def states(api: Api) -> dict[str, str]:
    """The state of every code of the locker."""
    nodes = (await api.run(OF_LOCKER))["locker"]["accessCodes"]["nodes"]
    return {node["codeId"]: node["validity"]["state"] for node in nodes}


async def test_a_repeated_create_gives_the_same_digits_and_writes_nothing(api: Api, dump: Callable[[], Any]) -> None:
    await furnish(api)
    first = await create(api, "c1")
    assert len(first) == 6
    assert first.isdigit()
    async with unchanged(dump):
        assert await create(api, "c1") == first
    other = await api.mutate(CREATE, codeId="c1", kind="ONE_TIME", lockerId="l1", validUntil="2026-03-01T20:00:00Z")
    assert other["userErrors"][0]["code"] == "ID_TAKEN"
    assert other["digits"] is None


async def test_another_caller_who_repeats_a_create_must_reveal_the_digits(api: Api) -> None:
    await furnish(api)
    await create(api, "c1")
    again = await api.by(owner("ada")).mutate(
        CREATE, codeId="c1", kind="RESERVATION", lockerId="l1", reservationId="r1"
    )
    assert (again["userErrors"], again["digits"], again["accessCode"]["codeId"]) == ([], None, "c1")


async def test_a_reveal_is_recorded_with_its_caller_and_a_repeated_one_once(api: Api) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    ada = api.by(owner("ada"))
    for _ in range(2):
        payload = await ada.mutate(REVEAL, lockerId="l1", codeId="c1", revealId="x")
        assert payload["digits"] == digits
        assert payload["accessCode"]["reveals"] == [{"revealedBy": "ada"}]
    again = await ada.mutate(REVEAL, lockerId="l1", codeId="c1")
    assert again["accessCode"]["reveals"] == [{"revealedBy": "ada"}] * 2
    rotated = await api.mutate(ROTATE, lockerId="l1", codeId="c1", expectedRotation=1)
    for _ in range(2):
        payload = await ada.mutate(REVEAL, lockerId="l1", codeId="c1", revealId="x")
        assert payload["digits"] == rotated["digits"]
        assert payload["accessCode"]["reveals"] == [{"revealedBy": "ada"}] * 3, "these are other digits"


async def test_rotation_replaces_the_digits_and_a_repeated_one_returns_them(api: Api, dump: Callable[[], Any]) -> None:
    await furnish(api)
    old = await create(api, "c1")
    rotated = await api.mutate(ROTATE, lockerId="l1", codeId="c1", expectedRotation=1)
    new = rotated["digits"]
    assert new != old
    async with unchanged(dump):
        assert (await api.mutate(ROTATE, lockerId="l1", codeId="c1", expectedRotation=1))["digits"] == new
    assert [await verify(api, old, "a1"), await verify(api, new, "a2")] == ["DENIED", "GRANTED"]


async def test_a_revoked_code_opens_nothing_and_shows_no_digits(api: Api) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    revoked = await api.mutate(REVOKE, lockerId="l1", codeId="c1")
    assert revoked["accessCode"]["validity"]["state"] == "REVOKED"
    assert await verify(api, digits, "a1") == "DENIED"
    for document, values in ((REVEAL, {}), (ROTATE, {"expectedRotation": 1})):
        payload = await api.mutate(document, lockerId="l1", codeId="c1", **values)
        assert (payload["userErrors"][0]["code"], payload["digits"]) == ("ACCESS_CODE_OVER", None)


async def test_a_code_follows_its_reservation_without_being_written(
    api: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    before = {key: item for key, item in (await dump()).items() if "CODE" in item["entityType"]}
    await api.run(EXTEND, end="2026-03-01T15:00:00Z")
    clock.move(hours=2)
    assert (await states(api))["c1"] == "ACTIVE"
    assert {key: item for key, item in (await dump()).items() if "CODE" in item["entityType"]} == before
    assert await verify(api, digits, "a1") == "GRANTED"
    clock.move(hours=1, minutes=14)
    assert (await states(api))["c1"] == "ACTIVE", "a grace period of 15 minutes"
    assert await verify(api, digits, "a2") == "GRANTED"
    assert (await api.mutate(REVEAL, lockerId="l1", codeId="c1"))["digits"] == digits
    clock.move(minutes=1)
    assert (await states(api))["c1"] == "EXPIRED"
    assert await verify(api, digits, "a3") == "DENIED"
    assert (await api.mutate(REVEAL, lockerId="l1", codeId="c1"))["digits"] is None


async def test_the_grace_period_never_reaches_into_another_reservation(api: Api, clock: Clock) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    await api.owner("bob")
    await api.reservation("r2", "l1", "bob", "2026-03-01T13:05:00Z", "2026-03-01T14:00:00Z")
    clock.move(hours=1, minutes=4)
    assert (await states(api), await verify(api, digits, "a1")) == ({"c1": "ACTIVE"}, "GRANTED")
    clock.move(minutes=1)
    assert (await states(api), await verify(api, digits, "a2")) == ({"c1": "EXPIRED"}, "DENIED")


async def test_a_code_is_scheduled_before_its_window_and_expired_after_a_cancellation(api: Api) -> None:
    await furnish(api)
    await api.reservation("r2", "l1", "ada", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z")
    digits = await create(api, "c2", reservationId="r2")
    assert await states(api) == {"c2": "SCHEDULED"}
    assert await verify(api, digits, "a1") == "DENIED"
    await api.run(CANCEL.replace("r1", "r2"))
    assert await states(api) == {"c2": "EXPIRED"}
    refused = await api.mutate(CREATE, codeId="c3", kind="RESERVATION", lockerId="l1", reservationId="r2")
    assert refused["userErrors"][0]["code"] == "RESERVATION_OVER"


async def test_a_one_time_code_opens_once_and_a_courier_code_as_often_as_it_says(api: Api) -> None:
    await furnish(api)
    once = await create(api, "c1", "ONE_TIME", length=4)
    twice = await create(api, "c2", "COURIER", maxUses=2)
    always = await create(api, "c3", "STANDING")
    assert (len(once), len(twice), len(always)) == (4, 6, 8)
    assert [await verify(api, once, f"a{n}") for n in range(2)] == ["GRANTED", "DENIED"]
    assert [await verify(api, twice, f"b{n}") for n in range(3)] == ["GRANTED", "GRANTED", "DENIED"]
    assert [await verify(api, always, f"c{n}") for n in range(3)] == ["GRANTED"] * 3
    assert await states(api) == {"c1": "USED_UP", "c2": "USED_UP", "c3": "ACTIVE"}


async def test_codes_of_an_owner_who_gave_the_locker_away_open_it_no_more(api: Api) -> None:
    await furnish(api)
    await api.owner("bob")
    digits = await create(api, "c1", "STANDING")
    await api.run(
        'mutation { transferLocker(input: {lockerId: "l1", newOwnerId: "bob", expectedVersion: 1})'
        " { userErrors { code } } }"
    )
    assert await verify(api, digits, "a1") == "DENIED"
    payload = await api.by(owner("ada")).mutate(REVEAL, lockerId="l1", codeId="c1")
    assert payload["userErrors"][0]["code"] == "FORBIDDEN"


@pytest.mark.parametrize(
    ("kind", "values", "path"),
    [
        ("RESERVATION", {"lockerId": "l1"}, "reservationId"),
        ("RESERVATION", {"lockerId": "l1", "reservationId": "r1", "validUntil": "2027-01-01T00:00:00Z"}, "validUntil"),
        ("RESERVATION", {"lockerId": "l1", "reservationId": "r1", "length": 5}, "length"),
        ("RESERVATION", {"lockerId": "l1", "reservationId": "r1", "length": 9}, "length"),
        ("RESERVATION", {"lockerId": "l1", "reservationId": "nothing"}, "reservationId"),
        ("ONE_TIME", {"lockerId": "l1"}, "validUntil"),
        ("ONE_TIME", {"lockerId": "l1", "validUntil": "2026-03-02T12:00:01Z", "length": 4}, "length"),
        ("ONE_TIME", {"lockerId": "l1", "validUntil": "2026-03-01T11:00:00Z"}, "validUntil"),
        ("COURIER", {"lockerId": "l1", "validUntil": "2026-03-02T12:00:00Z"}, "maxUses"),
        ("COURIER", {"lockerId": "l1", "validUntil": "2026-03-02T12:00:00Z", "maxUses": 101}, "maxUses"),
        ("STANDING", {"lockerId": "l1", "length": 7}, "length"),
        ("STANDING", {"lockerId": "l1", "maxUses": 3}, "maxUses"),
        ("BOOKING", {"bookingId": "nothing"}, "bookingId"),
        ("BOOKING", {"bookingId": "nothing", "lockerId": "l1"}, "lockerId"),
    ],
)
async def test_a_code_that_breaks_a_rule_is_refused_and_nothing_is_written(
    api: Api, dump: Callable[[], Any], kind: str, values: dict[str, Any], path: str
) -> None:
    await furnish(api)
    async with unchanged(dump):
        payload = await api.mutate(CREATE, kind=kind, **values)
    assert payload["userErrors"][0]["path"] == ["input", path]
    assert payload["digits"] is None


async def test_only_who_acts_for_the_owner_gets_digits(api: Api, dump: Callable[[], Any]) -> None:
    await furnish(api)
    await api.owner("bob")
    digits = await create(api, "c1")
    input_ = {"codeId": "c2", "kind": "RESERVATION", "lockerId": "l1", "reservationId": "r1"}
    place = {"lockerId": "l1", "codeId": "c1"}
    for principal in (owner("bob"), partner(Scope.CODES_WRITE, of="bob"), partner(Scope.LOCKERS_WRITE)):
        caller = api.by(principal)
        async with unchanged(dump):
            payloads = [
                await caller.mutate(CREATE, **input_),
                await caller.mutate(REVEAL, **place),
                await caller.mutate(ROTATE, **place, expectedRotation=1),
                await caller.mutate(REVOKE, **place),
            ]
        assert [payload["userErrors"][0]["code"] for payload in payloads] == ["FORBIDDEN"] * 4
        assert digits not in str(payloads)
    payload = await api.by(partner(Scope.CODES_WRITE)).mutate(REVEAL, **place)
    assert payload["digits"] == digits


async def test_a_reservation_lists_its_codes(api: Api) -> None:
    await furnish(api)
    await create(api, "c1")
    await create(api, "c2", "STANDING")
    found = await api.run(RESERVED)
    assert found["reservation"]["accessCodes"]["nodes"] == [
        {
            "codeId": "c1",
            "validity": {
                "state": "ACTIVE",
                "validFrom": "2026-03-01T11:00:00.000Z",
                "validUntil": "2026-03-01T13:00:00.000Z",
            },
        }
    ]


async def test_a_reservation_has_five_live_codes_at_most(api: Api) -> None:
    await furnish(api)
    for number in range(5):
        await create(api, f"c{number}")
    values = {"kind": "RESERVATION", "lockerId": "l1", "reservationId": "r1"}
    full = await api.mutate(CREATE, codeId="c6", **values)
    assert full["userErrors"][0]["code"] == "TOO_MANY_ACCESS_CODES"
    await api.mutate(REVOKE, lockerId="l1", codeId="c0")
    await create(api, "c6")


async def test_a_booking_has_five_live_codes_at_most_and_leaves_room_for_others(api: Api) -> None:
    await places.prepare(api)
    await places.book(api, "b1")
    await places.approve(api, "b1")
    ada = api.by(owner("ada"))
    values = {"kind": "BOOKING", "bookingId": "b1"}
    errors = [(await ada.mutate(CREATE, codeId=f"c{number}", **values))["userErrors"] for number in range(6)]
    assert [[error["code"] for error in found] for found in errors] == [[]] * 5 + [["TOO_MANY_ACCESS_CODES"]]
    await ada.mutate(REVOKE, locationId=places.ulid(0), codeId="c0")
    assert (await ada.mutate(CREATE, codeId="c6", **values))["userErrors"] == []


async def test_codes_of_one_door_never_have_the_same_digits(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a single digit sequence for the first counter, every code after the first takes the next one."""
    await furnish(api)
    derive = CodeRing.digits
    monkeypatch.setattr(
        CodeRing, "digits", lambda ring, door, code: "123456" if code.counter == 0 else derive(ring, door, code)
    )
    digits = [await create(api, f"c{number}") for number in range(3)]
    assert digits[0] == "123456"
    assert len(set(digits)) == 3
    assert [await verify(api, one, f"a{one}") for one in digits] == ["GRANTED"] * 3


async def test_digits_of_a_code_that_is_long_over_are_free_again(
    api: Api, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await furnish(api)
    monkeypatch.setattr(CodeRing, "digits", lambda *_: "1234")
    await create(api, "c1", "ONE_TIME", length=4)
    clock.move(days=2)
    digits = await create(api, "c2", "ONE_TIME", length=4, validUntil="2026-03-03T20:00:00Z")
    await api.mutate(REVOKE, lockerId="l1", codeId="c1")
    assert await verify(api, digits, "a1") == "GRANTED"


async def test_a_new_ring_key_refuses_no_valid_code_and_old_codes_keep_their_digits(
    api: Api, open_api: Callable[..., AbstractAsyncContextManager[Api]]
) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    second = CODE_KEYS.replace("k1:MTEx", "k2:MjIy")
    async with (
        open_api(code_keys=f"{CODE_KEYS},{second}") as knows,
        open_api(code_keys=f"{second},{CODE_KEYS}") as uses,
    ):
        new = await create(uses, "c2")
        for number, server in enumerate((knows, uses)):
            assert await verify(server, digits, f"a{number}") == "GRANTED"
            assert await verify(server, new, f"b{number}") == "GRANTED"
        assert await create(uses, "c1") == digits
        rotated = (await uses.mutate(ROTATE, lockerId="l1", codeId="c1", expectedRotation=1))["digits"]
    async with open_api(code_keys=second) as without:
        assert await verify(without, rotated, "z1") == "GRANTED"
        assert await verify(without, wrong(rotated, new), "z2") == "DENIED"


async def test_a_booking_has_codes_for_the_location_s_door_on_its_half_day(api: Api, clock: Clock) -> None:
    place = await places.prepare(api)
    await places.book(api, "b1", date="2026-03-01", duration="AFTERNOON")
    values = {"codeId": "c1", "kind": "BOOKING", "bookingId": "b1"}
    early = await api.mutate(CREATE, **values)
    assert early["userErrors"][0]["path"] == ["input", "bookingId"], "it is not approved yet"
    await places.approve(api, "b1")
    payload = await api.by(owner("ada")).mutate(CREATE, **values)
    digits, validity = payload["digits"], payload["accessCode"]["validity"]
    assert (validity["validFrom"], validity["validUntil"]) == ("2026-03-01T11:00:00.000Z", "2026-03-01T23:00:00.000Z")
    door = api.by(device_at(place))

    async def enter(attempt_id: str) -> str:
        answer = await door.mutate(VERIFY, locationId=place, digits=digits, attemptId=attempt_id)
        return str(answer["decision"])

    assert await enter("a1") == "GRANTED"
    assert await verify_elsewhere(api, digits) == "FORBIDDEN"
    listed = """{ booking(bookingId: "b1") { accessCodes { nodes { codeId uses } } } location(locationId: "%s") {
      calendar(window: {from: "2026-03-01", to: "2026-03-01"}) { afternoon { accessCodes { nodes { codeId uses } } } }
    } }"""
    found = await api.by(owner("ada")).run(listed % place)
    codes = {"nodes": [{"codeId": "c1", "uses": 1}]}
    assert found["booking"]["accessCodes"] == codes
    assert found["location"]["calendar"] == [{"afternoon": {"accessCodes": codes}}]
    clock.move(hours=11)
    assert await enter("a2") == "DENIED", "the day is over where the location is"


async def verify_elsewhere(api: Api, digits: str) -> str:
    """What the device of another location is told."""
    other = await places.create_location(api, 1)
    answer = await api.by(device_at(other)).mutate(VERIFY, locationId=places.ulid(0), digits=digits, attemptId="x")
    return str(answer["userErrors"][0]["code"])
