"""The data of a person: how it is exported, and how it is erased."""

import asyncio
import json
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest_asyncio

from domain.times import LATEST
from loaders import keys
from loaders.backend import Backend
from loaders.following.erasures import Erasures
from loaders.following.followers import Fence
from tests import places, webhooks
from tests.api import TRANSFER, Api, mutation, refused, unchanged, user_error
from tests.conftest import Clock, Dump, Prepared
from tests.following import lease
from tests.history import keep_history
from tests.invariants import check_invariants
from tests.logged import activities
from tests.persons import ADMIN_SUBJECT, CREATE_RESERVATION, EMAIL, PIA, SECRETS, live
from tests.places import paged
from tests.principals import admin, owner
from tests.reservations import CANCEL
from tests.tables import PlainClient, put
from tests.wire import Call, Hold, Wire

EXPORT = """query ($first: Int!, $after: String) { owner(ownerId: "pia") { export(first: $first, after: $after) {
nodes {
  kind content
  reservation { reservationId details { recipient { name email } metadata } accessCodes { nodes { label } } }
  booking { bookingId payments { nodes { paymentId } } }
} nextCursor } } }"""
PROFILE = "name email phone role version erasureRequestedAt erasedAt"
ERASE = mutation("eraseOwner", f"owner {{ {PROFILE} }}")
OWNER = f'{{ owner(ownerId: "pia") {{ {PROFILE} }} }}'
BLANK = {"name": "", "email": None, "phone": None, "role": "USER", "version": 2, "erasedAt": None}
ELSEWHERE = {
    *(EMAIL.lower(), "pia rossi", "39065550199", ADMIN_SUBJECT),
    *("seen by Pia", "lent by Pia", "pia-hook", "hook of Pia"),
}
"""By which the owner is found, what Pia did as an admin, and what is stored under a locker or a webhook."""


@pytest_asyncio.fixture
async def lived(api: Api, backend: Backend, prepared: Prepared) -> Api:
    await prepared(live, api, backend)
    return api


async def exported(api: Api, size: int = 100) -> list[dict[str, Any]]:
    return [node async for nodes in paged(api, EXPORT, size) for node in nodes]


async def test_an_export_has_everything_that_is_stored_under_an_owner_and_what_its_reservations_have_elsewhere(
    lived: Api, wire: Wire, dump: Dump
) -> None:
    items = await exported(lived)
    stored = [item for (partition, _), item in sorted((await dump()).items()) if partition == "OWNER#pia"]
    assert [item["kind"] for item in items] == [item["entityType"] for item in stored]
    text = json.dumps(items, ensure_ascii=False)
    assert {secret for secret in SECRETS if secret not in text} == ELSEWHERE
    assert await exported(lived, 7) == items
    wire.reset()
    (page,) = [nodes async for nodes in paged(lived, EXPORT, 100)]
    assert [one["reservation"]["reservationId"] for one in page if one["reservation"]] == ["r1", "r2"]
    # One page; then the details of both together, the codes of each, and the payments of the booking.
    assert wire.operations == {"Query": 4, "BatchGetItem": 1}


async def test_an_owner_exports_itself_without_what_tells_who_others_are(lived: Api) -> None:
    own, whole = [json.dumps(await exported(api)) for api in (lived.by(PIA), lived)]
    assert "development" in whole
    assert "development" not in own
    assert '"root"' not in own.replace('"decidedBy": "root"', "")
    assert PIA.subject in own
    for other in (owner("ada"), admin("root")):
        answer = await lived.by(other).send(EXPORT, first=1)
        assert ("errors" in answer) is (other.owner_id == "ada")


async def settle(client: PlainClient, table: str) -> None:
    """History is kept up to now."""
    await put(client, table, *(lease(shard, history=LATEST) for shard in range(keys.LOG_SHARDS)))


async def sweep(backend: Backend) -> None:
    """Erases as far as that is possible now."""
    for shard in range(keys.LOG_SHARDS):
        while await Erasures(backend).sweep(shard, backend.clock(), Fence(shard, 1)):
            pass


async def erased_at(api: Api) -> str | None:
    shown: str | None = (await api.run(OWNER))["owner"]["erasedAt"]
    return shown


async def test_nothing_in_the_table_tells_who_an_erased_owner_was(
    lived: Api, backend: Backend, clock: Clock, dump: Dump, plain_client: PlainClient, table: str
) -> None:
    clock.move(days=3)
    before = await dump()
    assert {secret for secret in SECRETS if secret not in str(before)} == set()
    root = lived.by(admin("root"))
    asked = await asyncio.gather(*(root.done(ERASE, ownerId="pia") for _ in range(2)))
    for payload in asked:
        assert payload["owner"] == {**BLANK, "erasureRequestedAt": clock.now}
    async with unchanged(dump):  # until history is kept up to the request
        await sweep(backend)
    await keep_history(backend.store)
    await settle(plain_client, table)
    clock.move(minutes=1)
    await asyncio.gather(sweep(backend), sweep(backend))
    items = await dump()
    assert {secret for secret in SECRETS if secret in str(items)} == set()
    check_invariants(items, clock.now)
    assert await erased_at(lived) == clock.now
    async with unchanged(dump):
        assert (await root.done(ERASE, ownerId="pia"))["owner"]["version"] == 3
    told = [one for one in activities(items) if one.happening.kind.startswith("owner.") and one.happening.version != 1]
    assert [(one.happening.kind.name, one.actor and one.actor.subject) for one in told] == [
        ("OWNER_CHANGED", "root"),
        ("OWNER_ERASED", None),
    ]
    subjects = {item["actorSubject"] for item in items.values() if item.get("actorOwnerId") == "pia"}
    assert subjects == {"erased:pia"}
    assert before.keys() - items.keys() == {
        ("EMAIL#pia.rossi@example.com", "META"),
        ("LOCKER#l1", "DETAILS#r1"),
        *(key for key in before if key[0].startswith(("CALLERS", "RECIPIENT#", "PHONE#"))),
        *(key for key in before if key[0] == "OWNER#pia" and key[1].startswith(("REF#", "NOTIFICATION#"))),
    }


