"""Fixtures of the contracts' suites."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.table.clock import Stamp, machine_timer
from loaders.table.positions import Position
from loaders.table.recording import Record, RecordedStore
from loaders.table.values import item_to_wire
from loaders.trace import Trace
from server.settings import parse_ring
from tests.conftest import CODE_KEYS, Clock
from tests.contracts.samples import Names
from tests.contracts.scenarios.every import SCENARIOS
from tests.tables import PlainClient

Runner = Callable[[str, Names], Awaitable[list[Record]]]

AT_ONCE = 10  # so that no request is beyond 1 MB
TWO_KEYS = parse_ring(f"{CODE_KEYS},{CODE_KEYS.replace('k1:', 'k0:')}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="write tests/contracts/requests/ anew")


class Seeds:
    """The table, seen from outside."""

    def __init__(self, client: Any, table: str) -> None:
        self.client = client
        self.table = table

    async def put(self, items: Iterable[tuple[Position, Mapping[str, Any]]]) -> None:
        """Writes items whatever is there."""
        wanted = [{"PutRequest": {"Item": key.wire | item_to_wire(attributes)}} for key, attributes in items]
        for begin in range(0, len(wanted), AT_ONCE):
            batch = {self.table: wanted[begin : begin + AT_ONCE]}
            answer = await self.client.batch_write_item(RequestItems=batch)
            assert not answer["UnprocessedItems"]


class Recorded(RecordedStore):
    """A recorded store that a migration can read."""

    @property
    def table(self) -> str:
        """The name of the table."""
        return self._store.table


@pytest.fixture
def seeds(plain_client: Any, table: str) -> Seeds:
    """A way into the test's table that the proxy does not see."""
    return Seeds(plain_client, table)


@pytest.fixture
def run_scenario(plain_client: PlainClient, clock: Clock) -> Runner:
    """Runs a scenario on a table of its own and returns the operations of its last action."""

    async def run(scenario: str, names: Names) -> list[Record]:
        *prepare, last = SCENARIOS[scenario]
        store = DynamoStore(plain_client.transport, await plain_client.new_table())
        numbers = count(1)
        backend = Backend(
            store,
            clock,
            lambda: f"id-{next(numbers)}",
            lambda: Stamp(clock(), machine_timer()),
            timedelta(days=30),
            code_ring=lambda: TWO_KEYS,
        )
        trace, began = Trace(), clock.now
        recorded: Any = Recorded(store, trace)
        for call in prepare:
            await call(backend, names)
        await last(replace(backend, store=recorded), names)
        clock.now = began
        return trace.records

    return run
