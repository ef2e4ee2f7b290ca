"""What each change of locations, bookings and calendars may send to the store, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import UPDATE_STATUS
from tests.places import (
    APPROVE,
    CANCEL,
    CREATE_EVENT,
    CREATE_LOCATION,
    DAY,
    DEACTIVATE,
    DELETE_EVENT,
    MOVE,
    PAY,
    REACTIVATE,
    REGISTER,
    REJECT,
    REQUEST,
    UPDATE_LOCATION,
    approve,
    found_location,
    fresh,
    prepare,
    ulid,
)
from tests.races.test_lockers import RENAME, TRANSFER

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

PLACE = f"LOCATION#{ulid(0)}"
META, MORNING, AFTERNOON = (PLACE, "META"), (PLACE, f"DAY#{DAY}#MORNING"), (PLACE, f"DAY#{DAY}#AFTERNOON")
BOOKING, COPY = ("BOOKING#b1", "META"), ("OWNER#ada", f"BOOKING#{DAY}#b1")
ADA, ROOT = ("OWNER#ada", "META"), ("OWNER#root", "META")
TOLD = "NOTIFICATION#2026-03-01T12:00:00.000Z#b1-{}".format
LOCKER, OWNERS_COPY, PLACES_COPY = ("LOCKER#l1", "META"), ("OWNER#ada", "LOCKER#l1"), (PLACE, "LOCKER#l1")
CHANGED = {"expectedVersion": 1}
REQUESTED = {
    "bookingId": "b1",
    "locationId": ulid(0),
    "ownerId": "ada",
    "date": DAY,
    "duration": "FULL_DAY",
    "description": "Chess",
    "attendees": 5,
}
EVENT = {"locationId": ulid(0), "adminId": "root", "eventId": "e1"}


@pytest_asyncio.fixture
async def ready(api: Api, wire: Wire) -> Api:
    """An owner, an admin, a location, another, and a locker at the first."""
    await prepare(api)
    await found_location(api, 1)
    await api.locker("l1", "ada", alias="A1", locationId=ulid(0))
    wire.reset()
    return api


def conditions(wire: Wire) -> list[str | None]:
    """What the last transaction demands of each item."""
    (call,) = wire.of("TransactWriteItems")
    return [step.get("ConditionExpression") for entry in call.request["TransactItems"] for step in entry.values()]


def actions(wire: Wire) -> list[str]:
    (call,) = wire.of("TransactWriteItems")
    return [action for entry in call.request["TransactItems"] for action in entry]


async def test_a_creation_of_a_location_is_one_transaction_with_its_claim(ready: Api, wire: Wire) -> None:
    await ready.mutate(CREATE_LOCATION, locationId=ulid(5), **fresh("rome"))
    assert wire.operations == {"TransactWriteItems": 1}
    assert wire.calls[0].keys == [(f"LOCATION#{ulid(5)}", "META"), ("LOCATION_CODE#rome", "META")]
    assert conditions(wire) == ["attribute_not_exists(#PK)"] * 2


@pytest.mark.parametrize(("mutation", "more"), [(UPDATE_LOCATION, {"name": "New"}), (DEACTIVATE, {})])
async def test_a_change_of_a_location_is_one_strong_get_and_one_transaction(
    ready: Api, wire: Wire, mutation: str, more: dict[str, str]
) -> None:
    await ready.mutate(mutation, locationId=ulid(0), **CHANGED, **more)
    assert [(call.operation, call.keys) for call in wire.calls] == [("GetItem", [META]), ("TransactWriteItems", [META])]
    assert wire.calls[0].request["ConsistentRead"] is True
    assert conditions(wire) == ["#version = :expectedVersion"]


async def test_a_location_that_is_open_already_is_one_get(ready: Api, wire: Wire) -> None:
    await ready.mutate(REACTIVATE, locationId=ulid(0), **CHANGED)
    assert wire.operations == {"GetItem": 1}


NEW_COPY = (f"LOCATION#{ulid(1)}", "LOCKER#l1")
NEW_PLACE = (f"LOCATION#{ulid(1)}", "META")


@pytest.mark.parametrize(
    ("mutation", "change", "keys"),
    [
        (UPDATE_STATUS, {"newStatus": "OCCUPIED"}, [LOCKER, OWNERS_COPY, PLACES_COPY]),
        (RENAME, {"alias": "B1"}, [LOCKER, OWNERS_COPY, PLACES_COPY]),
        (TRANSFER, {"newOwnerId": "root"}, [LOCKER, OWNERS_COPY, ("OWNER#root", "LOCKER#l1"), ROOT, PLACES_COPY]),
        (MOVE, {"newLocationId": ulid(1)}, [LOCKER, OWNERS_COPY, PLACES_COPY, NEW_COPY, NEW_PLACE]),
        (MOVE, {"newLocationId": None}, [LOCKER, OWNERS_COPY, PLACES_COPY]),
    ],
)
async def test_a_change_of_a_locker_is_one_get_and_one_transaction_with_every_copy(
    ready: Api, wire: Wire, mutation: str, change: dict[str, Any], keys: list[tuple[str, str]]
) -> None:
    payload = await ready.mutate(mutation, lockerId="l1", **CHANGED, **change)
    assert payload["userErrors"] == []
    assert [call.operation for call in wire.calls] == ["GetItem", "TransactWriteItems"]
    assert wire.calls[1].keys == keys


async def test_a_registration_at_a_location_is_one_transaction_that_checks_the_location(ready: Api, wire: Wire) -> None:
    await ready.mutate(REGISTER, lockerId="l9", ownerId="ada", locationId=ulid(0))
    assert wire.operations == {"TransactWriteItems": 1}
    assert wire.calls[0].keys == [("LOCKER#l9", "META"), ("OWNER#ada", "LOCKER#l9"), ADA, (PLACE, "LOCKER#l9"), META]
    assert conditions(wire)[-1] == "attribute_exists(#PK) AND #status = :active"


async def test_a_request_of_a_booking_is_one_strong_batch_and_one_transaction(ready: Api, wire: Wire) -> None:
    await ready.mutate(REQUEST, **REQUESTED)
    assert [(call.operation, call.keys) for call in wire.calls] == [
        ("BatchGetItem", [META, BOOKING]),
        ("TransactWriteItems", [BOOKING, COPY, ADA, META]),
    ]
    assert [part["ConsistentRead"] for part in wire.calls[0].request["RequestItems"].values()] == [True]
    wire.reset()
    await ready.mutate(REQUEST, **REQUESTED)
    assert wire.operations == {"BatchGetItem": 1}


async def test_an_approval_is_two_strong_gets_and_one_transaction_of_everything(ready: Api, wire: Wire) -> None:
    await ready.mutate(REQUEST, **REQUESTED)
    wire.reset()
    await ready.mutate(APPROVE, bookingId="b1", adminId="root", **CHANGED)
    told = ("OWNER#ada", TOLD("approved"))
    assert [(call.operation, call.keys) for call in wire.calls] == [
        ("GetItem", [BOOKING]),
        ("GetItem", [META]),
        ("TransactWriteItems", [BOOKING, COPY, MORNING, AFTERNOON, told, ROOT, META]),
    ]
    assert [call.request["ConsistentRead"] for call in wire.of("GetItem")] == [True, True]
    assert conditions(wire) == [
        "#version = :expectedVersion AND #status = :readStatus",
        None,
        "attribute_not_exists(#PK)",
        "attribute_not_exists(#PK)",
        None,
        "#role = :admin",
        "attribute_exists(#PK) AND #status = :active",
    ]
    update = wire.calls[2].request["TransactItems"][0]["Update"]["UpdateExpression"]
    assert update.endswith("REMOVE #GSI1PK, #GSI1SK")
    wire.reset()
    await ready.mutate(APPROVE, bookingId="b1", adminId="root", **CHANGED)
    assert [(call.operation, call.keys) for call in wire.calls] == [("GetItem", [BOOKING]), ("GetItem", [ROOT])]


async def test_a_rejection_is_one_get_and_one_transaction_without_half_days(ready: Api, wire: Wire) -> None:
    await ready.mutate(REQUEST, **REQUESTED)
    wire.reset()
    await ready.mutate(REJECT, bookingId="b1", adminId="root", reason="No", **CHANGED)
    assert [call.operation for call in wire.calls] == ["GetItem", "TransactWriteItems"]
    assert wire.calls[1].keys == [BOOKING, COPY, ("OWNER#ada", TOLD("rejected")), ROOT]


@pytest.mark.parametrize(("approved", "freed"), [(False, []), (True, [MORNING, AFTERNOON])])
async def test_a_cancellation_is_two_gets_and_one_transaction_that_frees_what_it_had(
    ready: Api, wire: Wire, freed: list[tuple[str, str]], *, approved: bool
) -> None:
    await ready.mutate(REQUEST, **REQUESTED)
    if approved:
        await approve(ready, "b1")
    wire.reset()
    await ready.mutate(CANCEL, bookingId="b1", ownerId="ada")
    assert [call.keys for call in wire.calls] == [[BOOKING], [META], [BOOKING, COPY, *freed]]
    assert wire.operations == {"GetItem": 2, "TransactWriteItems": 1}
    assert [call.request["ConsistentRead"] for call in wire.of("GetItem")] == [True, True]
    assert actions(wire) == ["Update", "Put", *["Delete"] * len(freed)]
    assert conditions(wire)[2:] == ["#bookingId = :bookingId"] * len(freed)


async def test_an_admins_event_is_one_transaction_and_its_deletion_a_get_more(ready: Api, wire: Wire) -> None:
    await ready.mutate(CREATE_EVENT, **EVENT, date=DAY, duration="FULL_DAY", title="Works")
    claim = (PLACE, "CID#e1")
    assert [call.keys for call in wire.calls] == [[claim, MORNING, AFTERNOON, ROOT, META]]
    wire.reset()
    await ready.mutate(DELETE_EVENT, **EVENT)
    assert [(call.operation, call.keys) for call in wire.calls] == [
        ("GetItem", [claim]),
        ("TransactWriteItems", [MORNING, AFTERNOON, ROOT]),
    ]
    assert actions(wire) == ["Delete", "Delete", "ConditionCheck"]


async def test_a_payment_is_one_transaction_and_a_bookings_payments_one_query(ready: Api, wire: Wire) -> None:
    await ready.mutate(REQUEST, **REQUESTED)
    wire.reset()
    await ready.mutate(PAY, bookingId="b1", paymentId="p1", amount=1, currency="EUR")
    assert [call.keys for call in wire.calls] == [[("BOOKING#b1", "PAYMENT#p1"), BOOKING]]
    wire.reset()
    await ready.run('{ booking(bookingId: "b1") { payments { nodes { amount } } } }')
    assert wire.operations == {"GetItem": 1, "Query": 1}
