"""The pace of a command that reads or writes the whole table."""

import asyncio


class Pace:
    """Keeps below a number of items in a second."""

    def __init__(self, items_per_second: float) -> None:
        self._items_per_second = items_per_second
        self._next = asyncio.get_running_loop().time()

    async def keep(self, items: int) -> None:
        now = asyncio.get_running_loop().time()
        self._next = max(self._next, now - 1) + items / self._items_per_second
        await asyncio.sleep(max(0.0, self._next - now))
