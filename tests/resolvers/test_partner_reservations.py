import asyncio
from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import Scope
from tests.api import Api, mutation, refused, user_error
from tests.conftest import Clock, Dump, OpenApi
from tests.invariants import check_invariants
from tests.principals import owner, partner
from tests.reservations import CANCEL, RELEASE, SHORTEN
from tests.wire import Wire

DETAILS = "details { recipient { name email phone } metadata }"
CREATE = mutation("createReservation", f"reservation {{ reservationId reference {DETAILS} }}")
BY_REFERENCE = f"""query ($owner: ID!, $reference: String!) {{
  reservationByReference(ownerId: $owner, reference: $reference) {{ reservationId reference {DETAILS} }} }}"""
OF_LOCKER = f'{{ locker(lockerId: "l1") {{ reservations {{ nodes {{ reservationId reference {DETAILS} }} }} }} }}'
RITA = {"name": "Rita Recipient", "email": "rita@example.com"}
METADATA = {"parcels": 2, "fragile": True}


def window(day: int) -> dict[str, str]:
    return {"startAt": f"2026-04-{day:02d}T10:00:00Z", "endAt": f"2026-04-{day:02d}T12:00:00Z"}


ORDER: dict[str, Any] = {
    "lockerId": "l1",
    "reservationId": "r1",
    "ownerId": "shop",
    **window(1),
    "reference": "order #4711",
    "recipient": RITA,
    "metadata": METADATA,
}
ASKED = {"owner": "shop", "reference": "order #4711"}
MADE = {
    "reservationId": "r1",
    "reference": "order #4711",
    "details": {"recipient": RITA | {"phone": None}, "metadata": METADATA},
}


@pytest_asyncio.fixture
async def shop(api: Api) -> Api:
    """A shop that reserves the lockers of a hall."""
    for name in ("shop", "hall", "eve"):
        await api.owner(name)
    for locker in ("l1", "l2"):
        await api.locker(locker, "hall")
    return api


async def test_a_reservation_is_found_by_its_reference(shop: Api, wire: Wire) -> None:
    assert await shop.mutate(CREATE, **ORDER) == {"reservation": MADE, "userErrors": []}
    wire.reset()
    assert await shop.run(BY_REFERENCE, **ASKED) == {"reservationByReference": MADE}
    assert wire.operations == {"GetItem": 3}


async def test_a_reference_is_unique_for_its_owner_for_ever(shop: Api, dump: Dump) -> None:
    await shop.mutate(CREATE, **ORDER)
    await shop.mutate(CANCEL, lockerId="l1", reservationId="r1")
    other = ORDER | {"lockerId": "l2", "reservationId": "r2"}
    payload = await refused(shop, dump, CREATE, **other | window(2))
    message = "Another reservation of the owner has this reference."
    assert payload["userErrors"] == [user_error("REFERENCE_TAKEN", message, 409, "reference")]
    assert (await shop.mutate(CREATE, **other | {"ownerId": "eve"}))["userErrors"] == []


async def test_one_of_many_reservations_at_once_gets_a_reference(shop: Api, dump: Dump, clock: Clock) -> None:
    others = [{"lockerId": f"l{day % 2 + 1}", "reservationId": f"n{day}", **window(day)} for day in range(3, 13)]
    payloads = await asyncio.gather(*(shop.mutate(CREATE, **ORDER | other) for other in others))
    codes = [error["code"] for payload in payloads for error in payload["userErrors"]]
    assert codes == ["REFERENCE_TAKEN"] * 9
    check_invariants(await dump(), clock.now)


async def test_a_recipient_can_be_reached_and_a_problem_names_no_value(shop: Api, dump: Dump) -> None:
    payload = await refused(shop, dump, CREATE, **ORDER | {"recipient": {"name": "Rita"}})
    message = "recipient must have an email or a phone"
    assert payload["userErrors"] == [user_error("BAD_USER_INPUT", message, 400, "recipient")]
    payload = await refused(shop, dump, CREATE, **ORDER | {"recipient": RITA | {"email": "rita"}})
    (error,) = payload["userErrors"]
    assert error["path"] == ["input", "recipient", "email"]
    assert "rita" not in error["message"].lower()


