from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api, mutation
from tests.conftest import NOW, Dump, Prepared
from tests.invariants import check_invariants
from tests.places import APPROVE, CANCEL, MOVE, book, create_location, deciding, prepare, ulid
from tests.tables import put
from tests.wire import Wire

LOCKER = "locker { version }"
RENAME, CONFIGURE, TRANSFER, STATUS = (
    mutation(field, LOCKER) for field in ("renameLocker", "configureLocker", "transferLocker", "updateLockerStatus")
)
START, EXTEND, RELEASE, CANCEL_RESERVATION = (
    mutation(f"{verb}Reservation", "reservation { status }") for verb in ("start", "extend", "release", "cancel")
)
RUNNING, NEXT = ({"lockerId": "l1", "reservationId": name} for name in ("running", "next"))
VERSION = {"lockerId": "l1", "expectedVersion": 1}
OWNER_COPY, LOCATION_COPY = "OWNER_LOCKER", "LOCATION_LOCKER"
OFFERS = "LOCKER_OFFER"
WRITES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "a change of status": (STATUS, VERSION | {"newStatus": "OCCUPIED"}, (OWNER_COPY, LOCATION_COPY)),
    "a new name": (RENAME, VERSION | {"alias": "Left"}, (OWNER_COPY, LOCATION_COPY, OFFERS)),
    "another size": (CONFIGURE, VERSION | {"size": "XL"}, (OWNER_COPY, LOCATION_COPY, OFFERS)),
    "a move": (MOVE, VERSION | {"newLocationId": ulid(1)}, (OWNER_COPY, LOCATION_COPY, OFFERS)),
    "a transfer": (TRANSFER, VERSION | {"newOwnerId": "eve"}, (OWNER_COPY, LOCATION_COPY, OFFERS)),
    "a start": (START, RUNNING, (OWNER_COPY, LOCATION_COPY, "OWNER_RESERVATION", "LIVE_RESERVATION")),
    "a release": (RELEASE, RUNNING, ("OWNER_RESERVATION",)),
    "an extension": (EXTEND, NEXT | {"newEndAt": "2026-03-02T13:00:00Z"}, ("OWNER_RESERVATION", "LIVE_RESERVATION")),
    "a cancellation": (CANCEL_RESERVATION, NEXT, ("OWNER_RESERVATION",)),
    "a decision": (APPROVE, {"bookingId": "b1", "expectedVersion": 1}, ("OWNER_BOOKING",)),
    "a canceled booking": (CANCEL, {"bookingId": "b1"}, ("OWNER_BOOKING",)),
}


async def stock(api: Api) -> None:
    await prepare(api)
    await api.owner("eve")
    await create_location(api, 1)
    await api.locker("l1", "ada", locationId=ulid(0))
    await api.reservation("running", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await api.reservation("next", "l1", "ada", "2026-03-02T11:00:00Z", "2026-03-02T12:00:00Z")
    await book(api, "b1")


@pytest_asyncio.fixture
async def one(api: Api, prepared: Prepared) -> Api:
    """A locker with a running and a following reservation, and a booking."""
    await prepared(stock, api)
    return api


def copies(items: dict[Any, dict[str, Any]], kind: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """The copies of that kind; of the reservation that is written, where it is one."""
    wanted = values.get("reservationId") if kind.endswith("RESERVATION") else None
    found = [item for item in items.values() if item["entityType"] == kind]
    return [item for item in found if wanted in {None, item.get("reservationId")}]


@pytest.mark.parametrize(
    ("write", "kind"), [(write, kind) for write, (_, _, kinds) in WRITES.items() for kind in kinds]
)
@pytest.mark.parametrize("is_lost", [True, False], ids=["lost", "changed"])
async def test_a_copy_is_right_after_the_next_write_of_its_record(
    one: Api, wire: Wire, plain_client: Any, table: str, dump: Dump, write: str, kind: str, *, is_lost: bool
) -> None:
    document, values, _ = WRITES[write]
    before = copies(await dump(), kind, values)
    assert before
    for item in before:
        if is_lost:
            key = {name: {"S": item[name]} for name in ("PK", "SK")}
            await plain_client.delete_item(TableName=table, Key=key)
        else:
            await put(plain_client, table, item | {"alias": "Wrong", "endReason": "Wrong", "unknown": "Wrong"})
    wire.reset()
    await deciding(one).done(document, **values)
    assert wire.operations["TransactWriteItems"] == 1
    items = await dump()
    check_invariants(items, NOW)
    after = copies(items, kind, values)
    assert len(after) == len(before)
    assert not any("Wrong" in item.values() for item in after)


async def test_a_record_keeps_an_unknown_attribute(one: Api, plain_client: Any, table: str, dump: Dump) -> None:
    records = {kind: copies(await dump(), kind, RUNNING)[0] for kind in ("LOCKER", "RESERVATION", "BOOKING")}
    await put(plain_client, table, *(item | {"unknown": "kept"} for item in records.values()))
    for write in ("a start", "a decision"):
        document, values, _ = WRITES[write]
        await deciding(one).done(document, **values)
    items = await dump()
    assert {item["entityType"] for item in items.values() if "unknown" in item} == records.keys()


@pytest.mark.parametrize("write", ["a start", "an extension of the running one"])
async def test_a_lost_pointer_is_written_again(one: Api, plain_client: Any, table: str, dump: Dump, write: str) -> None:
    key = {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "RES#ACTIVE"}}
    await plain_client.delete_item(TableName=table, Key=key)
    if write == "a start":
        await one.done(START, **RUNNING)
    else:
        await one.done(EXTEND, **RUNNING, newEndAt="2026-03-01T14:00:00Z")
    check_invariants(await dump(), NOW)
    shown = '{ locker(lockerId: "l1") { activeReservation { reservationId } nextReservation { reservationId } } }'
    assert (await one.run(shown))["locker"] == {
        "activeReservation": {"reservationId": "running"},
        "nextReservation": {"reservationId": "next"},
    }
    await one.reservation("far", "l1", "ada", "2026-03-03T11:00:00Z", "2026-03-03T12:00:00Z")
    await one.done(RELEASE, **RUNNING)
    items = await dump()
    check_invariants(items, NOW)
    assert items["LOCKER#l1", "RES#ACTIVE"]["reservationId"] == "next"
