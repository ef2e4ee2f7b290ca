"""Counts what is logged: figures of locations and owners, and the usage of locations by day."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from domain.activity import Activity, ActivityKind
from domain.figures import LocationFigures, LocationUsage, OwnerFigures, Part, Place, parts_of, usage_of
from domain.models import Location
from domain.times import Day, Instant, local_day
from loaders import keys
from loaders.backend import Backend
from loaders.concurrency import together
from loaders.contracts.figures import COUNT_ACTIVITIES, FIGURES
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.reading import in_batches
from loaders.conversion import DamagedItemError
from loaders.following.followers import Fence
from loaders.table.client import Store
from loaders.table.errors import ConditionFailedError

logger = logging.getLogger(__name__)

_AT_ONCE = 16
_MODELS: dict[str, Any] = {"location": LocationFigures, "owner": OwnerFigures, "day": LocationUsage}

Figures: TypeAlias = LocationFigures | OwnerFigures | LocationUsage


class Item(NamedTuple):
    """An item of figures: its kind, and what its key is made of."""

    kind: str
    key: tuple[Any, ...]


class Change(NamedTuple):
    at: Instant
    figure: str
    number: int


Changes: TypeAlias = dict[Item, list[Change]]


def figure_changes(shard: int, activities: Iterable[Activity]) -> Changes:
    """The changes of figures by activities in a part of the log.

    Those of a location are changed by its own part alone, those of an owner by the part that an activity belongs to.
    """
    changes: Changes = defaultdict(list)
    for activity in activities:
        happening = activity.happening
        if happening.kind is ActivityKind.LOCATION_CREATED:
            changes[Item("location", (happening.location_id,))] += ()
        for part in parts_of(happening):
            for item, change in part_changes(activity, part):
                if _is_in(shard, item):
                    changes[item].append(change)
    return changes


def part_changes(activity: Activity, part: Part) -> Iterator[tuple[Item, Change]]:
    """The changes of figures by a part of an activity, in whatever part of the log."""
    difference = Counter(part.after)
    difference.subtract(part.before)
    for (place, figure), number in difference.items():
        if number:
            item = item_of(place, keys.log_shard(activity.happening.place))
            yield item, Change(activity.occurred_at, figure, number)


def item_of(place: Place, shard: int) -> Item:
    """The item of a place; `shard` is the part of the log, where a place has an item for each."""
    if place.location_id is not None:
        return Item("location", (place.location_id,))
    return Item("owner", (place.owner_id, shard))


def _is_in(shard: int, item: Item) -> bool:
    return shard == (keys.log_shard(item.key[0]) if item.kind == "location" else item.key[1])


class FiguresFollower:
    """Adds activities to figures. Each item knows up to where it includes them, so what is told twice counts once."""

    name = "figures"
    is_ordered = True

    def __init__(self, backend: Backend) -> None:
        self._store = backend.store
        self._permits = asyncio.Semaphore(_AT_ONCE)

    async def apply(self, shard: int, activities: Sequence[Activity], until: Instant, fence: Fence) -> None:
        """See Follower. The fence is not needed: each write is conditioned on what was read of its item."""
        del fence
        changes = figure_changes(shard, activities) | await self._usage_changes(shard, activities)
        found = await self._read(list(changes))
        writes = [self._write(item, found[item], own, until) for item, own in changes.items()]
        await together(writes, self._permits)

    async def _usage_changes(self, shard: int, activities: Iterable[Activity]) -> Changes:
        used = [
            (location_id, activity.occurred_at, figure)
            for activity in activities
            if (location_id := activity.happening.location_id) is not None
            and keys.log_shard(location_id) == shard
            and (figure := usage_of(activity.happening)) is not None
        ]
        ids = list(dict.fromkeys((location_id,) for location_id, _, _ in used))
        found = await in_batches(lambda some: LOCATION_BY_ID.read_many(self._store, some), ids)
        places = dict(zip(ids, found, strict=True))
        changes: Changes = defaultdict(list)
        for location_id, at, figure in used:
            day = _day_at(places[location_id,], at)
            changes[Item("day", (day, location_id))].append(Change(at, figure, 1))
        return changes

    async def _read(self, items: Sequence[Item]) -> dict[Item, Figures | Exception | None]:
        found: dict[Item, Any] = {}
        for kind in FIGURES:
            own = [item.key for item in items if item.kind == kind]
            read = await COUNT_ACTIVITIES.read_together(self._store, len(own), kind, own) if own else {}
            found |= {Item(kind, key): record for (_, key), record in read.items()}
        return found

    async def _write(
        self, item: Item, found: Figures | Exception | None, changes: Sequence[Change], until: Instant
    ) -> None:
        if isinstance(found, DamagedItemError):
            logger.error("not counted, run doctor: %s", found)  # it must not keep others from being counted
            return
        if isinstance(found, Exception):
            raise found

        def add(found: Figures | None) -> Figures | None:
            """Who was faster may have counted some of the changes.

            Changes that undo each other are written too: who knows only some of them must not add these later.
            """
            new = [change for change in changes if found is None or change.at > found.position]
            return record_of(item, found, sum_of(found, new), until) if new or found is None else None

        await write_figures(self._store, item, found, add)


def sum_of(found: Figures | None, changes: Iterable[Change]) -> Counter[str]:
    counts = Counter[str]({} if found is None else found.counts)
    for change in changes:
        counts[change.figure] += change.number
    return counts


async def write_figures(
    store: Store, item: Item, found: Figures | None, change: Callable[[Figures | None], Figures | None]
) -> None:
    """Writes what an item becomes, unless it stays as it is; decides again if another process was faster."""
    while (record := change(found)) is not None:
        if found is None:
            step = COUNT_ACTIVITIES.record_step(f"first {item.kind}", record)
        else:
            step = COUNT_ACTIVITIES.record_step(item.kind, record, readRevision=found.revision)
        try:
            await store.put(COUNT_ACTIVITIES.put(step))
        except ConditionFailedError as error:
            found = None if error.item is None else FIGURES[item.kind].decode(error.item)
        else:
            return


def record_of(item: Item, found: Figures | None, counts: Mapping[str, int], position: Instant) -> Figures:
    """An item with these counts, without those that are zero."""
    names = {"location": ("location_id",), "owner": ("owner_id", "shard"), "day": ("date", "location_id")}[item.kind]
    own = dict(zip(names, item.key, strict=True))
    revision = 1 if found is None else found.revision + 1
    kept = {name: number for name, number in counts.items() if number}
    return _MODELS[item.kind](**own, counts=kept, position=position, revision=revision)  # type: ignore[no-any-return]


def _day_at(place: Location | Exception | None, at: Instant) -> Day:
    """The day at a location, in its time zone; if that is not known, in UTC."""
    if isinstance(place, Exception) and not isinstance(place, DamagedItemError):
        raise place
    return local_day(place.time_zone if isinstance(place, Location) else "UTC", at)
