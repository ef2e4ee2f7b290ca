"""The index: where an item stands in it, and what a Query of it sends and finds."""

from __future__ import annotations

import base64
import json
import string
from datetime import UTC
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.bookings import BookingId
from domain.errors import InvalidCursorError
from domain.models import LocationId, LocationStatus
from domain.times import Instant, to_instant
from loaders import keys
from loaders.cursors import decode_cursor, encode_cursor
from loaders.table.keys import Between, IndexKey, IndexPartition, Key, Prefix
from loaders.table.operations import Query
from loaders.table.values import item_to_wire

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.wire import Wire

NOON = "2026-03-01T12:00:00.000Z"
POSITION = IndexKey("LOCATION#rome", "META", "LOCATION#ACTIVE", f"{NOON}#rome")
WITHIN = IndexPartition("LOCATION#ACTIVE")
NAMES = ("PK", "SK", "GSI1PK", "GSI1SK")
CONTENT = dict(zip(NAMES, POSITION, strict=True))
IDS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=64)
TIMES = st.datetimes(timezones=st.just(UTC)).map(to_instant)


def encoded(content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def refusal(cursor: str) -> str:
    with pytest.raises(InvalidCursorError) as error:
        decode_cursor(cursor, WITHIN, "after")
    return error.value.message


def test_a_position_in_the_index_is_four_attributes_and_one_in_the_table_is_two() -> None:
    assert POSITION.wire == {name: {"S": value} for name, value in CONTENT.items()}
    assert Key("p", "s").wire == {"PK": {"S": "p"}, "SK": {"S": "s"}}
    item = {**CONTENT, "entityType": "LOCATION", "name": "Rome"}
    assert WITHIN.position(item) == POSITION
    for within in (Prefix("p", "s"), Between("p", "a", "b")):
        assert within.position(item) == Key("LOCATION#rome", "META")
        assert "IndexName" not in Query("QC-02", within, 1).render("T")
    with pytest.raises(KeyError):
        WITHIN.position({"PK": "LOCATION#rome", "SK": "META"})


def test_a_partition_of_the_index_holds_its_positions_and_no_key_of_the_table() -> None:
    assert POSITION in WITHIN
    assert POSITION._replace(index_sk="") in WITHIN
    for partition in ("LOCATION#INACTIVE", "LOCATION#", "LOCATION#ACTIVE#", "BOOKING#PENDING", ""):
        assert POSITION._replace(index_pk=partition) not in WITHIN
    assert Key("LOCATION#rome", "META") not in WITHIN
    assert Key("LOCATION#ACTIVE", f"{NOON}#rome") not in WITHIN


@given(IDS, TIMES, st.sampled_from(LocationStatus))
def test_the_cursor_of_any_position_is_taken_by_its_own_list_and_by_no_other(
    name: str, time: Instant, status: LocationStatus
) -> None:
    location, booking = LocationId(name), BookingId(name)
    lists = [keys.locations(LocationStatus.ACTIVE), keys.locations(LocationStatus.INACTIVE), keys.pending_bookings()]
    for key, index in (
        (keys.location(location), keys.location_index(status, time, location)),
        (keys.booking(booking), keys.pending_index(time, booking)),
    ):
        position = IndexKey(*key, index["GSI1PK"], index["GSI1SK"])
        cursor = encode_cursor(position)
        assert set(cursor) <= set(string.ascii_letters + string.digits + "-_")
        for within in lists:
            if within.pk == position.index_pk:
                assert decode_cursor(cursor, within, "after") == position
            else:
                with pytest.raises(InvalidCursorError, match=r"^This cursor belongs to another list\.$"):
                    decode_cursor(cursor, within, "after")


@pytest.mark.parametrize(
    "cursor",
    [
        encoded(list(POSITION)),
        encoded({name.lower(): value for name, value in CONTENT.items()}),
        encoded({}),
        encode_cursor(POSITION)[:-1],
        "",
    ],
)
def test_what_lacks_an_attribute_is_no_cursor_of_the_index(cursor: str) -> None:
    assert refusal(cursor) == "This is not a cursor of this API."


@pytest.mark.parametrize(
    "cursor",
    [
        encoded({**CONTENT, "x": "y"}),
        encoded({name: CONTENT[name] for name in reversed(NAMES)}),
        encoded(json.dumps(CONTENT)),
    ],
)
def test_a_second_spelling_is_refused(cursor: str) -> None:
    assert refusal(cursor) == "This cursor belongs to another list."


async def test_a_query_of_the_index_finds_positions_and_continues_from_the_last_of_them(
    backend: Backend, plain_client: Any, table: str, wire: Wire
) -> None:
    positions = [IndexKey(f"LOCATION#{n}", "META", "LOCATION#ACTIVE", f"{NOON}#{n}") for n in range(3)]
    for position in positions:
        await plain_client.put_item(TableName=table, Item=position.wire | item_to_wire({"name": position.pk}))
    page = await backend.store.query(Query("QC-32", WITHIN, 2))
    assert [position for position, _ in page.items] == positions[:2]
    assert page.last == positions[1]
    rest = await backend.store.query(Query("QC-32", WITHIN, 2, start=page.last))
    assert [position for position, _ in rest.items] == positions[2:]
    assert rest.last is None
    assert wire.calls[1].request["ExclusiveStartKey"] == positions[1].wire
    assert {call.request["IndexName"] for call in wire.calls} == {"GSI1"}
