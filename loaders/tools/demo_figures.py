"""Figures of demo data, and its usage of the last week: what its own items add up to, since nothing logs them."""

from collections import Counter, defaultdict
from datetime import timedelta

from domain.activity import ActivityKind, Happening, kind_of_event
from domain.figures import Part, parts_of_locker, usage_of
from domain.models import LockerId
from domain.times import EARLIEST, Instant, local_day, shift
from loaders.codecs import ACCESS_EVENT, LOCKER, STORED_RESERVATION
from loaders.contracts.figures import COUNT_ACTIVITIES
from loaders.following.figures import Figures, Item, item_of, record_of, write_figures
from loaders.keys import log_shard
from loaders.table.client import Store
from loaders.tools.demo_history import Piece
from loaders.tools.demo_places import location_id, time_zone
from loaders.tools.figures import part_of_stored

_DAYS = timedelta(days=6)


class DemoFigures:
    """Counts the items of demo data."""

    def __init__(self, now: Instant) -> None:
        self._now = now
        self.counts: dict[Item, Counter[str]] = defaultdict(Counter)

    def add(self, items: Piece) -> None:
        for key, attributes in items:
            item = {"PK": key.pk, "SK": key.sk, **attributes}
            match attributes["entityType"]:
                case LOCKER.entity_type:
                    self._add_parts(*parts_of_locker(LOCKER.decode(item)))
                case STORED_RESERVATION.entity_type:
                    stored = STORED_RESERVATION.decode(item)
                    made = stored.reservation
                    self._add_parts(part_of_stored(stored))
                    self._add_use(made.locker_id, made.created_at, ActivityKind.RESERVATION_CREATED)
                    if made.started_at is not None:
                        self._add_use(made.locker_id, made.started_at, ActivityKind.RESERVATION_STARTED)
                case ACCESS_EVENT.entity_type:
                    event = ACCESS_EVENT.decode(item)
                    if event.locker_id is not None:
                        self._add_use(event.locker_id, event.timestamp, kind_of_event(event))

    async def write(self, store: Store, earlier: "DemoFigures") -> None:
        """Adds what was counted to the figures that there are.

        `earlier` are the items that the table had already: where there are no figures, a load was interrupted, and they
        were not counted.
        """
        for item in self.counts.keys() | earlier.counts.keys():

            def add(found: Figures | None, item: Item = item) -> Figures | None:
                if found is not None and not self.counts[item]:
                    return None
                counts = Counter[str](earlier.counts[item] if found is None else found.counts)
                counts.update(self.counts[item])
                # Nothing of it was logged: whatever is, comes in addition.
                return record_of(item, found, counts, EARLIEST if found is None else found.position)

            await write_figures(store, item, await COUNT_ACTIVITIES.read(store, item.kind, *item.key), add)

    def _add_parts(self, *parts: Part) -> None:
        for part in parts:
            for (place, figure), number in part.after.items():
                self.counts[item_of(place, log_shard(place.owner_id or ""))][figure] += number

    def _add_use(self, locker_id: LockerId, at: Instant, kind: ActivityKind) -> None:
        number = int(locker_id.rpartition("-")[2]) - 1
        zone, place = time_zone(number), location_id(number)
        day, use = local_day(zone, at), usage_of(Happening(kind=kind))
        if use is not None and local_day(zone, shift(self._now, -_DAYS)) <= day <= local_day(zone, self._now):
            self.counts[Item("day", (day, place))][use] += 1
