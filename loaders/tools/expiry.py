"""Items whose time to live has passed: DynamoDB deletes them within days, the embedded store never does.

No request shows them: an expired attempt, claim or budget counts as one that does not exist. What is kept for a time
that the settings say may have been written under others; then the time of the item decides.
"""

from pydantic.alias_generators import to_camel

from domain.retention import KEPT_DETAILS, KEPT_EVENTS, KEPT_HISTORY, KEPT_LOG
from domain.times import LATEST, Instant, to_seconds
from loaders.backend import Backend
from loaders.codecs import ACCESS_EVENT, ACTIVITY, EVENT_CLAIM, LOG_ENTRY, RECIPIENT_RESERVATION, RESERVATION_DETAILS
from loaders.contracts.maintenance import EXPIRE_ITEM, EXPIRY_SCAN
from loaders.table.client import DynamoStore
from loaders.table.errors import TransactionRefusedError
from loaders.table.values import Item, any_item_from_wire
from loaders.tools.pace import Pace

_KEPT = {
    ACCESS_EVENT.entity_type: KEPT_EVENTS,
    EVENT_CLAIM.entity_type: KEPT_EVENTS,
    ACTIVITY.entity_type: KEPT_HISTORY,
    LOG_ENTRY.entity_type: KEPT_LOG,
    RESERVATION_DETAILS.entity_type: KEPT_DETAILS,
    RECIPIENT_RESERVATION.entity_type: KEPT_DETAILS,
}


def is_expired(item: Item, now: Instant) -> bool:
    """Whether the store may delete an item. The expiry of an API key is a text, by which nothing is deleted."""
    expires_at = item.get("expiresAt")
    return isinstance(expires_at, int) and expires_at <= to_seconds(now)


def is_outdated(item: Item, backend: Backend) -> bool:
    """Whether an item is older than the settings let it be kept."""
    kept = _KEPT.get(str(item.get("entityType")))
    return kept is not None and str(item.get(to_camel(kept.time), LATEST)) < backend.kept_since(kept)


async def expire_items(store: DynamoStore, backend: Backend, *, items_per_second: float, dry_run: bool) -> int:
    """Deletes the expired items, or only counts them; returns their number."""
    pace, count = Pace(items_per_second), 0
    async for page in EXPIRY_SCAN.pages(store):
        now = backend.clock()
        for item in map(any_item_from_wire, page.items):
            if is_expired(item, now) or is_outdated(item, backend):
                count += dry_run or await _deleted(store, item, now)
        await pace.keep(len(page.items))
    return count


async def _deleted(store: DynamoStore, item: Item, now: Instant) -> bool:
    steps = [EXPIRE_ITEM.as_read_step("expired item", item)]
    if item.get("entityType") == RESERVATION_DETAILS.entity_type and not is_expired(item, now):
        claim = (item["lockerId"], item["reservationId"])
        steps.append(EXPIRE_ITEM.step("claim", claim, {"detailsUntil": to_seconds(now)}))
    try:
        await store.transact(EXPIRE_ITEM.transact(*steps))
    except TransactionRefusedError:
        return False  # it was renewed, or is gone
    return True