async def test_the_owner_of_the_locker_sees_the_reservation_but_not_whom_it_is_for(shop: Api, wire: Wire) -> None:
    await shop.mutate(CREATE, **ORDER)
    hidden = {"reservationId": "r1", "reference": "order #4711", "details": None}
    for principal in (owner("hall"), partner(Scope.RESERVATIONS_READ, Scope.LOCKERS_READ, of="hall")):
        wire.reset()
        answer = await shop.by(principal).send(OF_LOCKER)
        assert answer["data"]["locker"]["reservations"]["nodes"] == [hidden]
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
        assert not any("DETAILS#" in str(call.request) for call in wire.calls)
        answer = await shop.by(principal).send(BY_REFERENCE, **ASKED)
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
    for principal in (owner("shop"), partner(Scope.RESERVATIONS_READ, of="shop")):
        data = await shop.by(principal).run(BY_REFERENCE, **ASKED)
        assert data["reservationByReference"] == MADE


async def test_a_reference_that_nobody_has_is_not_found_and_one_that_cannot_be_is_bad_input(shop: Api) -> None:
    for reference, code in (("nothing", "NOT_FOUND"), ("", "BAD_USER_INPUT"), ("é", "BAD_USER_INPUT")):
        (error,) = (await shop.send(BY_REFERENCE, owner="shop", reference=reference))["errors"]
        assert error["extensions"]["code"] == code


@pytest.mark.parametrize(
    ("limits", "setting"),
    [
        ({"max_live_reservations": 3}, "SMARTLOCKER_MAX_LIVE_RESERVATIONS"),
        ({"live_reservations": {"shop": 3}}, "SMARTLOCKER_LIVE_RESERVATIONS"),
    ],
)
async def test_an_owner_has_so_many_live_reservations_and_no_more_however_many_ask_at_once(
    open_api: OpenApi, dump: Dump, clock: Clock, limits: dict[str, Any], setting: str
) -> None:
    async with open_api(**limits) as api:
        await api.owner("shop")
        await api.owner("other")
        for number in range(6):
            await api.locker(f"l{number}", "shop")
        values = {"ownerId": "shop", **window(1)}
        payloads = await asyncio.gather(
            *(api.mutate(CREATE, lockerId=f"l{number}", reservationId=f"r{number}", **values) for number in range(6))
        )
        made = [payload["reservation"]["reservationId"] for payload in payloads if payload["reservation"]]
        refused = [error for payload in payloads for error in payload["userErrors"]]
        most = f"The owner has 3 reservations that have not ended, which is the maximum ({setting})."
        message = f"{most} Cancel or release one."
        assert refused == [user_error("TOO_MANY_RESERVATIONS", message, 409, "ownerId")] * 3
        assert len(made) == 3
        check_invariants(await dump(), clock.now)
        # Another owner is not concerned; one that ends by itself, by a cancellation or a release makes room.
        assert not (await api.mutate(CREATE, lockerId="l0", ownerId="other", **window(2)))["userErrors"]
        await api.mutate(CANCEL, lockerId=f"l{made[0][1:]}", reservationId=made[0])
        assert not (await api.mutate(CREATE, lockerId="l1", ownerId="shop", **window(3)))["userErrors"]
        assert (await api.mutate(CREATE, lockerId="l2", ownerId="shop", **window(3)))["userErrors"]
        clock.now = type(clock.now)("2026-04-01T11:00:00.000Z")
        await api.mutate(RELEASE, lockerId=f"l{made[1][1:]}", reservationId=made[1])
        assert not (await api.mutate(CREATE, lockerId="l3", ownerId="shop", **window(4)))["userErrors"]
        early = {"newEndAt": "2026-04-01T11:30:00Z"}
        assert not (await api.mutate(SHORTEN, lockerId=f"l{made[2][1:]}", reservationId=made[2], **early))["userErrors"]
        assert (await api.mutate(CREATE, lockerId="l4", ownerId="shop", **window(5)))["userErrors"]
        clock.move(minutes=30)
        assert not (await api.mutate(CREATE, lockerId="l4", ownerId="shop", **window(5)))["userErrors"]
        check_invariants(await dump(), clock.now)
