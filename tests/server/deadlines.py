"""Requests that reach their deadline while the store holds them, however slow the machine is."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from tests.api import Api
from tests.conftest import OpenApi
from tests.wire import Hold, Wire


async def held_until_its_deadline(
    open_api: OpenApi,
    wire: Wire,
    ask: Callable[[Api], Awaitable[httpx.Response]],
    operation: str | None = None,
    **settings: Any,
) -> httpx.Response:
    """Sends a request with longer and longer deadlines until it reaches the store before one of them."""
    for seconds in (0.5, 2, 8, 32, 128):
        wire.reset()
        wire.fault = hold = Hold(operation)
        async with open_api(**settings, request_seconds=seconds) as api:
            response = await ask(api)
            hold.release()
        assert response.status_code == 504
        if wire.of(operation) if operation else wire.calls:
            return response
    raise AssertionError("the request did not reach the store")
