"""Measures ways of serving the same request side by side in one run: rounds alternate, so that all meet the same noise.

The application runs in this process on the embedded store with the demo data, and is called as a server calls it.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import typer

from loaders.demo import DemoShape, load_demo
from loaders.table.client import open_store
from loaders.table.definition import create_table
from server.app import create_app, utc_now
from server.settings import Settings
from server.store import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from opentelemetry.sdk.trace.export import SpanExporter
    from starlette.types import ASGIApp

    from loaders.table.client import Connection

__all__ = [
    "DOCUMENTS",
    "Sample",
    "Variant",
    "interleaved",
    "open_app",
    "open_table",
    "print_tables",
    "serving",
    "table",
]

_OK = 200
_ROUNDS = 40
DOCUMENTS = {
    "One locker: one GetItem": ('{ locker(lockerId: "locker-000007") { alias version } }', 50),
    "A page of five lockers with what hangs on them: ten operations, 36 loads": (
        """{ owner(ownerId: "owner-0001") { name lockers { nodes {
          lockerId version owner { name } location { name } activeReservation { endAt } latestEvent { action }
        } } } }""",
        10,
    ),
}
"""Each with how many requests make a round."""


@dataclass(frozen=True)
class Variant:
    """One way of serving: what the request carries, and what is different about the code while it is served."""

    name: str
    build: Callable[[], AbstractContextManager[None]]
    extensions: Mapping[str, Any]


class Sample(NamedTuple):
    """A request: its seconds on the clock, those of this process's own work, and the functions that it called.

    However busy the machine is, the number of calls hardly moves.
    """

    wall: float
    work: float
    calls: int


@asynccontextmanager
async def open_app() -> AsyncIterator[ASGIApp]:
    """The application on fresh demo data, without telemetry."""
    async with open_table() as connection, serving(connection, Settings()) as app:
        yield app


@asynccontextmanager
async def open_table() -> AsyncIterator[Connection]:
    """A table of fresh demo data."""
    with tempfile.TemporaryDirectory() as directory:
        async with connect(Settings(data_dir=Path(directory), endpoint_url=None)) as connection:
            await create_table(connection)
            async with open_store(connection) as store:
                await load_demo(store, DemoShape(), utc_now(), lambda _: None)
            yield connection


@asynccontextmanager
async def serving(
    connection: Connection, settings: Settings, span_exporter: SpanExporter | None = None
) -> AsyncIterator[ASGIApp]:
    """The application on a table."""
    app = create_app(settings, connection, span_exporter=span_exporter)
    async with app.router.lifespan_context(app):
        yield app


async def interleaved(
    app: ASGIApp, document: str, variants: list[Variant], rounds: int, requests: int
) -> dict[str, list[Sample]]:
    """A sample for each variant and round: the means of a round's requests.

    Each round has an order of its own, since what came before leaves its traces in caches and in memory. The first of
    all is not counted: in it everything is warming up.
    """
    samples: dict[str, list[Sample]] = {variant.name: [] for variant in variants}
    for number in range(-1, rounds):
        for variant in random.Random(number).sample(variants, len(variants)):
            body = orjson.dumps({"query": document, "extensions": variant.extensions})
            with variant.build():
                sample = await _measured(app, body, requests)
            if number >= 0:
                samples[variant.name].append(sample)
    return samples


def table(samples: dict[str, list[Sample]], base: str) -> list[str]:
    """A row for each variant: medians of its rounds, and of its ratios to the base in the same round."""
    rows = ["| variant | ratio of time | ratio of work | ratio of calls | requests/s |", "|---|---|---|---|---|"]
    for name, own in samples.items():
        pairs = list(zip(own, samples[base], strict=True))
        wall = statistics.median(sample.wall / other.wall for sample, other in pairs)
        work = statistics.median(sample.work / other.work for sample, other in pairs)
        calls = statistics.median(sample.calls for sample in own)
        calls /= statistics.median(sample.calls for sample in samples[base])
        rate = 1 / statistics.median(sample.wall for sample in own)
        rows.append(f"| {name} | {wall:.3f} | {work:.3f} | {calls:.3f} | {rate:.0f} |")
    return rows


async def print_tables(app: ASGIApp, variants: list[Variant], base: str) -> None:
    """A table for each document."""
    for name, (document, requests) in DOCUMENTS.items():
        samples = await interleaved(app, document, variants, _ROUNDS, requests)
        typer.echo("\n".join([f"### {name}", "", *table(samples, base), ""]))


async def _measured(app: ASGIApp, body: bytes, requests: int) -> Sample:
    calls = await _calls(app, body)
    wall, work = time.perf_counter(), time.process_time()
    for _ in range(requests):
        await _request(app, body)
    return Sample((time.perf_counter() - wall) / requests, (time.process_time() - work) / requests, calls)


async def _calls(app: ASGIApp, body: bytes) -> int:
    count = 0

    def see(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(see)
    try:
        await _request(app, body)
    finally:
        sys.setprofile(None)
    return count


async def _request(app: ASGIApp, body: bytes) -> None:
    """One POST to the application, whose answer must be a success without errors."""
    answer = bytearray()
    status = 0

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        await asyncio.sleep(0)
        status = message.get("status", status)
        answer.extend(message.get("body", b""))

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/graphql",
        "raw_path": b"/graphql",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    await app(scope, receive, send)
    if status != _OK or "errors" in orjson.loads(answer):
        raise RuntimeError(answer.decode())
