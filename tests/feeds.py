"""Subscriptions to an application in the process of the test, over a WebSocket without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from typing import Any

from domain.times import Instant, shift
from loaders.following.catching_up import cursor_at
from loaders.table.clock import utc_now
from tests.api import Api

PATIENCE = 60
SCOPE = {
    "type": "websocket",
    "path": "/graphql",
    "raw_path": b"/graphql",
    "query_string": b"",
    "root_path": "",
    "scheme": "ws",
    "http_version": "1.1",
    "server": ("localhost", 80),
    "client": ("127.0.0.1", 1),
    "subprotocols": ["graphql-transport-ws"],
}


class Feed:
    """The messages of one subscription; it ends with None, or with the code of the connection's end."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[Any] = asyncio.Queue()

    def put(self, message: Any) -> None:
        self._messages.put_nowait(message)

    @property
    def is_empty(self) -> bool:
        return self._messages.empty()

    async def result(self) -> Any:
        """The next result: data and errors."""
        async with asyncio.timeout(PATIENCE):
            return await self._messages.get()

    async def activity(self) -> dict[str, Any]:
        """The next activity, which has no error."""
        result = await self.result()
        assert isinstance(result, dict), result
        assert "errors" not in result, result
        (activity,) = result["data"].values()
        found: dict[str, Any] = activity
        return found

    async def activities(self, number: int) -> list[dict[str, Any]]:
        return [await self.activity() for _ in range(number)]

    async def error(self) -> dict[str, Any]:
        """The extensions of the only error of a result without an activity."""
        result = await self.result()
        assert isinstance(result, dict), result
        assert not any((result["data"] or {}).values()), result
        (error,) = result["errors"]
        extensions: dict[str, Any] = error["extensions"]
        return extensions


class Connection:
    def __init__(self, app: Callable[..., Awaitable[None]], headers: dict[str, str]) -> None:
        self._app = app
        self._headers = [(b"host", b"localhost"), *((k.lower().encode(), v.encode()) for k, v in headers.items())]
        self._to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._names = map(str, count())
        self._feeds: dict[str, Feed] = {}
        self._began: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.closed: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        await self._app({**SCOPE, "headers": self._headers}, self._to_app.get, self._from_app)

    async def begin(self, payload: dict[str, Any]) -> bool:
        """Whether the server acknowledges the connection."""
        self._to_app.put_nowait({"type": "websocket.connect"})
        self._send(type="connection_init", payload=payload)
        async with asyncio.timeout(PATIENCE):
            return await self._began

    def subscribe(self, query: str, extensions: dict[str, Any] | None = None, **variables: Any) -> Feed:
        name = next(self._names)
        feed = self._feeds[name] = Feed()
        payload = {"query": query, "variables": variables, **({"extensions": extensions} if extensions else {})}
        self._send(id=name, type="subscribe", payload=payload)
        return feed

    def disconnect(self) -> None:
        self._to_app.put_nowait({"type": "websocket.disconnect", "code": 1006})

    def _send(self, **message: Any) -> None:
        self._to_app.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    async def _from_app(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "websocket.send":
                self._take(json.loads(message["text"]))
            case "websocket.close":
                self.closed.set_result(message["code"])
                if not self._began.done():
                    self._began.set_result(False)
                for feed in self._feeds.values():
                    feed.put(message["code"])
                self.disconnect()

    def _take(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "connection_ack":
                self._began.set_result(True)
            case "next":
                self._feeds[message["id"]].put(message["payload"])
            case "error":
                self._feeds[message["id"]].put({"data": None, "errors": message["payload"]})
            case "complete":
                self._feeds[message["id"]].put(None)


@asynccontextmanager
async def connected(api: Api, payload: dict[str, Any] | None = None) -> AsyncIterator[Connection]:
    app = api.client._transport.app  # type: ignore[attr-defined]  # noqa: SLF001  # the client has no other name for it
    connection = Connection(app, api.headers)
    running = asyncio.create_task(connection.run())
    try:
        assert await connection.begin(payload or {})
        yield connection
    finally:
        connection.disconnect()
        async with asyncio.timeout(PATIENCE):
            await running


def since(place: str, at: Instant | None = None) -> str:
    """The cursor of a time, by default of one before everything that a test does, however long that takes."""
    return cursor_at(place, at or shift(utc_now(), -timedelta(hours=1)))
