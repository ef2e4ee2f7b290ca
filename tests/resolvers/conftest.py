"""Fixtures of the suites of permissions."""

import pytest_asyncio

from tests.api import Api
from tests.conftest import Prepared
from tests.wire import Wire


async def share(api: Api) -> None:
    """Ada and Bob, an organization, and a locker of each; Ada's is reserved and was opened."""
    for name in ("ada", "bob"):
        await api.owner(name, email=f"{name}@example.com")
    await api.owner("org", kind="ORGANIZATION")
    await api.locker("l1", "ada", alias="A1")
    await api.locker("l2", "bob")
    await api.locker("l3", "org")
    await api.reservation("r1", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await api.event("l1", eventId="e1")


@pytest_asyncio.fixture
async def shared(api: Api, shared_wire: Wire, prepared: Prepared) -> Api:
    await prepared(share, api)
    shared_wire.reset()
    return api
