"""The history of a test's table, as a follower of the log keeps it."""

from datetime import timedelta

from domain.activity import Activity
from domain.times import EARLIEST, LATEST
from loaders import keys
from loaders.contracts.activity import LOG_ACTIVITY
from loaders.contracts.base import Order
from loaders.following.followers import Fence
from loaders.following.history import HistoryFollower
from loaders.log import activities_of
from loaders.pages import PageRequest
from loaders.table.client import Store


async def logged(store: Store, shard: int) -> list[Activity]:
    """All activities of a part of the log."""
    found: list[Activity] = []
    cursor: str | None = None
    while True:
        request = PageRequest(100, cursor=cursor)
        page = await LOG_ACTIVITY.page(store, request, Order.ASC, shard, EARLIEST, LATEST)
        found += [activity for entry in page.nodes for activity in activities_of(entry)]
        cursor = page.next_cursor
        if cursor is None:
            return found


async def keep_history(store: Store, retention: timedelta = timedelta(days=400)) -> None:
    """Copies everything that was logged so far."""
    follower = HistoryFollower(store, retention)
    for shard in range(keys.LOG_SHARDS):
        activities = await logged(store, shard)
        if activities:
            await follower.apply(shard, activities, activities[-1].occurred_at, Fence(shard, 1))
