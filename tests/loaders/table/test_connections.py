import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import uvloop

from domain.errors import UnavailableError
from loaders.table.client import DynamoStore, StoreConnection, open_store
from loaders.table.http_client import ConnectionPool, Timeouts
from loaders.table.operations import Get
from loaders.table.positions import Key
from loaders.table.transport import NoAnswerError
from tests.certificates import certify
from tests.conftest import PATIENT
from tests.scripted import Reply, ScriptedStore, ok, open_scripted

Opener = Callable[..., AbstractAsyncContextManager[DynamoStore]]

MAX_CONNECTIONS = 64


def get(number: int = 0) -> Get:
    return Get("QC-01", Key(f"LOCKER#{number}", "META"))


def answer(number: int = 0, **more: Any) -> Reply:
    return ok({"Item": get(number).key.wire}, **more)


async def given_up(store: DynamoStore) -> NoAnswerError:
    """Why nothing was read."""
    with pytest.raises(UnavailableError) as unavailable:
        await store.get(get())
    cause = unavailable.value.__cause__
    assert isinstance(cause, NoAnswerError)
    return cause


async def turns(count: int = 20) -> None:
    """Lets the event loop see what has happened to its sockets."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_requests_after_another_share_a_connection(store: DynamoStore, scripted: ScriptedStore) -> None:
    for number in range(3):
        scripted.script = [answer(number)]
        assert await store.get(get(number)) == get(number).key.wire
    assert [request.connection for request in scripted.requests] == [0, 0, 0]


async def test_a_connection_that_was_closed_while_idle_is_replaced_without_another_attempt(
    store: DynamoStore, scripted: ScriptedStore
) -> None:
    scripted.script = [ok(closes=True)]
    await store.get(get())
    await scripted.closures()
    await turns()
    sent = await store.transport.send("GetItem", get().render("T"))
    assert sent.retries == 0
    assert [request.connection for request in scripted.requests] == [0, 1]


async def test_the_raw_client_sees_a_closed_connection_before_the_event_loop_does(scripted: ScriptedStore) -> None:
    async with open_store(StoreConnection("T", "eu-central-1", scripted.url, local=True)) as store:
        await store.get(get())
        scripted.shut(0)
        sent = await store.transport.send("GetItem", get().render("T"))
    assert sent.retries == 0
    assert [request.connection for request in scripted.requests] == [0, 1]


@pytest.mark.usefixtures("pauses")
async def test_the_raw_client_does_not_wait_on_a_connection_that_was_closed_as_soon_as_it_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect = asyncio.get_running_loop().create_connection

    async def connect_and_wait(*args: Any, **more: Any) -> Any:
        made = await connect(*args, **more)
        await turns()
        return made

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", connect_and_wait)
    closing = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{closing.sockets[0].getsockname()[1]}"
    async with closing, open_store(StoreConnection("T", "eu-central-1", url, local=True, timeouts=PATIENT)) as store:
        with pytest.raises(NoAnswerError, match="closed as soon as it was made"):
            await store.transport.send("GetItem", get().render("T"))


@pytest.mark.parametrize(
    "reply",
    [
        ok(headers="Connection: close\r\n"),
        Reply(ok().data + b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
        Reply(ok().data + ok({"Item": {}}).data),
    ],
    ids=["it is to be closed", "the head of another answer follows", "another answer follows"],
)
async def test_a_connection_is_not_used_again_where_it_may_not_be(
    store: DynamoStore, scripted: ScriptedStore, reply: Reply
) -> None:
    scripted.script = [reply, answer(1)]
    await store.get(get())
    await turns()
    assert await store.get(get(1)) == get(1).key.wire
    assert [request.connection for request in scripted.requests] == [0, 1]


async def test_connections_are_limited_and_requests_wait_in_order(store: DynamoStore, scripted: ScriptedStore) -> None:
    count = MAX_CONNECTIONS + 4
    gates = [asyncio.Event() for _ in range(count)]
    scripted.script = [ok(after=gate) for gate in gates]
    reading = [asyncio.ensure_future(store.get(get(number))) for number in range(count)]
    await scripted.arrivals(MAX_CONNECTIONS)
    await turns()
    assert len(scripted.requests) == len(scripted.connections) == MAX_CONNECTIONS
    for gate in gates[: count - MAX_CONNECTIONS]:
        gate.set()
        await scripted.arrivals()
    waited = [request.content["Key"]["PK"]["S"] for request in scripted.requests[MAX_CONNECTIONS:]]
    assert waited == [f"LOCKER#{number}" for number in range(MAX_CONNECTIONS, count)]
    for gate in gates:
        gate.set()
    await asyncio.gather(*reading)
    assert len(scripted.connections) == MAX_CONNECTIONS


async def test_no_request_gets_the_answer_of_a_canceled_one(store: DynamoStore, scripted: ScriptedStore) -> None:
    scripted.script = [answer(1, after=asyncio.Event()), answer(2)]
    canceled = asyncio.ensure_future(store.get(get(1)))
    await scripted.arrivals()
    canceled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await canceled
    await scripted.closures()
    assert await store.get(get(2)) == get(2).key.wire
    assert [request.connection for request in scripted.requests] == [0, 1]


async def test_canceled_requests_leave_their_places_to_others(store: DynamoStore, scripted: ScriptedStore) -> None:
    never = asyncio.Event()
    scripted.script = [ok(after=never) for _ in range(MAX_CONNECTIONS)]
    reading = [asyncio.ensure_future(store.get(get(number))) for number in range(MAX_CONNECTIONS)]
    await scripted.arrivals(MAX_CONNECTIONS)
    waiting = [asyncio.ensure_future(store.get(get(number))) for number in range(5)]
    await turns()
    for task in [*waiting[:3], *reading]:
        task.cancel()
    await asyncio.gather(*waiting[:3], *reading, return_exceptions=True)
    assert await asyncio.gather(*waiting[3:]) == [None, None]
    assert await asyncio.gather(*(store.get(get(number)) for number in range(MAX_CONNECTIONS))) == [None] * 64
    assert len(scripted.requests) == 2 * MAX_CONNECTIONS + 2


async def test_a_request_that_is_canceled_between_attempts_is_not_sent_again(
    open_to: Opener, scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    pausing = asyncio.Event()
    sleep = asyncio.sleep

    async def pause(seconds: float) -> None:
        if seconds:
            pausing.set()
            await asyncio.Event().wait()
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", pause)
    scripted.script = [Reply(b"", closes=True)]
    async with open_to(scripted.url) as store:
        reading = asyncio.ensure_future(store.get(get()))
        await pausing.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await store.get(get()) is None
    assert len(scripted.requests) == 2


@pytest.mark.usefixtures("pauses")
async def test_an_answer_that_does_not_come_is_given_up_three_times(open_to: Opener, scripted: ScriptedStore) -> None:
    never = asyncio.Event()
    scripted.script = [ok(after=never), Reply(ok().data[:-1], after=None), ok(after=never)]
    async with open_to(scripted.url, timeouts=Timeouts(connect=60, read=0.05)) as store:
        assert (await given_up(store)).retries == 2
    await scripted.arrivals(3)
    assert [request.connection for request in scripted.requests] == [0, 1, 2]


@pytest.mark.usefixtures("pauses")
async def test_a_connection_that_is_not_made_is_given_up_three_times(open_to: Opener) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()  # takes connections, and never answers in their handshake
        url = f"https://127.0.0.1:{deaf.getsockname()[1]}"
        async with open_to(url, timeouts=Timeouts(connect=0.05, read=60)) as store:
            assert (await given_up(store)).retries == 2


@pytest.mark.usefixtures("pauses")
async def test_a_store_that_is_not_there_is_unavailable(open_to: Opener) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with open_to(f"http://127.0.0.1:{unused.getsockname()[1]}") as store:
            await given_up(store)


def test_a_connection_has_one_second_and_an_answer_two() -> None:
    assert StoreConnection("T", "eu-central-1").timeouts == (1, 2)


@pytest.mark.usefixtures("pauses")
def test_all_of_it_works_on_the_servers_loop(open_to: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "ca.pem"))

    async def work(tls: ssl.SSLContext | None) -> None:
        async with open_scripted(tls=tls) as scripted, open_to(scripted.url) as store:
            scripted.script = [Reply(b"", closes=True), answer(1), answer(2, after=asyncio.Event()), answer(3)]
            assert await store.get(get(1)) == get(1).key.wire
            canceled = asyncio.ensure_future(store.get(get(2)))
            await scripted.arrivals(3)
            canceled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await canceled
            assert await store.get(get(3)) == get(3).key.wire
            assert [request.connection for request in scripted.requests] == [0, 1, 1, 2]

    for tls in (None, serving(certify(tmp_path, "localhost"))):
        uvloop.run(work(tls))


# TLS


def serving(certificate: Path) -> ssl.SSLContext:
    """The context of a server with a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def seen_names() -> list[str | None]:
    """The names that clients asked for when they connected."""
    return []


