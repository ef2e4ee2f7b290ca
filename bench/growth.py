"""How SmartLocker's cost grows with pages, owners, partitions and connections: `python -m bench.growth`."""

from __future__ import annotations

import asyncio
import json
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench.chart import Series, line_chart
from bench.data import LOCKERS, OWNER, locker_id, locker_items, owner_items, reservation_items, write
from bench.page import write_section
from bench.processes import Cores, end_on_signal, open_client
from bench.report import machine, today
from bench.run import ROOT, Measurement
from bench.servers import PRODUCTION, SERVERS, started
from bench.stores import open_embedded, open_stub, post
from bench.workloads import Workload, workloads
from domain.models import OwnerId
from domain.times import shift
from loaders.table.clock import utc_now

if TYPE_CHECKING:
    from bench.processes import Client
    from bench.report import Sample
    from bench.servers import Server
    from bench.stores import Stub
    from domain.times import Instant
    from loaders.table.client import StoreConnection

__all__ = ["main"]

_ROUNDS = 3
_PAGES = (1, 10, 100)
_OWNED = (10, 100, 1_000, 10_000, 100_000)
_RESERVED = (1, 10, 100, 1_000, 10_000)
_CONNECTIONS = (1, 2, 4, 8, 16, 32, 64, 128, 200)
_QUICK_LIMIT = 1_000
_FEW = 4
_GROWN_LOCKER = LOCKERS
"""Numbers of the lockers with many reservations begin after the usual ones."""

_OWNED_LOCKERS = """query ($id: ID!) {
  owner(ownerId: $id) { lockers(%s: 25) { nodes { lockerId alias status } } }
}"""
_LOCKER = "query ($id: ID!, $from: DateTime!) { locker(lockerId: $id) { lockerId %s } }"
_NEXT = "reservations(first: 5, window: {from: $from}) { nodes { reservationId startAt endAt } }"
_ACTIVE = "query ($id: ID!) { locker(lockerId: $id) { activeReservation { reservationId startAt endAt } } }"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a sample, over something that grows.

    Args:
        name: names the file of its chart.
        title: what grows.
        x_title: the axis of what grows.
        y_title: the axis of the figure.
        lines: the figures.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    lines: tuple[Series, ...]

    def chart(self) -> str:
        """As SVG."""
        return line_chart(self.title, f"{today()}, {machine()}", self.x_title, self.y_title, self.lines)

    def table(self) -> str:
        """As a Markdown table."""
        values = [x for x, _ in self.lines[0].points]
        head = [f"{self.x_title}; {self.y_title}", *(f"{value:,.0f}" for value in values)]
        rows = [[series.name, *(f"{y:,.2f}" for _, y in series.points)] for series in self.lines]
        texts = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
        return "\n".join([texts[0], "|---" * len(head) + "|", *texts[1:]])


