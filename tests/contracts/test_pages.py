import base64
import json
from itertools import product
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from domain.errors import InvalidCursorError
from loaders.backend import Backend
from loaders.contracts.base import ContractError, Order
from loaders.cursors import encode_cursor
from loaders.pages import Page, PageRequest
from loaders.table.client import Store
from loaders.table.positions import IndexKey
from tests.contracts.conftest import Seeds
from tests.contracts.lists import LISTS, PAGED, ListExample, neighbours
from tests.wire import Wire

ORDERED = [(contract.id, order) for contract in PAGED.values() for order in contract.orders]
WINDOWED = [(contract_id, order) for contract_id, order in ORDERED if LISTS[contract_id].has_window]
INDEXED = [contract_id for contract_id, example in LISTS.items() if example.index_name]
SIZE = 3
STRANGER = {"entityType": "STRANGER"}


async def fill(seeds: Seeds, example: ListExample, count: int) -> None:
    """So many items, among neighbours that no codec would decode."""
    await seeds.put((key, STRANGER) for key in neighbours(example))
    await seeds.put(example.item(number) for number in range(count))


def names(example: ListExample, page: Page[Any]) -> list[str]:
    return [example.name_of(node) for node in page.nodes]


def expected(example: ListExample, numbers: Any, order: Order) -> list[str]:
    """The names of these items, as the list runs."""
    ascending = [example.name(number) for number in numbers]
    return ascending if order is Order.ASC else ascending[::-1]


async def walk(
    store: Store, example: ListExample, order: Order, size: int, *window: Any, backward: bool
) -> list[Page[Any]]:
    """All pages, by the cursors that they give."""
    pages: list[Page[Any]] = []
    cursor: str | None = None
    while not pages or cursor is not None:
        page = await example.read(store, PageRequest(size, backward, cursor), order, *window)
        pages.append(page)
        cursor = page.next_cursor
        assert len(pages) < 100
    return pages


async def refused(backend: Backend, contract_id: str, cursor: str, *window: Any, backward: bool = False) -> str:
    example = LISTS[contract_id]
    request = PageRequest(SIZE, backward, cursor)
    with pytest.raises(InvalidCursorError) as refusal:
        await example.read(backend.store, request, example.contract.orders[0], *window)
    assert refusal.value.path == ("before" if backward else "after",)
    return refusal.value.message


def encoded(content: dict[str, Any]) -> str:
    text = json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def test_every_list_has_an_example() -> None:
    assert LISTS.keys() == PAGED.keys()


