"""The difference of the clocks, from the Date header of the store's answers."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from domain.errors import UnavailableError
from domain.times import Instant
from loaders.contracts.table_state import STATE_OF_TABLE
from loaders.table.client import DynamoStore
from loaders.table.clock_skew import ClockSkew
from loaders.table.health import StoreHealth, WatchedTransport
from server.clock import ServerClock, utc_now

Opener = Callable[..., AbstractAsyncContextManager[DynamoStore]]

DATE = "Sun, 01 Mar 2026 12:00:00 GMT"


def compared(date: str | None, now: str) -> ClockSkew:
    skew = ClockSkew(lambda: 0.0)
    skew.compare(date, Instant(now))
    return skew


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        ("2026-03-01T12:00:00.000Z", 0),
        ("2026-03-01T12:00:00.999Z", 0),
        ("2026-03-01T12:00:03.500Z", 2.5),
        ("2026-03-01T11:59:58.000Z", -2),
        ("2026-03-01T11:55:00.000Z", -300),
        ("2026-03-01T12:05:01.000Z", 300),
    ],
)
def test_five_minutes_after_the_precision_of_the_header_are_tolerated(now: str, seconds: float) -> None:
    skew = compared(DATE, now)
    assert skew.seconds == seconds
    assert skew.is_tolerated
    skew.require_tolerated()


def test_a_wrong_clock_is_told_once_and_so_is_its_correction(caplog: pytest.LogCaptureFixture) -> None:
    skew = compared(DATE, "2026-03-01T11:54:59.000Z")
    skew.compare(DATE, Instant("2026-03-01T11:54:59.000Z"))
    assert not skew.is_tolerated
    with pytest.raises(UnavailableError, match="this server's clock is 301 seconds behind the store's"):
        skew.require_tolerated()
    for _ in range(2):
        skew.compare(DATE, Instant("2026-03-01T12:00:00.000Z"))
    wrong, right = caplog.messages
    assert wrong.startswith("this server's clock is 301 seconds behind the store's: the server is not ready")
    assert right == "the clock agrees with the store's again: the server is ready and accepts writes"


@pytest.mark.parametrize("date", [None, "", "yesterday"])
def test_a_store_that_does_not_tell_its_time_is_not_compared(date: str | None) -> None:
    skew = compared(date, "1999-01-01T00:00:00.000Z")
    assert skew.seconds is None
    assert skew.is_tolerated


def test_the_clocks_are_compared_every_ten_seconds() -> None:
    seconds = [0.0]
    skew = ClockSkew(lambda: seconds[-1])
    assert skew.is_due
    skew.compare(DATE, Instant("2026-03-01T12:00:00.000Z"))
    for passed, is_due in ((9.9, False), (10, True)):
        seconds.append(passed)
        assert skew.is_due is is_due


async def test_both_clients_tell_the_time_of_the_embedded_store(store_url: str, table: str, open_to: Opener) -> None:
    health = StoreHealth()
    async with open_to(store_url) as store:
        await STATE_OF_TABLE.read(DynamoStore(WatchedTransport(store.transport, health, utc_now), table))
    assert health.clock_skew.seconds is not None
    assert health.clock_skew.is_tolerated


def test_the_clock_of_a_server_never_goes_back_unless_it_was_too_wrong_to_write() -> None:
    first, ahead, back, on, far_back = (
        Instant(f"2026-03-01T{time}.000Z") for time in ("12:00:00", "12:00:05", "11:57:00", "12:00:06", "11:00:00")
    )
    machine = iter([first, first, ahead, back, on, far_back])
    clock = ServerClock(lambda: next(machine))
    assert [clock() for _ in range(5)] == [first, ahead, ahead, on, far_back]
