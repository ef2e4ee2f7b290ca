import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio

from domain.errors import UnavailableError
from server.auth.jwks import JwksUrl
from tests.issuer import KeyServer, jwk, served_keys

REQUEST_SECONDS = 60
BOTH = {"keys": [jwk(), jwk(name="second")]}


class Time:
    def __init__(self) -> None:
        self.now = 1000.0
        self.timeouts: dict[asyncio.Timeout, float] = {}
        """The timeouts of the blocks that run, and when they are due."""

    def timer(self) -> float:
        return self.now

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[None]:
        async with asyncio.timeout(None) as timeout:
            self.timeouts[timeout] = self.now + seconds
            try:
                yield
            finally:
                del self.timeouts[timeout]

    def move(self, seconds: float) -> None:
        """Lets time pass; what is due ends."""
        self.now += seconds
        for timeout, due in self.timeouts.items():
            if due <= self.now:
                timeout.reschedule(0)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest_asyncio.fixture
async def server() -> AsyncIterator[KeyServer]:
    async with served_keys() as opened:
        yield opened


@pytest.fixture
def keys(server: KeyServer, time: Time) -> JwksUrl:
    return source(server, time)


def source(server: KeyServer, time: Time, request_seconds: float = REQUEST_SECONDS) -> JwksUrl:
    return JwksUrl(server.url, request_seconds, timer=time.timer, timeout=time.timeout)


async def result(keys: JwksUrl, key_id: str) -> str:
    """Whether a token by a key of that id is accepted, or how that fails."""
    try:
        return "good" if await keys.find(key_id) else "bad"
    except UnavailableError:
        return "unknown"


async def waiting(time: Time, keys: JwksUrl, *names: str) -> list[asyncio.Task[str]]:
    """Lookups of these ids, once each of them waits: it has a timeout for all, and one for its wait."""
    before = len(time.timeouts)
    tasks = [asyncio.create_task(result(keys, name)) for name in names]
    while len(time.timeouts) < before + 2 * len(names):  # noqa: ASYNC110  # the tasks have nothing else to tell
        await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)
    return tasks


async def fetched(server: KeyServer, count: int) -> None:
    while server.fetches < count:  # noqa: ASYNC110  # the server is in this process, and has no event
        await asyncio.sleep(0.001)


async def test_a_thousand_unknown_ids_cause_one_fetch_and_so_every_ten_seconds(
    server: KeyServer, time: Time, keys: JwksUrl
) -> None:
    unknown = [f"unknown-{number}" for number in range(1000)]
    assert await result(keys, "first") == "good"
    time.move(9.9)
    assert await result(keys, "first") == "good"
    assert set(await asyncio.gather(*(result(keys, name) for name in unknown))) == {"unknown"}
    assert await result(keys, "too-late") == "unknown"  # after a crowd, requests do not wait
    assert server.fetches == 1
    time.move(0.1)
    server.answers.clear()
    looking = [asyncio.create_task(result(keys, name)) for name in unknown]
    await fetched(server, 2)
    server.answers.set()
    assert set(await asyncio.gather(*looking)) == {"bad", "unknown"}
    assert set(await asyncio.gather(*(result(keys, name) for name in unknown))) == {"unknown"}
    assert server.fetches == 2


async def test_a_key_that_unknown_ids_delay_is_waited_for(server: KeyServer, time: Time, keys: JwksUrl) -> None:
    assert await result(keys, "made-up") == "bad"
    server.content = BOTH
    names = ["second", "another", *["made-up"] * 49, *["second"] * 49]
    looking = await waiting(time, keys, *names)
    assert server.fetches == 1
    time.move(10)
    assert await asyncio.gather(*looking) == ["good" if name == "second" else "bad" for name in names]
    assert server.fetches == 2


async def test_in_a_crowd_of_ids_a_key_not_fetched_yet_is_unknown(server: KeyServer, time: Time, keys: JwksUrl) -> None:
    assert await result(keys, "made-up") == "bad"
    server.content = BOTH
    time.move(0.5)
    crowd = await waiting(time, keys, *(f"made-up-{number}" for number in range(20)), *["made-up-0"] * 20)
    with pytest.raises(
        UnavailableError, match=r"^The token's key is not known yet: try again in a moment\.$"
    ) as raised:
        await keys.find("second")
    assert raised.value.retry_after_seconds == 10
    assert set(await asyncio.gather(*crowd)) == {"unknown"}
    assert server.fetches == 1
    time.move(raised.value.retry_after_seconds)
    assert [await result(keys, name) for name in ("second", "first")] == ["good", "good"]
    assert server.fetches == 2


async def test_after_a_crowd_keys_are_waited_for_as_before(server: KeyServer, time: Time, keys: JwksUrl) -> None:
    assert await result(keys, "first") == "good"
    crowd = [f"made-up-{number}" for number in range(20)]
    assert set(await asyncio.gather(*(result(keys, name) for name in (*crowd, "too-many")))) == {"unknown"}
    time.move(10)
    assert server.fetches == 1
    assert await result(keys, "made-up") == "bad"
    server.content = BOTH
    looking = await waiting(time, keys, *crowd[1:], "second")
    time.move(10)
    assert await asyncio.gather(*looking) == [*["bad"] * 19, "good"]
    assert server.fetches == 3


