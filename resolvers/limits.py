"""The limits of a document, and of what a request may ask of the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaders.contracts.cost import Cost


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    tokens: int = 1000
    aliases: int = 15
    depth: int = 10
    directives: int = 50
    root_fields: int = 10


DEFAULT_LIMITS = DocumentLimits()


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that one request may ask of the store."""

    read_units: int
    operations: int
    items: int

    def as_json(self) -> dict[str, int]:
        return {"operations": self.operations, "items": self.items, "readUnits": self.read_units}

    def exceeded_by(self, cost: Cost) -> str | None:
        """Which measure a cost exceeds, in words; None where it is within all of them."""
        for found, most, name in (
            (cost.read_units, self.read_units, "read units"),
            (cost.operations, self.operations, "store operations"),
            (cost.items, self.items, "items"),
        ):
            if found > most:
                return f"{found:,g} {name}, and the limit is {most:,}"
        return None
