import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from domain.webhook_bodies import body_of_test
from domain.webhook_signatures import secret_of, signed_headers
from server.webhooks.sender import WebhookSender
from tests.conftest import NOW, RING
from tests.e2e.serving import ROOT, environment

OLD, NEW, OTHER = (secret_of(RING, RING.current.key_id, "hook", name) for name in ("old", "new", "other"))
BODY = body_of_test("hook", NOW)


@dataclass(frozen=True)
class Message:
    secrets: tuple[str, ...] = (NEW,)
    message_id: str = "event-1"
    age: int = 0
    body: bytes = BODY
    changes: tuple[tuple[str, str], ...] = ()

    @property
    def headers(self) -> dict[str, str]:
        headers = signed_headers(self.secrets, self.message_id, int(time.time()) - self.age, BODY)
        return headers | dict(self.changes)


GOOD = Message()
BAD = [
    replace(GOOD, secrets=(OTHER,)),
    replace(GOOD, body=BODY + b" "),
    replace(GOOD, age=301),
    replace(GOOD, age=-301),
    replace(GOOD, changes=(("webhook-id", "event-2"),)),
    replace(GOOD, changes=(("webhook-timestamp", "now"),)),
    replace(GOOD, changes=(("webhook-timestamp", ""),)),
    replace(GOOD, changes=(("webhook-signature", ""),)),
    replace(GOOD, changes=(("webhook-signature", "v1,"),)),
    replace(GOOD, changes=(("webhook-signature", "v2,ä v1,ä"),)),
]


class Receiving:
    def __init__(self, process: asyncio.subprocess.Process, url: str, sender: WebhookSender) -> None:
        self.process, self.url, self.sender = process, url, sender

    async def line(self) -> str:
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().strip()

    async def send(self, message: Message) -> int | None:
        return (await self.sender.send(self.url, message.headers, message.body)).status


@asynccontextmanager
async def receiving(database: Path) -> AsyncIterator[Receiving]:
    program: list[Any] = [sys.executable, ROOT / "examples" / "webhook_receiver.py", "0"]
    settings = environment({"SECRET": f"{NEW} {OLD}", "DATABASE": database})
    process = await asyncio.create_subprocess_exec(*program, stdout=subprocess.PIPE, env=settings)
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        async with WebhookSender(allows_local=True) as sender:
            yield Receiving(process, url, sender)
    finally:
        process.kill()
        await process.wait()


async def test_the_receiver_keeps_each_genuine_delivery_once_also_after_it_was_killed(tmp_path: Path) -> None:
    database = tmp_path / "deliveries.sqlite"
    async with receiving(database) as receiver:
        assert [await receiver.send(message) for message in BAD] == [401] * len(BAD)
        # The answer may be lost, since the rest of the body is not read.
        assert await receiver.send(replace(GOOD, body=b"x" * 65_537)) in {413, None}
        assert kept(database) == []
        assert await receiver.send(GOOD) == 204
        assert await receiver.line() == "event-1 webhook.test"
        assert (
            await asyncio.gather(*(receiver.send(replace(GOOD, secrets=(OLD, OTHER))) for _ in range(8))) == [204] * 8
        )
    async with receiving(database) as receiver:
        assert await receiver.send(GOOD) == 204
        assert await receiver.send(replace(GOOD, message_id="event-2", secrets=(OLD,), age=200)) == 204
        assert await receiver.line() == "event-2 webhook.test"
    assert kept(database) == [("event-1", BODY.decode()), ("event-2", BODY.decode())]


def kept(database: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT id, body FROM deliveries").fetchall()
