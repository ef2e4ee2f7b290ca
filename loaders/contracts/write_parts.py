"""The parts of a write contract: the reads that precede a write, and the steps of the write itself.

A read or a step is declared once. The declaration builds the key, states the condition and the consistency, and gives
the price and the documentation.
"""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, TypeAlias

from loaders import keys
from loaders.contracts.base import ContractError
from loaders.contracts.cost import ALWAYS, Part
from loaders.conversion import Codec
from loaders.table.operations import Action, Step
from loaders.table.positions import Key, KeyRange

IS_NEW = "attribute_not_exists(#PK)"
IS_NEW_OR_EXPIRED = f"{IS_NEW} OR #expiresAt <= :now"
EXISTS = "attribute_exists(#PK)"
AS_READ = "as it was read"
"""The condition that an item has every attribute as it was read."""
REPEATED_CHANGE = (
    "The item keeps the token of its latest change: that change, sent again, writes nothing and succeeds. A change to "
    "the present values writes nothing either."
)


@dataclass(frozen=True, slots=True)
class ItemRead:
    """A GetItem that precedes a write; a BatchGetItem where `at_once` allows several keys and several are given.

    `when` is the condition on which it is sent, `most` how often it is sent at most, `usual` how many keys it usually
    has, where those are fewer, and `only` names the variants of the write that send it, where not all do.
    """

    name: str
    codec: Codec[Any]
    _: KW_ONLY
    consistent: bool = True
    when: str = ALWAYS
    most: int = 1
    at_once: int = 1
    usual: int | None = None
    only: tuple[str, ...] = ()

    @property
    def part(self) -> Part:
        return Part(
            operation="GetItem" if self.at_once == 1 else "BatchGetItem",
            sizes=(self.codec.largest,) * self.at_once,
            when=self.when,
            most=self.most,
            consistent=self.consistent,
            only=self.only,
            usual=self.usual,
        )

    @property
    def text(self) -> str:
        several = "" if self.at_once == 1 else f" of up to {self.at_once} keys"
        return _line(f"{self.part.operation}{several}, {self.name}: {_spelled(self.codec.key)}", self.part)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRead:
    """A strongly consistent BatchGetItem of different items that precedes a write."""

    items: tuple[ItemRead, ...]

    @property
    def part(self) -> Part:
        return Part(operation="BatchGetItem", sizes=tuple(item.codec.largest for item in self.items))

    @property
    def text(self) -> str:
        items = "; ".join(f"{item.name}: {_spelled(item.codec.key)}" for item in self.items)
        return _line(f"BatchGetItem, {items}", self.part)


@dataclass(frozen=True, slots=True)
class RangeRead:
    """A strongly consistent Query that precedes a write, read page by page no further than needed.

    `limit` is the number of items of one page, `usual` how many there usually are. `when` and `only` are as for an
    `ItemRead`.
    """

    name: str
    range: Callable[..., KeyRange]
    codec: Codec[Any]
    limit: int
    _: KW_ONLY
    usual: int = 10
    forward: bool = True
    when: str = ALWAYS
    only: tuple[str, ...] = ()

    @property
    def part(self) -> Part:
        sizes = (self.codec.largest,) * self.limit
        return Part(operation="Query", sizes=sizes, when=self.when, only=self.only, usual=self.usual)

    @property
    def text(self) -> str:
        order = "ascending" if self.forward else "descending"
        return _line(f"Query, {self.name}: {_spelled(self.range)}; {order}, Limit {self.limit}", self.part)


DeclaredRead: TypeAlias = ItemRead | BatchRead | RangeRead


@dataclass(frozen=True, slots=True)
class StepRule:
    """One item's part in a write: what is done to it, and what must be true of it.

    `item` is the kind of item, or builds the key of one of any kind. `most` is how many such items one request may
    write; `item_bytes` is given where they are smaller than others of their kind. `index_writes` is how often the item
    is written in the index too: twice where its key there changes.
    """

    action: Action
    name: str
    item: Codec[Any] | Callable[..., Key]
    condition: str | None
    _: KW_ONLY
    when: str = ALWAYS
    most: int = 1
    item_bytes: int = 0
    index_writes: int = 0

    @property
    def key(self) -> Callable[..., Key]:
        return self.item.key if isinstance(self.item, Codec) else self.item

    def size(self, of_any: int) -> int:
        """The size of the largest item; `of_any` is that of an item of any kind."""
        return self.item_bytes or (self.item.largest if isinstance(self.item, Codec) else of_any)

    @property
    def codec(self) -> Codec[Any]:
        if not isinstance(self.item, Codec):
            raise ContractError(f"{self.name} is an item of any kind")
        return self.item

    def step(
        self, key: Key, attributes: Mapping[str, Any], values: Mapping[str, Any], added: Mapping[str, int] | None = None
    ) -> Step:
        """The step on the item with this key; the condition compares with `values`."""
        compared = {f":{placeholder}": value for placeholder, value in values.items()}
        return Step(self.name, self.action, key, attributes, self.condition, compared, added or {})


put = partial(StepRule, Action.PUT)
update = partial(StepRule, Action.UPDATE)
delete = partial(StepRule, Action.DELETE)
check = partial(StepRule, Action.CHECK)


def _line(request: str, part: Part) -> str:
    consistency = "strongly consistent" if part.consistent else "eventually consistent"
    when = "" if part.when == ALWAYS else f"; {part.when}"
    only = f"; to {' or '.join(part.only)}" if part.only else ""
    return f"{request}; {consistency}{when}{only}"


def _spelled(builder: Callable[..., Key | KeyRange]) -> str:
    partition, sort = keys.spelled(builder)
    return f"`{partition}`, `{sort}`"
