"""The invariants of the table: finds what violates them, and says how it can be repaired.

Nothing is read or written here: the checks are a function of the items. Each item is checked by the declaration of its
kind, and some partitions as a whole.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

from domain.access_codes import CodeRing
from domain.models import OwnerId
from domain.times import Instant
from loaders import keys
from loaders.codecs import RESERVATION_CLAIM, STORED_RESERVATION, WEBHOOK
from loaders.table.positions import Key
from loaders.table.values import Item, attributes_of
from loaders.tools.declarations import KINDS, Due, Dues, Kind, World, restored
from loaders.tools.figures import figure_violations
from loaders.tools.findings import Finding, put_repair, removal
from loaders.tools.kinds import damage_of, kind_read_at
from loaders.tools.partitions import Partition, partition_violations

_INDEX = ("GSI1PK", "GSI1SK")
_MOST_DUES = 1000
_LOST = "does not exist"


def table_violations(items: Iterable[Item], now: Instant, ring: CodeRing | None = None) -> list[Finding]:
    """The violations in a whole table; the ring tells the digits of codes."""
    table = {Key.of_item(item): item for item in items}
    partitions: dict[str, list[Item]] = defaultdict(list)
    for key, item in table.items():
        if keys.record_of(key.pk) is not None:
            partitions[key.pk].append(item)
        elif item.get("entityType") == WEBHOOK.entity_type and "ownerId" in item:
            partitions[keys.owner(OwnerId(str(item["ownerId"]))).pk].append(item)
    found = violations(table.values(), partitions, World(table.get, now), ring)
    return sorted([*found, *figure_violations(table.values())], key=lambda finding: (finding.key, finding.problem))


def violations(
    subjects: Iterable[Item], partitions: Mapping[str, list[Item]], world: World, ring: CodeRing | None
) -> list[Finding]:
    """The violations that are found from these items and from these whole partitions, in the order of their keys."""
    found: dict[tuple[Key, str], Finding] = {}
    of_items = (_item_violations(item, world) for item in subjects)
    whole = (partition_violations(Partition(name, items, world, ring)) for name, items in partitions.items())
    for finding in chain.from_iterable(chain(of_items, whole)):
        found.setdefault((finding.key, finding.problem), finding)
    return sorted(found.values(), key=lambda finding: (finding.key, finding.problem))


def _item_violations(item: Item, world: World) -> Iterator[Finding]:
    """Checks an item; one that requests cannot read is reported as damaged only."""
    key = Key.of_item(item)
    damage = damage_of(key, item)
    if damage is not None:
        yield Finding("I7", key, f"it cannot be read: {damage}", key)
        return
    home = keys.record_of(key.pk)
    if home is not None and world.get(home) is None:
        yield Finding("I6", home, f"it {_LOST}; other items belong to it", key)
    kind = KINDS.get(kind_read_at(key, item) or "")
    if kind is None:
        yield from _index_entry(item, {})
        return
    record = kind.codec.decode(item)
    with suppress(AttributeError):  # some keys are built of more than the record
        if kind.codec.key_of(record) != key:
            yield Finding("I7", key, "it is stored under another key than its own", key)
    yield from _form(item, kind.codec.encode(record))
    for named in kind.refers(record, key):
        if world.get(named) is None:
            finding = Finding(kind.invariant, key, f"it names {_shown(named)}, which {_LOST}", key)
            yield _restoration(named, key, world) or finding
    for problem in kind.problems(record, world):
        yield Finding(kind.invariant, key, problem, key)
    dues = _dues(kind, key, record, world)
    is_whole = _is_whole(kind, key, record, world)
    for due_key, due in dues.items():
        yield from _due_violations(item, due_key, due, key, world, is_whole=is_whole)
    if kind.follows is None:
        yield from _index_entry(item, kind.codec.index(record))
    else:
        yield from _source_violations(item, kind, kind.follows(record, key), world)


def _dues(kind: Kind, key: Key, record: object, world: World) -> Dues:
    """The items that a record leads to, found once for most that ask."""
    if key not in world.dues:
        if len(world.dues) > _MOST_DUES:
            world.dues.clear()  # all would take as much memory as the table
        world.dues[key] = kind.leads(record, world)
    return world.dues[key]


def _is_whole(kind: Kind, key: Key, record: object, world: World) -> bool:
    """Whether the records that a record names exist. By one that names others, nothing is repaired."""
    homes = (keys.record_of(due.pk) for due in _dues(kind, key, record, world))
    return all(world.get(named) is not None for named in (*kind.refers(record, key), *homes) if named is not None)


def _restoration(lost: Key, subject: Key, world: World) -> Finding | None:
    """The finding of a lost reservation whose live copy, which has all but its slot, tells how it was."""
    found = restored(lost, world)
    if found is None:
        return None
    live, record = found
    repair = put_repair(lost, None, STORED_RESERVATION.encode(record), live)
    return Finding("I6", lost, "it is missing, and its live copy is there", subject, None, repair)


def _due_violations(
    record: Item, key: Key, due: Due, subject: Key, world: World, *, is_whole: bool
) -> Iterator[Finding]:
    """Whether an item that a record leads to is there, and as the record says."""
    found, attributes = world.get(key), due.attributes
    kind, shown = KINDS[str(attributes["entityType"])], _shown(Key.of_item(record))
    if found is None:
        if not due.is_optional:
            repair = put_repair(key, None, attributes, record) if is_whole else None
            yield Finding(kind.invariant, key, f"it is missing, and follows from {shown}", subject, None, repair)
        return
    if damage_of(key, found) is None:
        named = Key.of_item(record) if kind.follows is None else kind.follows(kind.codec.decode(found), key)
        of_another = named != Key.of_item(record)
        if kind.codec is RESERVATION_CLAIM and world.get(named) is None:
            of_another = False  # its key has the id of the record, so it is no trace of another one
        if of_another and due.is_optional:
            return
        if of_another:
            yield Finding(kind.invariant, key, f"it is of another record than {shown}", subject)
            return
        present = attributes_of(found)
        if due.told is not None:
            attributes = present | {name: attributes[name] for name in due.told if name in attributes}
        if present == attributes:
            return
    repair = put_repair(key, found, attributes, record) if is_whole else None
    yield Finding(kind.invariant, key, "it differs from its record", subject, None, repair)


def _source_violations(item: Item, kind: Kind, source: Key, world: World) -> Iterator[Finding]:
    """Whether the record that an item follows from exists, and leads to it."""
    key, record = Key.of_item(item), world.get(source)
    if record is None:
        repair = removal(item, source) if kind.is_removable else None
        problem = f"it follows from {_shown(source)}, which {_LOST}"
        yield _restoration(source, key, world) or Finding(kind.invariant, key, problem, key, None, repair)
        return
    if damage_of(source, record) is not None:
        return
    leading = KINDS[str(record["entityType"])]
    decoded = leading.codec.decode(record)
    due = _dues(leading, source, decoded, world).get(key)
    is_whole = _is_whole(leading, source, decoded, world)
    if due is None:
        problem = f"it does not follow from {_shown(source)} as that is now"
        yield Finding(kind.invariant, key, problem, key, None, removal(item, record) if is_whole else None)
    else:
        yield from _due_violations(record, key, due, key, world, is_whole=is_whole)


def _shown(key: Key) -> str:
    return f"{keys.shown(key.pk)} / {key.sk}"


def _form(item: Item, encoded: Mapping[str, Any]) -> Iterator[Finding]:
    """Writes compare these attributes, so an item that lacks one could not be written any more."""
    compared = ("version", "revision")
    lacking = {name: max(1, encoded[name]) for name in compared if name in encoded.keys() - item.keys()}
    if lacking:
        key = Key.of_item(item)
        repair = put_repair(key, item, {**attributes_of(item), **lacking})
        yield Finding("I7", key, f"it lacks {', '.join(lacking)}", key, None, repair)


def _index_entry(item: Item, expected: Mapping[str, str]) -> Iterator[Finding]:
    """A record is in its place of the index, or in none."""
    if {name: item[name] for name in _INDEX if name in item} == expected:
        return
    key = Key.of_item(item)
    attributes = {name: value for name, value in attributes_of(item).items() if name not in _INDEX}
    repair = put_repair(key, item, {**attributes, **expected})
    yield Finding("I3", key, "its place in the index is wrong", key, None, repair)
