"""When things are known to a request, and what its loaders are then asked for.

What arrives together asks for what is below it together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loaders.contract import MOST_ITEMS, GetContract, QueryContract
from loaders.cost import ALWAYS, UNLESS_READ, Cost
from resolvers.costs import item_units

if TYPE_CHECKING:
    from collections.abc import Hashable

    from resolvers.fieldkinds import FieldKind
    from resolvers.plan import Charge, PlanNode

__all__ = ["Batch", "Loading", "Moment", "Place"]

_ROUNDS = 16


@dataclass(slots=True, eq=False)
class Moment:
    """The arrival of an answer of the store; `count` where there is one for each of several parents.

    `after` is the moment in which that was asked for, as far as it is of interest.
    """

    count: int = 1
    after: Moment | None = None

    @property
    def before(self) -> tuple[Moment, ...]:
        """What came before it."""
        return () if self.after is None else (self.after,)


@dataclass(slots=True, eq=False, kw_only=True)
class Joined(Moment):
    """When two things are both there: each can be the later one."""

    parts: tuple[Moment, Moment]

    @property
    def before(self) -> tuple[Moment, ...]:
        """See Moment."""
        return self.parts

    def settle(self) -> None:
        """Takes over what became of its parts."""
        self.count = sum(part.count for part in self.parts)


@dataclass(slots=True, eq=False, kw_only=True)
class Batch(Moment):
    """What a loader is asked for in a moment, and at once the moment of its answer.

    `keys` is how many in all, `together` how many in each moment where there are several, `distinct` whether no two can
    be the same, `sources` how many fields ask, and `revisits` the other moments in which one of them asks again. A
    loader on a Query asks for its keys one by one, and answers when it has them all.
    """

    node: PlanNode
    asked: Moment
    one_by_one: bool
    keys: int = 0
    together: int = 0
    distinct: bool = True
    sources: int = 0
    revisits: list[Moment] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)

    @property
    def before(self) -> tuple[Moment, ...]:
        """See Moment."""
        return (self.asked,)

    def follows(self, other: Batch) -> bool:
        """Whether it is asked for only after an answer of the other."""
        seen: set[Moment] = set()
        left = [self.asked]
        while left:
            moment = left.pop()
            if moment is other:
                return True
            if moment not in seen:
                seen.add(moment)
                left += moment.before
        return False

    def add(self, keys: int, together: int, *, distinct: bool) -> int:
        """Asks for more, and says how many operations more that takes."""
        before = self.operations
        self.keys += keys
        self.together += together
        self.distinct = self.distinct and distinct
        self.sources += 1
        self.count = self.answers
        return self.operations - before

    @property
    def operations(self) -> int:
        """How many operations it takes."""
        if self.one_by_one:
            return self.keys
        return min(self.keys, self.asked.count * math.ceil(self.together / MOST_ITEMS))

    @property
    def answers(self) -> int:
        """In how many moments its own operations are answered."""
        return min(self.asked.count, self.keys) if self.one_by_one else self.operations

    def settle(self, others: int) -> None:
        """Counts the moments in which something of it is there, given the answers of other batches of its loader.

        What another batch reads as well comes with the answer to that, or is there at once whenever it is asked for.
        """
        more = others + self.asked.count - 1 if others or self.sources > 1 else 0
        again = sum(moment.count for moment in self.revisits)
        self.count = min(self.answers + more + again, self.keys)


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


class Loading:
    """What loaders are asked for, moment by moment, until they forget what they have read."""

    def __init__(self) -> None:
        self._batches: dict[tuple[str, Moment], Batch] = {}
        self._loaded: dict[tuple[str, Hashable], Batch] = {}
        self._first: dict[str, Batch] = {}
        self._joined: dict[tuple[Moment, Moment], Joined] = {}

    def knows(self, contract: GetContract | QueryContract, source: Hashable) -> bool:
        """Whether something was asked for already."""
        return (contract.id, source) in self._loaded

    def joined(self, first: Moment, second: Moment) -> Moment:
        """When both are there."""
        if (first, second) not in self._joined:
            self._joined[first, second] = Joined(first.count + second.count, parts=(first, second))
        return self._joined[first, second]

    def settle(self) -> None:
        """Counts all operations anew, once everything was asked for, and tells the charges how they are sent.

        One batch may split the moments of another, which then splits those of what is asked for below it, and so on.
        """
        self._settle_counts()
        for (contract_id, _), batch in self._batches.items():
            more = batch.operations - sum(charge.cost.operations for charge in batch.charges)
            if more:
                batch.charges.append(batch.node.charge(contract_id, "", UNLESS_READ, Cost(more)))
            for charge in batch.charges:  # a lone key is a GetItem
                charge.operation = "Query" if batch.one_by_one else "GetItem" if batch.keys == 1 else "BatchGetItem"

    def _settle_counts(self) -> None:
        moments: list[Batch | Joined] = [*self._batches.values(), *self._joined.values()]
        others = self._others()
        for _ in range(_ROUNDS):
            before = [moment.count for moment in moments]
            for batch, beside, behind in others:
                # What is asked for in one moment cannot meet what is only asked for because of its answer.
                met = beside if batch.asked.count == 1 else [*beside, *behind]
                batch.settle(sum(other.answers for other in met))
            for joined in self._joined.values():
                joined.settle()
            if before == [moment.count for moment in moments]:
                return
        for batch in self._batches.values():  # no more than each key by itself
            batch.count = batch.keys
        for joined in self._joined.values():
            joined.settle()

    def _others(self) -> list[tuple[Batch, list[Batch], list[Batch]]]:
        """Each batch with the others of its loader: those that do not follow it, and those that do."""
        same: dict[str, list[Batch]] = {}
        for (contract_id, _), batch in self._batches.items():
            same.setdefault(contract_id, []).append(batch)
        found = []
        for batches in same.values():
            for batch in batches:
                behind = [other for other in batches if other is not batch and other.follows(batch)]
                beside = [other for other in batches if other is not batch and other not in behind]
                found.append((batch, beside, behind))
        return found

    def load(
        self,
        node: PlanNode,
        contract: GetContract | QueryContract,
        source: Hashable,
        place: Place,
        moment: Moment,
    ) -> Batch:
        """Asks a loader for something of each parent: once in a request, with what else is asked in this moment."""
        known = self._loaded.get((contract.id, source))
        if known is not None:
            if moment is not known.asked:
                known.revisits.append(moment)
            return known
        batch = self._batches.get((contract.id, moment))
        if batch is None:
            batch = Batch(node=node, asked=moment, one_by_one=isinstance(contract, QueryContract))
            self._batches[contract.id, moment] = batch
        self._loaded[contract.id, source] = batch
        cost = Cost(0, place.times, place.times * item_units(contract))
        for when, operations in self._certainty(contract, batch, place):
            batch.charges.append(node.charge(contract.id, "", when, cost + Cost(operations)))
            cost = Cost()
        return batch

    def _certainty(self, contract: GetContract | QueryContract, batch: Batch, place: Place) -> list[tuple[str, int]]:
        """The operations that a batch takes more, by when: what may be the same as something else is not certain."""
        is_new = batch.keys == 0
        operations = batch.add(place.times, place.together, distinct=place.distinct)
        if place.when != ALWAYS:
            return [(place.when, operations)]
        if self._first.setdefault(contract.id, batch) is not batch:
            return [(UNLESS_READ, operations)]
        certain = operations if batch.distinct else min(operations, 1) if is_new else 0
        return [(ALWAYS, certain), (UNLESS_READ, operations - certain)][: 1 + (operations > certain)]
