"""Throughput and CPU time of five requests in one process on the embedded store: `python -m bench.workload`."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import asynccontextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import typer

from loaders.table.client import open_store
from loaders.table.clock import utc_now
from loaders.tools.definition import create_table
from loaders.tools.demo import DemoShape, load_demo, locker_id, owner_id
from server.app import create_app
from server.process.store import connect
from server.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.types import ASGIApp

__all__ = ["QUERIES", "Client", "Figures", "locker_changes", "main", "measure", "open_client", "query_body"]

_CLIENTS = 16
_OK = 200
_LOCKERS = 100
_OWNER = f'owner(ownerId: "{owner_id(0)}")'
QUERIES = {
    "Q1: a locker by id": f"""{{ locker(lockerId: "{locker_id(0)}") {{
      lockerId alias status version createdAt updatedAt }} }}""",
    "Q2: 25 lockers of an owner": f"{{ {_OWNER} {{ lockers(first: 25) {{ nodes {{ lockerId alias status }} }} }} }}",
    "Q3: 100 lockers of an owner with columns of their records": f"""{{ {_OWNER} {{ lockers(first: 100) {{ nodes {{
      lockerId alias status version createdAt }} }} }} }}""",
    "Q4: Q3 with the active reservations": f"""{{ {_OWNER} {{ lockers(first: 100) {{ nodes {{
      lockerId alias status version createdAt activeReservation {{ reservationId startAt endAt }} }} }} }} }}""",
}
_CHANGE = """mutation ($input: UpdateLockerStatusInput!) {
  updateLockerStatus(input: $input) { locker { status version } userErrors { code } }
}"""


class Figures(NamedTuple):
    """Requests per second, and CPU time of one."""

    per_second: float
    cpu_ms: float


class Client:
    """Calls an application as a server does, without a socket."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def send(self, body: bytes) -> dict[str, Any]:
        """The data of one request, which must succeed."""
        content = bytearray()
        status = 0

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            content.extend(message.get("body", b""))

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
        await self._app(scope, receive, send)
        response: dict[str, Any] = orjson.loads(content)
        if status != _OK or "errors" in response:
            raise RuntimeError(content.decode())
        return response["data"]  # type: ignore[no-any-return]


@asynccontextmanager
async def open_client() -> AsyncIterator[Client]:
    """A client of an application with demo data of its own: one owner with 100 lockers."""
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(data_dir=Path(directory), endpoint_url=None)
        async with connect(settings) as connection:
            await create_table(connection)
            async with open_store(connection) as store:
                await load_demo(
                    store, DemoShape(owners=1, lockers=_LOCKERS, events=_LOCKERS), utc_now(), lambda _: None
                )
            app = create_app(settings, connection)
            async with app.router.lifespan_context(app):
                yield Client(app)


def query_body(document: str) -> bytes:
    """A request with a query."""
    return orjson.dumps({"query": document})


async def locker_changes(client: Client, count: int) -> list[Iterator[bytes]]:
    """For each of so many lockers, endless requests that occupy and free it in turn (M1)."""
    found = await client.send(
        query_body(f"{{ {_OWNER} {{ lockers(first: 100) {{ nodes {{ lockerId status version }} }} }} }}")
    )
    lockers = [locker for locker in found["owner"]["lockers"]["nodes"] if locker["status"] == "AVAILABLE"]
    if len(lockers) < count:
        raise RuntimeError(f"only {len(lockers)} lockers are available")
    return [_changes(locker["lockerId"], locker["version"]) for locker in lockers[:count]]


def _changes(changed: str, version: int) -> Iterator[bytes]:
    for number, status in enumerate(cycle(("OCCUPIED", "AVAILABLE"))):
        values = {"lockerId": changed, "newStatus": status, "expectedVersion": version + number}
        yield orjson.dumps({"query": _CHANGE, "variables": {"input": values}})


async def measure(client: Client, bodies: list[Iterator[bytes]], requests: int) -> Figures:
    """Sends requests from several clients at once, each its own, one after another."""

    async def send_all(own: Iterator[bytes]) -> None:
        for body in islice(own, requests):
            data = await client.send(body)
            if any((payload or {}).get("userErrors") for payload in data.values()):
                raise RuntimeError(f"refused: {data}")

    wall, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for own in bodies:
            group.create_task(send_all(own))
    total = requests * len(bodies)
    return Figures(total / (time.perf_counter() - wall), (time.process_time() - cpu) * 1000 / total)


async def _run(requests: int) -> None:
    typer.echo("| request | requests/s | CPU ms |\n|---|---|---|")
    async with open_client() as client:
        workloads: dict[str, list[Iterator[bytes]]] = {
            name: [cycle([query_body(text)]) for _ in range(_CLIENTS)] for name, text in QUERIES.items()
        }
        workloads["M1: a locker's status"] = await locker_changes(client, _CLIENTS)
        for name, bodies in workloads.items():
            await measure(client, bodies, 2)  # fills the caches
            figures = await measure(client, bodies, requests)
            typer.echo(f"| {name} | {figures.per_second:.0f} | {figures.cpu_ms:.2f} |")


def main(requests: int = 20) -> None:
    """Prints a table of requests per second and of CPU time per request, without the store's."""
    asyncio.run(_run(requests))


if __name__ == "__main__":
    typer.run(main)
