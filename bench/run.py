"""Compares SmartLocker with its peers: `python -m bench.run [--quick]`."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bench.chart import comparison_chart
from bench.data import FREE_BEFORE, LOCKERS, OWNER, locker_id
from bench.page import write_section
from bench.processes import Cores, end_on_signal, open_client
from bench.report import REPLAY, Cell, Report, Sample
from bench.servers import SERVERS, started
from bench.stores import open_embedded, open_stub, post
from bench.workloads import STATUS_OF_LOCKERS, UNIQUE, workloads
from domain.times import shift
from loaders.table.clock import utc_now

if TYPE_CHECKING:
    from bench.processes import Client, Figures
    from bench.servers import Server
    from bench.stores import Stub
    from bench.workloads import Workload
    from domain.models import LockerId

__all__ = ["Measurement", "Plan", "check_equal", "main"]

ROOT = Path(__file__).parent.parent
EMBEDDED = "embedded"
_ENOUGH_ANSWERS = 18_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rounds: int
    seconds: float
    connections: tuple[int, ...]
    warm_up_seconds: float
    embedded_rounds: int
    embedded_seconds: float
    embedded_connections: tuple[int, ...] = (32,)


FULL = Plan(3, 0.7, (1, 8, 32), 0.3, 2, 0.5)
QUICK = Plan(2, 0.25, (1, 32), 0.15, 1, 0.2)


class Measurement:
    """Runs workloads on servers of one store.

    Args:
        client: sends the requests.
        cores: where everything runs.
        stub: the store, where it is the stub.
    """

    def __init__(self, client: Client, cores: Cores, stub: Stub | None = None) -> None:
        self._client = client
        self._cores = cores
        self._stub = stub
        self._reserved: Counter[LockerId] = Counter()
        self._mark = f"N{random.getrandbits(32):08x}"

    async def sample(self, server: Server, workload: Workload, connections: int, seconds: float) -> Sample:
        """One run."""
        operations, cpu, others = self._operations(), server.process.cpu_seconds(), self._others_cpu()
        figures = await self._run(server, workload, connections, seconds)
        cpu, others = server.process.cpu_seconds() - cpu, self._others_cpu() - others
        return Sample(
            per_second=figures.requests / figures.seconds,
            cpu_ms=cpu * 1000 / figures.requests,
            p50=figures.p50,
            p99=figures.p99,
            operations=None if self._stub is None else (self._operations() - operations) / figures.requests,
            requests=figures.requests,
            server_busy=cpu / figures.seconds,
            others_busy=others / figures.seconds / self._cores.other_count,
        )

    async def _run(self, server: Server, workload: Workload, connections: int, seconds: float) -> Figures:
        # From the last locker on, so that what the other workloads read stays as it is.
        reserved = workload.lockers or [locker_id(LOCKERS - 1 - number) for number in range(connections)]
        run: dict[str, Any] = {"kind": "unique", "mark": self._mark} if workload.is_unique else {"kind": "fixed"}
        if self._stub is None and workload.writes == "status":
            run = {"kind": "status", "lockers": [_status(server, number) for number in range(connections)]}
        elif self._stub is None and workload.writes == "reservation":
            run = {"kind": "reservation", "lockers": [self._free_before(locker) for locker in reserved]}
        figures = await self._client.run(
            f"{workload.name} on {server.name}",
            port=server.port,
            path="/graphql",
            headers=server.headers,
            query=workload.query,
            variables=workload.variables,
            expect=workload.expect,
            connections=connections,
            seconds=seconds,
            **run,
        )
        if run["kind"] == "reservation":
            self._reserved.update(dict(zip(reserved, figures.used, strict=True)))
        return figures

    def _free_before(self, locker: LockerId) -> dict[str, Any]:
        return {
            "lockerId": locker,
            "ownerId": OWNER,
            "before": shift(FREE_BEFORE, timedelta(hours=-self._reserved[locker])),
        }

    def _operations(self) -> int:
        return 0 if self._stub is None else sum(self._stub.counts().values())

    def _others_cpu(self) -> float:
        stub = 0.0 if self._stub is None else self._stub.process.cpu_seconds()
        return self._client.cpu_seconds() + stub


def _status(server: Server, number: int) -> dict[str, Any]:
    found = post(server.port, server.headers, STATUS_OF_LOCKERS, {"id": locker_id(number)})
    locker: dict[str, Any] = found["locker"]
    return locker


def check_equal(servers: list[Server], wanted: list[Workload], stub: Stub) -> None:
    """Checks that all servers give the same answers for the same store operations.

    Raises:
        RuntimeError: where they do not.
    """
    for workload in wanted:
        seen: dict[str, tuple[Any, dict[str, int]]] = {}
        for server in servers:
            before = Counter(stub.counts())
            data = post(server.port, server.headers, workload.query.replace(UNIQUE, "Check"), workload.variables)
            seen[server.name] = data, dict(Counter(stub.counts()) - before)
        first, *others = seen
        for other in others:
            for which, expected, found in zip(("data", "operations"), seen[first], seen[other], strict=True):
                if expected != found:
                    raise RuntimeError(f"{workload.name}: {which} of {first} {expected}, of {other} {found}"[:4000])
        typer.echo(f"{workload.name}: {len(servers)} equal answers, {_listed(seen[first][1])}")


def _listed(operations: dict[str, int]) -> str:
    return " + ".join(f"{count} {name}" for name, count in sorted(operations.items()))


async def _measure(
    measurement: Measurement, servers: list[Server], wanted: list[Workload], report: Report, store: str, plan: Plan
) -> None:
    """Warms everything up, then runs round after round, the servers in another order each time."""
    is_replay = store == REPLAY
    rounds, seconds = (plan.rounds, plan.seconds) if is_replay else (plan.embedded_rounds, plan.embedded_seconds)
    chosen = plan.connections if is_replay else plan.embedded_connections
    for workload in wanted:
        for server in servers:
            await measurement.sample(server, workload, min(8, max(chosen)), plan.warm_up_seconds)
    for number in range(rounds):
        for workload in wanted:
            for connections in chosen:
                for server in random.sample(servers, len(servers)):
                    sample = await measurement.sample(server, workload, connections, seconds)
                    report.add(Cell(store, workload.name, connections, server.name), sample)
        typer.echo(f"{store} store: round {number + 1} of {rounds}", err=True)


async def _run(plan: Plan, names: list[str], *, is_quick: bool) -> Report:
    end_on_signal()
    now, cores = utc_now(), Cores.found()
    wanted = [workload for workload in workloads(now) if not names or workload.name in names]
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(open_embedded(folder, now, cores))
            client = await open_client(cores.others)
            stack.callback(client.end)
            assert connection.endpoint_url is not None  # noqa: S101  # the embedded store has one
            async with (
                open_stub(connection.endpoint_url, folder, cores) as stub,
                started(SERVERS, stub.url, folder / REPLAY, cores.server) as servers,
            ):
                check_equal(servers, wanted, stub)
                stub.replay()
                report = Report(wanted, await stub.answers_per_second(cores), is_quick=is_quick)
                await _measure(Measurement(client, cores, stub), servers, wanted, report, REPLAY, plan)
                if stub.unknown():
                    raise RuntimeError(f"the stub could not answer {stub.unknown()} requests")
            async with started(SERVERS, connection.endpoint_url, folder / EMBEDDED, cores.server) as servers:
                real = [workload for workload in wanted if not workload.replay_only]
                await _measure(Measurement(client, cores), servers, real, report, EMBEDDED, plan)
    return report


def main(
    *,
    quick: Annotated[bool, typer.Option(help="Fewer and shorter rounds, under three minutes.")] = False,
    workload: Annotated[list[str] | None, typer.Option(help="Only this one; may be repeated.")] = None,
) -> None:
    """Measures SmartLocker and its peers: prints tables, writes JSON and a chart to artefacts/.

    A whole run that is not quick also renews the chart, the tables of docs/performance.md and the README's sentence.
    """
    report = asyncio.run(_run(QUICK if quick else FULL, workload or [], is_quick=quick))
    typer.echo(report.tables())
    artefacts = ROOT / "artefacts"
    artefacts.mkdir(exist_ok=True)
    (artefacts / "bench.json").write_text(json.dumps(report.as_json(), indent=1) + "\n")
    chart = comparison_chart(report)
    (artefacts / "bench.svg").write_text(chart)
    if not quick and not workload:
        (ROOT / "docs/images").mkdir(exist_ok=True)
        (ROOT / "docs/images/bench.svg").write_text(chart)
        picture = "![Requests per second of SmartLocker and other GraphQL servers](images/bench.svg)"
        write_section("comparison", f"{picture}\n\n{report.tables()}")
        for page in (ROOT / "docs/performance.md", ROOT / "README.md"):
            write_section("result", report.result(), page)
    if report.stub_per_second < _ENOUGH_ANSWERS:
        typer.echo(f"The stub gives fewer than {_ENOUGH_ANSWERS:,} answers a second: it may be the limit.", err=True)
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
