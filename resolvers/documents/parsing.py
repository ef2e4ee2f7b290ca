"""Limits of a document, counted before validation, which is slow for documents that attackers write."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    SelectionSetNode,
    TokenKind,
    parse,
)

from domain.errors import QueryTooComplexError
from resolvers.documents.selection import Selected, SelectionPart, Walker, parts_of, written_selections
from resolvers.limits import DocumentLimits

# Finding each of very many errors takes longer than any client reads.
MAX_ERRORS: Final = 10

# Reading a text takes time for every character, whatever it holds.
_CHARACTERS: Final = 32 * 1024
# Python reads no integer of more than 4,300 digits, and no number that is stored takes half of this to write.
_NUMBER_CHARACTERS: Final = 400
# How graphql-core ends its message when a text has more tokens than allowed.
_ABORTED: Final = " Parsing aborted."
_NUMBERS: Final = frozenset({TokenKind.INT, TokenKind.FLOAT})
_SELECTIONS: Final = 2500
# Validation compares every two fields of one place, and every two fragments.
_PAIRS: Final = 4000
_INTROSPECTIONS: Final = 2
_INTROSPECTION_FIELDS: Final = frozenset({"__schema", "__type"})
# What the usual introspection query needs: nine lists and non-nulls of a type, each list inside a list once.
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
# A list outside of any other is that of one type, such as the fields of Query: it is short.
_OUTER_LISTS: Final = 3


class ParsedDocument(NamedTuple):
    """A document, and how many tokens and selections it has."""

    node: DocumentNode
    size: int


def parse_within(text: str, limits: DocumentLimits) -> ParsedDocument:
    """Raises a QueryTooComplexError where a document exceeds a limit, and a GraphQLSyntaxError where it is none."""
    _refuse_above(_CHARACTERS, len(text), "characters")
    try:
        document = parse(text, max_lexical_tokens=limits.tokens, max_comments=limits.tokens)
    except GraphQLSyntaxError as error:
        if not error.message.endswith(_ABORTED):
            raise
        raise QueryTooComplexError(error.message.removeprefix("Syntax Error: ").removesuffix(_ABORTED)) from error
    tokens, longest = _tokens(document)
    _refuse_above(_NUMBER_CHARACTERS, longest, "characters in one number")
    _check_written(document, limits)
    return ParsedDocument(document, tokens + _check_expanded(document, limits))


def _refuse_above(most: int, found: int, what: str) -> None:
    if found > most:
        raise QueryTooComplexError(f"The document has {found:,} {what}, and the limit is {most:,}.")


def _tokens(document: DocumentNode) -> tuple[int, int]:
    """How many tokens there are, and the length of the longest number."""
    count = longest = 0
    token = document.loc.start_token if document.loc else None
    while token:
        count += 1
        if token.kind in _NUMBERS:
            longest = max(longest, token.end - token.start)
        token = token.next
    return count, longest


def _check_written(document: DocumentNode, limits: DocumentLimits) -> None:
    """Counts aliases and directives where they are written, each once."""
    aliases = directives = 0
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode):
            directives += len(node.directives or ())
            directives += sum(len(variable.directives or ()) for variable in node.variable_definitions or ())
    for selection in written_selections(document):
        directives += len(selection.directives or ())
        aliases += isinstance(selection, FieldNode) and selection.alias is not None
    _refuse_above(limits.aliases, aliases, "aliases")
    _refuse_above(limits.directives, directives, "directives")


def _check_expanded(document: DocumentNode, limits: DocumentLimits) -> int:
    """Refuses what is too deep, too much, or slow to validate once fragments are written out; counts selections."""
    expansion = _Expansion(document, limits.depth)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            _refuse_above(limits.root_fields, expansion.follow(node.selection_set), "root fields")
    for node in expansion.unused():
        expansion.follow(node.selection_set)
    return expansion.selections


class _Level(NamedTuple):
    parts: list[SelectionPart]
    depth: int = 1
    is_schema: bool = False
    lists: int = 0
    """How many lists of the schema are around it."""


class _Expansion:
    def __init__(self, document: DocumentNode, depth: int) -> None:
        self._walker = Walker(document)
        self._depth = depth
        self.selections = 0
        self._pairs = 0
        self._introspections = 0
        self._lists: Counter[tuple[str, bool]] = Counter()

    def unused(self) -> Iterator[FragmentDefinitionNode]:
        """The fragments that nothing has led to: validation looks at them too."""
        return (node for name, node in self._walker.fragments.items() if name not in self._walker.used)

    def follow(self, selections: SelectionSetNode) -> int:
        """Counts all that can be reached, and returns the number of root fields."""
        roots = 0
        left = [_Level([SelectionPart(selections)])]
        while left:
            level = left.pop()
            for found in self._fields(level).values():
                roots += len(found) if level.depth == 1 and not level.is_schema else 0
                below = self._below(level, found)
                if below.parts:
                    left.append(below)
        return roots

    def _fields(self, level: _Level) -> dict[str, list[Selected]]:
        found = self._walker.select(level.parts, limit=_SELECTIONS - self.selections)
        self.selections += found.selections
        _refuse_above(_SELECTIONS, self.selections, "selections with its fragments written out")
        self._pairs += sum(count * (count - 1) // 2 for count in (found.spreads, *map(len, found.fields.values())))
        _refuse_above(_PAIRS, self._pairs, "pairs of fields or fragments at one place of the response")
        return found.fields

    def _below(self, level: _Level, fields: list[Selected]) -> _Level:
        if level.is_schema:
            _refuse_above(_INTROSPECTION_DEPTH, level.depth, "levels of introspection")
        else:
            _refuse_above(self._depth, level.depth, "levels of fields")
        begins = not level.is_schema and any(node.name.value in _INTROSPECTION_FIELDS for node, _ in fields)
        if begins:
            self._introspections += len(fields)
            _refuse_above(_INTROSPECTIONS, self._introspections, "introspections")
        is_list = level.is_schema and fields[0].node.name.value in _LISTS
        if level.is_schema:
            self._check_introspected(fields, level.lists + is_list)
        return _Level(
            parts_of(fields), 2 if begins else level.depth + 1, level.is_schema or begins, level.lists + is_list
        )

    def _check_introspected(self, fields: list[Selected], lists: int) -> None:
        """The schema is large: a document that asks for it several times over takes long, and no tool does."""
        _refuse_above(0, sum(node.alias is not None for node, _ in fields), "aliases in introspection")
        _refuse_above(_INTROSPECTED_LISTS, lists, "nested lists of introspection")
        name = fields[0].node.name.value
        if name in _LISTS:
            is_inner = lists > 1
            self._lists[name, is_inner] += 1
            most = _LISTS[name] if is_inner or name == "types" else _OUTER_LISTS
            _refuse_above(most, self._lists[name, is_inner], f"introspected {name!r}")
