"""Every list, at every boundary of a page, in both directions and every order it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import BadCursorError
from loaders.contract import Order, QueryContract
from loaders.contracts import CONTRACTS
from loaders.cursors import encode_cursor
from loaders.pages import Page, Slice, Window
from tests.contracts.list_example import at
from tests.contracts.lists import LISTS, neighbours

if TYPE_CHECKING:
    from loaders.backend import Backend
    from loaders.table.client import Store
    from tests.contracts.list_example import ListExample
    from tests.contracts.seeds import Seeds
    from tests.wire import Wire

PAGED = {
    contract.id: contract
    for contract in CONTRACTS.values()
    if isinstance(contract, QueryContract) and contract.page.maximum > 1 and not contract.page.whole
}
ORDERED = [(contract.id, order) for contract in PAGED.values() for order in contract.orders]
WINDOWED = [(contract_id, order) for contract_id, order in ORDERED if LISTS[contract_id].has_window]
SIZE = 3
STRANGER = {"entityType": "STRANGER"}


async def fill(seeds: Seeds, example: ListExample, count: int) -> None:
    """So many items, among neighbours that no codec would read without complaint."""
    await seeds.put((key, STRANGER) for key in neighbours(example))
    await seeds.put(example.seed(number) for number in range(count))


def names(example: ListExample, page: Page[Any]) -> list[str]:
    return [example.name_of(entity) for _, entity in page.entries]


def expected(count: int, order: Order) -> list[str]:
    """The names of the whole list, as it runs."""
    ascending = [f"{number:064d}" for number in range(count)]
    return ascending if order is Order.ASC else ascending[::-1]


async def walk(
    store: Store, example: ListExample, order: Order, size: int, *, backward: bool, window: Window | None = None
) -> list[Page[Any]]:
    """All pages, by the cursors that they give."""
    pages: list[Page[Any]] = []
    cursor: str | None = None
    while not pages or cursor is not None:
        page = await example.read(store, Slice(size, backward, cursor), order, window or Window())
        pages.append(page)
        cursor = page.next_cursor
        assert len(pages) < 100
    return pages


def test_every_list_has_an_example() -> None:
    assert set(LISTS) == set(PAGED)


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("count", [0, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 2 * SIZE + 1])
@pytest.mark.parametrize(("contract_id", "order"), ORDERED)
async def test_pages_show_each_item_once_and_end_exactly_where_there_is_nothing_more(
    contract_id: str,
    order: Order,
    count: int,
    backward: bool,  # noqa: FBT001
    backend: Backend,
    seeds: Seeds,
    wire: Wire,
) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, count)

    pages = await walk(backend.store, example, order, SIZE, backward=backward)

    shown = [names(example, page) for page in pages]
    whole = expected(count, order)
    if backward:
        assert [name for page in reversed(shown) for name in page] == whole
    else:
        assert [name for page in shown for name in page] == whole
    assert len(pages) == max(1, -(-count // SIZE))
    assert [page.next_cursor is None for page in pages] == [False] * (len(pages) - 1) + [True]
    ahead = [True] * (len(pages) - 1) + [False]
    behind = [False] + [True] * (len(pages) - 1)
    assert [page.has_previous if backward else page.has_next for page in pages] == ahead
    assert [page.has_next if backward else page.has_previous for page in pages] == behind
    assert wire.operations == {"Query": len(pages)}
    assert [call.request["Limit"] for call in wire.calls] == [SIZE + 1] * len(pages)
    assert {call.request["ScanIndexForward"] for call in wire.calls} == {(order is Order.ASC) is not backward}
    assert {call.request["ConsistentRead"] for call in wire.calls} == {False}
    assert {call.request.get("IndexName") for call in wire.calls} == {"GSI1" if example.in_index else None}


@pytest.mark.parametrize("count", [99, 100, 101, 200])
@pytest.mark.parametrize("contract_id", PAGED)
async def test_the_largest_page_ends_exactly_too(
    contract_id: str, count: int, backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    example, contract = LISTS[contract_id], PAGED[contract_id]
    assert contract.page.maximum == 100
    await fill(seeds, example, count)
    pages = await walk(backend.store, example, contract.orders[0], 100, backward=False)
    shown = [name for page in pages for name in names(example, page)]
    assert shown == expected(count, contract.orders[0])
    assert [len(page.entries) for page in pages] == ([count] if count <= 100 else [100, count - 100])
    assert [call.request["Limit"] for call in wire.calls] == [101] * len(pages)


@pytest.mark.parametrize(("contract_id", "order"), ORDERED)
async def test_every_entrys_cursor_parts_the_list_in_front_of_and_behind_it(
    contract_id: str, order: Order, backend: Backend, seeds: Seeds
) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, 5)
    whole = await example.read(backend.store, Slice(10), order, Window())
    assert whole.next_cursor is None
    for position, (cursor, _) in enumerate(whole.entries):
        behind = await example.read(backend.store, Slice(10, cursor=cursor), order, Window())
        before = await example.read(backend.store, Slice(10, backward=True, cursor=cursor), order, Window())
        assert behind.entries == whole.entries[position + 1 :]
        assert before.entries == whole.entries[:position]
        assert (behind.has_previous, behind.has_next, behind.next_cursor) == (True, False, None)
        assert (before.has_previous, before.has_next, before.next_cursor) == (False, True, None)


@pytest.mark.parametrize(("contract_id", "order"), ORDERED)
async def test_a_cursor_still_leads_on_where_its_item_is_gone(
    contract_id: str, order: Order, backend: Backend, seeds: Seeds
) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, 5)
    first = await example.read(backend.store, Slice(2), order, Window())
    assert first.next_cursor is not None
    number = 1 if order is Order.ASC else 3
    assert first.next_cursor == encode_cursor(example.place(number))
    await seeds.client.delete_item(TableName=seeds.table, Key=example.seed(number)[0].wire)
    rest = await example.read(backend.store, Slice(10, cursor=first.next_cursor), order, Window())
    assert names(example, rest) == expected(5, order)[2:]


@pytest.mark.parametrize("backward", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("contract_id", PAGED)
async def test_a_cursor_of_another_list_is_refused_and_nothing_is_sent(
    contract_id: str,
    backward: bool,  # noqa: FBT001
    backend: Backend,
    wire: Wire,
) -> None:
    example, order = LISTS[contract_id], PAGED[contract_id].orders[0]
    strangers = neighbours(example)
    assert len(strangers) == 42
    for key in strangers:
        with pytest.raises(BadCursorError) as refusal:
            await example.read(backend.store, Slice(SIZE, backward, encode_cursor(key)), order, Window())
        assert refusal.value.path == ("before" if backward else "after",)
    assert wire.calls == []


@pytest.mark.parametrize(("contract_id", "order"), WINDOWED)
async def test_a_cursor_from_outside_the_window_is_refused_and_nothing_is_sent(
    contract_id: str, order: Order, backend: Backend, wire: Wire
) -> None:
    example, window = LISTS[contract_id], Window(at(2), at(4))
    for number in (1, 5):
        cursor = encode_cursor(example.seed(number)[0])
        with pytest.raises(BadCursorError):
            await example.read(backend.store, Slice(SIZE, cursor=cursor), order, window)
    assert wire.calls == []
    for number in (2, 4):
        cursor = encode_cursor(example.seed(number)[0])
        assert (await example.read(backend.store, Slice(SIZE, cursor=cursor), order, window)).entries == []


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize(("contract_id", "order"), WINDOWED)
async def test_a_window_holds_both_of_its_bounds_and_no_page_leaves_it(
    contract_id: str,
    order: Order,
    size: int,
    backward: bool,  # noqa: FBT001
    backend: Backend,
    seeds: Seeds,
) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, 7)
    pages = await walk(backend.store, example, order, size, backward=backward, window=Window(at(2), at(4)))
    shown = [names(example, page) for page in (reversed(pages) if backward else pages)]
    ascending = [f"{number:064d}" for number in (2, 3, 4)]
    assert [name for page in shown for name in page] == (ascending if order is Order.ASC else ascending[::-1])
    assert pages[-1].next_cursor is None
    assert len(pages) == -(-3 // size)


@pytest.mark.parametrize(("contract_id", "order"), WINDOWED)
async def test_a_window_of_one_moment_holds_what_is_in_it_whatever_its_id(
    contract_id: str, order: Order, backend: Backend, seeds: Seeds
) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, 3)
    key, attributes = example.seed(1)
    field = "eventId" if "eventId" in attributes else "reservationId"
    twins = ["-", "0", "A", "_", "z" * 64]
    await seeds.put(
        (key._replace(sk=f"{key.sk.rsplit('#', 1)[0]}#{twin}"), {**attributes, field: twin}) for twin in twins
    )
    page = await example.read(backend.store, Slice(10), order, Window(at(1), at(1)))
    found = ["-", "0", f"{1:064d}", "A", "_", "z" * 64]
    assert names(example, page) == (found if order is Order.ASC else found[::-1])


@pytest.mark.parametrize(("contract_id", "order"), WINDOWED)
async def test_a_window_with_nothing_in_it_is_an_empty_last_page(
    contract_id: str, order: Order, backend: Backend, seeds: Seeds
) -> None:
    example = LISTS[contract_id]
    await fill(seeds, example, 3)
    page = await example.read(backend.store, Slice(10), order, Window(at(100), at(200)))
    assert page == Page(entries=[], has_next=False, has_previous=False, next_cursor=None)


@pytest.mark.parametrize("order", [Order.DESC, Order.ASC])
@pytest.mark.parametrize("count", [100, 101])
async def test_a_page_beyond_1_mb_is_read_to_its_end(
    order: Order, count: int, backend: Backend, seeds: Seeds, wire: Wire
) -> None:
    example = LISTS["QC-09"]
    await seeds.put(example.large(number) for number in range(count))

    page = await example.read(backend.store, Slice(100), order, Window())

    assert names(example, page) == expected(count, order)[:100]
    assert (page.next_cursor is None) is (count == 100)
    assert wire.operations == {"Query": 2}
    first, second = wire.calls
    assert first.request["Limit"] == 101
    assert second.request["Limit"] == 101 - len(first.response["Items"])
    assert second.request["ExclusiveStartKey"] == first.response["LastEvaluatedKey"]
    assert 50 < len(first.response["Items"]) < 100
