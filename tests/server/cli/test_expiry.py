"""Items whose time to live has passed, on a store that does not delete them."""

import asyncio
import re
from typing import Any

from loaders.backend import Backend
from loaders.table.clock import utc_now
from loaders.tools.expiry import expire_items
from tests.api import Api
from tests.codes import REPORT, create, furnish, verify
from tests.conftest import Clock, Dump, OpenApi
from tests.principals import device
from tests.races.holding import Held
from tests.server.conftest import RunOnTable
from tests.tables import PlainClient, put
from tests.wire import Wire

COST = r"Looking for expired items reads the whole table once: about \d+ items, \d+ read units\.\n"


async def test_an_attempt_that_has_expired_no_longer_answers_for_a_report(api: Api, clock: Clock, dump: Dump) -> None:
    await furnish(api)
    digits = await create(api, "c1", "STANDING")
    assert await verify(api, digits, "again") == "GRANTED"
    clock.move(days=7)
    use = {"lockerId": "l1", "codeId": "c1", "eventId": "again", "usedAt": clock()}
    assert (await api.by(device("l1")).done(REPORT, **use))["accessCode"]["uses"] == 2
    assert ("LOCKER#l1", "ATTEMPT#again") in await dump(), "the store keeps it"


async def test_expired_items_are_counted_and_deleted(
    on_table: RunOnTable, open_api: OpenApi, plain_client: PlainClient, table: str, dump: Dump
) -> None:
    async with open_api(server_clock=utc_now) as api:
        await api.owner("ada")
        await api.locker("l1", "ada")
        await verify(api, "000000", "kept")
    old = {"entityType": "ACCESS_ATTEMPT", "expiresAt": 1}
    for name in ("a", "b"):
        await put(plain_client, table, {"PK": "LOCKER#l1", "SK": f"ATTEMPT#{name}", **old})
    before = await dump()
    found = await on_table("table", "expire", "--dry-run")
    assert (found.status, found.out, await dump()) == (0, "2 expired items found\n", before)
    assert re.fullmatch(COST, found.err)
    scanned = await on_table("doctor", "--full-scan", "--yes")
    assert "2 expired, which the store has not deleted: see `smartlocker table expire`\n" in scanned.out
    deleted = await on_table("table", "expire", "--yes")
    assert (deleted.status, deleted.out) == (0, "2 expired items deleted\n")
    assert before.keys() - (await dump()).keys() == {("LOCKER#l1", f"ATTEMPT#{name}") for name in ("a", "b")}
    assert (await on_table("table", "expire", "--yes")).out == "0 expired items deleted\n"


async def test_an_item_that_is_renewed_while_it_is_deleted_stays(
    backend: Backend, wire: Wire, plain_client: PlainClient, table: str, dump: Dump
) -> None:
    store: Any = backend.store
    item = {"PK": "LOCKER#l1", "SK": "ATTEMPT#a", "entityType": "ACCESS_ATTEMPT", "expiresAt": 1}
    await put(plain_client, table, item)
    wire.fault = held = Held(lambda call: call.operation == "TransactWriteItems")
    expiring = asyncio.ensure_future(expire_items(store, backend, items_per_second=1e9, dry_run=False))
    await held.reached()
    await put(plain_client, table, item | {"expiresAt": 2**40})
    held.release()
    assert (await expiring, [*await dump()]) == (0, [("LOCKER#l1", "ATTEMPT#a")])
