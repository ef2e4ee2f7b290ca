"""Sending webhooks to a server that answers with what a test has written."""

import asyncio
import contextlib
import gzip
import logging
import socket
import ssl
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from yarl import URL

from domain.webhook_urls import check_webhook_url
from domain.webhooks import Answer
from server.webhooks.sender import WebhookSender
from tests.certificates import certify
from tests.scripted import Reply, ScriptedStore, ok, open_scripted

HEADERS = {"content-type": "application/json", "webhook-id": "event-1"}
BODY = b'{"type":"door.opened"}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"


class Names:
    """Looks names up in what a test says; each look-up takes the next answer, and the last one stays."""

    def __init__(self, **found: list[list[str]]) -> None:
        self._found = {name.replace("_", "."): answers for name, answers in found.items()}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, _family: int, _kind: int) -> list[Any]:
        self.asked.append(host)
        answers = self._found.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            (socket.AF_INET6 if ":" in one else socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port))
            for one in addresses
        ]


LOCAL = [["127.0.0.1"]]


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[ScriptedStore]:
    async with open_scripted() as opened:
        yield opened


def at(receiver: ScriptedStore, host: str, path: str = "/hook") -> str:
    return f"{URL(receiver.url).with_host(host)}".rstrip("/") + path


async def send(url: str, *, allows_local: bool = True, **options: Any) -> Answer:
    async with WebhookSender(allows_local=allows_local, **options) as sender:
        return await sender.send(url, HEADERS, BODY)


async def test_a_delivery_is_posted_as_it_is_and_its_connection_used_again(receiver: ScriptedStore) -> None:
    names = Names(hooks_example=LOCAL)
    url = at(receiver, "hooks.example", "/in/%7Ea?token=a%20b")
    async with WebhookSender(allows_local=True, lookup=names) as sender:
        answers = [await sender.send(url, HEADERS, BODY) for _ in range(3)]
    assert {(answer.status, answer.error, answer.is_success) for answer in answers} == {(200, None, True)}
    assert [request.connection for request in receiver.requests] == [0, 0, 0]
    assert names.asked == ["hooks.example"]
    request = receiver.requests[0]
    assert (request.path, request.body) == ("/in/%7Ea?token=a%20b", BODY)
    assert request.headers == {
        **HEADERS,
        "host": URL(url).authority,
        "user-agent": "SmartLocker",
        "accept": "*/*",
        "accept-encoding": "identity",
        "content-length": str(len(BODY)),
    }


