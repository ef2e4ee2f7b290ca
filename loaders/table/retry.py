"""How operations are repeated, with exponential backoff and full jitter."""

import asyncio
import random
from collections.abc import AsyncIterator

_BASE_SECONDS = 0.01
_CAP_SECONDS = 0.25


async def attempts(most: int) -> AsyncIterator[int]:
    """Counts the attempts, with a pause of random length before each but the first."""
    for attempt in range(most):
        if attempt:
            await pause(attempt)
        yield attempt


async def pause(attempt: int) -> None:
    """Waits before an attempt; the first is 0 and has no pause."""
    await asyncio.sleep(random.uniform(0, min(_CAP_SECONDS, _BASE_SECONDS * 2**attempt)))
