"""A reservation is extended in the moment in which it ends, and somebody has taken the pointer away from it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.invariants import check_invariants
from tests.races.test_reservations import ACTIVE, EXTEND, prepare
from tests.wire import Until

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Call, Wire

POINTER = ("LOCKER#l1", "RES#ACTIVE")
EXTENDED = {"reservation": {"endAt": "2026-03-01T14:00:00.000Z"}, "userErrors": []}
NOTHING_ACTIVE = {"locker": {"activeReservation": None}}
NEXT = pytest.mark.parametrize("pointer_then", [None, "r2"], ids=["nothing ahead", "another one ahead"])


@pytest_asyncio.fixture
async def ending(api: Api, clock: Clock, pointer_then: str | None) -> Api:
    """A locker whose reservation ends in a millisecond, at one o'clock."""
    await prepare(api)
    await api.reservation("r1", "l1", "ada", "2026-03-01T12:30:00Z", "2026-03-01T13:00:00Z")
    if pointer_then:
        await api.reservation(pointer_then, "l1", "ada", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z")
    clock.move(minutes=59, seconds=59, milliseconds=999)
    return api


async def extend(api: Api) -> dict[str, Any]:
    return await api.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt="2026-03-01T14:00:00Z")


async def pointed(dump: Callable[[], Any]) -> tuple[str, str] | None:
    pointer = (await dump()).get(POINTER)
    return pointer and (pointer["reservationId"], pointer["endAt"])


async def read_while_held(api: Api, wire: Wire, clock: Clock, operation: str) -> dict[str, Any]:
    """Extends; at the first such operation the reservation ends, and a reader mends the pointer."""
    reached, read = asyncio.Event(), asyncio.Event()

    def hold(call: Call) -> Until | None:
        if call.operation != operation or reached.is_set():
            return None
        clock.move(milliseconds=1)
        reached.set()
        return Until(read)

    wire.fault = hold
    extending = asyncio.create_task(extend(api))
    async with asyncio.timeout(5):
        await reached.wait()
    assert await api.run(ACTIVE) == NOTHING_ACTIVE
    assert not extending.done()
    read.set()
    return await extending


@NEXT
async def test_a_pointer_that_a_reader_took_away_before_it_was_read_comes_back_with_the_extension(
    ending: Api, wire: Wire, clock: Clock, dump: Callable[[], Any]
) -> None:
    wire.reset()
    assert await read_while_held(ending, wire, clock, "BatchGetItem") == EXTENDED
    assert wire.operations == {"BatchGetItem": 1, "GetItem": 4, "Query": 2, "TransactWriteItems": 2}
    assert await pointed(dump) == ("r1", "2026-03-01T14:00:00.000Z")
    check_invariants(await dump(), clock.now)
    assert await ending.run(ACTIVE) == {"locker": {"activeReservation": {"reservationId": "r1"}}}


@NEXT
async def test_a_pointer_that_a_reader_takes_away_after_it_was_read_refuses_an_extension_that_comes_too_late(
    ending: Api, wire: Wire, clock: Clock, dump: Callable[[], Any], pointer_then: str | None
) -> None:
    payload = await read_while_held(ending, wire, clock, "TransactWriteItems")
    assert [error["code"] for error in payload["userErrors"]] == ["RESERVATION_OVER"]
    assert await pointed(dump) == (pointer_then and (pointer_then, "2026-03-01T16:00:00.000Z"))
    check_invariants(await dump(), clock.now)


@NEXT
async def test_a_pointer_that_a_server_with_a_fast_clock_took_away_comes_back_with_the_extension(
    ending: Api,
    open_api: Callable[..., AbstractAsyncContextManager[Api]],
    clock: Clock,
    dump: Callable[[], Any],
    pointer_then: str | None,
) -> None:
    clock.move(minutes=-2)
    async with open_api() as ahead:
        clock.move(minutes=5)
        assert await ahead.run(ACTIVE) == NOTHING_ACTIVE
        assert await pointed(dump) == (pointer_then and (pointer_then, "2026-03-01T16:00:00.000Z"))
        clock.move(minutes=-5)
        assert await extend(ending) == EXTENDED
        assert await pointed(dump) == ("r1", "2026-03-01T14:00:00.000Z")
        check_invariants(await dump(), clock.now)
        clock.move(minutes=5)
        assert await ahead.run(ACTIVE) == {"locker": {"activeReservation": {"reservationId": "r1"}}}
        check_invariants(await dump(), clock.now)