async def test_tls_is_verified_for_the_name_of_the_host(tmp_path: Path) -> None:
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certify(tmp_path, "hooks.example"))
    names = Names(hooks_example=LOCAL, other_example=LOCAL)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    async with open_scripted(tls=server) as receiver:
        assert (await send(at(receiver, "hooks.example"), lookup=names, tls=trusting)).status == 200
        assert (await send(at(receiver, "other.example"), lookup=names, tls=trusting)).error == "tls"
        assert (await send(at(receiver, "hooks.example"), lookup=names)).error == "tls"
        assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    "addresses",
    [
        *(["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["100.64.0.1"], ["224.0.0.1"], ["::1"], ["fe80::1%eth0"]),
        *(
            ["::ffff:127.0.0.1"],
            ["64:ff9b::7f00:1"],
            ["2002:7f00:1::"],
            ["8.8.8.8", "127.0.0.1"],
            ["127.0.0.1", "8.8.8.8"],
            [],
        ),
    ],
    ids=" ".join,
)
async def test_a_name_with_an_inner_address_is_as_one_that_does_not_exist(
    receiver: ScriptedStore, addresses: list[str]
) -> None:
    url = at(receiver, "hooks.example").replace("http:", "https:")
    names = Names(hooks_example=[addresses])
    assert check_webhook_url(url, allows_local=False) == url
    assert (await send(url, allows_local=False, lookup=names)).error == "address"
    assert (await send(url.replace("hooks.", "other."), allows_local=False, lookup=names)).error == "address"
    assert names.asked == ["hooks.example", "other.example"]
    assert receiver.connections == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0177.0.0.1", "localhost"])
async def test_an_inner_address_in_the_url_itself_is_refused(receiver: ScriptedStore, host: str) -> None:
    names = Names(localhost=LOCAL)
    url = f"https://{host}:{URL(receiver.url).port}/"
    assert (await send(url, allows_local=False, lookup=names)).error == "url"
    assert names.asked == []
    assert receiver.connections == []


async def test_http_is_not_used_in_production(receiver: ScriptedStore) -> None:
    answer = await send(at(receiver, "hooks.example"), allows_local=False, lookup=Names(hooks_example=LOCAL))
    assert answer.error == "url"


async def test_the_address_that_was_checked_is_the_one_connected_to(receiver: ScriptedStore) -> None:
    """Another look-up between the check and the connection would find another address."""
    names = Names(hooks_example=[["127.0.0.1"], ["10.0.0.1"]])
    receiver.script = [ok(headers="Connection: close\r\n")]
    async with WebhookSender(allows_local=True, lookup=names) as sender:
        assert (await sender.send(at(receiver, "hooks.example"), HEADERS, BODY)).status == 200
        assert names.asked == ["hooks.example"]
        assert (await sender.send(at(receiver, "hooks.example"), HEADERS, BODY)).error == "address"
    assert len(receiver.connections) == 1


async def test_a_redirect_is_an_answer_and_not_followed(receiver: ScriptedStore) -> None:
    receiver.script = [ok(status="307 Moved", headers=f"Location: {receiver.url}/other\r\n")]
    answer = await send(at(receiver, "127.0.0.1"))
    assert (answer.status, answer.is_success) == (307, False)
    assert [request.path for request in receiver.requests] == ["/hook"]


async def test_variables_of_proxies_mean_nothing(receiver: ScriptedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_scripted() as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
            monkeypatch.setenv(name.lower(), proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert (await send(at(receiver, "hooks.example"), lookup=Names(hooks_example=LOCAL))).status == 200
        assert proxy.connections == []


async def test_no_cookie_is_kept(receiver: ScriptedStore) -> None:
    receiver.script = [ok(headers="Set-Cookie: a=b; Path=/\r\n")]
    async with WebhookSender(allows_local=True, lookup=Names(hooks_example=LOCAL)) as sender:
        for _ in range(2):
            await sender.send(at(receiver, "hooks.example"), HEADERS, BODY)
    assert ["cookie" in request.headers for request in receiver.requests] == [False, False]


async def test_an_endless_answer_is_cut_off_and_its_status_counts() -> None:
    sent: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        count = 0
        with contextlib.suppress(ConnectionError):
            writer.write(HEAD)
            while True:
                writer.write(bytes(100_000))
                await writer.drain()
                count += 100_000
        sent.set_result(count)

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert (await send(f"http://127.0.0.1:{port}/")).status == 200
        assert await sent < 20_000_000  # what the buffers of the system take


async def test_a_compressed_answer_is_not_unpacked_and_a_short_one_leaves_the_connection(
    receiver: ScriptedStore,
) -> None:
    bomb = gzip.compress(bytes(60_000_000))
    assert len(bomb) < 64 * 1024
    receiver.script = [ok(bomb, headers="Content-Encoding: gzip\r\n"), ok(b"x" * 64_000)]
    async with WebhookSender(allows_local=True) as sender:
        answers = [await sender.send(at(receiver, "127.0.0.1"), HEADERS, BODY) for _ in range(3)]
    assert [answer.status for answer in answers] == [200] * 3
    assert [request.connection for request in receiver.requests] == [0, 0, 0]


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (b"", None, "timeout"),
        (b"HTTP/1.1 200 OK\r\nX: ", None, "timeout"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", None, "timeout"),
        (HEAD + b"a little", 200, None),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", 200, None),
    ],
)
async def test_an_answer_that_does_not_end_is_given_up_in_time(
    receiver: ScriptedStore, answer: bytes, status: int | None, error: str | None
) -> None:
    receiver.script = [Reply(answer)]
    given = await send(at(receiver, "127.0.0.1"), timeout=0.3)
    assert (given.status, given.error) == (status, error)
    await receiver.closures()


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(b"", closes=True), "connection"),
        (Reply(b"HTTP/1.1 200 OK\r\n", closes=True), "connection"),
        (Reply(b"SSH-2.0-OpenSSH\r\n", closes=True), "response"),
        (Reply(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000), "response"),
        (Reply(b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 10_000), "response"),
    ],
)
async def test_what_is_no_response_is_a_failure(receiver: ScriptedStore, reply: Reply, error: str) -> None:
    receiver.script = [reply]
    given = await send(at(receiver, "127.0.0.1"))
    assert (given.status, given.error, given.is_success) == (None, error, False)


