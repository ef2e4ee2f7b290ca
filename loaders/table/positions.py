"""Keys and key ranges, as requests spell them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

from loaders.table.values import FoundItem


class Key(NamedTuple):
    pk: str
    sk: str

    @classmethod
    def of_item(cls, item: Mapping[str, Any]) -> Key:
        return cls(str(item.get("PK")), str(item.get("SK")))

    @property
    def wire(self) -> dict[str, Any]:
        return {"PK": {"S": self.pk}, "SK": {"S": self.sk}}


class IndexKey(NamedTuple):
    """Where an item stands in the index: its primary key and its key there."""

    pk: str
    sk: str
    index_pk: str
    index_sk: str

    @property
    def wire(self) -> dict[str, Any]:
        return {name: {"S": value} for name, value in zip(INDEX_NAMES, self, strict=True)}


Position: TypeAlias = Key | IndexKey

_NEW = tuple.__new__
"""Creates a key in half the time: a page has a hundred of them."""

INDEX = "GSI1"
INDEX_NAMES = ("PK", "SK", "GSI1PK", "GSI1SK")


@dataclass(frozen=True, slots=True)
class _OfTable:
    """A range of the table itself."""

    pk: str

    index: ClassVar[str | None] = None

    @staticmethod
    def position(item: FoundItem) -> Position:
        if isinstance(item, dict):
            return Key(item["PK"]["S"], item["SK"]["S"])
        return _NEW(Key, (item.PK.S, item.SK.S))


@dataclass(frozen=True, slots=True)
class Prefix(_OfTable):
    """All sort keys of a partition that begin alike."""

    prefix: str

    def __contains__(self, key: Position) -> bool:
        return key.pk == self.pk and key.sk.startswith(self.prefix)

    def rank(self, key: Position) -> str:
        """The part of a key that orders it in the range; comparable with ranks of ranges with the same kind of keys."""
        return key.sk.removeprefix(self.prefix)

    def same_rank(self, key: Position, rank: str) -> Position:
        """The position in this range that has the rank of a position in another."""
        del key
        return Key(self.pk, f"{self.prefix}{rank}")

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        return "#PK = :pk AND begins_with(#SK, :prefix)", {":pk": self.pk, ":prefix": self.prefix}


@dataclass(frozen=True, slots=True)
class Between(_OfTable):
    """All sort keys of a partition from low to high, both included."""

    low: str
    high: str

    def __contains__(self, key: Position) -> bool:
        return key.pk == self.pk and self.low <= key.sk <= self.high

    @staticmethod
    def rank(key: Position) -> str:
        """The part of a key that orders it in the range; comparable with ranks of ranges with the same kind of keys."""
        return key.sk

    def same_rank(self, key: Position, rank: str) -> Position:
        """The position in this range that has the rank of a position in another; its beginning, if that is later."""
        del key
        return Key(self.pk, max(rank, self.low))

    @property
    def beginning(self) -> Position:
        """The first position of the range, whether or not there is an item."""
        return Key(self.pk, self.low)

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        return "#PK = :pk AND #SK BETWEEN :low AND :high", {":pk": self.pk, ":low": self.low, ":high": self.high}


@dataclass(frozen=True, slots=True)
class IndexPartition:
    """A whole partition of the index: the lists that cross the table's own partitions."""

    pk: str

    index: ClassVar[str | None] = INDEX

    def __contains__(self, key: Position) -> bool:
        return isinstance(key, IndexKey) and key.index_pk == self.pk

    def rank(self, key: Position) -> str:
        """The part of a key that orders it in the partition; comparable with ranks of partitions in the same order."""
        assert isinstance(key, IndexKey)  # noqa: S101  # nothing else is in a partition of the index
        return key.index_sk

    def same_rank(self, key: Position, rank: str) -> Position:
        """The position in this partition that has the rank of a position in another."""
        return IndexKey(key.pk, key.sk, self.pk, rank)

    @staticmethod
    def position(item: FoundItem) -> Position:
        if isinstance(item, dict):
            return IndexKey(*(item[name]["S"] for name in INDEX_NAMES))
        return IndexKey(*(getattr(item, name).S for name in INDEX_NAMES))

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        return "#GSI1PK = :pk", {":pk": self.pk}


@dataclass(frozen=True, slots=True)
class IndexUntil(IndexPartition):
    """The beginning of a partition of the index, up to a sort key, included."""

    high: str

    def __contains__(self, key: Position) -> bool:
        return isinstance(key, IndexKey) and key.index_pk == self.pk and key.index_sk <= self.high

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        return "#GSI1PK = :pk AND #GSI1SK <= :high", {":pk": self.pk, ":high": self.high}


@dataclass(frozen=True, slots=True)
class IndexBetween(IndexPartition):
    """A part of a partition of the index, from one sort key to another, both included."""

    low: str
    high: str

    def __contains__(self, key: Position) -> bool:
        return isinstance(key, IndexKey) and key.index_pk == self.pk and self.low <= key.index_sk <= self.high

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        values = {":pk": self.pk, ":low": self.low, ":high": self.high}
        return "#GSI1PK = :pk AND #GSI1SK BETWEEN :low AND :high", values


@dataclass(frozen=True, slots=True)
class IndexPrefix(IndexPartition):
    """All sort keys of a partition of the index that begin alike."""

    prefix: str

    def __contains__(self, key: Position) -> bool:
        return isinstance(key, IndexKey) and key.index_pk == self.pk and key.index_sk.startswith(self.prefix)

    @property
    def condition(self) -> tuple[str, dict[str, str]]:
        return "#GSI1PK = :pk AND begins_with(#GSI1SK, :prefix)", {":pk": self.pk, ":prefix": self.prefix}


KeyRange: TypeAlias = Prefix | Between | IndexPartition
