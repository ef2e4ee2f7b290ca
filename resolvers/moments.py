"""When things are known to a request: what arrives together asks for what is below it together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loaders.contract import MOST_ITEMS
from loaders.cost import ALWAYS

if TYPE_CHECKING:
    from collections.abc import Hashable

    from resolvers.fieldkinds import FieldKind
    from resolvers.plan import Charge

__all__ = ["Batch", "Moment", "Place"]


@dataclass(slots=True, eq=False)
class Moment:
    """The arrival of an answer of the store; `count` where there is one for each of several parents."""

    count: int = 1


@dataclass(slots=True, eq=False)
class Batch(Moment):
    """What a loader is asked for in a moment, and at once the moment of its answer.

    `keys` is how many in all, `together` how many in each moment where there are several, `distinct` whether no two can
    be the same. A loader on a Query asks for them one by one.
    """

    asked: Moment = field(default_factory=Moment)
    one_by_one: bool = False
    keys: int = 0
    together: int = 0
    distinct: bool = True
    charges: list[Charge] = field(default_factory=list)

    def add(self, keys: int, together: int, *, distinct: bool) -> int:
        """Asks for more, and says how many operations more that takes."""
        before = self.operations
        self.keys += keys
        self.together += together
        self.distinct = self.distinct and distinct
        self.count = 1 if self.one_by_one else self.operations
        return self.operations - before

    @property
    def operations(self) -> int:
        """How many operations it takes."""
        if self.one_by_one:
            return self.keys
        return min(self.keys, self.asked.count * math.ceil(self.together / MOST_ITEMS))

    def name_operations(self) -> None:
        """Tells the charges how they are sent: a lone key is a GetItem."""
        for charge in self.charges:
            charge.operation = "Query" if self.one_by_one else "GetItem" if self.keys == 1 else "BatchGetItem"


@dataclass(slots=True)
class Place:
    """Where fields are selected: when their parents are known, and how many these are at most.

    `together` is how many of them come in one moment, and `source` what they are, so that the same thing is counted
    once. `distinct` where each of them is surely another one. `loading` is the moment of their records, where these are
    still on their way. `page` is how many items each of them holds, if it is a page.
    """

    moment: Moment
    times: int
    together: int
    source: Hashable
    loading: Moment | None = None
    page: int = 1
    when: str = ALWAYS
    distinct: bool = False

    def below(self, kind: FieldKind) -> Place:
        """The place below a field that reads nothing itself."""
        many = self.page if kind.of_page else kind.most
        return Place(
            self.moment,
            self.times * many,
            self.together * many,
            self.source if kind.same else (self.source, kind.name),
            self.loading,
            self.page,
            kind.when or self.when,
            self.distinct and kind.same,
        )