async def test_where_nobody_listens_there_is_no_connection() -> None:
    async with open_scripted() as receiver:
        url = at(receiver, "127.0.0.1")
    assert (await send(url)).error == "connection"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("120", 120), ("0", 0), ("Wed, 18 Nov 2026 10:01:30 GMT", 90), ("Wed, 18 Nov 2026 09:00:00 GMT", 0)),
        *(
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("²", None),
            ("9" * 4000, 86400),
            ("9" * 5000, None),
            ("18 Nov 2026 10:01:30", None),
        ),
    ],
)
async def test_retry_after_is_in_seconds_by_the_clock_of_who_asks(
    receiver: ScriptedStore, value: str, seconds: int | None
) -> None:
    date = "Date: Wed, 18 Nov 2026 10:00:00 GMT\r\n"
    receiver.script = [ok(status="429 Slow", headers=f"{date}Retry-After: {value}\r\n")]
    answer = await send(at(receiver, "127.0.0.1"))
    assert (answer.status, answer.retry_after) == (429, seconds)


async def test_what_hangs_delays_no_other_even_of_its_own_host(receiver: ScriptedStore) -> None:
    never = asyncio.Event()
    names = Names(hooks_example=LOCAL, **{f"hangs{number}_example": LOCAL for number in range(20)})
    async with open_scripted() as hanging, WebhookSender(allows_local=True, lookup=names) as sender:
        hanging.script = [Reply(b"", after=never)] * 300
        urls = [at(hanging, f"hangs{number}.example") for number in range(20)] * 15
        waiting = [asyncio.create_task(sender.send(url, HEADERS, BODY)) for url in urls]
        await hanging.arrivals(300)
        assert (await sender.send(at(receiver, "hooks.example"), HEADERS, BODY)).status == 200
        assert len(hanging.connections) == 300
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        assert all(task.cancelled() for task in waiting)


async def test_names_that_hang_delay_no_other(receiver: ScriptedStore) -> None:
    release, reached = threading.Event(), threading.Semaphore(0)
    known = Names(hooks_example=LOCAL)

    def lookup(host: str, *place: int) -> list[Any]:
        if host.startswith("hangs"):
            reached.release()
            release.wait()
        return known(host, *place)

    async with WebhookSender(allows_local=True, lookup=lookup, timeout=60) as sender:
        urls = [at(receiver, f"hangs{number}.example") for number in range(20)]
        waiting = [asyncio.create_task(sender.send(url, HEADERS, BODY)) for url in urls]
        for _ in urls:
            await asyncio.to_thread(reached.acquire)
        assert (await sender.send(at(receiver, "hooks.example"), HEADERS, BODY)).status == 200
        release.set()
        assert {(await task).error for task in waiting} == {"address"}


@pytest.mark.parametrize("allows_local", [True, False])
async def test_development_says_that_webhooks_may_stay_on_the_machine(
    caplog: pytest.LogCaptureFixture, *, allows_local: bool
) -> None:
    with caplog.at_level(logging.INFO):
        async with WebhookSender(allows_local=allows_local):
            said = [record.getMessage() for record in caplog.records if record.name.startswith("server.webhooks")]
    assert said == (["in development webhooks may have URLs of this machine, and of http"] if allows_local else [])
