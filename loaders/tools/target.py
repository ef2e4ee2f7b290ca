"""A table that is being converted, in memory: what it becomes, and the changes that lead there."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from domain.models import LocationId
from domain.times import Instant
from loaders.table.positions import Key
from loaders.table.values import Item
from loaders.tools.forms import NotConvertedError, form_of
from loaders.tools.kinds import kind_at, known_attributes, label_of

Group: TypeAlias = dict[Key, Mapping[str, Any] | None]
"""New content of items that are written together or not at all; None for an item that is removed."""

_KEY = frozenset({"PK", "SK"})
_MAP = "addressComponents"
"""A map whose parts may have a place or not."""


@dataclass(slots=True)
class Report:
    """The report of a migration, with what has no place in today's form: kinds, attributes and numbers, no values."""

    read: int = 0
    written: int = 0
    converted: Counter[str] = field(default_factory=Counter)
    """Items that had another form, by their kind."""
    left: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Items that stay as they were, by their kind and what is in the way."""
    unplaced: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Attributes that stay on items without a place in today's form, by kind and name."""
    unknown: Counter[str] = field(default_factory=Counter)
    new_owners: list[str] = field(default_factory=list)


class Target:
    """The table as it becomes.

    `now` is when the migration began. `location_id` is the location of bookings and calendar events that name none.
    """

    def __init__(
        self, items: Iterable[Item], report: Report, now: Instant, location_id: LocationId | None = None
    ) -> None:
        self.items: dict[Key, Item] = {}
        self.groups: list[Group] = []
        self.report = report
        self.now = now
        self.location_id = location_id
        self.is_logged = False
        """Whether the table has a log: then what an earlier format lacked was converted before."""
        self.told: dict[Key, dict[str, str]] = {}
        """Attributes that the keys of items tell, where items may have another form."""
        self._kinds: dict[Key, str] = {}
        self.left: set[Key] = set()
        """The items that stay as they are."""
        self.add(items)

    def add(self, items: Iterable[Item]) -> None:
        added = {Key.of_item(item): item for item in items}
        self.items |= added
        for key in sorted(added):
            found = form_of(added[key])
            if found is not None:
                self._kinds[key], self.told[key] = found

    def sources(self, *kinds: str) -> list[Key]:
        """The keys of the items of these kinds, kind by kind, each in order."""
        return [key for kind in kinds for key, found in self._kinds.items() if found == kind]

    def sources_by(self, attribute: str, *kinds: str) -> dict[str, list[Key]]:
        """The keys of the items of these kinds, by an attribute that their keys tell."""
        found: dict[str, list[Key]] = defaultdict(list)
        for key in self.sources(*kinds):
            found[self.told[key][attribute]].append(key)
        return found

    def kind(self, key: Key) -> str:
        """The kind of an item that may have another form."""
        return self._kinds[key]

    def attempt(self, sources: Iterable[Key], convert: Callable[[], Group]) -> None:
        """Changes what the sources become, or leaves them as they are."""
        try:
            self.change(convert())
        except NotConvertedError as obstacle:
            self.leave(sources, obstacle)

    def leave(self, sources: Iterable[Key], obstacle: NotConvertedError) -> None:
        """Leaves items as they are, and reports why."""
        for key in sources:
            self.left.add(key)
            self.report.left[self._kinds[key], str(obstacle)] += 1

    def change(self, group: Group) -> None:
        """Takes over what a group of items becomes; what is so already is no change."""
        changes: Group = {}
        for key, attributes in group.items():
            before = self.items.pop(key, None)
            after = None if attributes is None else {"PK": key.pk, "SK": key.sk, **attributes}
            if after is not None:
                self.items[key] = after
            if before != after:
                changes[key] = after
                if before is not None and key in self._kinds:
                    self.report.converted[self._kinds[key]] += 1
        if changes:
            self.groups.append(changes)

    def describe(self) -> None:
        """Reports what the items have beside today's form."""
        for key, item in self.items.items():
            kind = kind_at(key, item)
            if kind is None and key not in self.left:
                self.report.unknown[label_of(item)] += 1
            known = _KEY if kind is None or key in self.left else known_attributes(kind)
            for name in item.keys() - known:
                value = item[name]
                parts = [f"{name}.{part}" for part in value] if name == _MAP and isinstance(value, dict) else [name]
                self.report.unplaced.update((kind or label_of(item), part) for part in parts)
