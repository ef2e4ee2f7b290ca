import asyncio
import base64
import json
import re
import socket
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt

from domain.api_keys import KEY_PREFIX
from domain.authorization import Principal, Role
from domain.models import LockerId, OwnerId
from loaders import keys
from loaders.backend import Backend
from loaders.table.values import Item, item_to_wire
from server.auth.development import development_token
from tests import codes, places
from tests.api import CREATE_OWNER, CREATE_RESERVATION, RECORD_EVENT, RENAME, Api, mutation
from tests.conftest import Dump
from tests.e2e.serving import Server, running
from tests.history import keep_history
from tests.principals import owner
from tests.reservations import RELEASE
from tests.wire import Answer, Call, Until, Wire

CANARY = "c4n4ry-7f3a9"
CURSOR = base64.urlsafe_b64encode(json.dumps({"PK": CANARY, "SK": CANARY}).encode()).decode().rstrip("=")
NAME = CANARY.replace("-", "_")
# The log names callers and the ids that they give their requests.
ADMIN = Principal(subject="an admin", role=Role.ADMIN)
SPAN = f"00-{'a' * 32}-{'b' * 16}-01"
EVERYWHERE = {
    **dict.fromkeys(("X-API-Key", "Cookie", "X-Custom", "User-Agent", "Referer", "X-Forwarded-For"), CANARY),
    "X-Request-Id": f"{CANARY} is no plain id",
    **dict.fromkeys(("X-Forwarded-Proto", "If-None-Match", "Accept-Language"), CANARY),
    "traceparent": SPAN,
    "tracestate": f"canary={CANARY}",
    "baggage": f"canary={CANARY}",
}
LOCKERS = 'query ($after: String) { owner(ownerId: "ada") { lockers(after: $after) { nextCursor } } }'
CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
VERSIONS = '{ owner(ownerId: "ada") { lockers { nodes { version } } } }'
ACTIVE = "query ($id: ID!) { locker(lockerId: $id) { activeReservation { status } } }"
OWNER = "query ($id: ID!) { owner(ownerId: $id) { kind } }"
BY_EMAIL = "query ($email: String!) { ownerByEmail(email: $email) { name } }"


def requests() -> list[dict[str, Any]]:
    """Successes and every kind of failure, each with canaries in its variables or in the document itself."""
    owner = {"ownerId": "ada", "kind": "USER", "name": CANARY, "email": f"{CANARY}@example.com"}
    window = {"startAt": "2999-01-01T00:00:00Z", "endAt": "2999-01-02T00:00:00Z"}
    recipient = {"name": CANARY, "email": f"{CANARY}@example.com"}
    reservation = {"lockerId": "l1", "ownerId": "ada", "reference": CANARY, "recipient": recipient, **window}
    reservation |= {"metadata": {CANARY: CANARY}}
    event = {"lockerId": "l1", "action": "OPEN", "actorId": "a", "result": "SUCCESS", "metadata": {CANARY: CANARY}}
    return [
        {"query": CREATE_OWNER, "variables": {"input": owner}},
        {"query": CREATE_OWNER, "variables": {"input": owner | {"name": f"{CANARY}!"}}},
        {"query": CREATE_OWNER, "variables": {"input": owner | {"kind": CANARY}}},
        {"query": CREATE_OWNER, "variables": {"input": owner | {CANARY: CANARY}}},
        {"query": RECORD_EVENT, "variables": {"input": event}},
        {"query": CREATE_RESERVATION, "variables": {"input": reservation}},
        {"query": CREATE_RESERVATION, "variables": {"input": reservation | {"recipient": {"name": CANARY}}}},
        {"query": BY_EMAIL, "variables": {"email": f"{CANARY}@example.com"}},
        {"query": LOCKERS, "variables": {"after": CURSOR}},
        {"query": LOCKERS, "variables": {"after": CANARY}},
        {"query": OWNER, "variables": {"id": CANARY}},
        {"query": ACTIVE, "variables": {"id": CANARY}},
        {"query": VERSIONS, "variables": {"unused": CANARY}},
        {"query": f'{{ owner(ownerId: "{CANARY}-nobody") {{ name }} }}'},
        {"query": f"{{ {NAME} }}"},
        {"query": f'{{ "{CANARY}'},
        {"query": "{ __typename }", "operationName": CANARY},
        {"documentId": CANARY},
        {"query": "{ __typename }", "extensions": {"persistedQuery": {"version": 1, "sha256Hash": CANARY}}},
        {"query": "{ __typename }", "variables": CANARY},
    ]


