"""Figures as the items of the table give them: for `doctor`, which compares, and for `migrate`, which writes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.activity import Activity
from domain.figures import Part, Place, part_of_reservation, parts_of, parts_of_locker
from domain.models import LocationId, OwnerId, ReservationStatus
from domain.times import EARLIEST, Instant, is_instant
from loaders import keys
from loaders.codecs import (
    LOCATION,
    LOCATION_FIGURES,
    LOCKER,
    LOG_ENTRY,
    LOG_LEASE,
    OWNER_FIGURES,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
    LogLease,
    StoredReservation,
)
from loaders.contracts.figures import FIGURES
from loaders.conversion import DamagedItemError
from loaders.following.figures import Item as FigureItem
from loaders.following.figures import item_of, part_changes, record_of
from loaders.log import activities_of
from loaders.table.positions import Key
from loaders.table.values import Item, attributes_of
from loaders.tools.findings import Finding, put_repair
from loaders.tools.target import Target

if TYPE_CHECKING:
    from loaders.table.operations import Transact

_SHARDS = range(keys.LOG_SHARDS)


@dataclass(slots=True)
class Counted:
    """The parts of lockers and reservations in figures, and the figures that there are.

    Items are read one after another, while servers write and figures are counted. So what an activity has changed
    counts as the log tells it, whenever its item was read. Therefore the leases of the log must be read first, and the
    log from their positions on last.
    """

    things: dict[tuple[str, ...], Part] = field(default_factory=dict)
    figures: dict[FigureItem, Any] = field(default_factory=dict)
    told: dict[int, Instant] = field(default_factory=dict)
    """Up to when the activities of each part of the log are included in all figures."""
    log: dict[str, Activity] = field(default_factory=dict)
    """Activities by their ids: one that concerns two parts of the log may be seen in one of them."""

    def add(self, item: Item) -> None:
        """Takes an item; one that cannot be read counts as nothing, and is reported as such."""
        with suppress(DamagedItemError):
            match item.get("entityType"):
                case LOCKER.entity_type:
                    self._take(*parts_of_locker(LOCKER.decode(item)))
                case STORED_RESERVATION.entity_type:
                    self._take(part_of_stored(STORED_RESERVATION.decode(item)))
                case STORED_LIVE_RESERVATION.entity_type:  # its record may be lost
                    self._take(part_of_stored(STORED_LIVE_RESERVATION.decode(item)))
                case LOCATION_FIGURES.entity_type:
                    found = LOCATION_FIGURES.decode(item)
                    self.figures[FigureItem("location", (found.location_id,))] = found
                case OWNER_FIGURES.entity_type:
                    part = OWNER_FIGURES.decode(item)
                    self.figures[FigureItem("owner", (part.owner_id, part.shard))] = part
                case LOG_LEASE.entity_type:
                    lease = LOG_LEASE.decode(item)
                    self.told[lease.shard] = counted_until(lease)
                case LOG_ENTRY.entity_type:
                    entry = LOG_ENTRY.decode(item)
                    if entry.stamp > self.told.get(entry.shard, EARLIEST):
                        self.log |= {activity.activity_id: activity for activity in activities_of(entry)}

    def _take(self, *parts: Part) -> None:
        """Takes over what things add, unless something later is known of them."""
        for part in parts:
            known = self.things.get(part.thing)
            if known is None or part.version >= known.version:
                self.things[part.thing] = part

    def expected(self) -> dict[Place, Counter[str]]:
        """The right figures of all places: without the activities that they do not include yet.

        The parts of the log are read one after another, too. An activity may be seen in one of them although one before
        it is not, which was logged elsewhere meanwhile: then the thing is not as it was before the activity, and counts
        as it was.
        """
        missing: dict[Place, Counter[str]] = defaultdict(Counter)
        for activity in sorted(self.log.values(), key=lambda activity: activity.occurred_at):
            for part in parts_of(activity.happening):
                if not self._follow(part):
                    continue
                for item, change in part_changes(activity, part):
                    if change.at > self.included(item):
                        missing[_place_of(item)][change.figure] += change.number
        totals = self.totals()
        for place, counts in missing.items():
            totals[place].subtract(counts)
        return totals

    def _follow(self, part: Part) -> bool:
        """Whether a thing has its part in an activity by now; it is taken over, if it has not yet."""
        known = self.things.get(part.thing)
        is_next = part.before == (Counter() if known is None else known.after)
        if is_next and (known is None or part.version >= known.version):
            self.things[part.thing] = part
            return True
        return known is not None and part.version <= known.version

    def totals(self) -> dict[Place, Counter[str]]:
        """The figures of all places, as the things are."""
        totals: dict[Place, Counter[str]] = defaultdict(Counter)
        for part in self.things.values():
            for (place, figure), number in part.after.items():
                totals[place][figure] += number
        return totals

    def included(self, item: FigureItem) -> Instant:
        """Up to when an item includes all activities."""
        shard = keys.log_shard(item.key[0]) if item.kind == "location" else item.key[1]
        told, found = self.told.get(shard, EARLIEST), self.figures.get(item)
        return told if found is None else max(told, found.position)

    def found(self) -> dict[Place, Counter[str]]:
        """The figures that there are, those of an owner added."""
        found: dict[Place, Counter[str]] = defaultdict(Counter)
        for item, figures in self.figures.items():
            found[_place_of(item)].update(figures.counts)
        return found


def counted_until(lease: LogLease) -> Instant:
    """Up to when all activities of a part of the log are included in figures."""
    position = lease.positions.get("figures")
    return position if is_instant(position) else EARLIEST  # type: ignore[return-value]  # text of its form


def part_of_stored(stored: StoredReservation) -> Part:
    """The part of a reservation in figures: it counts until somebody ends it, or its end was logged."""
    is_live = stored.reservation.status is ReservationStatus.ACTIVE and stored.ended_as is None
    return part_of_reservation(stored.reservation, stored.location_id, is_live=is_live)


def figure_violations(items: Iterable[Item]) -> Iterator[Finding]:
    """The figures of a whole table that are not what lockers and reservations give."""
    counted, by_key = Counted(), {Key.of_item(item): item for item in items}
    for item in sorted(by_key.values(), key=lambda item: item.get("entityType") != LOG_LEASE.entity_type):
        counted.add(item)
    expected, found = counted.expected(), counted.found()
    if any(_record_of(place) not in by_key for place, counts in expected.items() if any(counts.values())):
        return  # what names a lost record is reported, and needs a decision first
    for place in sorted(expected.keys() | found.keys(), key=str):
        offset = Counter(expected[place])
        offset.subtract(found[place])
        difference = {figure: number for figure, number in sorted(offset.items()) if number}
        if difference:
            wrong = _item_of(place, counted)
            key = FIGURES[wrong.kind].key(*wrong.key)
            shown = ", ".join(f"{figure} {number:+}" for figure, number in difference.items())
            problem = f"it is not what lockers and reservations give: {shown}"
            stored = by_key.get(key)
            if stored is None or wrong not in counted.figures:  # it is lost, or cannot be read
                first = record_of(wrong, None, difference, counted.included(wrong))
                repair = put_repair(key, stored, FIGURES[wrong.kind].encode(first))
            else:
                repair = _adjustment(stored, difference)
            yield Finding("I9", key, problem, key, repair=repair, offset=difference)


def adjusted(finding: Finding, stored: Item | None) -> Transact | None:
    """The repair of figures as they are now: what was counted meanwhile has not changed what is wrong with them."""
    return finding.repair if stored is None or finding.offset is None else _adjustment(stored, finding.offset)


def _adjustment(stored: Item, offset: Mapping[str, int]) -> Transact:
    counts = Counter[str](stored["counts"])  # type: ignore[arg-type]  # a map
    counts.update(offset)
    becomes = {"counts": {name: number for name, number in counts.items() if number}}
    becomes["revision"] = int(stored["revision"]) + 1  # type: ignore[assignment, arg-type]
    return put_repair(Key.of_item(stored), stored, attributes_of(stored) | becomes)


def convert_figures(target: Target) -> None:
    """Gives all places their figures, if nothing was logged yet; later figures follow from the log alone.

    All figures of an owner come from one part of the log: others add to it what they tell.
    """
    if target.is_logged:
        return
    counted = Counted()
    for stored in target.items.values():
        counted.add(stored)
    totals, known = counted.totals(), counted.found()
    locations = [stored for stored in target.items.values() if stored.get("entityType") == LOCATION.entity_type]
    places = {Place(location_id=LocationId(str(location["locationId"]))) for location in locations}
    for place in {*places, *totals, *known}:
        item = _item_of(place, counted)
        found = counted.figures.get(item)
        counts = Counter[str]({} if found is None else found.counts)
        counts.update(totals[place])
        counts.subtract(known[place])
        becomes = record_of(item, found, counts, EARLIEST)
        if found is None or found.counts != becomes.counts:
            target.change({FIGURES[item.kind].key(*item.key): FIGURES[item.kind].encode(becomes)})


def _item_of(place: Place, counted: Counted) -> FigureItem:
    """The item of a place; of an owner the first that there is, or that of its own part of the log."""
    if place.owner_id is None:
        return item_of(place, 0)
    items = [item_of(place, shard) for shard in _SHARDS]
    return next((item for item in items if item in counted.figures), items[keys.log_shard(place.owner_id)])


def _record_of(place: Place) -> Key:
    return keys.owner(place.owner_id) if place.owner_id is not None else keys.location(place.location_id)  # type: ignore[arg-type]


def _place_of(item: FigureItem) -> Place:
    name = item.key[0]
    return Place(location_id=LocationId(name)) if item.kind == "location" else Place(owner_id=OwnerId(name))
