"""Every test of this package runs on both clients of the store."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal

import pytest
import pytest_asyncio

from loaders.table.client import DynamoStore, StoreConnection, open_store
from tests.conftest import PATIENT
from tests.scripted import ScriptedStore, open_scripted

Client = Literal["raw", "sdk"]


@pytest.fixture(params=["raw", "sdk"])
def client(request: pytest.FixtureRequest) -> Client:
    """Which client is tested."""
    name: Client = request.param
    return name


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made between attempts, none of which takes any time here."""
    made: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        if seconds:
            made.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    return made


@pytest_asyncio.fixture
async def scripted() -> AsyncIterator[ScriptedStore]:
    """A store that answers what the test says."""
    async with open_scripted() as opened:
        yield opened


@pytest.fixture
def open_to(client: Client) -> Callable[..., AbstractAsyncContextManager[DynamoStore]]:
    """Opens a store at a URL."""

    def opened(url: str | None, **more: Any) -> AbstractAsyncContextManager[DynamoStore]:
        settings = {"local": True, "timeouts": PATIENT, **more}
        return open_store(StoreConnection("T", "eu-central-1", url, client=client, **settings))

    return opened


@pytest_asyncio.fixture
async def store(
    open_to: Callable[..., AbstractAsyncContextManager[DynamoStore]], scripted: ScriptedStore, pauses: list[float]
) -> AsyncIterator[DynamoStore]:
    """The client, on the scripted store."""
    assert pauses == []
    async with open_to(scripted.url) as opened:
        yield opened