async def test_many_requests_by_one_new_key_are_no_crowd_and_beyond_a_thousand_only_newcomers_are_rejected(
    server: KeyServer, time: Time, keys: JwksUrl
) -> None:
    assert await result(keys, "made-up") == "bad"
    server.content = BOTH
    looking = await waiting(time, keys, *["second"] * 1000)
    assert await result(keys, "second") == "unknown"
    assert not any(task.done() for task in looking)
    leaving = looking.pop()
    leaving.cancel()  # one that stops waiting makes room for another
    await asyncio.wait([leaving])
    looking += await waiting(time, keys, "second")
    time.move(10)
    assert set(await asyncio.gather(*looking)) == {"good"}
    assert server.fetches == 2


async def test_a_request_without_time_to_wait_does_not_wait_and_the_last_of_a_flood_does_not_fetch_either(
    server: KeyServer, time: Time
) -> None:
    keys = source(server, time, request_seconds=10)
    await keys.find("first")
    time.move(0.9)
    with pytest.raises(UnavailableError) as raised:
        await keys.find("made-up")
    assert raised.value.retry_after_seconds == 10
    time.move(0.1)
    (patient,) = await waiting(time, keys, "second")
    patient.cancel()
    await asyncio.wait([patient])
    time.move(-0.1)
    for number in range(20):
        assert await result(keys, f"made-up-{number}") == "unknown"
    time.move(0.1)
    assert await result(keys, "made-up-20") == "unknown"
    assert server.fetches == 1


async def test_a_wait_leaves_time_for_a_fetch_that_takes_as_long_as_the_last_one(server: KeyServer, time: Time) -> None:
    keys = source(server, time, request_seconds=11)  # of which 9.9 s are for keys
    server.answers.clear()
    looking = asyncio.create_task(result(keys, "first"))
    await fetched(server, 1)
    time.move(1)
    server.answers.set()
    assert await looking == "good"
    assert await result(keys, "second") == "unknown"  # the next fetch starts in 9 s and takes 1 s
    time.move(0.2)
    (patient,) = await waiting(time, keys, "second")
    patient.cancel()


async def test_a_fetch_that_takes_too_long_serves_a_later_request(server: KeyServer, time: Time, keys: JwksUrl) -> None:
    server.answers.clear()
    looking = asyncio.create_task(keys.find("first"))
    await fetched(server, 1)
    time.move(0.9 * REQUEST_SECONDS)  # the rest of a request's time is for executing it
    with pytest.raises(UnavailableError) as raised:
        await looking
    assert raised.value.retry_after_seconds == 1
    server.answers.set()
    assert await result(keys, "first") == "good"
    assert server.fetches == 1


async def test_keys_are_refreshed_again_after_any_failure(server: KeyServer, caplog: pytest.LogCaptureFixture) -> None:
    server.status = 500
    keys = JwksUrl(server.url, REQUEST_SECONDS, refetch_seconds=0.01)
    async with keys.refreshing():
        await fetched(server, 3)
        assert "cannot be used, the last keys stay in use" in caplog.text
        server.status = 200
        while keys.cached("first") is None:  # noqa: ASYNC110  # there is no event for it
            await asyncio.sleep(0.001)


async def test_a_key_published_during_a_fetch_is_still_found(server: KeyServer, keys: JwksUrl) -> None:
    server.answers.clear()
    async with keys.refreshing():
        looking = asyncio.create_task(keys.find("second"))
        await fetched(server, 1)  # whose response is made by now
        server.content = BOTH
        server.answers.set()
        assert await looking is not None
    assert server.fetches == 2


async def test_keys_are_fetched_at_the_start_and_no_task_is_left_behind(server: KeyServer, keys: JwksUrl) -> None:
    before = asyncio.all_tasks()
    async with keys.refreshing():
        await fetched(server, 1)  # without a request for a key
        assert await keys.find("first") is not None
    assert server.fetches == 1
    assert [task for task in asyncio.all_tasks() - before if "RequestHandler" not in repr(task)] == []  # the server's


@pytest.mark.parametrize(
    ("status", "content"),
    [(500, {"keys": []}), (302, {"keys": []}), (204, {}), (200, {}), (200, {"keys": ["x" * 300_000]})],
)
async def test_while_the_url_gives_no_keys_the_last_ones_stay_in_use_and_others_are_unknown(
    server: KeyServer, time: Time, keys: JwksUrl, status: int, content: Any, caplog: pytest.LogCaptureFixture
) -> None:
    await keys.find("first")
    server.status, server.content = status, content
    time.move(10)
    for _ in range(3):
        with pytest.raises(UnavailableError, match="keys cannot be fetched"):
            await keys.find("second")
        assert await keys.find("first") is not None
    assert server.fetches == 2  # a redirect is not followed
    assert server.url in caplog.text
    server.status, server.content = 200, {"keys": [jwk(name="second")]}
    time.move(10)
    assert await keys.find("second") is not None
    time.move(10)
    assert await keys.find("first") is None  # it was removed


async def test_a_url_that_does_not_answer_is_a_temporary_error(time: Time) -> None:
    async with served_keys() as server:
        keys = source(server, time)
    with pytest.raises(UnavailableError):
        await keys.find("first")


async def test_a_client_that_disconnects_does_not_end_the_fetch_for_others(server: KeyServer, keys: JwksUrl) -> None:
    server.answers.clear()
    hasty, patient = asyncio.create_task(keys.find("first")), asyncio.create_task(keys.find("first"))
    await fetched(server, 1)
    hasty.cancel()
    server.answers.set()
    assert await patient is not None
    assert server.fetches == 1
