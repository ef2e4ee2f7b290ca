import asyncio
import json
from typing import Any

from tests.api import Api
from tests.feeds import PATIENCE, SCOPE

PING = {"type": "ping", "payload": {"a": "x" * 200_000}}
CLOSED = {"type": "websocket.close", "code": 1013, "reason": "The client reads too slowly"}


async def test_a_client_that_reads_too_slowly_is_closed_with_a_reason_when_it_reads_on(api: Api) -> None:
    to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    sent: list[dict[str, Any]] = []
    reads = asyncio.Event()

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "websocket.send":
            await reads.wait()
        sent.append(message)
        if message["type"] == "websocket.close":
            to_app.put_nowait({"type": "websocket.disconnect", "code": 1013})

    app = api.client._transport.app  # type: ignore[attr-defined]  # noqa: SLF001  # the client has no other name for it
    scope = {**SCOPE, "headers": [(b"host", b"localhost")]}
    running = asyncio.create_task(app(scope, to_app.get, send))
    for message in [{"type": "connection_init"}, *[PING] * 8]:
        to_app.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})
    async with asyncio.timeout(PATIENCE):
        while not to_app.empty():  # noqa: ASYNC110  # the application takes all of them, though nobody reads
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        reads.set()
        await running
    assert sent[0]["type"] == "websocket.accept"
    assert sent[-1] == CLOSED
    assert len(sent) <= 3  # what waited is not sent any more
