"""How long `/health` takes while one caller floods the server with expensive documents: `python -m bench.flood`."""

from __future__ import annotations

import asyncio
import http.client
import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer
from graphql import get_introspection_query

from bench.processes import Cores, end_on_signal
from bench.report import machine, today
from bench.servers import flooded, started
from bench.stores import open_embedded
from loaders.table.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.servers import Server

__all__ = ["PROMISED_MS", "health_times", "main"]

_CONNECTIONS = 16
_IN_FLIGHT = 2
_UNUSED_FRAGMENTS = 110
_PAUSE = 0.02
PROMISED_MS = 500


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a flood: its responses by status, and the times of `/health` in milliseconds."""

    statuses: Counter[int]
    health: list[float]

    def line(self, name: str) -> str:
        """As a row of the report."""
        answered = ", ".join(f"{number} of {status}" for status, number in sorted(self.statuses.items())) or "none"
        times = sorted(self.health)
        p99 = times[len(times) * 99 // 100]
        return f"| {name} | {answered} | {len(times)} | {median(times):.0f} | {p99:.0f} | {times[-1]:.0f} |"


def _documents() -> Iterator[str]:
    """Documents of which no two are the same, so that nothing is answered from what the server keeps."""
    first, *names = get_introspection_query().split(" name\n")
    for number in count():
        unused = " ".join(f"fragment F{part}x{number} on Query {{ __typename }}" for part in range(_UNUSED_FRAGMENTS))
        yield f"{{ __typename }} {unused}"
        marks = (" @include(if: true)" * (number >> place & 1) for place in count())
        yield first + "".join(f" name{mark}\n{rest}" for mark, rest in zip(marks, names, strict=False))


def _request(server: Server, document: str) -> bytes:
    body = json.dumps({"query": document}).encode()
    headers = {"Host": f"127.0.0.1:{server.port}", "Content-Type": "application/json", **server.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /graphql HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _flood(server: Server, documents: Iterator[str], statuses: Counter[int]) -> None:
    """One connection that always has its requests in flight, for as long as it is not canceled."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        for _ in range(_IN_FLIGHT):
            writer.write(_request(server, next(documents)))
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            statuses[int(head.split(" ", 2)[1])] += 1
            await reader.readexactly(int(head.partition("content-length:")[2].split("\r\n")[0]))
            writer.write(_request(server, next(documents)))
    finally:
        writer.close()


def health_times(port: int, seconds: float) -> list[float]:
    """Asks on a new connection each time, as probes do."""
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/health")
        response = connection.getresponse()
        if response.read() != b"ok":
            raise typer.Exit(1)
        times.append((time.perf_counter() - begin) * 1000)
        connection.close()
        time.sleep(_PAUSE)
    return times


async def _measured(server: Server, connections: int, seconds: float) -> Figures:
    statuses: Counter[int] = Counter()
    documents = _documents()
    floods = [asyncio.create_task(_flood(server, documents, statuses)) for _ in range(connections)]
    try:
        # In a thread of its own, so that it does not wait for the flood's own work.
        health = await asyncio.to_thread(health_times, server.port, seconds)
    finally:
        for flood in floods:
            flood.cancel()
        ended = await asyncio.gather(*floods, return_exceptions=True)
    for failure in ended:
        if not isinstance(failure, asyncio.CancelledError):
            raise typer.BadParameter(f"a connection of the flood ended: {failure!r}")
    return Figures(statuses, health)


async def _run(seconds: float) -> dict[str, Figures]:
    end_on_signal()
    now, cores = utc_now(), Cores.found()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        async with (
            open_embedded(folder, now, cores) as connection,
            started(flooded(), str(connection.endpoint_url), folder / "servers", cores.server) as (limited, unlimited),
        ):
            return {
                "no flood": await _measured(limited, 0, seconds),
                "flood, usual rate limit": await _measured(limited, _CONNECTIONS, seconds),
                "flood, no rate limit": await _measured(unlimited, _CONNECTIONS, seconds),
            }


def main(seconds: Annotated[float, typer.Option(help="How long each measurement takes.")] = 10) -> None:
    """Reports how long `/health` takes under a flood; fails if it takes longer than promised."""
    found = asyncio.run(_run(seconds))
    typer.echo(f"{today()}, {machine()}: one device, {_CONNECTIONS} connections with {_IN_FLIGHT} requests in flight")
    typer.echo(
        "| | responses to the flood | health checks | median ms | p99 ms | longest ms |\n|---|---|---|---|---|---|"
    )
    for name, figures in found.items():
        typer.echo(figures.line(name))
    if max(time for figures in found.values() for time in figures.health) > PROMISED_MS:
        typer.echo(f"/health took longer than {PROMISED_MS} ms", err=True)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
