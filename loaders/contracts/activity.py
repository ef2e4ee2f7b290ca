"""The access patterns of activities: the history of an object, and the log as a whole."""

import asyncio
from dataclasses import dataclass, replace

from domain.activity import PastActivity, past_activity
from domain.retention import KEPT_HISTORY, KEPT_LOG
from domain.times import Instant
from loaders import keys
from loaders.codecs import ACTIVITY, LOG_ENTRY, LogEntry
from loaders.concurrency import together
from loaders.contracts.base import Order
from loaders.contracts.reading import ReadOne, ReadPage, ReadTail, key_since, without_damage
from loaders.contracts.write_parts import put
from loaders.contracts.writing import WriteContract
from loaders.conversion import DamagedItemError
from loaders.cursors import decode_cursor
from loaders.log import activities_of
from loaders.pages import Page, PageRequest
from loaders.table.client import Store
from loaders.table.positions import Position
from loaders.table.values import FoundItem

WHOLE_LOG = "log:all"
"""The place of all activities together."""

_NEWEST_FIRST = "By time; both bounds are included. Newest first unless asked otherwise."
_COPIES = (
    "Some 20 activities a locker and day, of up to 2 KB, for 400 days; each is in the history of two to four objects."
)

KEEP_HISTORY = WriteContract(
    id="QC-150",
    purpose="Keep an activity in the history of an object",
    operation="PutItem",
    steps=(put("copy", ACTIVITY, None),),
    most_steps=1,
    silent="It copies what the log tells.",
    note="A follower of the log sends it for each object that an activity concerns, about a second after the change. "
    "It needs no condition: the same activity has the same key and the same content, however often it is copied. The "
    "time-to-live attribute `expiresAt` removes it.",
    cardinality=_COPIES,
    hot_partition="The activities of a location share its partition: about 1,000 a second at most.",
)

LOCKER_ACTIVITY = ReadPage(
    id="QC-151",
    purpose="History of a locker in a time window",
    range=keys.locker_activities,
    codec=ACTIVITY,
    kept=KEPT_HISTORY,
    orders=(Order.DESC, Order.ASC),
    note=_NEWEST_FIRST,
    cardinality="Some 20 activities a locker and day, for 400 days.",
    hot_partition="Low: one locker's partition.",
)

LOCATION_ACTIVITY = ReadPage(
    id="QC-152",
    purpose="History of a location and its lockers in a time window",
    range=keys.location_activities,
    codec=ACTIVITY,
    kept=KEPT_HISTORY,
    orders=(Order.DESC, Order.ASC),
    note=f"{_NEWEST_FIRST} For admins.",
    cardinality="Some 20 activities a day for each locker at the location, for 400 days.",
    hot_partition="Low: one location's partition, which takes about 1,000 activities a second.",
)

PUBLIC_ACTIVITY = ReadPage(
    id="QC-153",
    purpose="Public history of a location in a time window",
    range=keys.public_activities,
    codec=ACTIVITY,
    kept=KEPT_HISTORY,
    orders=(Order.DESC, Order.ASC),
    note=f"{_NEWEST_FIRST} For callers other than admins and support: changes of the location itself and of its "
    "calendar events. A list of its own tells nothing of the activities that others have at the location, not even "
    "their number.",
    cardinality="A few activities a location and week, for 400 days.",
    hot_partition="Low: one location's public history.",
)

OWNER_ACTIVITY = ReadPage(
    id="QC-154",
    purpose="History of what concerned an owner in a time window",
    range=keys.owner_activities,
    codec=ACTIVITY,
    kept=KEPT_HISTORY,
    orders=(Order.DESC, Order.ASC),
    note=f"{_NEWEST_FIRST} An activity is in the history of the owners that it concerned when it happened.",
    cardinality="Some 20 activities a day for each locker of the owner, for 400 days.",
    hot_partition="Low: one owner's partition, which takes about 1,000 activities a second.",
)

ACTIVITY_BY_KEY = ReadOne(
    id="QC-155",
    purpose="An activity by its global id",
    codec=ACTIVITY,
    kept=KEPT_HISTORY,
    note="The global id holds the whole key.",
    cardinality="One item an activity.",
    hot_partition="Low: one object's partition.",
)


@dataclass(frozen=True, kw_only=True)
class ReadLog(ReadPage[LogEntry]):
    """The log, whose parts are read as one list of activities: an entry has one or several of them."""

    async def activities(
        self,
        store: Store,
        request: PageRequest,
        order: Order,
        start: Instant,
        end: Instant,
        since: Instant,
        permits: asyncio.Semaphore,
    ) -> Page[PastActivity]:
        """Reads a page of activities with one Query for each part.

        A cursor may be in the middle of an entry, so its entry is read again: one item more than the page has, and
        than the look-ahead.
        """
        self._check(request, order)
        forward = (order is Order.ASC) is not request.backward
        after, low, high = None, start, end
        if request.cursor is not None:
            after = decode_cursor(request.cursor, keys.activities(WHOLE_LOG, start, end), request.cursor_argument)
            low, high = (keys.log_bound_of(after), end) if forward else (start, keys.log_bound_of(after))
        wider = replace(request, size=request.size + 1)
        ranges = [self.range(*key_since((shard, low, high), since)) for shard in range(keys.LOG_SHARDS)]
        parts = await together((self._read(store, wider, order, within, None) for within in ranges), permits)
        # What concerns two parts of the log is in both, with the same id.
        found = dict(entry for part in parts for place, item in part.placed for entry in self._told(place, item))
        places = sorted(place for place in found if after is None or (place > after if forward else place < after))
        shown = (places if forward else places[::-1])[: request.size]
        return without_damage(Page.of([found[place] for place in shown], shown, request, len(places)))

    def _told(self, place: Position, item: FoundItem) -> list[tuple[Position, PastActivity | DamagedItemError]]:
        """The activities of an entry, each with its position; of one that is damaged, the damage."""
        try:
            told = [past_activity(activity, WHOLE_LOG, 0) for activity in activities_of(self.codec.read(item))]
        except DamagedItemError as damage:
            return [(keys.activity_of(place), damage)]
        return [(ACTIVITY.key_of(activity), activity) for activity in told]


LOG_ACTIVITY = ReadLog(
    id="QC-156",
    purpose="Log of all activities in a time window",
    range=keys.log_entries,
    codec=LOG_ENTRY,
    kept=KEPT_LOG,
    orders=(Order.DESC, Order.ASC),
    note=f"{_NEWEST_FIRST} One Query for each of the {keys.LOG_SHARDS} parts of the log, merged by time.",
    cardinality="One entry a change, for 30 days.",
    hot_partition="A part of the log takes about 500 transactions a second.",
)

MISSED_ACTIVITY = ReadTail(
    id="QC-157",
    purpose="History of an object since a cursor, for a subscription that is resumed",
    codec=ACTIVITY,
    range=keys.activities,
    most=100,
    note="Oldest first, strongly consistent, up to the position of the follower that keeps history. What comes later "
    "is read from the log.",
    cardinality="What happened to the object while a client was away.",
    hot_partition="Low: one object's partition.",
)
