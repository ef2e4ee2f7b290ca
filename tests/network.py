"""A network that can fail: connections to a server go through it, and can be cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Network:
    def __init__(self, url: str) -> None:
        self._server = urlsplit(url)
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    def cut(self) -> None:
        """Ends all connections; new ones are accepted."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection(self._server.hostname, self._server.port)
        self._writers |= {writer, requests}
        with suppress(OSError):
            await asyncio.gather(_copy(reader, requests), _copy(answers, writer))


@asynccontextmanager
async def network_to(url: str) -> AsyncIterator[Network]:
    """A network between a port of its own and the server at an address."""
    network = Network(url)
    async with await asyncio.start_server(network.connect, "127.0.0.1", 0) as server:
        network.port = server.sockets[0].getsockname()[1]
        yield network
        network.cut()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(65536):
        writer.write(part)
    writer.close()