async def test_an_erasure_that_is_killed_in_the_middle_of_anything_goes_on_to_the_same_end(
    lived: Api, backend: Backend, clock: Clock, dump: Dump, wire: Wire, plain_client: PlainClient, table: str
) -> None:
    clock.move(days=3)
    await lived.done(ERASE, ownerId="pia")
    await settle(plain_client, table)
    kills = 0
    while await erased_at(lived) is None:
        task = asyncio.create_task(sweep(backend))
        writes = Counter[str]()

        def kill(call: Call, task: asyncio.Task[None] = task, writes: Counter[str] = writes) -> None:
            writes[call.operation] += 1
            if writes["TransactWriteItems"] + writes["PutItem"] == 2:
                task.cancel()

        wire.fault = kill
        with suppress(asyncio.CancelledError):
            await task
        wire.reset()
        kills += task.cancelled()
    assert kills > 5
    items = await dump()
    assert {secret for secret in SECRETS if secret in str(items)} == set()
    check_invariants(items, clock.now)


async def test_an_owner_with_anything_in_use_is_not_erased(api: Api, dump: Dump) -> None:
    place = await places.prepare(api)
    await api.owner("pia")
    await api.locker("l1", "pia", locationId=place)
    await api.reservation("r1", "l1", "pia", "2026-03-02T11:00:00Z", "2026-03-02T13:00:00Z")
    await places.book(api, "b1", ownerId="pia")
    await webhooks.create(api, "w1", ownerId="pia")
    for things, document, values in (
        ("lockers that are not retired", TRANSFER, {"lockerId": "l1", "newOwnerId": "ada", "expectedVersion": 1}),
        ("live reservations", CANCEL, {"lockerId": "l1", "reservationId": "r1"}),
        ("open bookings", places.CANCEL, {"bookingId": "b1"}),
        ("webhooks", webhooks.DELETE, {"webhookId": "w1"}),
    ):
        payload = await refused(api, dump, ERASE, ownerId="pia")
        assert payload["userErrors"] == [user_error("OWNER_IN_USE", f"Owner pia has {things}.", 409, "ownerId")]
        await api.done(document, **values)
    await api.done(ERASE, ownerId="pia")
    chess = {"date": places.DAY, "duration": "MORNING", "description": "Chess", "attendees": 2}
    new = {"lockerId": "l1", "ownerId": "pia", "startAt": "2026-03-02T11:00:00Z", "endAt": "2026-03-02T13:00:00Z"}
    for document, values in (
        (CREATE_RESERVATION, new),
        (places.REQUEST, {**chess, "locationId": place, "ownerId": "pia"}),
        (TRANSFER, {"lockerId": "l1", "newOwnerId": "pia", "expectedVersion": 2}),
        (webhooks.CREATE, {"ownerId": "pia", "url": "https://example.com/hooks"}),
        (mutation("updateOwner", "owner { name }"), {"ownerId": "pia", "name": "Pia", "expectedVersion": 2}),
    ):
        (error,) = (await refused(api, dump, document, **values))["userErrors"]
        assert error["code"] == "OWNER_ERASED", document


async def test_what_was_reserved_at_the_same_moment_is_erased_when_it_is_over(
    api: Api, backend: Backend, dump: Dump, wire: Wire, plain_client: PlainClient, table: str
) -> None:
    for name in ("ada", "pia"):
        await api.owner(name)
    await api.locker("l1", "ada", reservableBy="EVERYONE")
    held = Hold("TransactWriteItems")
    wire.fault = held
    window = {"startAt": "2026-03-02T11:00:00Z", "endAt": "2026-03-02T13:00:00Z"}
    made = {"lockerId": "l1", "reservationId": "r1", "ownerId": "pia", **window, "reference": "order-4711"}
    reserving = asyncio.create_task(api.done(CREATE_RESERVATION, **made))
    await held.arrivals()
    wire.reset()
    await api.done(ERASE, ownerId="pia")
    held.release()
    await reserving
    await settle(plain_client, table)
    await sweep(backend)
    assert (await erased_at(api), "order-4711" in str(await dump())) == (None, True)
    await api.done(CANCEL, lockerId="l1", reservationId="r1")
    await sweep(backend)
    assert await erased_at(api) is not None
    assert "order-4711" not in str(await dump())
