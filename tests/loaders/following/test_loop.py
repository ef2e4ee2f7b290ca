"""Processes that follow the log together: what one leaves another takes over, and trouble ends nothing."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import timedelta

import pytest

from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.following.followers import Fence
from loaders.following.leases import LeaseTimes
from loaders.following.loop import Following
from tests.conftest import Dump
from tests.following import Told, entry, log
from tests.tables import PlainClient
from tests.wire import Answer, Wire

SHARDS = range(keys.LOG_SHARDS)
QUICK = LeaseTimes(renewed_after=0.2, held_for=5, taken_after=6)


class Swept:
    name = "swept"

    def __init__(self) -> None:
        self.calls: list[tuple[int, Instant]] = []
        self.fails = False

    async def sweep(self, shard: int, now: Instant, fence: Fence) -> bool:
        assert shard == fence.shard
        self.calls.append((shard, now))
        if self.fails:
            raise RuntimeError
        return True


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110  # the loop has no event
            await asyncio.sleep(0.02)


def following(
    backend: Backend, *followers: Told, sweepers: Sequence[Swept] = (), usable: Callable[[], bool] = lambda: True
) -> AbstractAsyncContextManager[None]:
    return Following(backend, followers, sweepers, is_usable=usable, times=QUICK, horizon=timedelta(0)).running()


async def holders(dump: Dump) -> list[str | None]:
    items = await dump()
    return [items[keys.log_lease(shard)].get("holder") for shard in SHARDS if keys.log_lease(shard) in items]


async def logged(backend: Backend, client: PlainClient, table: str, name: str) -> list[str]:
    """Logs an entry in each part; returns the ids of the activities."""
    await log(client, table, *(entry(backend.stamp().at, f"{name}{shard}", shard) for shard in SHARDS))
    return [f"{name}{shard}-0" for shard in SHARDS]


async def test_a_process_follows_all_parts_and_gives_them_back(
    backend: Backend, plain_client: PlainClient, table: str, dump: Dump
) -> None:
    told, again = Told(), Told()
    async with following(backend, told):
        first = await logged(backend, plain_client, table, "first")
        await until(lambda: set(told.ids) == {*first})
        assert len(set(await holders(dump))) == 1
    assert await holders(dump) == [None] * 4
    second = await logged(backend, plain_client, table, "second")
    async with following(backend, again):
        await until(lambda: {*second} <= set(again.ids))


async def test_another_process_is_told_nothing_until_the_first_gives_its_leases_back(
    backend: Backend, plain_client: PlainClient, table: str
) -> None:
    one, other = Told(), Told()
    async with AsyncExitStack() as stack:
        async with following(backend, one):
            first = await logged(backend, plain_client, table, "first")
            await until(lambda: set(one.ids) == {*first})
            await stack.enter_async_context(following(backend, other))
            second = await logged(backend, plain_client, table, "second")
            await until(lambda: set(one.ids) == {*first, *second})
            assert other.ids == []
        third = await logged(backend, plain_client, table, "third")
        await until(lambda: {*third} <= set(other.ids))


async def test_a_sweeper_is_called_for_every_part_and_again_while_more_is_due(backend: Backend) -> None:
    swept = Swept()
    async with following(backend, sweepers=[swept]):
        await until(lambda: len(swept.calls) >= 8)
    assert {shard for shard, _ in swept.calls} == {*SHARDS}
    assert {now for _, now in swept.calls} == {backend.clock()}


async def test_trouble_of_the_store_and_of_a_sweeper_ends_nothing(
    backend: Backend, plain_client: PlainClient, table: str, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    told, swept = Told(), Swept()
    swept.fails = True
    with caplog.at_level(logging.WARNING):
        async with following(backend, told, sweepers=[swept]):
            await until(lambda: len({shard for shard, _ in swept.calls}) == 4)
            wire.fault = lambda _: Answer.error("InternalServerError")
            await until(lambda: "following the log: reading in part 0 failed, and is tried again" in caplog.messages)
            wire.fault = lambda _: None
            swept.fails = False
            names = await logged(backend, plain_client, table, "after")
            await until(lambda: set(told.ids) == {*names})
            await until(lambda: "following the log: swept in part 3 works again" in caplog.messages)
    failed = [message for message in caplog.messages if message.startswith("following") and "failed" in message]
    assert len(failed) == len(set(failed))


async def test_nothing_is_followed_while_the_table_cannot_be_used(backend: Backend, wire: Wire, dump: Dump) -> None:
    told, swept, is_usable = Told(), Swept(), False
    async with following(backend, told, sweepers=[swept], usable=lambda: is_usable):
        await asyncio.sleep(0)
        assert (wire.calls, await dump()) == ([], {})
        is_usable = True
        await until(lambda: swept.calls)
