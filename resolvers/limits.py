"""What a document may have at most, counted before validation, which is slow for what attackers write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLSyntaxError,
    InlineFragmentNode,
    OperationDefinitionNode,
    TokenKind,
    parse,
)

from domain.errors import TooComplexError
from resolvers.expansion import check_expansion, refuse_above

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import DocumentNode, SelectionSetNode

__all__ = ["DEFAULT_LIMITS", "MOST_ERRORS", "DocumentLimits", "parse_within"]

# Finding each of very many takes longer than any client reads.
MOST_ERRORS = 10

# Reading a text takes time for every character, whatever it holds.
_CHARACTERS = 32 * 1024
# Python reads no integer of more than 4,300 digits, and no number that is kept here takes half of this to write.
_NUMBER_CHARACTERS = 400
# How graphql-core ends what it says when a text has more than it was allowed.
_ABORTED = " Parsing aborted."
_NUMBERS = frozenset({TokenKind.INT, TokenKind.FLOAT})


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
    refuse_above(_NUMBER_CHARACTERS, _longest_number(document), "characters in one number")
    refuse_above(limits.aliases, sum(_count_aliases(part) for part in _selections(document)), "aliases")
    refuse_above(limits.directives, _count_directives(document), "directives")
    check_expansion(document, limits.depth, limits.root_fields)
    return document


def _longest_number(document: DocumentNode) -> int:
    longest = 0
    token = document.loc.start_token if document.loc else None
    while token:
        if token.kind in _NUMBERS:
            longest = max(longest, token.end - token.start)
        token = token.next
    return longest


def _selections(document: DocumentNode) -> Iterator[SelectionSetNode]:
    """Every selection that is written down."""
    left = [
        node.selection_set
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode)
    ]
    while left:
        selection_set = left.pop()
        yield selection_set
        left.extend(
            node.selection_set
            for node in selection_set.selections
            if isinstance(node, FieldNode | InlineFragmentNode) and node.selection_set is not None
        )


def _count_aliases(selection_set: SelectionSetNode) -> int:
    return sum(isinstance(node, FieldNode) and node.alias is not None for node in selection_set.selections)


def _count_directives(document: DocumentNode) -> int:
    count = 0
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode):
            count += len(node.directives or ())
            count += sum(len(variable.directives or ()) for variable in node.variable_definitions or ())
    for selection_set in _selections(document):
        count += sum(len(node.directives or ()) for node in selection_set.selections)
    return count
