"""Each item of a full table is lost or changed: doctor sees it, or the documentation says why not."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest_asyncio

from domain.times import Instant
from loaders.backend import Backend
from loaders.codecs import ACTIVITY, LOG_ENTRY
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.writing import WriteContract
from loaders.conversion import Codec
from loaders.keys import is_counted_in, record_of
from loaders.table.positions import Key
from loaders.table.values import any_item_from_wire
from loaders.tools.declarations import KINDS, PLAIN_KINDS, World
from loaders.tools.invariants import table_violations, violations
from loaders.tools.kinds import kind_at
from tests.api import Api
from tests.conftest import RING, Clock
from tests.damages import Item, damages
from tests.full_table import fill
from tests.tables import PlainClient

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
LOGGED = {LOG_ENTRY.entity_type, ACTIVITY.entity_type}
ROW = re.compile(r"^\| `([A-Z_]+)` \| (.+?) \|", re.MULTILINE)


@pytest_asyncio.fixture
async def items(api: Api, clock: Clock, backend: Backend, plain_client: PlainClient, table: str) -> dict[Key, Item]:
    """A table with items of every kind."""
    await fill(api, clock, backend)
    items = {Key.of_item(item): item for item in map(any_item_from_wire, await plain_client.items(table))}
    return {key: item for key, item in items.items() if key not in repeated(items)}


def repeated(items: dict[Key, Item]) -> set[Key]:
    """Items of the log and of history whose attributes others have too: each change has left some.

    The history of owners has expired: only what it leaves would tell of an owner that is lost.
    """
    found: set[Key] = set()
    attributes: dict[str, set[str]] = {}
    for key, item in sorted(items.items(), key=lambda one: (-len(one[1]), one[0])):
        known = attributes.setdefault(str(item.get("entityType")), set())
        if item.get("entityType") in LOGGED and (item.keys() <= known or key.pk.startswith("OWNER#")):
            found.add(key)
        else:
            known.update(item)
    return found


def documented() -> set[tuple[str, str]]:
    """The damage that the documentation lists as not seen."""
    section = OPERATIONS.read_text(encoding="utf-8").partition("### What cannot be seen")[2].partition("\n## ")[0]
    return {(kind, name.strip("`")) for kind, names in ROW.findall(section) for name in names.split(", ")}


def is_seen(items: dict[Key, Item], damaged: Key, now: Instant) -> bool:
    """Whether there is a violation. Most are found near the damage, long before a whole table is checked."""
    near: list[Mapping[str, Any]] = [item for item in items.values() if is_counted_in(damaged.pk, item)]
    whole = {damaged.pk: near} if record_of(damaged.pk) else {}
    return bool(violations(near, whole, World(items.get, now), RING) or table_violations(items.values(), now, RING))


def unseen(items: dict[Key, Item], now: Instant) -> set[tuple[str, str]]:
    """The kinds and attributes of which some damage is not seen."""
    found = set()
    for key, item in items.items():
        for name, _, left in damages(item):
            table = {place: other for place, other in (items | {key: left}).items() if other is not None}
            if not is_seen(table, key, now):
                found.add((str(kind_at(key, item)), name))
    return found


def test_every_kind_of_item_that_a_contract_writes_is_declared() -> None:
    rules = [rule for contract in CONTRACTS.values() if isinstance(contract, WriteContract) for rule in contract.rules]
    written = {rule.item.entity_type for rule in rules if isinstance(rule.item, Codec)}
    builders = {rule.item for rule in rules if not isinstance(rule.item, Codec)} - {Key}
    assert written == KINDS.keys()
    assert len(builders) == len(PLAIN_KINDS)


async def test_every_damage_is_seen_or_documented(items: dict[Key, Item], clock: Clock) -> None:
    assert {kind_at(key, item) for key, item in items.items()} == KINDS.keys() | PLAIN_KINDS
    assert table_violations(items.values(), clock.now, RING) == []
    found, stated = unseen(items, clock.now), documented()
    assert (sorted(found - stated), sorted(stated - found)) == ([], [])
