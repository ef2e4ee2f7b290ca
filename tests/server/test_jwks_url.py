"""Keys at a URL: how they are known anew without asking too often, and who waits for them."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.errors import UnavailableError
from server import jwks
from server.jwks import JwksUrl
from tests.issuer import jwk, served_keys

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.issuer import KeyServer

REQUEST_SECONDS = 60


class Timer:
    """A timer that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest_asyncio.fixture
async def server() -> AsyncIterator[KeyServer]:
    async with served_keys() as opened:
        yield opened


def looks_for(keys: JwksUrl, *names: str) -> list[asyncio.Task[str]]:
    return [asyncio.create_task(answer(keys, name)) for name in names]


async def answer(keys: JwksUrl, key_id: str) -> str:
    """What comes of a token by a key of that id."""
    try:
        return "good" if await keys.find(key_id) else "bad"
    except UnavailableError:
        return "unknown"


async def test_a_thousand_unknown_ids_cause_one_fetch_and_so_every_ten_seconds(server: KeyServer) -> None:
    timer = Timer()
    keys = JwksUrl(server.url, REQUEST_SECONDS, timer)
    strangers = [f"unknown-{number}" for number in range(1000)]
    assert await answer(keys, "first") == "good"
    timer.now += 9.9
    assert await answer(keys, "first") == "good"
    assert set(await asyncio.gather(*(answer(keys, name) for name in strangers))) == {"unknown"}
    assert await answer(keys, "too-late") == "unknown"  # who comes after a crowd does not wait either
    assert server.fetches == 1
    timer.now += 0.1
    server.seconds = 0.05
    for expected in (["bad", "unknown"], ["unknown"]):
        answers = await asyncio.gather(*(answer(keys, name) for name in strangers))
        assert sorted(set(answers)) == expected
    assert server.fetches == 2


async def test_a_key_that_strangers_keep_from_being_fetched_is_waited_for(
    server: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jwks, "_REFETCH_SECONDS", 0.3)
    keys = JwksUrl(server.url, REQUEST_SECONDS)
    assert await answer(keys, "made-up") == "bad"
    server.content = {"keys": [jwk(), jwk(name="second")]}
    names = ["second", "another", *["made-up"] * 49, *["second"] * 49]
    looking = [asyncio.create_task(answer(keys, name)) for name in names]
    await asyncio.sleep(0.1)
    assert server.fetches == 1
    assert not any(task.done() for task in looking)
    expected = ["good" if name == "second" else "bad" for name in names]
    assert await asyncio.gather(*looking) == expected
    assert server.fetches == 2


async def test_in_a_crowd_of_ids_a_key_that_is_not_fetched_yet_is_unknown_and_never_bad(server: KeyServer) -> None:
    timer = Timer()
    keys = JwksUrl(server.url, REQUEST_SECONDS, timer)
    assert await answer(keys, "made-up") == "bad"
    server.content = {"keys": [jwk(), jwk(name="second")]}
    timer.now += 0.5
    crowd = looks_for(keys, *(f"made-up-{number}" for number in range(20)), *["made-up-0"] * 20)
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in crowd)
    with pytest.raises(
        UnavailableError, match=r"^The token's key is not known yet: try again in a moment\.$"
    ) as raised:
        await keys.find("second")
    assert raised.value.retry_after_seconds == 10
    assert set(await asyncio.gather(*crowd)) == {"unknown"}
    assert server.fetches == 1
    timer.now += raised.value.retry_after_seconds
    assert [await answer(keys, name) for name in ("second", "first")] == ["good", "good"]
    assert server.fetches == 2


async def test_after_a_crowd_keys_are_waited_for_as_before(server: KeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwks, "_REFETCH_SECONDS", 0.2)
    keys = JwksUrl(server.url, REQUEST_SECONDS)
    assert await answer(keys, "first") == "good"
    strangers = [f"made-up-{number}" for number in range(20)]
    assert set(await asyncio.gather(*looks_for(keys, *strangers, "too-many"))) == {"unknown"}
    await asyncio.sleep(0.2)
    assert server.fetches == 1
    assert await answer(keys, "made-up") == "bad"
    server.content = {"keys": [jwk(), jwk(name="second")]}
    answers = await asyncio.gather(*looks_for(keys, *strangers[1:], "second"))
    assert answers == [*["bad"] * 19, "good"]
    assert server.fetches == 3


async def test_many_requests_by_one_new_key_are_no_crowd_and_beyond_a_thousand_only_newcomers_go(
    server: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jwks, "_REFETCH_SECONDS", 0.5)
    keys = JwksUrl(server.url, REQUEST_SECONDS)
    assert await answer(keys, "made-up") == "bad"
    server.content = {"keys": [jwk(), jwk(name="second")]}
    waiting = looks_for(keys, *["second"] * 1000)
    await asyncio.sleep(0.01)
    assert await answer(keys, "second") == "unknown"
    assert not any(task.done() for task in waiting)
    assert set(await asyncio.gather(*waiting)) == {"good"}
    assert server.fetches == 2


async def test_whoever_stops_waiting_for_a_key_makes_place(server: KeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwks, "_MOST_WAITING", 10)
    keys = JwksUrl(server.url, REQUEST_SECONDS, Timer())
    await keys.find("first")
    for _ in range(3):
        waiting = looks_for(keys, *["made-up"] * 10)
        await asyncio.sleep(0.01)
        assert not any(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)