class _Growth:
    """Measures one server."""

    def __init__(self, server: Server, measurement: Measurement, seconds: float) -> None:
        self._server = server
        self._measurement = measurement
        self._seconds = seconds

    async def sample(self, workload: Workload, connections: int) -> Sample:
        """The round with the median rate, after a warm-up."""
        await self._measurement.sample(self._server, workload, connections, self._seconds / 2)
        samples = [
            await self._measurement.sample(self._server, workload, connections, self._seconds) for _ in range(_ROUNDS)
        ]
        return sorted(samples, key=lambda sample: sample.per_second)[_ROUNDS // 2]


async def _pages(growth: _Growth, known: dict[str, Workload]) -> Figure:
    lines = []
    for name, title in (("Q2", "from the copies"), ("Q3", "with their records"), ("Q4", "and active reservations")):
        points = []
        for size in _PAGES:
            paged = replace(known[name], variables=known[name].variables | {"first": size})
            points.append((float(size), (await growth.sample(paged, _FEW)).cpu_ms))
        lines.append(Series(title, points))
    return Figure("pages", "A page of an owner's lockers", "lockers in the page", "CPU ms a request", tuple(lines))


async def _connections(growth: _Growth, known: dict[str, Workload], limit: int) -> list[Figure]:
    rates, delays = [], []
    for name, title in (("Q1", "a locker by id"), ("Q3", "100 lockers")):
        samples = [(float(count), await growth.sample(known[name], count)) for count in _CONNECTIONS if count <= limit]
        rates.append(Series(title, [(count, sample.per_second) for count, sample in samples]))
        delays.append(Series(f"{title}, p99", [(count, sample.p99) for count, sample in samples]))
    title = "Connections"
    return [
        Figure("connections", title, "connections", "requests/s", tuple(rates)),
        Figure("latency", title, "connections", "milliseconds", tuple(delays)),
    ]


async def _owners(growth: _Growth, counts: list[int]) -> list[Figure]:
    delays, costs = [], []
    for end in ("first", "last"):
        samples = []
        for count in counts:
            workload = Workload("owned", "", _OWNED_LOCKERS % end, {"id": _grown_owner(count)})
            samples.append((float(count), await growth.sample(workload, 1)))
        delays.append(Series(f"{end} 25 lockers", [(count, sample.p50) for count, sample in samples]))
        costs.append(Series(f"{end} 25 lockers", [(count, sample.cpu_ms) for count, sample in samples]))
    title, x_title = "Owners with more and more lockers", "lockers of the owner"
    return [
        Figure("owners", title, x_title, "p50 ms, embedded store included", tuple(delays)),
        Figure("owners-cpu", title, x_title, "CPU ms a request", tuple(costs)),
    ]


async def _reservations(growth: _Growth, counts: list[int], now: Instant, reserve: Workload) -> list[Figure]:
    asked = {
        "5 next reservations": _LOCKER % _NEXT,
        "active reservation": _ACTIVE,
    }
    delays, costs = [], []
    for title, query in asked.items():
        samples = []
        for place, count in enumerate(counts):
            variables = {"id": locker_id(_GROWN_LOCKER + place), "from": now}
            wanted = Workload("reserved", "", query, variables if "$from" in query else {"id": variables["id"]})
            samples.append((float(count), await growth.sample(wanted, 1)))
        delays.append(Series(title, [(count, sample.p50) for count, sample in samples]))
        costs.append(Series(title, [(count, sample.cpu_ms) for count, sample in samples]))
    samples = []
    window = {"startAt": shift(now, timedelta(days=10)), "endAt": shift(now, timedelta(days=11))}
    for place, count in enumerate(counts):
        # Refused: an owner may have so many live reservations only. It decides on the same reads as one that is made.
        taken = {"lockerId": locker_id(_GROWN_LOCKER + place), "ownerId": OWNER, "reservationId": "taken", **window}
        wanted = replace(reserve, variables={"input": taken}, expect="RESERVATION_OVERLAP", writes=None)
        samples.append((float(count), await growth.sample(wanted, 1)))
    delays.append(Series("reserve a taken window", [(count, sample.p50) for count, sample in samples]))
    costs.append(Series("reserve a taken window", [(count, sample.cpu_ms) for count, sample in samples]))
    title, x_title = "Lockers with more and more reservations", "reservations of the locker"
    return [
        Figure("reservations", title, x_title, "p50 ms, embedded store included", tuple(delays)),
        Figure("reservations-cpu", title, x_title, "CPU ms a request", tuple(costs)),
    ]


def _grown_owner(count: int) -> OwnerId:
    return OwnerId(f"owner-with-{count}")


async def _fill(connection: StoreConnection, now: Instant, owned: list[int], reserved: list[int]) -> None:
    for count in owned:
        copies = (locker_items(number, _grown_owner(count), now, with_record=False) for number in range(count))
        await write(connection, chain(owner_items(_grown_owner(count), now), chain.from_iterable(copies)))
        typer.echo(f"an owner with {count:,} lockers", err=True)
    for place, count in enumerate(reserved):
        number = _GROWN_LOCKER + place
        await write(connection, chain(locker_items(number, OWNER, now), reservation_items(number, count, now)))
        typer.echo(f"a locker with {count:,} reservations", err=True)


async def _on_the_stub(
    client: Client, cores: Cores, stub: Stub, folder: Path, known: dict[str, Workload], seconds: float, limit: int
) -> list[Figure]:
    async with started(_ONLY_PRODUCTION, stub.url, folder / "stub-servers", cores.server) as (server,):
        for name in ("Q1", "Q2", "Q3", "Q4"):
            for size in _PAGES:
                variables = known[name].variables | ({"first": size} if "first" in known[name].variables else {})
                post(server.port, server.headers, known[name].query, variables)
        stub.replay()
        growth = _Growth(server, Measurement(client, cores, stub), seconds)
        return [await _pages(growth, known), *await _connections(growth, known, limit)]


_ONLY_PRODUCTION = tuple(kind for kind in SERVERS if kind.name == PRODUCTION)


async def _run(seconds: float, *, is_quick: bool) -> list[Figure]:
    end_on_signal()
    now, cores = utc_now(), Cores.found()
    limit = _QUICK_LIMIT if is_quick else max(_OWNED)
    owned = [count for count in _OWNED if count <= limit]
    reserved = [count for count in _RESERVED if count <= limit]
    known = {workload.name: workload for workload in workloads(now)}
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(open_embedded(folder, now, cores))
            client = await open_client(cores.others)
            stack.callback(client.end)
            endpoint = str(connection.endpoint_url)
            async with open_stub(endpoint, folder, cores) as stub:
                figures = await _on_the_stub(client, cores, stub, folder, known, seconds, limit)
            await _fill(connection, now, owned, reserved)
            async with started(_ONLY_PRODUCTION, endpoint, folder / "store-servers", cores.server) as (server,):
                growth = _Growth(server, Measurement(client, cores), seconds)
                figures += await _owners(growth, owned)
                figures += await _reservations(growth, reserved, now, known["reserve"])
    return figures


def main(
    *,
    quick: Annotated[bool, typer.Option(help="Less data and shorter rounds; the page stays as it is.")] = False,
    json_file: Annotated[Path, typer.Option("--json", help="Where the figures go.")] = ROOT / "artefacts/growth.json",
) -> None:
    """Measures how SmartLocker's cost grows; prints tables, writes JSON, charts and their section of the page."""
    figures = asyncio.run(_run(0.3 if quick else 1.5, is_quick=quick))
    charts = (ROOT / "artefacts") if quick else (ROOT / "docs/images")
    json_file.parent.mkdir(parents=True, exist_ok=True)
    charts.mkdir(parents=True, exist_ok=True)
    content = [
        {
            "name": figure.name,
            "x": figure.x_title,
            "y": figure.y_title,
            "lines": {s.name: s.points for s in figure.lines},
        }
        for figure in figures
    ]
    json_file.write_text(json.dumps({"date": today(), "machine": machine(), "figures": content}, indent=1) + "\n")
    for figure in figures:
        (charts / f"growth-{figure.name}.svg").write_text(figure.chart())
    texts = [f"![{figure.title}](images/growth-{figure.name}.svg)\n\n{figure.table()}" for figure in figures]
    if not quick:
        write_section("growth", f"{today()}, {machine()}.\n\n" + "\n\n".join(texts))
    typer.echo("\n\n".join(figure.table() for figure in figures))


if __name__ == "__main__":
    typer.run(main)