@pytest.mark.parametrize(("contract_id", "order"), ORDERED)
async def test_pages_show_each_item_once_and_end_exactly_where_there_is_nothing_more(
    contract_id: str, order: Order, backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    example = LISTS[contract_id]
    for count, backward in product((0, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 2 * SIZE + 1), (False, True)):
        await fill(seeds, example, count)
        wire.reset()
        pages = await walk(backend.store, example, order, SIZE, backward=backward)
        shown = [names(example, page) for page in (reversed(pages) if backward else pages)]
        assert [name for page in shown for name in page] == expected(example, range(count), order)
        assert len(pages) == max(1, -(-count // SIZE))
        ahead = [True] * (len(pages) - 1) + [False]
        behind = [False] + [True] * (len(pages) - 1)
        assert [page.next_cursor is not None for page in pages] == ahead
        assert [page.has_previous_page if backward else page.has_next_page for page in pages] == ahead
        assert [page.has_next_page if backward else page.has_previous_page for page in pages] == behind
        assert wire.operations == {"Query": len(pages)}
        sent = [call.request for call in wire.calls]
        forward = (order is Order.ASC) is not backward
        assert {(one["Limit"], one["ScanIndexForward"], one["ConsistentRead"]) for one in sent} == {
            (SIZE + 1, forward, False)
        }
        assert {one.get("IndexName") for one in sent} == {example.index_name}


@pytest.mark.parametrize("contract_id", PAGED)
async def test_a_page_or_an_order_of_no_contract_cannot_be_sent(contract_id: str, backend: Backend, wire: Wire) -> None:
    example = LISTS[contract_id]
    orders = example.contract.orders
    most = example.contract.page_rule.maximum
    for size in (0, most + 1):
        with pytest.raises(ContractError, match=f"has pages of 1 to {most} items"):
            await example.read(backend.store, PageRequest(size), orders[0])
    for order in set(Order) - set(orders):
        with pytest.raises(ContractError, match=f"has no order {order}"):
            await example.read(backend.store, PageRequest(1), order)
    with pytest.raises(ContractError, match="is read page by page"):
        await example.contract.whole(backend.store, *example.arguments)
    assert not wire.calls


@pytest.mark.parametrize(("contract_id", "order"), ORDERED)
async def test_the_cursor_of_every_item_divides_the_list_in_front_of_and_behind_it(
    contract_id: str, order: Order, backend: Backend, seeds: Seeds
) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, 5)
    whole = await example.read(backend.store, PageRequest(10), order)
    assert whole.next_cursor is None
    for number, edge in enumerate(whole.edges):
        behind = await example.read(backend.store, PageRequest(10, cursor=edge.cursor), order)
        before = await example.read(backend.store, PageRequest(10, backward=True, cursor=edge.cursor), order)
        assert behind.nodes == whole.nodes[number + 1 :]
        assert before.nodes == whole.nodes[:number]
        assert (behind.has_previous_page, behind.has_next_page, behind.next_cursor) == (True, False, None)
        assert (before.has_previous_page, before.has_next_page, before.next_cursor) == (False, True, None)


@pytest.mark.parametrize(("contract_id", "order"), ORDERED)
async def test_a_cursor_outlives_its_item(contract_id: str, order: Order, backend: Backend, seeds: Seeds) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, 5)
    first = await example.read(backend.store, PageRequest(2), order)
    number = 1 if order is Order.ASC else 3
    assert first.next_cursor == encode_cursor(example.position(number))
    await seeds.client.delete_item(TableName=seeds.table, Key=example.item(number)[0].wire)
    rest = await example.read(backend.store, PageRequest(10, cursor=first.next_cursor), order)
    assert names(example, rest) == expected(example, range(5), order)[2:]


@pytest.mark.parametrize("contract_id", PAGED)
async def test_a_cursor_of_another_list_is_refused_and_nothing_is_sent(
    contract_id: str, backend: Backend, wire: Wire
) -> None:
    strangers = neighbours(LISTS[contract_id])
    assert len(strangers) >= 40
    for key, backward in product(strangers, (False, True)):
        await refused(backend, contract_id, encode_cursor(key), backward=backward)
    assert wire.calls == []


@pytest.mark.parametrize("contract_id", PAGED)
async def test_a_cursor_of_the_index_is_refused_by_the_table_and_one_of_the_table_by_the_index(
    contract_id: str, backend: Backend, wire: Wire
) -> None:
    example = LISTS[contract_id]
    position = example.position(1)
    if isinstance(position, IndexKey):
        four = {"PK": position.pk, "SK": position.sk, "GSI1PK": position.index_pk, "GSI1SK": position.index_sk}
        assert encode_cursor(position) == encoded(four)
        for missing in (("GSI1PK", "GSI1SK"), ("PK", "SK"), *((name,) for name in four)):
            cursor = encoded({name: value for name, value in four.items() if name not in missing})
            assert await refused(backend, contract_id, cursor) == "This is not a cursor of this API."
    else:
        for other in INDEXED:
            index = LISTS[other].position(1)
            assert isinstance(index, IndexKey)
            cursor = encode_cursor(IndexKey(*position, index.index_pk, index.index_sk))
            assert await refused(backend, contract_id, cursor) == "This cursor belongs to another list."
    assert wire.calls == []


@pytest.mark.parametrize(("contract_id", "order"), WINDOWED)
async def test_a_window_holds_both_of_its_bounds_and_no_page_leaves_it(
    contract_id: str, order: Order, backend: Backend, seeds: Seeds
) -> None:
    example = LISTS[contract_id]
    window = (example.moment(2), example.moment(4))
    await fill(seeds, example, 7)
    for backward in (False, True):
        for size in (1, 2, 3, 4):
            pages = await walk(backend.store, example, order, size, *window, backward=backward)
            shown = [names(example, page) for page in (reversed(pages) if backward else pages)]
            assert [name for page in shown for name in page] == expected(example, (2, 3, 4), order)
            assert len(pages) == -(-3 // size)
    empty = await example.read(backend.store, PageRequest(10), order, example.moment(100), example.moment(200))
    assert (empty.nodes, empty.has_next_page, empty.has_previous_page, empty.next_cursor) == ([], False, False, None)


@pytest.mark.parametrize(("contract_id", "order"), WINDOWED)
async def test_a_window_of_one_moment_holds_what_is_in_it_whatever_its_id(
    contract_id: str, order: Order, backend: Backend, seeds: Seeds
) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, 3)
    key, attributes = example.item(1)
    name = to_camel(example.id_field)
    twins = ["-", "0", "A", "_", "z" * 64]
    await seeds.put(
        (key._replace(sk=f"{key.sk.rsplit('#', 1)[0]}#{twin}"), {**attributes, name: twin}) for twin in twins
    )
    page = await example.read(backend.store, PageRequest(10), order, example.moment(1), example.moment(1))
    found = ["-", "0", example.name(1), "A", "_", "z" * 64]
    assert names(example, page) == (found if order is Order.ASC else found[::-1])


@pytest.mark.parametrize(("contract_id", "order"), WINDOWED)
async def test_a_cursor_from_outside_the_window_is_refused_and_nothing_is_sent(
    contract_id: str, order: Order, backend: Backend, wire: Wire
) -> None:
    example = LISTS[contract_id]
    window = (example.moment(2), example.moment(4))
    for number in (1, 5):
        await refused(backend, contract_id, encode_cursor(example.position(number)), *window)
    assert wire.calls == []
    for number in (2, 4):
        request = PageRequest(SIZE, cursor=encode_cursor(example.position(number)))
        assert (await example.read(backend.store, request, order, *window)).nodes == []


@pytest.mark.parametrize("count", [100, 101])
async def test_a_page_beyond_1_mb_is_read_to_its_end(count: int, backend: Backend, seeds: Seeds, wire: Wire) -> None:
    example = LISTS["QC-09"]
    await seeds.put(example.item(number, longest=True) for number in range(count))
    for order in example.contract.orders:
        wire.reset()
        page = await example.read(backend.store, PageRequest(100), order)
        assert names(example, page) == expected(example, range(count), order)[:100]
        assert (page.next_cursor is None) is (count == 100)
        first, second = wire.calls
        assert first.request["Limit"] == 101
        assert second.request["Limit"] == 101 - len(first.response["Items"])
        assert second.request["ExclusiveStartKey"] == first.response["LastEvaluatedKey"]
        assert 50 < len(first.response["Items"]) < 100
