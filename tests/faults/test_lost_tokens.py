"""The embedded store forgets its idempotency tokens when it dies."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from domain.bookings import BookingStatus
from loaders.backend import Backend
from loaders.table.client import StoreConnection, open_store
from loaders.table.embedded import find_binary, run_embedded
from loaders.tools.definition import create_table
from server.app import new_id
from tests.conftest import PATIENT, RING, Clock
from tests.contracts.samples import SHORT
from tests.contracts.scenarios.actions import Call as Scenario
from tests.contracts.scenarios.bookings import BOOKED, api_key, approve
from tests.contracts.scenarios.lockers import PLACED, RENAME, record_events
from tests.e2e.serving import is_there, offspring_of
from tests.wire import WRITES, Lose, Until, Wire, once, open_wire


@asynccontextmanager
async def mortal_store(directory: Path, clock: Clock) -> AsyncIterator[tuple[Backend, Wire, StoreConnection]]:
    """A store of the test's own, through a proxy, with all the time that a restart takes."""
    async with run_embedded(find_binary(None), directory) as url, open_wire(url) as wire:
        direct = StoreConnection("own", "eu-central-1", url, local=True)
        await create_table(direct)
        async with open_store(replace(direct, endpoint_url=wire.url, timeouts=PATIENT)) as store:
            yield Backend(store, clock, new_id, timedelta(days=30), code_ring=lambda: RING), wire, direct


async def test_a_store_that_dies_and_forgets_its_tokens_makes_no_false_conflict(tmp_path: Path, clock: Clock) -> None:
    others = offspring_of(os.getpid())
    names = replace(SHORT, change=None)
    async with mortal_store(tmp_path, clock) as (backend, wire, connection):

        def store() -> set[int]:
            found = offspring_of(os.getpid())
            return {number for number, program in found.items() if program == "dynoxide" and number not in others}

        async def dies_after(call: Scenario) -> Any:
            """The result of a call whose write the store applies but does not answer, because it is killed."""
            restarted = asyncio.Event()

            async def wait_for_the_next(dead: set[int]) -> None:
                while not store() - dead or not await is_there(connection):  # noqa: ASYNC110  # a store has no event
                    await asyncio.sleep(0.05)
                restarted.set()

            def kill() -> None:
                wire.amend = lambda _: None
                dead = store()
                for number in dead:
                    os.kill(number, signal.SIGKILL)
                waiting.append(asyncio.create_task(wait_for_the_next(dead)))

            waiting: list[asyncio.Task[None]] = []
            wire.reset()
            lose = once(Lose(), *WRITES)
            wire.fault = lambda call: lose(call) or (Until(restarted) if call.operation in WRITES else None)
            wire.amend = lambda call: kill() if call.operation in WRITES else None
            result = await call(backend, names)
            first, second = [call for call in wire.calls if call.operation in WRITES]
            assert (first.status, second.status) == (200, 400)
            wire.reset()
            return result

        for prepare_one in (*PLACED, *BOOKED):
            await prepare_one(backend, names)
        renamed = await dies_after(RENAME)
        assert (renamed.alias, renamed.version) == ("b NAME", 2)
        approved = await dies_after(approve)
        assert (approved.status, approved.version) == (BookingStatus.APPROVED, 2)
        assert (await dies_after(api_key)).secret is not None
        assert len(await dies_after(record_events(None, None))) == 2
