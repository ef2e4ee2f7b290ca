"""What clients entrust to a server is not in its log: a canary is sent by every way in and looked for."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from typing import TYPE_CHECKING, Any

import httpx

from tests.api import CREATE_OWNER, RECORD_EVENT
from tests.e2e.serving import serving
from tests.wire import Answer, Wait

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.serving import Server
    from tests.wire import Call, Wire

CANARY = "c4n4ry-7f3a9"
CURSOR = base64.urlsafe_b64encode(json.dumps({"PK": CANARY, "SK": CANARY}).encode()).decode().rstrip("=")
HEADERS = {"Authorization": f"Bearer {CANARY}", "X-API-Key": CANARY, "Cookie": CANARY, "X-Custom": CANARY}
LOCKERS = 'query ($after: String) { owner(ownerId: "ada") { lockers(after: $after) { nextCursor } } }'
BY_EMAIL = "query ($email: String!) { ownerByEmail(email: $email) { name } }"


def requests() -> list[dict[str, Any]]:
    """Successes and every kind of failure, each with canaries in its variables or in the document itself."""
    owner = {"ownerId": "ada", "kind": "USER", "name": CANARY, "email": f"{CANARY}@example.com"}
    event = {"lockerId": "l1", "action": "OPEN", "actorId": "a", "result": "SUCCESS", "metadata": {CANARY: CANARY}}
    return [
        {"query": CREATE_OWNER, "variables": {"input": owner}},
        {"query": CREATE_OWNER, "variables": {"input": owner | {"name": f"{CANARY}!"}}},
        {"query": CREATE_OWNER, "variables": {"input": owner | {"kind": CANARY}}},
        {"query": CREATE_OWNER, "variables": {"input": owner | {CANARY: CANARY}}},
        {"query": RECORD_EVENT, "variables": {"input": event}},
        {"query": BY_EMAIL, "variables": {"email": f"{CANARY}@example.com"}},
        {"query": LOCKERS, "variables": {"after": CURSOR}},
        {"query": LOCKERS, "variables": {"after": CANARY}},
        {"query": '{ owner(ownerId: "damaged") { kind } }', "variables": {"unused": CANARY}},
        {"query": f'{{ owner(ownerId: "{CANARY}") {{ name }} }}'},
        {"query": f"{{ {CANARY.replace('-', '_')} }}"},
        {"query": f'{{ "{CANARY}'},
        {"query": "{ __typename }", "operationName": CANARY},
        {"documentId": CANARY},
        {"query": "{ __typename }", "extensions": {"persistedQuery": {"version": 1, "sha256Hash": CANARY}}},
        {"query": "{ __typename }", "variables": CANARY},
    ]


async def send_everything(server: Server) -> set[int]:
    statuses = set()
    async with httpx.AsyncClient(headers=HEADERS, timeout=20) as client:
        for content in requests():
            for accept in ("application/json", "application/graphql-response+json"):
                response = await client.post(server.url, json=content, headers={"Accept": accept})
                statuses.add(response.status_code)
            text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in content.items()}
            statuses.add((await client.get(server.url, params=text)).status_code)
        await client.post(server.url, content=f'{{"query": {CANARY}', headers={"Content-Type": "application/json"})
        await client.post(server.url, content=CANARY, headers={"Content-Type": f"text/{CANARY}"})
        await client.post(server.url, json={"query": "{ __typename }"}, headers={"Origin": f"https://{CANARY}.example"})
        await client.post(server.url, json={"query": "{ __typename }"}, headers={"Host": f"{CANARY}.example"})
        await client.get(f"{server.url}/{CANARY}", params={CANARY: CANARY})
        await client.put(server.url, content=CANARY)
    with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port or 0), 5) as raw:
        raw.sendall(f"{CANARY} {CANARY}\r\n\r\n".encode())
        raw.recv(1024)
    return statuses


async def test_no_token_cursor_or_value_of_a_client_is_in_the_log_whatever_happens(
    tmp_path: Path, wire: Wire, table: str, plain_client: Any
) -> None:
    settings = {
        "SMARTLOCKER_ENDPOINT_URL": wire.url,
        "SMARTLOCKER_TABLE_NAME": table,
        "SMARTLOCKER_LOG_LEVEL": "debug",
        "SMARTLOCKER_REQUEST_SECONDS": "2",
    }
    damaged = {"PK": {"S": "OWNER#damaged"}, "SK": {"S": "META"}, "ownerId": {"S": "damaged"}, "kind": {"S": CANARY}}
    await plain_client.put_item(TableName=table, Item=damaged)
    server = serving(tmp_path / "run", **settings)
    running = await asyncio.to_thread(server.__enter__)
    try:
        # well, then a store that refuses, fails, and does not answer
        assert {200, 400, 404} <= await send_everything(running)
        wire.fault = lambda _: Answer.error("ValidationException", Detail=CANARY)
        await send_everything(running)
        wire.fault = lambda _: Answer(500, {"message": CANARY})
        await send_everything(running)

        def stall(call: Call) -> Wait | None:
            return Wait(4) if CANARY in json.dumps(call.request) else None

        wire.fault = stall
        assert 504 in await send_everything(running)
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)
    log = running.stdout + running.stderr
    assert "failed at ['owner']" in log  # what goes wrong is logged
    assert CANARY not in log
    assert CANARY.replace("-", "_") not in log
    assert CURSOR not in log