@pytest_asyncio.fixture
async def secure(tmp_path: Path, seen_names: list[str | None]) -> AsyncIterator[ScriptedStore]:
    """A store whose certificate is for `localhost`, of an authority whose certificate is in `ca.pem`."""
    context = serving(certify(tmp_path, "localhost"))

    def note(_: object, name: str | None, __: object) -> None:
        seen_names.append(name)

    context.sni_callback = note
    async with open_scripted(tls=context) as opened:
        yield opened


async def test_the_stores_certificate_is_checked_and_it_is_asked_for_by_name(
    open_to: Opener,
    secure: ScriptedStore,
    seen_names: list[str | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "ca.pem"))
    secure.script = [answer(1), answer(2)]
    async with open_to(secure.url) as store:
        assert await store.get(get(1)) == get(1).key.wire
        assert await store.get(get(2)) == get(2).key.wire
    assert seen_names == ["localhost"]
    assert [request.connection for request in secure.requests] == [0, 0]


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("problem", ["another name", "an unknown authority"])
async def test_nothing_is_sent_to_a_store_whose_certificate_is_wrong(
    open_to: Opener, secure: ScriptedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    url = secure.url
    if problem == "another name":
        monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "ca.pem"))
        url = url.replace("localhost", "127.0.0.1")
    async with open_to(url) as store:
        assert "certificate verify failed" in str(await given_up(store))
    assert secure.requests == []


