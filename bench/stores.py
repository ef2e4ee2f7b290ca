"""The stores of a run: the embedded store with the benchmark's data, and the stub that replays its answers."""

from __future__ import annotations

import http.client
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.data import locker_id, standard_items, write
from bench.processes import open_client, pinned, running
from bench.servers import TABLE
from loaders.table.client import StoreConnection
from loaders.table.embedded import find_binary, run_embedded
from loaders.tools.definition import create_table

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bench.processes import Cores, Process
    from domain.times import Instant

__all__ = ["Stub", "open_embedded", "open_stub", "post"]

_REGION = "eu-central-1"
_STUB = Path(__file__).parent / "stub.mjs"
_CONNECTIONS = 32
_PROBE_SECONDS = 1


@dataclass(frozen=True, slots=True)
class Stub:
    """The stub's controls."""

    port: int
    process: Process

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def record(self) -> None:
        """Has it record what it does not know yet."""
        self._control("POST", "/record")

    def replay(self) -> None:
        """Has it answer with what it has recorded, and nothing else."""
        self._control("POST", "/replay")

    def counts(self) -> dict[str, int]:
        """How many requests it has had, by operation."""
        found: dict[str, int] = self._control("GET", "/counts")["counts"]
        return found

    def unknown(self) -> int:
        """How many requests it could not answer."""
        found: int = self._control("GET", "/counts")["unknown"]
        return found

    async def answers_per_second(self, cores: Cores) -> float:
        """Its capacity on a core of its own: answers to GetItem per second of its CPU time."""
        key = {"PK": {"S": f"LOCKER#{locker_id(0)}"}, "SK": {"S": "META"}}
        request = {"TableName": TABLE, "Key": key, "ConsistentRead": False}
        client = await open_client(cores.server)
        try:
            for seconds in (_PROBE_SECONDS / 2, _PROBE_SECONDS):  # the first warms it up
                cpu = self.process.cpu_seconds()
                figures = await client.run(
                    "the stub itself",
                    kind="raw",
                    port=self.port,
                    path="/",
                    headers={"X-Amz-Target": "DynamoDB_20120810.GetItem"},
                    body=json.dumps(request),
                    expect='"Item"',
                    connections=_CONNECTIONS,
                    seconds=seconds,
                )
                cpu = self.process.cpu_seconds() - cpu
        finally:
            client.end()
        return figures.requests / cpu

    def _control(self, method: str, path: str) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path)
            content: dict[str, Any] = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return content


@asynccontextmanager
async def open_embedded(folder: Path, now: Instant, cores: Cores) -> AsyncIterator[StoreConnection]:
    """The embedded store with the benchmark's data."""
    async with run_embedded(_pinned_binary(folder, cores), folder / "store") as endpoint:
        connection = StoreConnection(TABLE, _REGION, endpoint, local=True)
        await create_table(connection)
        await write(connection, standard_items(now))
        yield connection


@asynccontextmanager
async def open_stub(upstream: str, folder: Path, cores: Cores) -> AsyncIterator[Stub]:
    """The stub; it records from the store at `upstream` until it is told to replay."""
    with running(["node", _STUB, upstream], {}, folder / "stub", cores.others) as process:
        yield Stub(int(await process.wait_for_line("listening ")), process)


def post(port: int, headers: dict[str, str], query: str, variables: dict[str, Any]) -> Any:
    """The data of one GraphQL request.

    Raises:
        RuntimeError: where the response is an error.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        body = json.dumps({"query": query, "variables": variables})
        connection.request("POST", "/graphql", body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        content = json.loads(response.read())
    finally:
        connection.close()
    if response.status != http.client.OK or "errors" in content:
        raise RuntimeError(f"{response.status}: {json.dumps(content)[:2000]}")
    return content["data"]


def _pinned_binary(folder: Path, cores: Cores) -> Path:
    """The store's binary, or a script that runs it on the cores that are not the server's."""
    binary = find_binary(None)
    if cores.others is None:
        return binary
    script = folder / "store.sh"
    script.write_text(f'#!/bin/sh\nexec {" ".join(pinned(cores.others))} "{binary}" "$@"\n')
    script.chmod(0o700)
    return script