GONE = LockerId(f"{CANARY}-gone")


def damaged_items() -> list[Item]:
    """An owner that is no owner, and a copy without its locker."""
    owner, copy = keys.owner(OwnerId(CANARY)), keys.owner_locker(OwnerId("ada"), GONE)
    locker: Item = {"ownerId": "ada", "lockerId": GONE, "status": "AVAILABLE", "updatedAt": "2026-01-01T12:00:00.000Z"}
    locker = {**locker, "reservableBy": "MEMBERS", "size": "M", "features": []}
    return [
        {"PK": owner.pk, "SK": owner.sk, "entityType": "OWNER", "ownerId": CANARY, "kind": CANARY},
        {"PK": copy.pk, "SK": copy.sk, "entityType": "OWNER_LOCKER", **locker},
    ]


def signed(key: str = CANARY * 4, head: dict[str, Any] | None = None, **claims: Any) -> str:
    return jwt.encode({"sub": CANARY, "role": "admin", **claims}, key, "HS256", headers=head)


def bad_credentials() -> list[bytes]:
    """Credentials that are refused with 401: wrong tokens, and what is no token at all."""
    head, _, tail = signed().partition(".")
    values = [
        f"Bearer {CANARY}",
        f"Bearer {signed()}",
        f"Bearer {signed(iss=CANARY, aud=CANARY, exp=1)}",
        f"Bearer {signed(head={'kid': CANARY, 'crit': [CANARY], 'jku': f'https://{CANARY}.example'})}",
        f"Bearer {jwt.encode({'sub': CANARY}, '', 'none')}",
        f"Bearer {CANARY}.{tail}",
        f"Bearer {head}.{CANARY}.{CANARY}",
        f"Bearer {head}.{tail}.{CANARY}",
        f"Bearer {KEY_PREFIX}{CANARY}",
        f"Bearer {KEY_PREFIX}{'0' * 26}_{CANARY}",
        f"Bearer {CANARY} {CANARY}",
        f"Basic {CANARY}",
        CANARY,
        f"Bearer {CANARY}\xff",
    ]
    return [value.encode("latin-1") for value in values]


def bad_headers() -> list[dict[str, str]]:
    """Headers that are refused or ignored before the document is read."""
    values = {
        "Origin": [f"https://{CANARY}@a.example", CANARY, f"http://[{CANARY}", "http://%zz" + CANARY],
        "Host": [f"{CANARY}.example", f"{CANARY}:{CANARY}", f"[{CANARY}", f"localhost@{CANARY}"],
        "traceparent": [CANARY, f"00-{CANARY}-{CANARY}-01", f"{SPAN}-{CANARY}", f"{SPAN}-{CANARY * 50}"],
        "tracestate": [f"{CANARY}!!", f"{CANARY}=", f"a={CANARY}=", f"a={CANARY},a={CANARY}", f"a={CANARY}," * 40],
        "baggage": [f"{CANARY}!!", f"{CANARY}=%zz", f"={CANARY}", f"a={CANARY};{CANARY}", f"a={CANARY}," * 200],
        "SmartLocker-Explain": [CANARY],
        "SmartLocker-Cost": [CANARY],
        "Accept": [CANARY, f"{CANARY}/{CANARY};q={CANARY}"],
        "Accept-Encoding": [CANARY, f"gzip;q={CANARY}"],
        "Content-Type": [f"text/{CANARY}", f"application/json; charset={CANARY}"],
        "Content-Encoding": [CANARY],
    }
    return [{name: value} for name, several in values.items() for value in several]


