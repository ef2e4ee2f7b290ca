"""A document as it is answered: every fragment written out where it is spread, fields of one place together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, InlineFragmentNode, OperationDefinitionNode

from domain.errors import TooComplexError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphql import DocumentNode, SelectionSetNode

__all__ = ["check_expansion", "refuse_above"]

_SELECTIONS: Final = 2500
# Validation compares every two fields of one place, and every two fragments.
_PAIRS: Final = 4000
_INTROSPECTIONS: Final = 2
_INTROSPECTION_FIELDS: Final = frozenset({"__schema", "__type"})
# What the usual introspection query needs: nine lists and non-nulls of a type, each list of the schema once.
_INTROSPECTION_DEPTH: Final = 15
_INTROSPECTED_LISTS: Final = 3
_LISTS: Final = {
    "types": 1,
    "directives": 1,
    "fields": 1,
    "args": 2,
    "inputFields": 1,
    "interfaces": 1,
    "possibleTypes": 1,
    "enumValues": 1,
}


class _Part(NamedTuple):
    """A selection, and the fragments that led to it: none of them is followed again, so that a circle ends."""

    selections: SelectionSetNode
    within: frozenset[str]


class _Place(NamedTuple):
    """All that is selected at one place of the answer."""

    parts: list[_Part]
    depth: int = 1
    is_schema: bool = False
    lists: int = 0
    """The lists of the schema around it."""


def check_expansion(document: DocumentNode, depth: int, root_fields: int) -> None:
    """Refuses what is too deep, too much, or slow to validate.

    Raises:
        TooComplexError: naming the limit.
    """
    expansion = _Expansion(document, depth)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            found = expansion.follow(node.selection_set)
            refuse_above(root_fields, found, "fields of the operation itself")
    for node in expansion.unused():
        expansion.follow(node.selection_set)


def refuse_above(most: int, found: int, what: str) -> None:
    """Refuses more than there may be."""
    if found > most:
        raise TooComplexError(f"The document has {found} {what}: {most} {'is' if most == 1 else 'are'} the most.")


class _Expansion:
    """Counts over the whole document."""

    def __init__(self, document: DocumentNode, depth: int) -> None:
        self._fragments: Mapping[str, FragmentDefinitionNode] = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._depth = depth
        self._used: set[str] = set()
        self._selections = 0
        self._pairs = 0
        self._introspections = 0
        self._lists: Counter[str] = Counter()

    def unused(self) -> Iterable[FragmentDefinitionNode]:
        """The fragments that nothing has led to: validation looks at them all the same."""
        return (node for name, node in self._fragments.items() if name not in self._used)

    def follow(self, selections: SelectionSetNode) -> int:
        """Counts all that can be reached, and returns how many fields there are at the top."""
        top = 0
        left = [_Place([_Part(selections, frozenset())])]
        while left:
            place = left.pop()
            fields = self._fields_of(place)
            for found in fields.values():
                top += len(found) if place.depth == 1 and not place.is_schema else 0
                left.append(self._below(place, found))
        return top

    def _fields_of(self, place: _Place) -> dict[str, list[tuple[FieldNode, frozenset[str]]]]:
        """The fields at a place by their names in the answer."""
        fields: dict[str, list[tuple[FieldNode, frozenset[str]]]] = {}
        spreads = 0
        left = place.parts
        while left:
            selections, within = left.pop()
            self._selections += len(selections.selections)
            refuse_above(_SELECTIONS, self._selections, "selections once its fragments are written out")
            for node in selections.selections:
                match node:
                    case FieldNode():
                        fields.setdefault((node.alias or node.name).value, []).append((node, within))
                    case InlineFragmentNode():
                        left.append(_Part(node.selection_set, within))
                    case FragmentSpreadNode():
                        spreads += 1
                        name = node.name.value
                        fragment = self._fragments.get(name)
                        if fragment is not None and name not in within:
                            self._used.add(name)
                            left.append(_Part(fragment.selection_set, within | {name}))
        self._pairs += sum(count * (count - 1) // 2 for count in (spreads, *map(len, fields.values())))
        refuse_above(_PAIRS, self._pairs, "pairs of fields, or of fragments, for one place of the answer")
        return fields

    def _below(self, place: _Place, fields: list[tuple[FieldNode, frozenset[str]]]) -> _Place:
        """What is selected of the fields that are one in the answer."""
        most, what = (self._depth, "levels of fields")
        if place.is_schema:
            most, what = (_INTROSPECTION_DEPTH, "levels of introspection")
        refuse_above(most, place.depth, what)
        name = fields[0][0].name.value
        begins = not place.is_schema and any(node.name.value in _INTROSPECTION_FIELDS for node, _ in fields)
        if begins:
            self._introspections += len(fields)
            refuse_above(_INTROSPECTIONS, self._introspections, "introspections")
        is_list = place.is_schema and name in _LISTS
        if place.is_schema:
            self._check_introspected(fields, place.lists + is_list)
        parts = [_Part(node.selection_set, within) for node, within in fields if node.selection_set is not None]
        return _Place(parts, 2 if begins else place.depth + 1, place.is_schema or begins, place.lists + is_list)

    def _check_introspected(self, fields: list[tuple[FieldNode, frozenset[str]]], lists: int) -> None:
        """The schema is large: what asks for it twice over takes long, and no tool does."""
        refuse_above(0, sum(node.alias is not None for node, _ in fields), "aliases in introspection")
        refuse_above(_INTROSPECTED_LISTS, lists, "lists of introspection in each other")
        name = fields[0][0].name.value
        if name in _LISTS:
            self._lists[name] += 1
            refuse_above(_LISTS[name], self._lists[name], f"introspected {name!r}")