# Endpoints


async def test_a_path_of_the_endpoint_is_kept(open_to: Opener, scripted: ScriptedStore) -> None:
    async with open_to(f"{scripted.url}/stores/one") as store:
        await store.get(get())
    assert scripted.requests[0].path == "/stores/one"
    assert scripted.requests[0].headers["host"] == scripted.url.removeprefix("http://")


async def test_an_endpoint_may_be_an_ipv6_address(open_to: Opener) -> None:
    async with open_scripted("::1") as scripted, open_to(scripted.url) as store:
        await store.get(get())
    assert scripted.requests[0].headers["host"] == scripted.url.removeprefix("http://")


async def test_the_endpoint_may_come_from_the_sdks_environment(
    open_to: Opener, scripted: ScriptedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", scripted.url)
    async with open_to(None) as store:
        await store.get(get())
    assert len(scripted.requests) == 1
    assert "/eu-central-1/dynamodb/" in scripted.requests[0].headers["authorization"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://dynamodb.eu-central-1.amazonaws.com", "dynamodb.eu-central-1.amazonaws.com"),
        ("https://Example.com:443/", "example.com"),
        ("http://example.com:80", "example.com"),
        ("http://example.com:443", "example.com:443"),
        ("https://user:secret@example.com:8443", "example.com:8443"),
        ("http://[::1]:80", "[::1]"),
        ("http://[::1]:8000", "[::1]:8000"),
    ],
)
async def test_the_host_header_has_the_port_only_where_it_is_not_the_schemes_own(url: str, host: str) -> None:
    assert ConnectionPool(url, 1, Timeouts()).host_header == host
