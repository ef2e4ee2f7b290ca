"""The index: where an item stands in it, what a Query of it sends, and the cursors of its lists."""

from __future__ import annotations

import base64
import dataclasses
import json
import string
from datetime import UTC
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.bookings import BookingId
from domain.errors import BadCursorError
from domain.models import LocationId, LocationStatus
from domain.times import Instant, instant_of
from loaders import keys
from loaders.contracts import QC_32
from loaders.cursors import decode_cursor, encode_cursor
from loaders.table.operations import Between, IndexKey, IndexPartition, Key, Prefix, Query
from loaders.table.values import item_to_wire

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.wire import Wire

NOON = "2026-03-01T12:00:00.000Z"
PLACE = IndexKey("LOCATION#rome", "META", "LOCATION#ACTIVE", f"{NOON}#rome")
WITHIN = IndexPartition("LOCATION#ACTIVE")
NAMES = ("PK", "SK", "GSI1PK", "GSI1SK")
CONTENT = dict(zip(NAMES, PLACE, strict=True))
NO_PARTS: list[Any] = ["", "é", "a" * 1025, 5, None, [], {"S": "x"}]
IDS = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=64)
TIMES = st.datetimes(timezones=st.just(UTC)).map(instant_of)


def encoded(content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def refusal(cursor: str, within: IndexPartition | Prefix | Between = WITHIN) -> str:
    with pytest.raises(BadCursorError) as error:
        decode_cursor(cursor, within, "after")
    assert error.value.path == ("after",)
    return error.value.message


def test_a_place_in_the_index_is_four_attributes() -> None:
    assert PLACE.wire == {
        "PK": {"S": "LOCATION#rome"},
        "SK": {"S": "META"},
        "GSI1PK": {"S": "LOCATION#ACTIVE"},
        "GSI1SK": {"S": "2026-03-01T12:00:00.000Z#rome"},
    }
    assert Key("p", "s").wire == {"PK": {"S": "p"}, "SK": {"S": "s"}}


def test_a_query_of_the_index_names_it_and_a_query_of_the_table_does_not() -> None:
    request = {
        "TableName": "T",
        "IndexName": "GSI1",
        "KeyConditionExpression": "#GSI1PK = :pk",
        "ExpressionAttributeNames": {"#GSI1PK": "GSI1PK"},
        "ExpressionAttributeValues": {":pk": {"S": "LOCATION#ACTIVE"}},
        "Limit": 26,
        "ScanIndexForward": True,
        "ConsistentRead": False,
    }
    query = Query("QC-32", WITHIN, 26)
    assert query.render("T") == request
    behind = dataclasses.replace(query, start=PLACE, forward=False)
    assert behind.render("T") == {**request, "ScanIndexForward": False, "ExclusiveStartKey": PLACE.wire}
    for within in (Prefix("p", "s"), Between("p", "a", "b")):
        assert "IndexName" not in Query("QC-02", within, 1).render("T")


def test_a_partition_of_the_index_holds_its_places_and_no_key_of_the_table() -> None:
    assert PLACE in WITHIN
    assert PLACE._replace(index_sk="") in WITHIN
    for partition in ("LOCATION#INACTIVE", "LOCATION#", "LOCATION#ACTIVE#", "BOOKING#PENDING", ""):
        assert PLACE._replace(index_pk=partition) not in WITHIN
    assert Key("LOCATION#rome", "META") not in WITHIN
    assert Key("LOCATION#ACTIVE", f"{NOON}#rome") not in WITHIN


def test_a_range_finds_the_place_that_an_item_names() -> None:
    item = {**CONTENT, "entityType": "LOCATION", "name": "Rome"}
    assert WITHIN.place(item) == PLACE
    assert Prefix("p", "s").place(item) == Key("LOCATION#rome", "META")
    assert Between("p", "a", "b").place(item) == Key("LOCATION#rome", "META")
    with pytest.raises(KeyError):
        WITHIN.place({"PK": "LOCATION#rome", "SK": "META"})


def test_a_cursor_of_the_index_is_base64url_of_its_four_attributes_in_order() -> None:
    assert encode_cursor(PLACE) == encoded(CONTENT)
    assert list(json.loads(base64.urlsafe_b64decode(encode_cursor(PLACE) + "=="))) == list(NAMES)
    assert decode_cursor(encode_cursor(PLACE), WITHIN, "after") == PLACE


@given(IDS, TIMES, st.sampled_from(LocationStatus))
def test_the_cursor_of_any_place_is_taken_by_its_own_list_and_by_no_other(
    name: str, time: Instant, status: LocationStatus
) -> None:
    location, booking = LocationId(name), BookingId(name)
    lists = {
        "LOCATION#ACTIVE": keys.locations(LocationStatus.ACTIVE),
        "LOCATION#INACTIVE": keys.locations(LocationStatus.INACTIVE),
        "BOOKING#PENDING": keys.pending_bookings(),
    }
    for key, index in (
        (keys.location(location), keys.location_index(status, time, location)),
        (keys.booking(booking), keys.pending_index(time, booking)),
    ):
        place = IndexKey(*key, index["GSI1PK"], index["GSI1SK"])
        cursor = encode_cursor(place)
        assert set(cursor) <= set(string.ascii_letters + string.digits + "-_")
        for partition, within in lists.items():
            if partition == place.index_pk:
                assert decode_cursor(cursor, within, "after") == place
            else:
                with pytest.raises(BadCursorError, match=r"^This cursor belongs to another list\.$"):
                    decode_cursor(cursor, within, "after")


@pytest.mark.parametrize(
    "cursor",
    [
        encoded({"PK": PLACE.pk, "SK": PLACE.sk}),
        encoded({"GSI1PK": PLACE.index_pk, "GSI1SK": PLACE.index_sk}),
        *(encoded({name: value for name, value in CONTENT.items() if name != missing}) for missing in NAMES),
        encoded(list(PLACE)),
        encoded({name.lower(): value for name, value in CONTENT.items()}),
        encoded({}),
        encode_cursor(PLACE)[:-1],
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
        *(encoded({**CONTENT, name: value}) for name in NAMES for value in NO_PARTS),
        encoded({**CONTENT, "GSI1PK": "LOCATION#INACTIVE"}),
        encoded({**CONTENT, "GSI1PK": "BOOKING#PENDING"}),
    ],
)
def test_a_second_spelling_or_a_part_that_no_key_has_is_refused(cursor: str) -> None:
    assert refusal(cursor) == "This cursor belongs to another list."


def test_a_place_of_the_index_is_no_cursor_of_the_table() -> None:
    place = IndexKey("OWNER#ada", "BOOKING#2026-03-01#b1", "BOOKING#PENDING", f"{NOON}#b1")
    assert refusal(encode_cursor(place), Prefix("OWNER#ada", "BOOKING#")) == "This cursor belongs to another list."
    assert refusal(encode_cursor(place), Between("OWNER#ada", "A", "Z")) == "This cursor belongs to another list."


async def test_a_query_of_the_index_gives_places_and_the_last_of_them(
    backend: Backend, plain_client: Any, table: str, wire: Wire
) -> None:
    places = [IndexKey(f"LOCATION#{n}", "META", "LOCATION#ACTIVE", f"{NOON}#{n}") for n in range(3)]
    for place in places:
        await plain_client.put_item(TableName=table, Item=place.wire | item_to_wire({"name": place.pk}))
    page = await backend.store.query(QC_32.query(WITHIN, limit=2))
    assert [place for place, _ in page.items] == places[:2]
    assert page.last == places[1]
    rest = await backend.store.query(QC_32.query(WITHIN, limit=2, start=page.last))
    assert [place for place, _ in rest.items] == places[2:]
    assert rest.last is None
    assert wire.calls[1].request["ExclusiveStartKey"] == places[1].wire
