"""Access codes: who gets them, what they open, and that their digits are nowhere but in three payloads."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from domain.access_codes import AccessCode, AccessCodeKind, CodeId, CodeRing
from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.access_codes import CreateAccessCode, VerifyAccessCode
from domain.models import Door, LockerId
from loaders.backend import Backend
from loaders.writes.access_codes import create_access_code
from loaders.writes.verification import verify_access_code
from tests import places
from tests.api import Api, mutation, refused
from tests.codes import CREATE, PROVISION, REVEAL, REVOKE, ROTATE, create, furnish, verify, wrong
from tests.conftest import CODE_KEYS, RING, Clock, Dump, OpenApi
from tests.principals import device, owner
from tests.reservations import CANCEL
from tests.wire import Meeting, Wire

EXTEND = mutation("extendReservation", "reservation { status }")
TRANSFER = mutation("transferLocker", "locker { version }")
OF_LOCKER = '{ locker(lockerId: "l1") { accessCodes { nodes { codeId kind validity { state } } } } }'
CODE = {"lockerId": "l1", "codeId": "c1"}
OF_R1 = {"kind": "RESERVATION", "lockerId": "l1", "reservationId": "r1"}
PAGE = (Path(__file__).parents[2] / "docs" / "access-codes.md").read_text()


async def states(api: Api) -> dict[str, str]:
    """The state of every code of the locker."""
    nodes = (await api.run(OF_LOCKER))["locker"]["accessCodes"]["nodes"]
    return {node["codeId"]: node["validity"]["state"] for node in nodes}


async def test_a_repeated_create_shows_the_digits_to_its_caller_alone_and_other_content_is_refused(
    api: Api, dump: Dump
) -> None:
    await furnish(api)
    first = await create(api, "c1")
    assert re.fullmatch("[0-9]{6}", first)
    again = await refused(api.by(owner("ada")), dump, CREATE, codeId="c1", **OF_R1)
    assert (again["userErrors"], again["digits"], again["accessCode"]["codeId"]) == ([], None, "c1")
    other = {"kind": "ONE_TIME", "lockerId": "l1", "validUntil": "2026-03-01T20:00:00Z"}
    payload = await refused(api, dump, CREATE, codeId="c1", **other)
    assert (payload["userErrors"][0]["code"], payload["digits"]) == ("ID_TAKEN", None)


@pytest.mark.parametrize("rotates", [False, True])
async def test_another_credential_of_the_same_caller_is_shown_the_digits_and_recorded_once(
    api: Api, dump: Dump, *, rotates: bool
) -> None:
    await furnish(api)
    ada = {name: api.by(replace(owner("ada"), credential=name)) for name in ("laptop", "phone")}
    first = await ada["laptop"].done(CREATE, codeId="c1", **OF_R1)
    document: str = CREATE
    values: dict[str, Any] = {"codeId": "c1", **OF_R1}
    if rotates:
        document, values = ROTATE, {**CODE, "expectedRotation": 1}
        first = await ada["laptop"].done(document, **values)
    again = await refused(ada["laptop"], dump, document, **values)
    assert (again["digits"], again["accessCode"]["reveals"]) == (first["digits"], [])
    other = await ada["phone"].done(document, **values)
    assert (other["digits"], other["accessCode"]["reveals"]) == (first["digits"], [{"revealedBy": "ada"}])
    for name in ("phone", "laptop"):
        repeated = await refused(ada[name], dump, document, **values)
        assert (repeated["digits"], repeated["accessCode"]["reveals"]) == (first["digits"], [{"revealedBy": "ada"}])


async def test_a_create_that_is_repeated_after_the_code_has_ended_returns_it(
    api: Api, dump: Dump, clock: Clock
) -> None:
    await furnish(api)
    values = {"codeId": "c1", "kind": "ONE_TIME", "lockerId": "l1", "validUntil": "2026-03-01T13:00:00Z"}
    await api.mutate(CREATE, **values)
    clock.move(hours=2)
    again = await refused(api, dump, CREATE, **values)
    assert (again["userErrors"], again["digits"]) == ([], None)
    assert (again["accessCode"]["codeId"], again["accessCode"]["validity"]["state"]) == ("c1", "EXPIRED")


async def test_a_reveal_is_recorded_with_its_caller_and_a_repeated_one_once(api: Api) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    ada = api.by(owner("ada"))
    for _ in range(2):
        payload = await ada.mutate(REVEAL, **CODE, revealId="x")
        assert payload["digits"] == digits
        assert payload["accessCode"]["reveals"] == [{"revealedBy": "ada"}]
    again = await ada.mutate(REVEAL, **CODE)
    assert again["accessCode"]["reveals"] == [{"revealedBy": "ada"}] * 2
    rotated = await api.mutate(ROTATE, **CODE, expectedRotation=1)
    for _ in range(2):
        payload = await ada.mutate(REVEAL, **CODE, revealId="x")
        assert payload["digits"] == rotated["digits"]
        assert payload["accessCode"]["reveals"] == [{"revealedBy": "ada"}] * 3, "these are other digits"


async def test_the_door_of_codes_and_what_they_are_for_are_read_at_the_same_time(api: Api, wire: Wire) -> None:
    await furnish(api)
    await create(api, "c1")
    wire.reset()
    meeting = Meeting(2, "GetItem")
    wire.fault = lambda call: None if call.keys == [("LOCKER#l1", "META")] else meeting(call)
    assert await states(api) == {"c1": "ACTIVE"}
    assert wire.operations == {"Query": 1, "GetItem": 3}  # the locker, then the door and the reservation


async def test_a_revoked_code_shows_no_digits(api: Api) -> None:
    await furnish(api)
    await create(api, "c1")
    assert (await api.mutate(REVOKE, **CODE))["accessCode"]["validity"]["state"] == "REVOKED"
    for document, values in ((REVEAL, {}), (ROTATE, {"expectedRotation": 1})):
        payload = await api.mutate(document, **CODE, **values)
        assert (payload["userErrors"][0]["code"], payload["digits"]) == ("ACCESS_CODE_OVER", None)


async def test_a_code_follows_its_reservation_without_being_written(api: Api, clock: Clock, dump: Dump) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    before = {key: item for key, item in (await dump()).items() if "CODE" in item["entityType"]}
    await api.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt="2026-03-01T15:00:00Z")
    for minutes, state, revealed in (
        (120, "ACTIVE", digits),
        (74, "ACTIVE", digits),  # a grace period of 15 minutes
        (1, "EXPIRED", None),
    ):
        clock.move(minutes=minutes)
        assert await states(api) == {"c1": state}
        items = await dump()
        assert {key: items[key] for key in before} == before
        assert (await verify(api, digits, f"a{minutes}") == "GRANTED") is (revealed is not None)
        assert (await api.mutate(REVEAL, **CODE))["digits"] == revealed
        items = await dump()
        before = {key: items[key] for key in before}


async def test_a_code_is_scheduled_before_its_window_and_expired_after_a_cancellation(api: Api, dump: Dump) -> None:
    await furnish(api)
    await api.reservation("r2", "l1", "ada", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z")
    await create(api, "c2", reservationId="r2")
    assert await states(api) == {"c2": "SCHEDULED"}
    await api.mutate(CANCEL, lockerId="l1", reservationId="r2")
    assert await states(api) == {"c2": "EXPIRED"}
    payload = await refused(api, dump, CREATE, codeId="c3", **OF_R1 | {"reservationId": "r2"})
    assert payload["userErrors"][0]["code"] == "RESERVATION_OVER"


async def test_codes_of_an_owner_who_gave_the_locker_away_open_it_no_more_even_if_it_comes_back(
    api: Api, dump: Dump
) -> None:
    await furnish(api)
    await api.owner("bob")
    await api.done(PROVISION, lockerId="l1", generation=1)
    digits = await create(api, "c1", "STANDING")
    await api.done(TRANSFER, lockerId="l1", newOwnerId="bob", expectedVersion=1)
    assert await verify(api, digits, "a1") == "DENIED"
    payload = await api.by(owner("ada")).mutate(REVEAL, **CODE)
    assert payload["userErrors"][0]["code"] == "FORBIDDEN"
    await api.done(TRANSFER, lockerId="l1", newOwnerId="ada", expectedVersion=2)
    new = await create(api, "c2", "STANDING")
    assert [await verify(api, one, one) for one in (digits, new)] == ["DENIED", "GRANTED"]
    assert await states(api) == {"c1": "EXPIRED", "c2": "ACTIVE"}
    listed = '{ locker(lockerId: "l1") { accessCodeList { codes { codeId } } } }'
    assert (await api.run(listed))["locker"]["accessCodeList"]["codes"] == [{"codeId": "c2"}]
    payload = await refused(api, dump, REVEAL, **CODE)
    assert (payload["userErrors"][0]["code"], payload["digits"]) == ("ACCESS_CODE_OVER", None)


async def test_the_owner_of_a_locker_learns_no_names_from_the_codes_of_others(api: Api) -> None:
    await furnish(api)
    await api.owner("bob")
    await create(api, "c1", label="Rita Rossi")
    await api.done(REVEAL, **CODE)
    await api.done(TRANSFER, lockerId="l1", newOwnerId="bob", expectedVersion=1)
    await api.by(owner("bob")).done(CREATE, codeId="c2", kind="STANDING", lockerId="l1", label="bob")
    document = """{ locker(lockerId: "l1") { accessCodes { nodes {
      codeId label createdBy reveals { revealedAt revealedBy } } } } }"""
    revealed = {"revealedAt": "2026-03-01T12:00:00.000Z"}
    own = {"codeId": "c2", "label": "bob", "createdBy": "bob", "reveals": []}
    for caller, shown in (
        (owner("bob"), [None, None, None]),
        (DEVELOPMENT_ADMIN, ["Rita Rossi", "development", "development"]),
    ):
        label, creator, revealer = shown
        other = {
            "codeId": "c1",
            "label": label,
            "createdBy": creator,
            "reveals": [{**revealed, "revealedBy": revealer}],
        }
        assert (await api.by(caller).run(document))["locker"]["accessCodes"]["nodes"] == [other, own]
    use = {**CODE, "eventId": "e1", "usedAt": "2026-03-01T12:00:00Z"}
    reported = await api.by(device("l1")).done(mutation("reportAccessCodeUse", "accessCode { label createdBy }"), **use)
    assert reported["accessCode"] == {"label": None, "createdBy": None}


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
    api: Api, dump: Dump, kind: str, values: dict[str, Any], path: str
) -> None:
    await furnish(api)
    payload = await refused(api, dump, CREATE, kind=kind, **values)
    assert payload["userErrors"][0]["path"] == ["input", path]
    assert payload["digits"] is None


async def test_a_server_without_the_key_of_a_code_names_it(api: Api, open_api: OpenApi) -> None:
    await furnish(api)
    await create(api, "c1")
    await api.done(PROVISION, lockerId="l1", generation=1)
    async with open_api(code_keys=CODE_KEYS.replace("k1:", "k2:")) as other:
        for document, values in (
            (REVEAL, {"input": CODE}),
            ('{ locker(lockerId: "l1") { accessCodeList { revision } } }', {}),
        ):
            (error,) = (await other.send(document, **values))["errors"]
            assert (
                error["message"]
                == "The server lacks the key k1 of access codes: SMARTLOCKER_CODE_KEYS must contain it."
            )
            assert error["extensions"]["code"] == "UNAVAILABLE"
        assert await other.done(ROTATE, **CODE, expectedRotation=1), "that needs no old digits"


@pytest.mark.parametrize("kind", ["RESERVATION", "BOOKING"])
async def test_a_reservation_or_a_booking_has_five_live_codes_at_most(api: Api, kind: str) -> None:
    place, values = {"lockerId": "l1"}, OF_R1
    if kind == "RESERVATION":
        await furnish(api)
    else:
        place, values = {"locationId": await places.prepare(api)}, {"kind": kind, "bookingId": "b1"}
        await places.book(api, "b1")
        await places.approve(api, "b1")
    ada = api.by(owner("ada"))
    errors = [(await ada.mutate(CREATE, codeId=f"c{number}", **values))["userErrors"] for number in range(6)]
    assert [[error["code"] for error in found] for found in errors] == [[]] * 5 + [["TOO_MANY_ACCESS_CODES"]]
    await ada.mutate(REVOKE, **place, codeId="c0")
    assert (await ada.mutate(CREATE, codeId="c6", **values))["userErrors"] == []


@pytest.mark.parametrize("kind", ["STANDING", "RESERVATION"])
async def test_codes_that_ended_with_a_transfer_take_no_place_at_the_door(api: Api, kind: str) -> None:
    await furnish(api)
    await api.owner("bob")
    for number in range(50):
        await create(api, f"old{number}", "STANDING")
    full = await api.mutate(CREATE, codeId="c1", kind="STANDING", lockerId="l1")
    assert [error["code"] for error in full["userErrors"]] == ["TOO_MANY_ACCESS_CODES"]
    await api.done(TRANSFER, lockerId="l1", newOwnerId="bob", expectedVersion=1)
    assert await verify(api, await create(api, "c1", kind), "a1") == "GRANTED"


async def test_a_new_code_is_active_also_for_a_server_whose_clock_is_behind(api: Api, clock: Clock) -> None:
    await furnish(api)
    digits = await create(api, "c1", "STANDING")
    await create(api, "c2", "STANDING", validFrom="2026-03-01T12:00:01Z")
    clock.move(seconds=-3)
    assert await states(api) == {"c1": "ACTIVE", "c2": "SCHEDULED"}
    assert await verify(api, digits, "a1") == "GRANTED"


class Colliding(CodeRing):
    """Derives the same digits for every code, until others are asked for."""

    def digits(self, door: Door, code: AccessCode) -> str:
        return "123456"[: code.length] if code.counter == 0 else super().digits(door, code)


@pytest.fixture
def colliding(backend: Backend) -> Backend:
    return replace(backend, code_ring=lambda: Colliding(RING.keys))


async def issue(backend: Backend, code_id: str, kind: AccessCodeKind, **values: Any) -> str | None:
    command = CreateAccessCode(code_id=CodeId(code_id), kind=kind, locker_id=LockerId("l1"), **values)
    return (await create_access_code(backend, command, DEVELOPMENT_ADMIN)).digits


async def entered(backend: Backend, digits: str | None) -> str:
    """The decision on digits that are entered at the door."""
    command = VerifyAccessCode(locker_id=LockerId("l1"), digits=digits or "", attempt_id=f"a{digits}")
    return (await verify_access_code(backend, command, DEVELOPMENT_ADMIN)).decision


async def test_codes_of_one_door_never_have_the_same_digits(api: Api, colliding: Backend) -> None:
    await furnish(api)
    digits = [
        await issue(colliding, f"c{number}", AccessCodeKind.RESERVATION, reservation_id="r1") for number in range(3)
    ]
    assert digits[0] == "123456"
    assert len(set(digits)) == 3
    assert [await entered(colliding, one) for one in digits] == ["GRANTED"] * 3


async def test_digits_of_a_code_that_is_long_over_are_free_again(api: Api, clock: Clock, colliding: Backend) -> None:
    await furnish(api)
    kind = AccessCodeKind.ONE_TIME
    assert await issue(colliding, "c1", kind, length=4, valid_until="2026-03-01T20:00:00.000Z") == "1234"
    clock.move(days=2)
    assert await issue(colliding, "c2", kind, length=4, valid_until="2026-03-03T20:00:00.000Z") == "1234"
    await api.mutate(REVOKE, **CODE)
    assert await entered(colliding, "1234") == "GRANTED"


async def test_a_new_ring_key_refuses_no_valid_code_and_old_codes_keep_their_digits(
    api: Api, open_api: OpenApi
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
        rotated = (await uses.mutate(ROTATE, **CODE, expectedRotation=1))["digits"]
    async with open_api(code_keys=second) as without:
        assert await verify(without, rotated, "z1") == "GRANTED"
        assert await verify(without, wrong(rotated, new), "z2") == "DENIED"


def sent(wire: Wire) -> tuple[str, str]:
    """The requests since the last look, as the page words them."""
    names = ("BatchGetItem", "GetItem", "Query")
    reads = [f"{wire.operations[name]} {name}" for name in names if wire.operations[name]]
    items = [len(call.request["TransactItems"]) for call in wire.of("TransactWriteItems")]
    writes = f"1 TransactWriteItems of {items[0]} items" if items else "none"
    wire.reset()
    return ", ".join(reads), writes


async def test_the_page_states_the_requests_of_codes(api: Api, wire: Wire) -> None:
    await furnish(api)
    wire.reset()
    digits = (await api.mutate(mutation("createAccessCode", "digits"), codeId="c1", **OF_R1))["digits"]
    found: dict[str, Any] = {"create a code of a reservation": sent(wire)}
    await verify(api, digits, "a0")
    found["verify, granted, with the check-in"] = sent(wire)
    await verify(api, digits, "a1")
    found["verify, granted, after the check-in"] = sent(wire)
    for number in range(5):
        await verify(api, wrong(digits), f"b{number}")
        found.setdefault("verify, denied", sent(wire))
    wire.reset()
    await verify(api, digits, "c")
    found["verify, locked out"] = sent(wire)
    for number in range(2):
        await create(api, f"s{number}", "STANDING")
    await api.mutate(PROVISION, lockerId="l1", generation=1)
    await api.reservation("r2", "l1", "ada", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z")
    await create(api, "c2", reservationId="r2")
    wire.reset()
    await api.by(device("l1")).run('{ locker(lockerId: "l1") { accessCodeList { revision } } }')
    found["list for a locker's device"] = sent(wire)
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    stated = {name: (reads, writes) for name, reads, writes in rows}
    assert {name: stated.get(name) for name in found} == found
