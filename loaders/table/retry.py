"""How operations are repeated, with exponential backoff and full jitter."""

import asyncio
import random

_BASE_SECONDS = 0.01
_CAP_SECONDS = 0.25


async def pause(attempt: int) -> None:
    """Waits before an attempt, for a random time; the first is 0 and has no pause."""
    if attempt:
        await asyncio.sleep(random.uniform(0, min(_CAP_SECONDS, _BASE_SECONDS * 2**attempt)))
