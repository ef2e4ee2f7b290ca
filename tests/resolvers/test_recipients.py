"""The reservations of a person who asks what is stored about them, found by a keyed hash of email or phone."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from domain.access_codes import CodeRing
from domain.times import Instant
from loaders.backend import Backend
from loaders.reads.code_keys import KeyUse, key_uses
from loaders.tools.migration import Migration
from server.settings import parse_ring
from tests.api import Api, mutation
from tests.conftest import CODE_KEYS, NOW, RING, Clock, Dump, OpenApi
from tests.explained import explained
from tests.invariants import check_invariants
from tests.migrating import delete, no_wait, of_kind, strip
from tests.principals import owner
from tests.tables import PlainClient

CREATE = mutation("createReservation", "reservation { reservationId }")
OF_RECIPIENT = """query OfRecipient($email: String, $phone: String, $first: Int, $after: String) {
  reservationsOfRecipient(email: $email, phone: $phone, first: $first, after: $after) {
    nodes { lockerId reservationId reservation { status details { recipient { name } } } } nextCursor } }"""
RITA = {"name": "Rita", "email": "Rita@Example.com", "phone": "+39 06 123-4567"}
NEW_KEYS = CODE_KEYS.replace("k1:MTEx", "k2:MjIy")


async def reserve(api: Api, name: str, day: int, recipient: dict[str, str] = RITA) -> None:
    window = {"startAt": f"2026-04-{day:02d}T10:00:00Z", "endAt": f"2026-04-{day:02d}T12:00:00Z"}
    made = await api.mutate(CREATE, lockerId="l1", reservationId=name, ownerId="ada", **window, recipient=recipient)
    assert not made["userErrors"]


async def found(api: Api, **asked: Any) -> list[str]:
    nodes = (await api.run(OF_RECIPIENT, **asked))["reservationsOfRecipient"]["nodes"]
    return [node["reservationId"] for node in nodes]


@pytest_asyncio.fixture
async def kept(open_api: OpenApi) -> AsyncIterator[Api]:
    async with open_api(details_days=30) as api:
        await api.owner("ada")
        await api.locker("l1", "ada")
        await reserve(api, "r1", 1)
        await reserve(api, "r2", 2, {"name": "Rita", "email": "rita@example.com"})
        await reserve(api, "r3", 3, {"name": "Eve", "email": "eve@example.com", "phone": "+390999"})
        yield api


async def test_reservations_are_found_by_email_and_by_phone_however_they_are_spelled(
    kept: Api, clock: Clock, dump: Dump
) -> None:
    assert await found(kept, email="RITA@example.com") == ["r2", "r1"]
    for phone in ("0039 (06) 1234567", "+39061234567", "(+39)\u00a006 1234567"):
        assert await found(kept, phone=phone) == ["r1"]
    assert await found(kept, email="rit@example.com") == await found(kept, phone="+3906123456") == []
    (node,) = (await kept.run(OF_RECIPIENT, phone=RITA["phone"]))["reservationsOfRecipient"]["nodes"]
    shown = {"status": "UPCOMING", "details": {"recipient": {"name": "Rita"}}}
    assert node == {"lockerId": "l1", "reservationId": "r1", "reservation": shown}
    entries, details = of_kind(await dump(), "RECIPIENT_RESERVATION"), of_kind(await dump(), "RESERVATION_DETAILS")
    assert {one["expiresAt"] for one in entries} == {one["expiresAt"] for one in details}
    assert not [one for one in entries if "rita" in str(one).lower() or "1234567" in str(one)]
    check_invariants(await dump(), clock())
    clock.now = Instant("2026-05-01T10:00:00.000Z")  # 30 days after the start of the first
    assert await found(kept, email="RITA@example.com") == ["r2"]
    assert await found(kept, phone=RITA["phone"]) == []


@pytest.mark.usefixtures("kept")
async def test_what_was_asked_for_is_in_no_log_explanation_or_metric(
    open_api: OpenApi, caplog: pytest.LogCaptureFixture
) -> None:
    literal = 'query Literal { reservationsOfRecipient(email: "rita@example.com") { nodes { reservationId } } }'
    on = {"request_log": "on", "metrics": "on", "log_level": "debug"}
    with caplog.at_level(logging.DEBUG):
        async with open_api(**on) as api:
            assert await found(api, email="rita@example.com", first=5) == ["r2", "r1"]
            assert len((await api.run(literal))["reservationsOfRecipient"]["nodes"]) == 2
            texts = [
                json.dumps(await explained(api, OF_RECIPIENT, mode=mode, phone=RITA["phone"]))
                for mode in (True, "plan")
            ]
            for wrong in ({}, {"email": "rita@", "phone": None}, {"email": "rita@example.com", "phone": "123456"}):
                answer = await api.send(OF_RECIPIENT, **wrong)
                assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
                texts.append(json.dumps(answer))
            texts.append((await api.client.get("/metrics")).text)
    lines = [
        record.__dict__.get("fields", {}) for record in caplog.records if record.name == "server.telemetry.request_log"
    ]
    assert lines[0]["recipients"] == ["l1/r2", "l1/r1"]
    assert (lines[0]["recipients_read"], lines[0]["subject"]) == (2, "development")
    assert "recipients" not in lines[1], "nobody read who the recipients are"
    logged = [str(record.__dict__) + record.getMessage() for record in caplog.records if record.name != "httpx"]
    for secret in ("rita@", "1234567", "123-4567"):
        assert not [text for text in (*texts, *logged) if secret in text.lower()]
    hashes = {
        hash_ for key in RING.keys for contact in ("email rita@example.com",) for hash_ in RING.recipients(contact)
    }
    assert not [text for text in texts for one in hashes if one.partition("#")[2] in text]


async def test_only_admins_find_reservations_by_their_recipient(kept: Api) -> None:
    answer = await kept.by(owner("ada")).send(OF_RECIPIENT, email="rita@example.com")
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"


@pytest.mark.usefixtures("kept")
async def test_a_new_key_of_the_ring_loses_no_reservation(open_api: OpenApi, backend: Backend) -> None:
    async with open_api(code_keys=f"{NEW_KEYS},{CODE_KEYS}") as api:
        await reserve(api, "r4", 4)
        wanted, after, pages = {"email": RITA["email"], "first": 1}, None, list[list[str]]()
        while after is not None or not pages:
            page = (await api.run(OF_RECIPIENT, **wanted, after=after))["reservationsOfRecipient"]
            pages.append([node["reservationId"] for node in page["nodes"]])
            after = page["nextCursor"]
        assert pages == [["r4"], ["r2"], ["r1"]]
    store: Any = backend.store
    assert await key_uses(store, NOW) == {"k1": KeyUse(recipients=5), "k2": KeyUse(recipients=2)}
    left = await key_uses(store, Instant("2026-06-01T00:00:00.000Z"))
    assert left == {"k2": KeyUse(recipients=2)}, "those of the first server have expired"


@pytest.mark.usefixtures("kept")
async def test_a_migration_finds_recipients_and_renews_hashes_of_earlier_keys(
    open_api: OpenApi, backend: Backend, plain_client: PlainClient, table: str, dump: Dump
) -> None:
    async def migrate(ring: CodeRing | None) -> tuple[int, dict[Any, int]]:
        store: Any = backend.store
        migration = Migration(store, items_per_second=1e9, progress=lambda _: None, ring=ring)
        report = await migration.run(NOW, no_wait)
        return report.written, report.left

    before = await dump()
    for item in of_kind(before, "RECIPIENT_RESERVATION"):
        await delete(plain_client, table, item)
    for item in of_kind(before, "RESERVATION_DETAILS"):
        await strip(plain_client, table, item, "startAt", "recipientHashes")
    assert await migrate(None) == (3, {("RESERVATION_DETAILS", "SMARTLOCKER_CODE_KEYS"): 3})
    assert await migrate(RING) == (8, {})
    assert await dump() == before
    assert await migrate(RING) == (0, {})
    await migrate(parse_ring(NEW_KEYS))
    check_invariants(await dump(), NOW)
    assert len(of_kind(await dump(), "RECIPIENT_RESERVATION")) == len(of_kind(before, "RECIPIENT_RESERVATION"))
    async with open_api(code_keys=NEW_KEYS) as api:
        assert await found(api, email=RITA["email"]) == ["r2", "r1"]
