"""What a document may have at most, counted before validation, which is slow for what attackers write."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSyntaxError,
    InlineFragmentNode,
    OperationDefinitionNode,
    parse,
)

from domain.errors import TooComplexError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import DocumentNode, SelectionSetNode

__all__ = ["DEFAULT_LIMITS", "DocumentLimits", "parse_within"]

# Reading a text takes time for every character, whatever it holds.
_CHARACTERS = 32 * 1024
# Validation compares every two fields of one name in a selection.
_REPEATS = 20
# What the usual introspection query needs, which goes nine lists and non-nulls deep.
_INTROSPECTION_DEPTH = 15
_INTROSPECTIONS = 2
_INTROSPECTION_FIELDS = frozenset({"__schema", "__type"})
# How graphql-core ends what it says when a text has more than it was allowed.
_ABORTED = " Parsing aborted."


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """What can be set."""

    tokens: int = 1000
    aliases: int = 15
    depth: int = 10
    directives: int = 50
    root_fields: int = 10


DEFAULT_LIMITS = DocumentLimits()


def parse_within(text: str, limits: DocumentLimits) -> DocumentNode:
    """The document, which keeps every limit.

    Raises:
        TooComplexError: where it does not.
        GraphQLSyntaxError: where it is no document.
    """
    if len(text) > _CHARACTERS:
        raise TooComplexError(f"The document has {len(text)} characters: {_CHARACTERS} are the most.")
    try:
        document = parse(text, max_lexical_tokens=limits.tokens, max_comments=limits.tokens)
    except GraphQLSyntaxError as error:
        if not error.message.endswith(_ABORTED):
            raise
        raise TooComplexError(error.message.removeprefix("Syntax Error: ").removesuffix(_ABORTED)) from error
    _check_counts(document, limits)
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    for operation in _operations(document):
        _check_reach(operation, fragments, limits)
    return document


def _check_counts(document: DocumentNode, limits: DocumentLimits) -> None:
    """Counts what is written, wherever it stands."""
    aliases = 0
    repeats: Counter[tuple[int, str]] = Counter()
    for node, selection in _fields(document):
        aliases += node.alias is not None
        repeats[selection, (node.alias or node.name).value] += 1
    _refuse_above(limits.aliases, aliases, "aliases")
    _refuse_above(limits.directives, _count_directives(document), "directives")
    for (_, name), times in repeats.most_common(1):
        _refuse_above(_REPEATS, times, f"fields {name!r} in one selection")


def _check_reach(
    operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode], limits: DocumentLimits
) -> None:
    """Follows an operation into its fragments, into each once for every depth, so that a cycle ends too."""
    root_fields = introspections = 0
    deepest: dict[tuple[str, bool], int] = {}
    left: list[tuple[SelectionSetNode, int, bool]] = [(operation.selection_set, 1, False)]
    while left:
        selection_set, depth, is_schema = left.pop()
        for node in selection_set.selections:
            match node:
                case FieldNode():
                    most, what = (_INTROSPECTION_DEPTH, "levels of introspection")
                    if not is_schema:
                        most, what = (limits.depth, "levels of fields")
                    _refuse_above(most, depth, what)
                    root_fields += depth == 1
                    begins = not is_schema and node.name.value in _INTROSPECTION_FIELDS
                    introspections += begins
                    if node.selection_set is not None:
                        left.append((node.selection_set, 2 if begins else depth + 1, is_schema or begins))
                case InlineFragmentNode():
                    left.append((node.selection_set, depth, is_schema))
                case FragmentSpreadNode():
                    fragment = fragments.get(node.name.value)
                    if fragment is not None and deepest.get((node.name.value, is_schema), 0) < depth:
                        deepest[node.name.value, is_schema] = depth
                        left.append((fragment.selection_set, depth, is_schema))
    _refuse_above(limits.root_fields, root_fields, "fields of the operation itself")
    _refuse_above(_INTROSPECTIONS, introspections, "introspections")


def _refuse_above(most: int, found: int, what: str) -> None:
    if found > most:
        raise TooComplexError(f"The document has {found} {what}: {most} are the most.")


def _operations(document: DocumentNode) -> Iterator[OperationDefinitionNode]:
    return (node for node in document.definitions if isinstance(node, OperationDefinitionNode))


def _fields(document: DocumentNode) -> Iterator[tuple[FieldNode, int]]:
    """Every field that is written down, with a number for the selection that it stands in.

    Inline fragments belong to the selection around them.
    """
    for selection_set, number in _selections(document):
        for node in selection_set.selections:
            if isinstance(node, FieldNode):
                yield node, number


def _selections(document: DocumentNode) -> Iterator[tuple[SelectionSetNode, int]]:
    left = [
        (node.selection_set, number)
        for number, node in enumerate(document.definitions)
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode)
    ]
    last = len(document.definitions)
    while left:
        selection_set, number = left.pop()
        yield selection_set, number
        for node in selection_set.selections:
            if isinstance(node, InlineFragmentNode):
                left.append((node.selection_set, number))
            elif isinstance(node, FieldNode) and node.selection_set is not None:
                last += 1
                left.append((node.selection_set, last))


def _count_directives(document: DocumentNode) -> int:
    count = 0
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode):
            count += len(node.directives or ())
            count += sum(len(variable.directives or ()) for variable in node.variable_definitions or ())
    for selection_set, _ in _selections(document):
        count += sum(len(node.directives or ()) for node in selection_set.selections)
    return count
