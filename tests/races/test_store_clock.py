"""Servers whose clocks differ from the store's: tolerated up to five minutes, beyond that nothing is written."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import pytest

from domain.times import Instant, shift
from loaders.table.health import StoreHealth
from server.clock import utc_now
from server.http.health import Readiness
from tests.api import CREATE_RESERVATION, Api
from tests.conftest import Dump, OpenApi
from tests.invariants import check_invariants
from tests.reservations import CANCEL, active
from tests.wire import Wire


def ahead(minutes: float) -> Callable[[], Instant]:
    return lambda: shift(utc_now(), timedelta(minutes=minutes))


def server(open_api: OpenApi, minutes: float, **settings: Any) -> AbstractAsyncContextManager[Api]:
    """A server that watches the store, with a clock that is so far ahead of it."""
    return open_api(readiness=Readiness(StoreHealth()), server_clock=ahead(minutes), **settings)


async def ready(api: Api) -> tuple[int, str]:
    response = await api.client.get("/ready")
    return response.status_code, response.text


async def test_two_servers_five_minutes_apart_hide_no_live_reservation_from_each_other(
    open_api: OpenApi, dump: Dump
) -> None:
    async with server(open_api, -2) as slow, server(open_api, 3) as fast:
        assert await ready(slow) == await ready(fast) == (200, "ready")
        await slow.owner("ada")
        await slow.locker("l1", "ada")
        now = utc_now()
        end = shift(now, timedelta(minutes=1))  # it has ended by the clock of the fast server only
        await slow.reservation("now", "l1", "ada", shift(now, timedelta(hours=-1)), end)
        later = [shift(now, timedelta(hours=hours)) for hours in (1, 2, 3)]
        await fast.reservation("later", "l1", "ada", later[0], later[1])
        await fast.reservation("last", "l1", "ada", later[1], later[2])
        assert (await fast.mutate(CANCEL, lockerId="l1", reservationId="last"))["userErrors"] == []
        assert await active(fast) is None
        assert await active(slow) == "now"
        overlap = await fast.mutate(
            CREATE_RESERVATION, lockerId="l1", ownerId="ada", startAt=shift(end, timedelta(seconds=-1)), endAt=later[0]
        )
        assert [error["code"] for error in overlap["userErrors"]] == ["RESERVATION_OVERLAP"]
        check_invariants(await dump(), ahead(-2)())


@pytest.mark.parametrize(("minutes", "direction"), [(15, "ahead of"), (-15, "behind")])
async def test_a_server_fifteen_minutes_off_reads_but_refuses_writes_before_they_reach_the_store(
    open_api: OpenApi, wire: Wire, minutes: int, direction: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_api() as api:
        await api.owner("ada")
    async with server(open_api, minutes, metrics="on") as api:
        assert await ready(api) == (503, "clock skew")
        assert (await api.client.get("/health")).text == "ok"
        wire.reset()
        answer = await api.send('mutation { createOwner(input: {name: "Bob", kind: USER}) { owner { ownerId } } }')
        (error,) = answer["errors"]
        assert error["extensions"]["code"] == "UNAVAILABLE"
        assert f" seconds {direction} the store's. Try again later, or at another server." in error["message"]
        assert wire.calls == []
        assert await api.run('{ owner(ownerId: "ada") { name } }') == {"owner": {"name": "ada"}}
        (skew,) = [
            float(line.split()[1])
            for line in (await api.client.get("/metrics")).text.splitlines()
            if line.startswith("smartlocker_store_clock_skew_seconds ")
        ]
        assert abs(skew) == pytest.approx(900, abs=60)
        assert (skew > 0) is (minutes > 0)
    told = [record.getMessage() for record in caplog.records if "clock" in record.getMessage()]
    assert len(told) == 1
    assert told[0].endswith("the server is not ready and refuses writes until its clock is right")