RAW = [
    f"{CANARY} {CANARY}\r\n\r\n",
    f"GET /graphql HTTP/1.1\r\nHost: localhost\r\n{CANARY}\r\n\r\n",
    f"GET /graphql?{CANARY} HTTP/{CANARY}\r\n\r\n",
    f"GET /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: {CANARY}\r\n {CANARY}\x00\r\n\r\n",
    f"GET /graphql HTTP/1.1\r\nHost: localhost\r\nX: {CANARY * 2000}\r\n\r\n",
    f"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: {CANARY}\r\n\r\n",
    f"POST /graphql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{CANARY}\r\n",
    f"GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: {CANARY}\r\nConnection: Upgrade\r\n\r\n",
]


async def send_requests(server: Server, token: str) -> Counter[int]:
    """Every request by every way in, by an admin; the statuses of the answers' errors."""
    statuses: Counter[int] = Counter()
    headers = EVERYWHERE | {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=120) as client:

        async def send(content: dict[str, Any]) -> None:
            text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in content.items()}
            for response in await asyncio.gather(
                client.post(server.url, json=content, headers={"Accept": "application/json"}),
                client.post(server.url, json=content, headers={"Accept": "application/graphql-response+json"}),
                client.get(server.url, params=text),
            ):
                errors = response.json().get("errors", [])
                statuses.update({error["extensions"]["status"] for error in errors} or {response.status_code})

        await asyncio.gather(*map(send, requests()))
    return statuses


async def send_refused(server: Server, token: str) -> None:
    """Sends what is refused early: bad credentials, headers, bodies, paths, and bytes that are no HTTP."""
    question = {"query": f'{{ owner(ownerId: "{CANARY}") {{ name }} }}'}
    good = EVERYWHERE | {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(timeout=120) as client:
        for bad in bad_credentials():
            response = await client.post(server.url, json=question, headers=[(b"Authorization", bad)])
            assert response.status_code == 401, bad
        twice = [("Authorization", f"Bearer {token}"), ("Authorization", CANARY)]
        assert (await client.post(server.url, json=question, headers=twice)).status_code == 401
        for headers in bad_headers():
            response = await client.post(server.url, json=question, headers=good | headers)
            assert response.status_code != 500, headers
        for body in (f'{{"query": {CANARY}', CANARY, f'["{CANARY}"]', f'{{"query": "{CANARY}\\ud800"}}'):
            response = await client.post(server.url, content=body, headers=good | {"Content-Type": "application/json"})
            assert 200 <= response.status_code < 500, body
        for path in (
            f"/{CANARY}",
            f"/assets/{CANARY}",
            f"/tokens?{CANARY}",
            f"?{CANARY}={CANARY}",
            "?variables=" + CANARY,
        ):
            await client.get(f"{server.url}{path}", headers=good)
        await client.put(server.url, content=CANARY, headers=good)
    for text in RAW:
        await asyncio.to_thread(send_raw, server, text)


def send_raw(server: Server, text: str) -> None:
    with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port or 0), 60) as raw:
        raw.sendall(text.encode())
        raw.recv(1024)


async def test_no_token_cursor_or_value_of_a_client_is_in_the_log_whatever_happens(
    tmp_path: Path, wire: Wire, at_wire: dict[str, str], table: str, plain_client: Any
) -> None:
    tracing = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": 1, "tracing": "otlp"}
    logging = {"log_level": "debug", "request_log": "on", "request_seconds": 5, "STORE_SECONDS": 2}
    for item in damaged_items():
        await plain_client.put_item(TableName=table, Item=item_to_wire(item))
    refusal = Answer(400, {"__type": "com.amazonaws.dynamodb.v20120810#ValidationException", "message": CANARY})
    token = development_token(tmp_path, ADMIN, timedelta(hours=1))
    async with running(tmp_path / "run", **at_wire | tracing | logging, data_dir=tmp_path) as server:
        # damaged records and a store that writes nothing, then one that refuses, fails, and does not answer
        wire.fault = lambda call: refusal if call.operation == "TransactWriteItems" else None
        assert 500 in await send_requests(server, token)
        wire.fault = lambda _: None
        statuses = await send_requests(server, token)
        assert set(statuses) >= {200, 400, 404, 500}
        assert 401 not in statuses
        await send_refused(server, token)
        wire.fault = lambda _: refusal
        assert 500 in await send_requests(server, token)
        wire.fault = lambda _: Answer(500, {"message": CANARY})
        assert 503 in await send_requests(server, token)

        def stall(call: Call) -> Until | None:
            return Until(asyncio.Event()) if CANARY in json.dumps(call.request) else None

        wire.fault = stall
        assert 504 in await send_requests(server, token)
        wire.fault = lambda _: None
        assert await asyncio.to_thread(server.end) == 0
    log = server.stdout + server.stderr
    for wrong in (  # what goes wrong is logged
        "failed at ['owner']",
        f"item {keys.masked(keys.owner(OwnerId(CANARY)))} has no valid kind",
        f"a copy names {keys.masked(keys.locker(GONE))}, which does not exist",
        "loaders.table.errors.StoreError: ValidationException",
    ):
        assert wrong in log
    assert log.count(" request ") > len(requests()), log  # and so is every request
    secrets = [CANARY, NAME, CURSOR, *token.split("."), *signed().split(".")]
    assert [secret for secret in secrets if secret in log] == []


