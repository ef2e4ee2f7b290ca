import asyncio
from dataclasses import replace
from typing import Any

import pytest

from domain.errors import UnavailableError
from loaders.codecs import TableState
from loaders.contracts.table_state import FORMAT_VERSION
from loaders.reads.table_state import READ_SECONDS, VALID_SECONDS, TableWatch
from loaders.table.client import DynamoStore, StoreConnection
from loaders.table.transport import Transport
from loaders.tools.definition import create_table
from loaders.tools.table_state import (
    CURRENT_STATE,
    TableProblemError,
    being_migrated,
    drain_seconds,
    read_state,
    record_code_keys,
    require_current,
    set_read_only,
)
from tests.conftest import NOW
from tests.table_state import MARKED, set_state
from tests.tables import PlainClient, put
from tests.wire import Wire

_UNWATCHED = replace(CURRENT_STATE, format_version=4)


class Time:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Servers:
    """The servers that a migration waits for: notes the table's state at that moment."""

    def __init__(self, store: DynamoStore) -> None:
        self._store = store
        self.seen: list[TableState] = []

    async def drained(self) -> None:
        self.seen.append(await read_state(self._store))


@pytest.fixture
def store(transport: Transport, table: str) -> DynamoStore:
    return DynamoStore(transport, table)


@pytest.fixture
def servers(store: DynamoStore) -> Servers:
    return Servers(store)


async def test_a_server_relies_on_the_state_for_a_while_after_it_sent_the_read(store: DynamoStore, wire: Wire) -> None:
    time = Time()
    watch = TableWatch(time)
    assert watch.refusal == "The state of the table cannot be read: try again later."

    def slow(_: Any) -> None:
        time.now += 3

    wire.fault = slow
    await watch.read(store)
    (read,) = wire.of("GetItem")
    assert read.request["ConsistentRead"]
    watch.require_current()
    assert not watch.is_due
    time.now += READ_SECONDS - 3
    watch.require_current()
    assert watch.is_due
    time.now += VALID_SECONDS - READ_SECONDS
    with pytest.raises(UnavailableError, match="cannot be read"):
        watch.require_current()


async def test_a_migration_marks_a_table_in_use_and_waits_for_servers(store: DynamoStore, servers: Servers) -> None:
    marked = replace(MARKED, migrating_since=NOW)
    async with being_migrated(store, NOW, servers.drained) as mark:
        assert servers.seen == [replace(marked, revision=2)]
        assert await read_state(store) == replace(marked, revision=3, is_drained=True)
    assert mark.began == NOW
    assert await read_state(store) == replace(CURRENT_STATE, revision=4)


async def test_a_table_stays_read_only_and_keeps_its_keys_when_it_is_migrated(
    store: DynamoStore, servers: Servers
) -> None:
    await asyncio.gather(
        *(record_code_keys(store, lambda ids, name=name: {*ids, name}) for name in ("k1", "k2")),  # type: ignore[misc]
        set_read_only(store, is_read_only=True),
    )
    async with being_migrated(store, NOW, servers.drained):
        await set_read_only(store, is_read_only=False)  # of a table that cannot be used, nothing is changed
    state = await read_state(store)
    assert (state.is_read_only, sorted(state.code_keys)) == (True, ["k1", "k2"])
    await require_current(store)


@pytest.mark.parametrize("state", [None, _UNWATCHED, replace(_UNWATCHED, migrating_to=FORMAT_VERSION)])
async def test_a_migration_does_not_wait_for_servers_that_do_not_look_at_the_state(
    plain_client: PlainClient, store: DynamoStore, servers: Servers, state: TableState | None
) -> None:
    await set_state(plain_client, store.table, state)
    async with being_migrated(store, NOW, servers.drained):
        with pytest.raises(TableProblemError, match="is being migrated"):
            await require_current(store)
    assert servers.seen == []
    await require_current(store)


async def test_a_migration_that_was_interrupted_in_its_wait_waits_again(store: DynamoStore, servers: Servers) -> None:
    async def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        async with being_migrated(store, NOW, interrupted):
            pytest.fail("nothing is converted before all servers have stopped")
    assert (await read_state(store)).migrating_to == FORMAT_VERSION
    async with being_migrated(store, NOW, servers.drained):
        assert len(servers.seen) == 1


async def test_a_migration_that_was_interrupted_later_does_not_wait_again(store: DynamoStore, servers: Servers) -> None:
    with pytest.raises(KeyboardInterrupt):
        async with being_migrated(store, NOW, servers.drained):
            raise KeyboardInterrupt
    with pytest.raises(TableProblemError, match="is being migrated"):
        await require_current(store)
    async with being_migrated(store, NOW, servers.drained):
        assert len(servers.seen) == 1
    await require_current(store)


@pytest.mark.parametrize("begins", ["while the first waits", "while the first converts"])
async def test_of_two_migrations_the_one_begun_last_ends(store: DynamoStore, servers: Servers, begins: str) -> None:
    async def second() -> None:
        async with being_migrated(store, NOW, servers.drained):
            pass

    async def first() -> None:
        waits = begins == "while the first waits"
        async with being_migrated(store, NOW, second if waits else servers.drained):
            assert not waits
            await second()

    with pytest.raises(TableProblemError, match="another migration of table"):
        await first()
    await require_current(store)


def test_the_wait_covers_what_servers_know_and_the_requests_that_they_have_begun() -> None:
    assert drain_seconds(10) >= VALID_SECONDS + 10


async def test_a_table_whose_creation_was_interrupted_is_finished_while_it_is_empty(
    plain_client: PlainClient, store: DynamoStore, store_url: str
) -> None:
    connection = StoreConnection(store.table, "eu-central-1", store_url, local=True)
    await set_state(plain_client, store.table, None)
    assert not await create_table(connection)
    await require_current(store)
    await set_state(plain_client, store.table, None)
    await put(plain_client, store.table, {"PK": "USER#1", "SK": "METADATA"})
    assert not await create_table(connection)
    with pytest.raises(TableProblemError, match="run `smartlocker migrate`"):
        await require_current(store)
