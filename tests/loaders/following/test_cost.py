"""The cost of following while nothing happens, as docs/operations.md states it."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from loaders import keys
from loaders.backend import Backend
from loaders.following.followers import Fence
from loaders.following.leases import Leases
from loaders.following.tail import LogTail
from loaders.table.client import DynamoStore
from loaders.table.clock import Stamp
from loaders.table.recording import RecordedStore
from loaders.table.transport import Transport
from loaders.trace import Trace
from tests.conftest import NOW, Clock
from tests.following import Told

DOCS = Path(__file__).parents[3] / "docs"
SHARDS = range(keys.LOG_SHARDS)
STATED = (
    "the server that follows 8,640 read units an hour for the log and 4,800 write units for the leases, "
    "and every other server 7,200 read units"
)


async def test_an_idle_hour_costs_what_the_documentation_states(
    backend: Backend, transport: Transport, table: str, clock: Clock
) -> None:
    seconds, followers = 0.0, [Told("history"), Told("figures", is_ordered=True)]

    def backend_of(trace: Trace) -> Backend:
        return replace(
            backend, store=RecordedStore(DynamoStore(transport, table), trace), stamp=lambda: Stamp(clock(), seconds)
        )

    first, second = Trace(), Trace()
    tails = [
        LogTail(backend_of(first), Fence(shard, 1), followers, {one.name: NOW for one in followers}, lambda: seconds)
        for shard in SHARDS
    ]
    holding, waiting = (
        Leases(backend_of(trace).store, name, SHARDS, lambda: seconds) for trace, name in ((first, "1"), (second, "2"))
    )
    await holding.take()
    for _ in range(90):  # in the first half minute everything is new
        seconds += 1
        clock.move(seconds=1)
        if seconds == 31:
            first.records.clear()
            second.records.clear()
        await holding.renew({tail.fence.shard: tail.positions for tail in tails})
        await waiting.take()
        for tail in tails:
            await tail.step()
    hourly: Counter[str] = Counter()
    for name, trace in (("follows", first), ("waits", second)):
        for record in trace.records:
            hourly[f"{name} {'write' if record.is_write else 'read'}"] += int(record.units * 2) * 30
    assert hourly == {"follows read": 8640, "follows write": 4800, "waits read": 7200}
    assert STATED in " ".join((DOCS / "operations.md").read_text().split())