async def test_nobody_waits_who_has_no_time_for_it_and_the_last_of_a_flood_does_not_fetch_either(
    server: KeyServer,
) -> None:
    timer = Timer()
    keys = JwksUrl(server.url, 10, timer)
    await keys.find("first")
    timer.now += 0.9
    with pytest.raises(UnavailableError) as raised:
        await keys.find("made-up")
    assert raised.value.retry_after_seconds == 10
    timer.now += 0.1
    (patient,) = looks_for(keys, "second")
    await asyncio.sleep(0.01)
    assert not patient.done()
    patient.cancel()
    timer.now -= 0.1
    for number in range(20):
        assert await answer(keys, f"made-up-{number}") == "unknown"
    timer.now += 0.1
    (late,) = looks_for(keys, "made-up-20")
    await asyncio.sleep(0.01)
    assert late.done()
    assert await late == "unknown"
    assert server.fetches == 1


async def test_a_fetch_that_takes_as_long_as_the_last_one_must_end_in_time_too(server: KeyServer) -> None:
    server.seconds = 0.2
    keys = JwksUrl(server.url, 11.2)
    began = time.monotonic()
    assert await asyncio.gather(*looks_for(keys, "first", "second")) == ["good", "unknown"]
    assert time.monotonic() - began < 5


async def test_a_fetch_that_takes_too_long_is_not_waited_for_and_tells_the_next_one(server: KeyServer) -> None:
    server.seconds = 0.5
    keys = JwksUrl(server.url, 0.3)
    with pytest.raises(UnavailableError) as raised:
        await keys.find("first")
    assert raised.value.retry_after_seconds == 1
    await asyncio.sleep(0.5)
    assert await answer(keys, "first") == "good"
    assert server.fetches == 1


async def test_an_odd_entry_at_a_url_costs_no_other_key(server: KeyServer) -> None:
    server.content = {"keys": [jwk(name="odd") | {"key_ops": None}, 5, jwk()]}
    assert await answer(JwksUrl(server.url, REQUEST_SECONDS, Timer()), "first") == "good"


async def test_keys_are_fetched_for_ever_whatever_goes_wrong_once(
    server: KeyServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(jwks, "_REFETCH_SECONDS", 0.01)
    with monkeypatch.context() as patch:
        patch.setattr(jwks, "parse_keys", {}.pop)
        keys = JwksUrl(server.url, REQUEST_SECONDS)
        assert await answer(keys, "first") == "unknown"
        async with keys.kept_fresh():
            while "KeyError" not in caplog.text or server.fetches < 3:  # noqa: ASYNC110  # nobody else tells
                await asyncio.sleep(0.001)
            patch.undo()
            while await answer(keys, "first") != "good":  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.001)


async def test_a_new_key_is_found_by_the_fetch_that_its_first_token_causes(server: KeyServer) -> None:
    timer = Timer()
    keys = JwksUrl(server.url, REQUEST_SECONDS, timer)
    await keys.find("first")
    timer.now += 10
    server.content = {"keys": [jwk(), jwk(name="second")]}
    both = await asyncio.gather(*(keys.find("second") for _ in range(50)), *(keys.find("first") for _ in range(50)))
    assert None not in both
    assert server.fetches == 2


async def test_a_key_published_while_a_fetch_is_under_way_is_still_found(server: KeyServer) -> None:
    keys = JwksUrl(server.url, REQUEST_SECONDS, Timer())
    async with keys.kept_fresh():
        server.seconds = 0.05
        looking = asyncio.create_task(keys.find("second"))
        while not server.fetches:  # noqa: ASYNC110  # its answer is made by now
            await asyncio.sleep(0.001)
        server.content = {"keys": [jwk(), jwk(name="second")]}
        assert await looking is not None
    assert server.fetches == 2


async def test_keys_are_fetched_at_the_start_and_no_task_is_left_behind(server: KeyServer) -> None:
    keys = JwksUrl(server.url, REQUEST_SECONDS, Timer())
    before = asyncio.all_tasks()
    async with keys.kept_fresh():
        while not server.fetches:  # noqa: ASYNC110  # nobody asked for a key yet
            await asyncio.sleep(0.001)
        assert await keys.find("first") is not None
    assert server.fetches == 1
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize(
    ("status", "content"),
    [(500, {"keys": []}), (302, {"keys": []}), (204, {}), (200, {}), (200, {"keys": ["x" * 300_000]})],
)
async def test_while_the_url_gives_no_keys_the_old_ones_hold_and_of_others_nobody_can_tell(
    server: KeyServer, status: int, content: Any, caplog: pytest.LogCaptureFixture
) -> None:
    timer = Timer()
    keys = JwksUrl(server.url, REQUEST_SECONDS, timer)
    await keys.find("first")
    server.status, server.content = status, content
    timer.now += 10
    for _ in range(3):
        with pytest.raises(UnavailableError, match="keys cannot be fetched"):
            await keys.find("second")
        assert await keys.find("first") is not None
    assert server.fetches == 2  # a redirect is not followed
    assert server.url in caplog.text
    server.status, server.content = 200, {"keys": [jwk(name="second")]}
    timer.now += 10
    assert await keys.find("second") is not None
    timer.now += 10
    assert await keys.find("first") is None  # it was dropped


async def test_a_url_that_nobody_answers_is_a_passing_trouble() -> None:
    async with served_keys() as server:
        keys = JwksUrl(server.url, REQUEST_SECONDS, Timer())
    with pytest.raises(UnavailableError):
        await keys.find("first")


async def test_a_client_that_goes_away_does_not_end_the_fetch_for_the_others(server: KeyServer) -> None:
    server.seconds = 0.05
    keys = JwksUrl(server.url, REQUEST_SECONDS, Timer())
    hasty, patient = asyncio.create_task(keys.find("first")), asyncio.create_task(keys.find("first"))
    await asyncio.sleep(0.01)
    hasty.cancel()
    assert await patient is not None
    assert server.fetches == 1
