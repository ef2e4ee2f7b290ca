"""Documents with random mistakes: parts of a valid document are left out, repeated, or replaced by others."""

from collections.abc import Iterator
from random import Random
from typing import Any

from graphql import DocumentNode, Node, SelectionSetNode, parse

from tests.fuzz.documents import SCHEMA

_VALUES = [
    "null",
    "{}",
    "[]",
    "1",
    "-1.5",
    '"x"',
    "true",
    "AVAILABLE",
    "$v1",
    "$unknown",
    '["x", null]',
    '{ownerId: "x"}',
]
_DIRECTIVES = ["@skip(if: true)", "@include(if: $v1)", "@include", "@skip(if: 1)", "@unknown", "@defer", "@deprecated"]
_SELECTIONS = [
    *["__typename", "a: __typename", "__typename { x }", "id", "id: __typename", "nodes { __typename }", "...F1"],
    *["... { __typename }", "... on Node { id }", "... on Locker { lockerId }", "... on String { x }", "...Unknown"],
    *[
        "__schema { types { name } }",
        '__type(name: "Query") { name }',
        "... on UserError { code }",
        "viewer { subject }",
    ],
]
_DEFINITIONS = [
    *["query B { __typename }", "query A { __typename }", "{ __typename }", "subscription { __typename }"],
    *["fragment F1 on Query { __typename }", "fragment F9 on Query { __typename }", "scalar X"],
    *[
        "query C($v1: ID!) { locker(lockerId: $v1) { lockerId } }",
        "query D { ...F1 }",
        "query E($v1: ID) { __typename }",
    ],
]
_TYPES = ["ID", "ID!", "Int", "Int!", "String", "[ID!]!", "Locker", "Unknown", "Boolean!", "DateTime", "LockerStatus"]
_OTHERS = {
    "Field": _SELECTIONS,
    "FragmentSpread": _SELECTIONS,
    "InlineFragment": _SELECTIONS,
    "Argument": ["first: 1", "first: null", "lockerId: $v1", 'ownerId: "x"', "unknown: 1", "input: {}", "if: true"],
    "Directive": _DIRECTIVES,
    "NamedType": _TYPES,
    "NonNullType": _TYPES,
    "ListType": _TYPES,
    "ObjectField": ["ownerId: 1", 'lockerId: "x"', "unknown: 1", "from: null", "expectedVersion: $v1"],
    "VariableDefinition": ["$v1: ID!", "$v1: Int = 1", "$v2: Boolean!", "$v9: Int", "$v9: Unknown", "$v1: Int = null"],
    "OperationDefinition": _DEFINITIONS,
    "FragmentDefinition": _DEFINITIONS,
}
_NAMES = sorted({name for type_ in SCHEMA.type_map.values() for name in [type_.name, *getattr(type_, "fields", {})]})


def mutants(random: Random, text: str) -> Iterator[str]:
    """The document with up to three mistakes, without end. Some make no difference, and some are of syntax."""
    by_kind: dict[str, list[Node]] = {}
    for node in _nodes(parse(text)):
        by_kind.setdefault(type(node).__name__.removesuffix("Node"), []).append(node)
    while True:
        mutant, place = text, len(text)
        mistakes = [_mistake(random, text, by_kind) for _ in range(random.randint(1, 3))]
        for start, end, new in sorted(mistakes, reverse=True):
            if end <= place:
                mutant, place = f"{mutant[:start]}{new}{mutant[end:]}", start
        yield mutant


def _mistake(random: Random, text: str, by_kind: dict[str, list[Any]]) -> tuple[int, int, str]:
    """Where a part of the document begins and ends, and what to write there."""
    kind = random.choice(list(by_kind))
    node, similar = random.choice(by_kind[kind]).loc, random.choice(by_kind[kind]).loc
    own = text[node.start : node.end]
    others = _NAMES if kind == "Name" else _OTHERS.get(kind, _VALUES)
    other = random.choice([text[similar.start : similar.end], random.choice(others)])
    new = ["", f"{own} {own}", other, other, f"{own} {other}", f"{own} {random.choice(_DIRECTIVES)}"]
    return node.start, node.end, random.choice(new)


def _nodes(document: DocumentNode) -> Iterator[Node]:
    left: list[Any] = list(document.definitions)
    while left:
        node = left.pop()
        if not isinstance(node, SelectionSetNode):
            yield node
        for key in node.keys:
            below = getattr(node, key)
            left += [part for part in (below if isinstance(below, tuple) else [below]) if isinstance(part, Node)]
