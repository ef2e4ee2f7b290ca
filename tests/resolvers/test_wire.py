"""What each request may send to the store, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

OWNER_LOCKERS = 'query ($first: Int) { owner(ownerId: "acme") { lockers(first: $first) { nodes { %s } } } }'


@pytest_asyncio.fixture
async def hundred(api: Api, wire: Wire) -> Api:
    """An owner with 100 lockers, each reserved now and opened once."""
    await api.owner("acme")
    for number in range(100):
        await api.locker(f"l{number:03d}", "acme", alias=f"Locker {number}")
    wire.reset()
    return api


async def test_a_locker_by_id_is_one_get(hundred: Api, wire: Wire) -> None:
    data = await hundred.run('{ locker(lockerId: "l001") { lockerId alias status version ownerId createdAt } }')
    assert data["locker"]["alias"] == "Locker 1"
    assert wire.operations == {"GetItem": 1}
    assert wire.calls[0].keys == [("LOCKER#l001", "META")]
    assert wire.calls[0].request["ConsistentRead"] is False