async def tell_everything(api: Api) -> list[str]:
    """Puts a canary into every text that a client can write; the digits of the codes that were made."""
    metadata, named = {CANARY: CANARY}, {"name": f"{CANARY} name"}
    await api.owner("root", role="ADMIN")
    await api.owner("ada", **named, email=f"{CANARY}@example.com", phone="+39 4 4444 4444")
    await api.done(mutation("updateOwner", "owner { name }"), ownerId="ada", expectedVersion=1, name=CANARY)
    place = await places.create_location(api, 0, code=CANARY, **named, address={"city": CANARY})
    await api.done(places.UPDATE_LOCATION, locationId=place, expectedVersion=1, name=CANARY)
    await api.locker("l1", "ada", locationId=place, alias=CANARY, features=[CANARY], reservableBy="EVERYONE")
    await api.done(RENAME, lockerId="l1", expectedVersion=1, alias=f"{CANARY} 2")
    window = {"startAt": codes.START, "endAt": codes.END}
    told = {"reference": CANARY, "recipient": {**named, "email": f"{CANARY}@example.com"}, "metadata": metadata}
    await api.done(CREATE_RESERVATION, lockerId="l1", ownerId="ada", reservationId="r1", **window, **told)
    digits = [await codes.create(api, "c1", label=CANARY)]
    digits.append((await api.done(codes.ROTATE, lockerId="l1", codeId="c1", expectedRotation=1))["digits"])
    assert await codes.verify(api, digits[1], "attempt") == "GRANTED"
    assert await codes.verify(api, codes.wrong(*digits), "denied") == "DENIED"
    await api.event("l1", actorId=CANARY, metadata=metadata)
    await api.by(owner("ada")).done(RELEASE, lockerId="l1", reservationId="r1", reason=CANARY)
    await places.book(api, "b1", description=CANARY)
    await api.done(places.REJECT, bookingId="b1", expectedVersion=1, reason=CANARY)
    await api.done(places.PAY, bookingId="b1", amount={"amount": "4.44", "currency": "EUR"}, method=CANARY)
    event = {"locationId": place, "eventId": "e1", "date": "2026-03-20", "duration": "MORNING"}
    await api.done(places.CREATE_EVENT, **event, title=CANARY)
    await api.done(CREATE_KEY, keyId="k1", role="DEVICE", lockerId="l1", **named)
    return [*digits, codes.wrong(*digits)]


async def test_the_log_and_history_have_ids_and_statuses_but_no_text_of_a_client(
    api: Api, backend: Backend, dump: Dump
) -> None:
    digits = await tell_everything(api)
    await keep_history(backend.store)
    items = {key: item for key, item in (await dump()).items() if item["entityType"] in {"LOG_ENTRY", "ACTIVITY"}}
    assert Counter(item["entityType"] for item in items.values()) == {"LOG_ENTRY": 19, "ACTIVITY": 52}
    # A time or a number of an id may have the same digits: these are looked for in all else.
    text = re.sub(
        r"[0-9T:.-]{20,}Z|[0-9A-Z]{26}", "", str([(key, {**item, "expiresAt": 0}) for key, item in items.items()])
    )
    assert [secret for secret in (CANARY, "4.44", "4444", *digits) if secret in text] == []
