"""When API keys are used: stored to the hour, in the background, and nothing else changes by it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from domain.api_keys import ApiKey, ApiKeyId, ApiKeyRole
from domain.authorization import DEVELOPMENT_ADMIN
from domain.commands.api_keys import CreateApiKey
from domain.errors import InternalError
from domain.models import LockerId
from loaders.backend import Backend
from loaders.contracts.api_keys import API_KEY_BY_ID
from loaders.writes.api_keys import create_api_key
from server.auth.key_uses import KeyUses
from tests.api import mutation
from tests.conftest import Clock, Dump, OpenApi
from tests.issuer import bearer
from tests.over_http import post
from tests.wire import Answer, Call, Wire

CREATE = mutation("createApiKey", "apiKey { keyId } secret")
VIEWER = "{ viewer { subject } }"


async def new_key(backend: Backend, key_id: str = "k1") -> ApiKey:
    command = CreateApiKey(key_id=ApiKeyId(key_id), name="Door", role=ApiKeyRole.DEVICE, locker_id=LockerId("l1"))
    return (await create_api_key(backend, command, DEVELOPMENT_ADMIN)).record


def process(backend: Any, clock: Clock, may_write: Callable[[], bool] = lambda: True) -> KeyUses:
    return KeyUses(lambda: backend.store, clock, may_write)


async def stored(backend: Backend, key_id: str = "k1") -> str | None:
    found = await API_KEY_BY_ID.read(backend.store, ApiKeyId(key_id), consistent=True)
    assert found is not None
    return found.last_used_at


async def test_the_hour_is_stored_once_and_changes_nothing_else(
    backend: Backend, clock: Clock, wire: Wire, dump: Dump
) -> None:
    key, uses = await new_key(backend), process(backend, clock)
    before = await dump()
    wire.reset()
    clock.move(minutes=59)
    for _ in range(3):
        uses.note(key)
    assert not wire.calls
    await uses.store_due()
    uses.note(key)  # as it was read before
    await uses.store_due()
    assert wire.operations == {"UpdateItem": 1}
    ((place, item),) = [entry for entry in (await dump()).items() if entry not in before.items()]
    assert item == before[place] | {"lastUsedAt": "2026-03-01T12:00:00.000Z"}


async def test_of_several_processes_none_stores_an_earlier_hour(backend: Backend, clock: Clock, wire: Wire) -> None:
    key, slow, quick = await new_key(backend), process(backend, clock), process(backend, clock)
    slow.note(key)
    clock.move(hours=1)
    quick.note(key)
    await quick.store_due()
    await slow.store_due()
    assert await stored(backend) == "2026-03-01T13:00:00.000Z"
    read = await API_KEY_BY_ID.read(backend.store, key.key_id, consistent=True)
    assert read is not None
    third = process(backend, clock)
    third.note(read)  # its record says so already
    wire.reset()
    for uses in (slow, quick, third):
        await uses.store_due()
    assert not wire.calls


async def test_what_fails_is_stored_later_and_keeps_no_other_key_from_it(
    backend: Backend, clock: Clock, wire: Wire
) -> None:
    uses = process(backend, clock)
    for name in ("k1", "k2"):
        uses.note(await new_key(backend, name))

    def answer(call: Call) -> Answer | None:
        fails = call.operation == "UpdateItem" and "k1" in str(call.request["Key"])
        return Answer.error("ValidationException") if fails else None

    wire.fault = answer
    for _ in range(2):
        with pytest.raises(InternalError):
            await uses.store_due()
    assert [await stored(backend, name) for name in ("k1", "k2")] == [None, "2026-03-01T12:00:00.000Z"]
    wire.fault = lambda _: None
    await uses.store_due()
    assert await stored(backend) == "2026-03-01T12:00:00.000Z"


async def test_a_table_that_is_read_only_is_left_as_it_is(backend: Backend, clock: Clock, wire: Wire) -> None:
    is_open = False
    uses = process(backend, clock, lambda: is_open)
    uses.note(await new_key(backend))
    wire.reset()
    await uses.store_due()
    assert not wire.calls
    is_open = True
    await uses.store_due()
    assert wire.operations == {"UpdateItem": 1}


async def test_a_key_that_is_gone_is_not_created_and_the_number_of_keys_is_bounded(
    backend: Any, clock: Clock, wire: Wire, dump: Dump
) -> None:
    key = await new_key(backend)
    uses = KeyUses(lambda: backend.store, clock, lambda: True, most_keys=2)
    before = await dump()
    for number in range(5):
        uses.note(replace(key, key_id=ApiKeyId(f"gone-{number}")))
    wire.reset()
    await uses.store_due()
    assert wire.operations == {"UpdateItem": 2}
    assert await dump() == before


async def test_no_request_waits_for_it_and_a_server_that_stops_stores_it(
    open_api: OpenApi, wire: Wire, backend: Backend, dump: Dump
) -> None:
    async with open_api(authenticator=None) as api:
        secret = (await api.done(CREATE, keyId="k1", name="x", role="DEVICE", lockerId="l1"))["secret"]
        wire.reset()
        for _ in range(3):
            assert (await post(api, VIEWER, headers=bearer(secret))).status_code == 200
        assert [(call.operation, call.keys) for call in wire.calls] == [("GetItem", [("APIKEY#k1", "META")])]
        wire.reset()
    assert wire.operations == {"UpdateItem": 1}
    assert await stored(backend) == "2026-03-01T12:00:00.000Z"
    items = await dump()
    wire.reset()
    async with open_api(authenticator=None) as api:
        assert (await post(api, VIEWER, headers=bearer(secret))).status_code == 200
        shown = await api.run('{ apiKey(keyId: "k1") { lastUsedAt version updatedAt createdAt } }')
    times = {"updatedAt": "2026-03-01T12:00:00.000Z", "createdAt": "2026-03-01T12:00:00.000Z"}
    assert shown["apiKey"] == {"lastUsedAt": "2026-03-01T12:00:00.000Z", "version": 1, **times}
    assert wire.operations == {"GetItem": 2}
    assert await dump() == items


async def test_a_read_only_server_stores_nothing_when_it_stops(open_api: OpenApi, wire: Wire) -> None:
    async with open_api(authenticator=None) as api:
        secret = (await api.done(CREATE, keyId="k1", name="x", role="DEVICE", lockerId="l1"))["secret"]
    wire.reset()
    async with open_api(authenticator=None, read_only="on") as api:
        assert (await post(api, VIEWER, headers=bearer(secret))).status_code == 200
    assert wire.operations == {"GetItem": 1}
