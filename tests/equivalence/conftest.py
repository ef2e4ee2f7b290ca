"""The world, made once for all tests here; tests that only read share its table."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from loaders.table.client import StoreConnection
from server.settings import Settings
from tests.conftest import Clock, open_app
from tests.equivalence.runner import Runner, World
from tests.equivalence.vocabulary import vocabulary
from tests.equivalence.world import LISTED, Table, prepare
from tests.fuzz.tenants import cursors_of
from tests.principals import principal_of_header
from tests.tables import PlainClient


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(store_url: str, plain_client: PlainClient) -> World:
    """The items of the world, and what documents can say about it."""
    clock = Clock()
    name = await plain_client.new_table()
    connection = StoreConnection(name, "eu-central-1", store_url, local=True)
    async with open_app(Settings(table_name=name), connection, clock=clock, authenticator=principal_of_header) as api:
        items = await prepare(api, clock, Table(plain_client, name, clock))
        return World(items, vocabulary(await cursors_of(api, LISTED)))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def new_table(plain_client: PlainClient, world: World) -> Callable[..., Awaitable[Table]]:
    """Creates a table that is filled with the world, or with other items."""

    async def created(items: list[dict[str, Any]] | None = None, *, ids: int = 0) -> Table:
        table = Table(plain_client, await plain_client.new_table(), Clock(), ids)
        await table.fill(world.items if items is None else items)
        return table

    return created


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_table(new_table: Callable[..., Awaitable[Table]]) -> AsyncIterator[Table]:
    """A table for everything that only reads."""
    table = await new_table()
    before = await table.items()
    yield table
    assert await table.items() == before, "a query has written"


@pytest.fixture(scope="session")
def runner() -> Runner:
    return Runner()
