"""The process itself: start-up, tail latency, unknown documents, workers and memory: `python -m bench.process`."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from bench.page import write_section
from bench.processes import Cores, end_on_signal, open_client, running
from bench.report import machine, today
from bench.run import ROOT, Measurement
from bench.servers import PRODUCTION, SERVERS, started
from bench.stores import open_embedded, open_stub, post
from bench.workloads import UNIQUE, workloads
from loaders.table.clock import utc_now

if TYPE_CHECKING:
    from bench.processes import Client
    from bench.servers import Server, ServerKind
    from bench.stores import Stub
    from bench.workloads import Workload
    from loaders.table.client import StoreConnection

__all__ = ["main"]

_STARTS = 5
_ROUNDS = 5
_SECONDS = 1.0
_DOCUMENTS = 10_000
_STEPS = 10
_CONNECTIONS = 32
_READY_SECONDS = 30
_SMALL = ("Q1", "Q2", "Q3", "Q4", "M1")
(_PRODUCTION,) = (kind for kind in SERVERS if kind.name == PRODUCTION)


def _workers(count: int) -> ServerKind:
    return replace(_PRODUCTION, name=f"{count} workers", command=(*_PRODUCTION.command, "--workers", str(count)))


def _help_seconds() -> tuple[float, float]:
    """Seconds, and seconds of CPU time."""
    began, cpu = time.monotonic(), _children_cpu()
    command = [str(Path(sys.executable).parent / "smartlocker"), "--help"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": str(ROOT)})  # noqa: S603  # our own command
    return time.monotonic() - began, _children_cpu() - cpu


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def _ready_seconds(connection: StoreConnection, folder: Path) -> tuple[float, float]:
    """Until /ready says yes: seconds, and seconds of CPU time."""
    folder.mkdir(parents=True)  # noqa: ASYNC240  # nothing else runs meanwhile
    environment, _ = _PRODUCTION.prepare(str(connection.endpoint_url), folder)
    began = time.monotonic()
    with running(_PRODUCTION.command, environment, folder, None) as process:
        port = int((await process.wait_for_line(_PRODUCTION.greeting)).rpartition(":")[2].partition("/")[0])
        while not _is_ready(port):
            if time.monotonic() - began > _READY_SECONDS:
                raise RuntimeError("the server does not become ready")
            await asyncio.sleep(0.01)
        return time.monotonic() - began, process.cpu_seconds()


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == http.client.OK
    finally:
        connection.close()


async def _tails(measurement: Measurement, server: Server, known: dict[str, Workload]) -> dict[str, float]:
    """p99 in multiples of p50."""
    tails = {}
    for name in _SMALL:
        samples = [await measurement.sample(server, known[name], _CONNECTIONS, _SECONDS) for _ in range(_ROUNDS)]
        tails[name] = median(sample.p99 / sample.p50 for sample in samples)
    return tails


async def _unseen_ms(measurement: Measurement, server: Server, known: dict[str, Workload]) -> tuple[float, float]:
    """The time that a new document takes longer than a known one at one connection, and the CPU time."""
    delays, costs = [], []
    for _ in range(_ROUNDS):
        usual = await measurement.sample(server, known["Q1"], 1, _SECONDS)
        unseen = await measurement.sample(server, known["unseen"], 1, _SECONDS)
        delays.append(unseen.p50 - usual.p50)
        costs.append(unseen.cpu_ms - usual.cpu_ms)
    return median(delays), median(costs)


async def _scaling(measurement: Measurement, servers: list[Server], workload: Workload) -> dict[str, float]:
    """Requests per second of two workers in multiples of one, and CPU ms of a request: the sum of all processes."""
    rates: dict[str, list[float]] = {server.name: [] for server in servers}
    costs: dict[str, list[float]] = {server.name: [] for server in servers}
    for _ in range(_ROUNDS):
        for server in servers:
            sample = await measurement.sample(server, workload, _CONNECTIONS, _SECONDS)
            rates[server.name].append(sample.per_second)
            costs[server.name].append(sample.cpu_ms)
    one, two = servers
    return {
        "two_workers": median(rates[two.name]) / median(rates[one.name]),
        "one_worker_cpu_ms": median(costs[one.name]),
        "two_workers_cpu_ms": median(costs[two.name]),
    }


async def _memory(client: Client, server: Server, workload: Workload, requests: int) -> list[tuple[int, float]]:
    """Megabytes after so many requests; each of the documents is sent as often as the others."""
    points = [(0, server.process.resident_megabytes())]
    for step in range(1, _STEPS + 1):
        await client.run(
            workload.name,
            kind="unique",
            mark="memory",
            repeated=max(1, requests // _DOCUMENTS),
            port=server.port,
            path="/graphql",
            headers=server.headers,
            query=workload.query,
            expect=workload.expect,
            connections=8,
            seconds=3600,
            requests=requests // _STEPS,
        )
        points.append((requests * step // _STEPS, server.process.resident_megabytes()))
        typer.echo(f"{points[-1][0]:,} requests: {points[-1][1]:.0f} MB", err=True)
    return points


async def _on_the_stub(client: Client, cores: Cores, stub: Stub, folder: Path, requests: int) -> dict[str, object]:
    known = {workload.name: workload for workload in workloads(utc_now())}
    found: dict[str, object] = {}
    async with AsyncExitStack() as stack:
        (server,) = await stack.enter_async_context(started((_PRODUCTION,), stub.url, folder / "one", cores.server))
        pair = await stack.enter_async_context(started((_workers(1), _workers(2)), stub.url, folder / "pair", None))
        for workload in known.values():
            if workload.name in (*_SMALL, "unseen"):
                post(server.port, server.headers, workload.query.replace(UNIQUE, "First"), workload.variables)
        stub.replay()
        measurement = Measurement(client, cores, stub)
        for each in (server, *pair):
            await measurement.sample(each, known["Q1"], _CONNECTIONS, _SECONDS)
        found["tails"] = await _tails(measurement, server, known)
        found["unseen_ms"], found["unseen_cpu_ms"] = await _unseen_ms(measurement, server, known)
        found |= await _scaling(measurement, pair, known["Q1"])
        if requests:
            found["memory"] = await _memory(client, server, known["unseen"], requests)
    return found


async def _run(requests: int) -> dict[str, object]:
    end_on_signal()
    cores = Cores.found()
    helps = [_help_seconds() for _ in range(_STARTS)]
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(open_embedded(folder, utc_now(), cores))
            client = await open_client(cores.others)
            stack.callback(client.end)
            starts = [await _ready_seconds(connection, folder / f"start-{number}") for number in range(_STARTS)]
            stub = await stack.enter_async_context(open_stub(str(connection.endpoint_url), folder, cores))
            found = await _on_the_stub(client, cores, stub, folder, requests)
    ready, ready_cpu = (median(values) for values in zip(*starts, strict=True))
    help_, help_cpu = (median(values) for values in zip(*helps, strict=True))
    return {
        "help_seconds": help_,
        "help_cpu_seconds": help_cpu,
        "ready_seconds": ready,
        "ready_cpu_seconds": ready_cpu,
        **found,
    }


def _table(found: dict[str, object]) -> str:
    tails: dict[str, float] = found["tails"]  # type: ignore[assignment]  # see _tails
    memory: list[tuple[int, float]] = found.get("memory", [])  # type: ignore[assignment]  # see _memory
    rows = [
        (
            "`smartlocker --help`",
            "0.3 s",
            f"{found['help_seconds']:.2f} s ({found['help_cpu_seconds']:.2f} s of CPU time)",
        ),
        (
            "`smartlocker serve` until ready",
            "1.2 s",
            f"{found['ready_seconds']:.2f} s ({found['ready_cpu_seconds']:.2f} s of CPU time)",
        ),
        (
            "a document never seen before, in addition",
            "4 ms",
            f"{found['unseen_ms']:.1f} ms ({found['unseen_cpu_ms']:.1f} ms of CPU time)",
        ),
        (
            f"p99 ÷ p50 at {_CONNECTIONS} connections",
            "below 4",
            ", ".join(f"{name} {tail:.1f}" for name, tail in tails.items()),
        ),
        (
            "two workers ÷ one; CPU time of a request in all processes",
            "1.8",
            f"{found['two_workers']:.2f}; {found['two_workers_cpu_ms']:.2f} ms ÷ {found['one_worker_cpu_ms']:.2f} ms",
        ),
    ]
    lines = ["| figure | target | measured |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    if memory:
        lines += [
            "",
            f"Memory in MB after so many requests, with {_DOCUMENTS:,} documents:",
            "",
            "| " + " | ".join(f"{count:,}" for count, _ in memory) + " |",
            "|---" * len(memory) + "|",
            "| " + " | ".join(f"{size:.0f}" for _, size in memory) + " |",
        ]
    return "\n".join(lines)


def main(
    *,
    requests: Annotated[int, typer.Option(help="How many requests memory is watched for; 0 for none.")] = 1_000_000,
) -> None:
    """Measures the production server's start, tail latency, workers and memory; renews its section of the page."""
    found = asyncio.run(_run(requests))
    table = _table(found)
    typer.echo(table)
    artefacts = ROOT / "artefacts"
    artefacts.mkdir(exist_ok=True)
    (artefacts / "process.json").write_text(
        json.dumps(found | {"date": today(), "machine": machine()}, indent=1) + "\n"
    )
    if requests:
        write_section("process", f"{today()}, {machine()}.\n\n{table}")


if __name__ == "__main__":
    typer.run(main)
