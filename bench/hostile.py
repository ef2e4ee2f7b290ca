"""How long `/health` takes while hostile clients use WebSockets: `python -m bench.hostile`."""

from __future__ import annotations

import asyncio
import json
import tempfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Annotated, Final

import typer
from websockets.frames import Frame, Opcode

from bench.data import locker_id
from bench.flood import PROMISED_MS, health_times
from bench.processes import Cores, end_on_signal
from bench.report import machine, today
from bench.servers import Server, flooded, started
from bench.stores import open_embedded
from loaders.table.clock import utc_now

__all__ = ["ATTACKS", "attack", "main", "open_sockets", "resident_mb"]

_HEAD: Final = (
    b"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)
_PAUSE: Final = 1.0
"""Between parts that stay within what a connection may send in a second."""
_MOST_LEFT_MB: Final = 64


@dataclass(frozen=True, slots=True)
class Attack:
    """Connections that send parts, each after a second, for as long as they are open, and then come again."""

    connections: int
    parts: Callable[[bytes], Iterator[bytes]]
    """Sent after the handshake; given the message with the credentials."""
    reads: bool = True


def _frame(data: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin=fin).serialize(mask=True)


def _flood(part: bytes) -> Callable[[bytes], Iterator[bytes]]:
    def parts(init: bytes) -> Iterator[bytes]:
        yield init
        while True:
            yield part

    return parts


def _once(part: bytes) -> Callable[[bytes], Iterator[bytes]]:
    return lambda _: iter([part])


def _subscribed(number: int) -> bytes:
    document = f'subscription {{ lockerActivity(lockerId: "{locker_id(0)}") {{ kind }} }}'
    message = {"id": str(number), "type": "subscribe", "payload": {"query": document}}
    return _frame(json.dumps(message).encode()) + _frame(b'{"type": "complete", "id": "%d"}' % number)


_PING: Final = b'{"type": "ping"}'
_NESTED: Final = b'{"type": "ping", "payload": {"a": [' + b"[]," * 4900 + b"[]]}}"
_LONG: Final = b'{"type": "ping", "payload": {"a": "' + b"x" * 250_000 + b'"}}'
_BOMB: Final = bytes([0xC1]) + _frame(zlib.compress(bytes(10_000_000), wbits=-15))[1:]

ATTACKS: Final = {
    "200 that never begin": Attack(200, lambda _: iter(())),
    "200 with half a message": Attack(200, _once(_frame(b"{}")[:-1])),
    "floods of ping frames": Attack(20, _once(_frame(b"x", Opcode.PING) * 1000)),
    "95 ping frames a second": Attack(50, _flood(_frame(b"x", Opcode.PING) * 95)),
    "floods of JSON pings": Attack(20, lambda init: iter([init + _frame(_PING) * 1000])),
    "95 JSON pings a second": Attack(50, _flood(_frame(_PING) * 95)),
    "large JSON": Attack(20, _flood(_frame(_NESTED) * 90)),
    "subscribe and complete": Attack(20, _flood(b"".join(map(_subscribed, range(45))))),
    "invalid UTF-8": Attack(20, _once(_frame(b"\xff" * 250_000))),
    "empty fragments": Attack(
        50, lambda init: _flood(_frame(b"", Opcode.CONT, fin=False) * 95)(init + _frame(b"", fin=False))
    ),
    "compressed messages": Attack(20, _once(_BOMB)),
    "no reading": Attack(20, _flood(_frame(_LONG) * 12), reads=False),
}


async def attack(port: int, kind: Attack, init: bytes) -> None:
    """One connection after another, for as long as it is not canceled."""
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(_HEAD)
                await reader.readuntil(b"\r\n\r\n")
                reading = asyncio.create_task(_read(reader) if kind.reads else asyncio.sleep(3600))
                try:
                    for part in kind.parts(init):
                        writer.write(part)
                        await writer.drain()
                        if (await asyncio.wait([reading], timeout=_PAUSE))[0]:
                            break
                    await reading
                finally:
                    reading.cancel()
            finally:
                writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


def resident_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def open_sockets(process: int) -> int:
    with suppress(FileNotFoundError):
        return sum("socket:" in str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir())
    return 0


async def _measured(server: Server, kind: Attack, seconds: float, prober: Executor) -> list[float]:
    init = _frame(json.dumps({"type": "connection_init", "payload": server.headers}).encode())
    attacks = [asyncio.create_task(attack(server.port, kind, init)) for _ in range(kind.connections)]
    try:
        return await asyncio.get_running_loop().run_in_executor(prober, health_times, server.port, seconds)
    finally:
        for one in attacks:
            one.cancel()
        await asyncio.gather(*attacks, return_exceptions=True)


async def _run(seconds: float) -> bool:
    end_on_signal()
    now, cores = utc_now(), Cores.found()
    is_kept = True
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        async with (
            AsyncExitStack() as stack,
            open_embedded(folder, now, cores) as connection,
            started(flooded()[1:], str(connection.endpoint_url), folder / "servers", cores.server) as (server,),
        ):
            # In a process of its own, so that it does not wait for the work of the attacks.
            prober = stack.enter_context(ProcessPoolExecutor(1, get_context("spawn")))
            before = resident_mb(server.process.pid)
            for name, kind in {"nothing": Attack(0, lambda _: iter(())), **ATTACKS}.items():
                times = sorted(await _measured(server, kind, seconds, prober))
                p99 = times[len(times) * 99 // 100]
                grown = resident_mb(server.process.pid) - before
                typer.echo(
                    f"| {name} | {len(times)} | {median(times):.0f} | {p99:.0f} | {times[-1]:.0f} | {grown:.0f} |"
                )
                is_kept = is_kept and times[-1] <= PROMISED_MS and grown <= _MOST_LEFT_MB
    return is_kept


def main(seconds: Annotated[float, typer.Option(help="How long each attack takes.")] = 10) -> None:
    """Reports how long `/health` takes during each attack; fails if that, or memory, is more than promised."""
    typer.echo(f"{today()}, {machine()}: WebSockets of one device without a rate limit")
    typer.echo("| | health checks | median ms | p99 ms | longest ms | memory grown, MB |\n|---|---|---|---|---|---|")
    if not asyncio.run(_run(seconds)):
        typer.echo(f"/health took longer than {PROMISED_MS} ms, or memory grew over {_MOST_LEFT_MB} MB", err=True)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
