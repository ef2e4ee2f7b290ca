"""Messages to one client: in order, without a task where it reads, and kept within a limit where it does not."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from server.live.outbox import Outbox

MEGABYTE = 1024 * 1024


class Client:
    """A client that may stop reading: then what is sent waits."""

    def __init__(self) -> None:
        self.read: list[bytes] = []
        self.sent_at_once = 0
        self.reads = asyncio.Event()
        self.reads.set()
        self.is_given_up = False
        self.outbox = Outbox(self.send, self.give_up, self.send_at_once)

    async def send(self, part: bytes) -> None:
        await self.reads.wait()
        self.read.append(part)

    def send_at_once(self, parts: Sequence[bytes]) -> bool:
        if not self.reads.is_set():
            return False
        self.read += parts
        self.sent_at_once += 1
        return True

    def give_up(self) -> None:
        self.is_given_up = True


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    client = Client()
    running = asyncio.create_task(client.outbox.run())
    yield client
    client.outbox.end(at_once=True)
    client.reads.set()
    await running


async def test_who_reads_gets_what_is_put_together_at_once(client: Client) -> None:
    client.outbox.put(b"1", b"2")
    assert client.read == [b"1", b"2"]
    assert client.sent_at_once == 1


async def test_what_waits_is_sent_before_what_comes_later(client: Client) -> None:
    client.reads.clear()
    client.outbox.put(b"1")
    client.outbox.put(b"2")
    await asyncio.sleep(0)  # the first is being sent, and waits in no list
    client.reads.set()
    client.outbox.put(b"3")
    await client.outbox.drained()
    client.outbox.put(b"4")
    assert client.read == [b"1", b"2", b"3", b"4"]


async def test_what_is_large_waits_its_turn_so_that_the_limit_holds(client: Client) -> None:
    client.outbox.put(bytes(MEGABYTE))
    assert not client.read
    assert not client.is_given_up
    client.outbox.put(b"1")
    assert client.is_given_up


async def test_a_client_that_is_gone_keeps_nobody_waiting() -> None:
    async def fail(_: bytes) -> None:
        raise BrokenPipeError

    outbox = Outbox(fail, lambda: None)
    outbox.put(b"1", b"2")
    with pytest.raises(BrokenPipeError):
        await outbox.run()
    outbox.put(b"3")
    await outbox.drained()
