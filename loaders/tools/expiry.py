"""Items whose time to live has passed: DynamoDB deletes them within days, the embedded store never does.

No request shows them: an expired attempt, claim or budget counts as one that does not exist.
"""

from collections.abc import Callable

from domain.times import Instant, to_seconds
from loaders.contracts.maintenance import EXPIRE_ITEM, EXPIRY_SCAN
from loaders.table.client import DynamoStore
from loaders.table.errors import TransactionRefusedError
from loaders.table.positions import Key
from loaders.table.values import Item, any_item_from_wire
from loaders.tools.pace import Pace


def is_expired(item: Item, now: Instant) -> bool:
    """Whether the store may delete an item. The expiry of an API key is a text, by which nothing is deleted."""
    expires_at = item.get("expiresAt")
    return isinstance(expires_at, int) and expires_at <= to_seconds(now)


async def expire_items(
    store: DynamoStore, clock: Callable[[], Instant], *, items_per_second: float, dry_run: bool
) -> int:
    """Deletes the expired items, or only counts them; returns their number."""
    pace, count = Pace(items_per_second), 0
    async for page in EXPIRY_SCAN.pages(store):
        now = clock()
        for item in map(any_item_from_wire, page.items):
            if is_expired(item, now):
                count += dry_run or await _deleted(store, Key.of_item(item), now)
        await pace.keep(len(page.items))
    return count


async def _deleted(store: DynamoStore, key: Key, now: Instant) -> bool:
    try:
        await store.transact(EXPIRE_ITEM.transact(EXPIRE_ITEM.step("expired item", key, now=to_seconds(now))))
    except TransactionRefusedError:
        return False  # it was renewed, or is gone
    return True
