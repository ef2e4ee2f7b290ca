"""The lists that are read from the index: who is in them, in which order, and whose cursors they take."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from domain.booking_commands import DeactivateLocation, ReactivateLocation
from domain.errors import BadCursorError
from domain.models import LocationId, LocationStatus
from loaders import reads
from loaders.contract import Order
from loaders.contracts import CONTRACTS
from loaders.cursors import encode_cursor
from loaders.pages import Slice, Window
from loaders.table.operations import IndexKey
from loaders.writes.locations import deactivate_location, reactivate_location
from tests.contracts.examples import make_location
from tests.contracts.list_example import LOCATION, OTHER_LOCATION
from tests.contracts.lists import LISTS
from tests.contracts.place_examples import PLACE_EXAMPLES, approve_large, large_booking

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.conftest import Clock
    from tests.contracts.list_example import ListExample
    from tests.contracts.seeds import Seeds
    from tests.wire import Wire

INDEXED = [contract_id for contract_id, example in LISTS.items() if example.in_index]
TABLED = [contract_id for contract_id, example in LISTS.items() if not example.in_index]


def cursor_of(content: dict[str, Any]) -> str:
    text = json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def index_place(example: ListExample, number: int) -> IndexKey:
    place = example.place(number)
    assert isinstance(place, IndexKey)
    return place


async def refusal(backend: Backend, contract_id: str, cursor: str) -> str:
    with pytest.raises(BadCursorError) as error:
        await LISTS[contract_id].read(backend.store, Slice(3, cursor=cursor), Order.ASC, Window())
    assert error.value.path == ("after",)
    return error.value.message


def test_the_contracts_that_name_the_index_are_these() -> None:
    assert [contract.id for contract in CONTRACTS.values() if getattr(contract, "index", None)] == INDEXED
    assert INDEXED == ["QC-32", "QC-42", "QC-63"]


@pytest.mark.parametrize("contract_id", INDEXED)
async def test_a_cursor_of_the_table_is_refused_by_the_index_even_of_the_lists_own_item(
    contract_id: str, backend: Backend, wire: Wire
) -> None:
    place = index_place(LISTS[contract_id], 1)
    four = {"PK": place.pk, "SK": place.sk, "GSI1PK": place.index_pk, "GSI1SK": place.index_sk}
    assert encode_cursor(place) == cursor_of(four)
    for missing in (("GSI1PK", "GSI1SK"), ("PK", "SK"), *((name,) for name in four)):
        cursor = cursor_of({name: value for name, value in four.items() if name not in missing})
        assert await refusal(backend, contract_id, cursor) == "This is not a cursor of this API."
    assert wire.calls == []


@pytest.mark.parametrize("contract_id", TABLED)
async def test_a_cursor_of_the_index_is_refused_by_the_table_even_of_the_lists_own_item(
    contract_id: str, backend: Backend, wire: Wire
) -> None:
    key = LISTS[contract_id].seed(1)[0]
    for partition in ("LOCATION#ACTIVE", "BOOKING#PENDING", "APIKEY"):
        cursor = encode_cursor(IndexKey(*key, partition, "2026-03-01T12:00:00.000Z#1"))
        assert await refusal(backend, contract_id, cursor) == "This cursor belongs to another list."
    assert wire.calls == []


@pytest.mark.parametrize("contract_id", INDEXED)
@pytest.mark.parametrize(
    "partition", ["LOCATION#ACTIVE", "LOCATION#INACTIVE", "LOCATION", "BOOKING#PENDING", "APIKEY", "", "x"]
)
async def test_a_cursor_of_another_partition_of_the_index_is_refused(
    contract_id: str, partition: str, backend: Backend, wire: Wire
) -> None:
    place = index_place(LISTS[contract_id], 1)
    cursor = encode_cursor(place._replace(index_pk=partition))
    if partition == place.index_pk:
        page = await LISTS[contract_id].read(backend.store, Slice(3, cursor=cursor), Order.ASC, Window())
        assert page.entries == []
        assert wire.calls[0].request["ExclusiveStartKey"] == place.wire
        return
    assert await refusal(backend, contract_id, cursor) == "This cursor belongs to another list."
    assert wire.calls == []


@pytest.mark.parametrize("contract_id", INDEXED)
@pytest.mark.parametrize("part", ["pk", "sk", "index_sk"])
@pytest.mark.parametrize("value", ["", "é", "\ud800", "a" * 1025, 5, None, {"S": "a"}])
async def test_a_cursor_with_a_part_that_no_key_can_have_is_refused_before_the_store_sees_it(
    contract_id: str, part: str, value: Any, backend: Backend, wire: Wire
) -> None:
    place = index_place(LISTS[contract_id], 1)._replace(**{part: value})
    cursor = cursor_of(dict(zip(("PK", "SK", "GSI1PK", "GSI1SK"), place, strict=True)))
    assert await refusal(backend, contract_id, cursor) == "This cursor belongs to another list."
    assert wire.calls == []


async def test_a_location_is_in_the_list_of_its_status_and_in_no_other(backend: Backend) -> None:
    async def listed() -> list[list[LocationId]]:
        pages = [await reads.locations(backend.store, status, Slice(10)) for status in LocationStatus]
        return [[location.location_id for _, location in page.entries] for page in pages]

    await make_location(backend)
    assert await listed() == [[LOCATION], []]
    await deactivate_location(backend, DeactivateLocation(location_id=LOCATION, expected_version=1))
    assert await listed() == [[], [LOCATION]]
    await reactivate_location(backend, ReactivateLocation(location_id=LOCATION, expected_version=2))
    assert await listed() == [[LOCATION], []]


async def test_locations_are_listed_newest_first_and_those_of_one_moment_by_id(backend: Backend, clock: Clock) -> None:
    await make_location(backend, OTHER_LOCATION, "other")
    await make_location(backend, LOCATION, "one")
    clock.move(seconds=1)
    await make_location(backend, LocationId("0" * 26), "newest")
    wanted = ["0" * 26, OTHER_LOCATION, LOCATION]
    found: list[str] = []
    cursor: str | None = None
    for _ in wanted:
        page = await reads.locations(backend.store, LocationStatus.ACTIVE, Slice(1, cursor=cursor))
        found += [location.location_id for _, location in page.entries]
        cursor = page.next_cursor
    assert found == wanted
    assert cursor is None


@pytest.mark.parametrize("decision", ["approved", "rejected"])
async def test_a_booking_leaves_the_list_of_the_pending_ones_when_it_is_decided(
    backend: Backend, seeds: Seeds, decision: str
) -> None:
    await large_booking(backend)
    before = await reads.pending_bookings(backend.store, Slice(10))
    assert len(before.entries) == 1
    await (approve_large(backend) if decision == "approved" else PLACE_EXAMPLES["QC-43"].run(backend))
    after = await reads.pending_bookings(backend.store, Slice(10))
    assert after.entries == []
    answer = await seeds.client.scan(TableName=seeds.table, IndexName="GSI1")
    assert {item["GSI1PK"]["S"] for item in answer["Items"]} == {"LOCATION#ACTIVE"}
