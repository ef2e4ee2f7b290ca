"""A client that sends nothing to a real server; the tests of the protocol have every kind of slow client."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import httpx

from tests.e2e.serving import serving

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_connection_without_a_request_is_closed_while_others_are_served(
    tmp_path: Path, store_url: str, table: str
) -> None:
    settings = {"SMARTLOCKER_ENDPOINT_URL": store_url, "SMARTLOCKER_TABLE_NAME": table}
    running = serving(tmp_path / "run", **settings)
    server = await asyncio.to_thread(running.__enter__)
    try:
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(server.url).port)
        closed = asyncio.create_task(reader.read())
        async with httpx.AsyncClient(timeout=60) as client:
            answer = await client.post(server.url, json={"query": "{ __typename }"})
            assert answer.json() == {"data": {"__typename": "Query"}}
        async with asyncio.timeout(60):
            assert await closed == b""
        assert time.monotonic() - began > 4  # it had its time
        writer.close()
        assert "Traceback" not in server.stderr
    finally:
        await asyncio.to_thread(running.__exit__, None, None, None)
