import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from loaders.concurrency import outcomes, together


@pytest.mark.parametrize("run", [together, outcomes])
@pytest.mark.parametrize("count", [1, 3])
async def test_work_that_waits_for_a_permit_when_it_is_canceled_is_closed(run: Callable[..., Any], count: int) -> None:
    permits = asyncio.Semaphore(0)
    works = [asyncio.sleep(0) for _ in range(count)]
    running = asyncio.ensure_future(run(works, permits))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert {inspect.getcoroutinestate(work) for work in works} == {inspect.CORO_CLOSED}
