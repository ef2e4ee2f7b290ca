"""Findings of the doctor, each a violated invariant, and the repairs of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loaders import keys
from loaders.contracts.doctor import REPAIR
from loaders.table.positions import Key
from loaders.table.values import Item

if TYPE_CHECKING:
    from loaders.table.operations import Step, Transact


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated invariant.

    `subject` is the item from which it was found; `partition` is named if it was found from the items of a partition as
    a whole. What cannot be repaired needs a decision, or a backup.
    """

    invariant: str
    key: Key
    problem: str
    subject: Key = field(compare=False)
    partition: str | None = field(default=None, compare=False)
    repair: Transact | None = field(default=None, compare=False)
    offset: Mapping[str, int] | None = field(default=None, compare=False)
    """Of figures: what must be added to them, whatever else is."""

    @property
    def place(self) -> str:
        """The key of the item that is wrong, without email addresses."""
        return f"{keys.shown(self.key.pk)} / {self.key.sk}"


def put_repair(key: Key, found: Item | None, attributes: Mapping[str, Any], record: Item | None = None) -> Transact:
    """Writes an item that is missing or differs, unless it or the record that it follows from has changed."""
    if found is None:
        step = REPAIR.step("missing item", key, attributes)
    else:
        step = REPAIR.as_read_step("differing item", found, attributes)
    return REPAIR.transact(*_checked(record), step)


def removal(item: Item, record: Item | Key) -> Transact:
    """Removes an item, unless it or the record that does not lead to it has changed, or the record appears."""
    checked = [REPAIR.step("no record", record)] if isinstance(record, Key) else _checked(record)
    return REPAIR.transact(*checked, REPAIR.as_read_step("surplus item", item))


def _checked(record: Item | None) -> list[Step]:
    return [] if record is None else [REPAIR.as_read_step("record", record)]
