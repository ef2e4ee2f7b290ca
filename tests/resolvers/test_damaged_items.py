import logging
from typing import Any

import pytest
import pytest_asyncio

from tests.api import Api
from tests.tables import put

DAMAGED_RESERVATION = {
    "PK": "LOCKER#l1",
    "SK": "RES#2026-03-02T10:00:00.000Z#broken",
    "entityType": "RESERVATION",
    "startAt": "2026-03-02T10:00:00.000Z",
    "status": "SOMETHING",
}


@pytest_asyncio.fixture
async def busy(api: Api, plain_client: Any, table: str) -> Api:
    """A locker with three reservations and two others, of which one reservation and one locker are damaged."""
    await api.owner("acme")
    for locker_id in ("l1", "l2", "l3"):
        await api.locker(locker_id, "acme")
    for day in (1, 2, 3):
        at = f"2026-03-0{day}"
        await api.reservation(f"r{day}", "l1", "acme", f"{at}T12:00:00Z", f"{at}T13:00:00Z")
    await put(plain_client, table, DAMAGED_RESERVATION)
    return api


async def test_a_damaged_reservation_is_left_out_with_one_error(busy: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = await busy.send('{ locker(lockerId: "l1") { version reservations { nodes { reservationId } } } }')
    nodes = [{"reservationId": "r1"}, {"reservationId": "r2"}, {"reservationId": "r3"}]
    assert answer["data"] == {"locker": {"version": 1, "reservations": {"nodes": nodes}}}
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["locker", "reservations"], "INTERNAL_SERVER_ERROR")
    assert "reservation" not in error["message"].lower()
    assert "left out of its list: item LOCKER / RES (ca9f42eb07ec)" in caplog.text


@pytest.mark.parametrize("direction", ["first: 1, after", "last: 1, before"])
async def test_pages_go_on_behind_a_damaged_item(busy: Api, direction: str) -> None:
    query = f"""query ($cursor: String) {{ locker(lockerId: "l1") {{
      reservations({direction}: $cursor) {{ nodes {{ reservationId }} edges {{ cursor }} nextCursor }} }} }}"""
    met, cursor = [], None
    for _ in range(4):
        answer = await busy.send(query, cursor=cursor)
        page = answer["data"]["locker"]["reservations"]
        met.append("".join(node["reservationId"] for node in page["nodes"]))
        assert ("errors" in answer) is (not page["nodes"])
        assert len(page["edges"]) == len(page["nodes"])
        cursor = page["nextCursor"]
    expected = ["r1", "", "r2", "r3"]
    assert met == (expected if "first" in direction else expected[::-1])
    assert cursor is None


async def test_a_damaged_record_is_left_out_of_a_list_of_copies(busy: Api, plain_client: Any, table: str) -> None:
    await put(plain_client, table, {"PK": "LOCKER#l2", "SK": "META", "entityType": "LOCKER", "lockerId": "l2"})
    answer = await busy.send('{ owner(ownerId: "acme") { lockers { nodes { lockerId version } } } }')
    nodes = [{"lockerId": "l1", "version": 1}, {"lockerId": "l3", "version": 1}]
    assert answer["data"] == {"owner": {"lockers": {"nodes": nodes}}}
    (error,) = answer["errors"]
    assert error["path"] == ["owner", "lockers"]


async def test_a_value_of_a_type_that_no_item_has_is_damage(busy: Api, plain_client: Any, table: str) -> None:
    key = {"PK": {"S": "LOCKER#l1"}, "SK": {"S": "EVT#2026-02-01T00:00:00.000Z#e1"}}
    await plain_client.put_item(TableName=table, Item={**key, "tags": {"SS": ["a"]}})
    answer = await busy.send('{ locker(lockerId: "l1") { accessEvents { nodes { eventId } } } }')
    assert answer["data"] == {"locker": {"accessEvents": {"nodes": []}}}
    assert [error["path"] for error in answer["errors"]] == [["locker", "accessEvents"]]
