"""From a document's text to what is run: parsed within its limits, validated, and kept once it has proved valid."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from graphql import specified_rules, validate
from strawberry.extensions import SchemaExtension
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from resolvers.limits import MOST_ERRORS, parse_within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import DocumentNode, GraphQLError, GraphQLSchema

    from resolvers.limits import DocumentLimits

__all__ = ["Checked", "ValidDocuments", "find_errors"]

_MOST_KEPT = 256
_RULES = (*specified_rules, MaybeNullValidationRule, OneOfInputValidationRule)


def find_errors(schema: GraphQLSchema, document: DocumentNode, *, is_guarded: bool) -> list[GraphQLError]:
    """The first of a document's errors."""
    return validate(schema, document, _RULES, max_errors=MOST_ERRORS, hide_suggestions=is_guarded)


class ValidDocuments:
    """The documents that have proved valid, by their text; the one unused for longest goes first."""

    def __init__(self) -> None:
        self._documents: OrderedDict[str, DocumentNode] = OrderedDict()

    def __contains__(self, text: str) -> bool:
        return text in self._documents

    def get(self, text: str) -> DocumentNode | None:
        """The document, if it is known."""
        if text in self._documents:
            self._documents.move_to_end(text)
        return self._documents.get(text)

    def put(self, text: str, document: DocumentNode) -> None:
        """Keeps a document."""
        self._documents[text] = document
        if len(self._documents) > _MOST_KEPT:
            self._documents.popitem(last=False)


class Checked(SchemaExtension):
    """Parses and validates in the framework's place, for one request.

    Args:
        known: what was valid before is valid again.
        limits: what a document may have.
        is_guarded: whether mistakes are told without the names of what is there.
    """

    def __init__(self, known: ValidDocuments, limits: DocumentLimits, *, is_guarded: bool) -> None:
        self._known = known
        self._limits = limits
        self._is_guarded = is_guarded

    def on_parse(self) -> Iterator[None]:
        """Refuses what is too much before anything else looks at it."""
        context = self.execution_context
        text = context.query or ""
        context.graphql_document = self._known.get(text) or parse_within(text, self._limits)
        yield

    def on_validate(self) -> Iterator[None]:
        """Tells what is wrong, and keeps what is not."""
        context = self.execution_context
        text, document = context.query or "", context.graphql_document
        assert document is not None  # noqa: S101  # parsing comes first
        if text in self._known:
            context.pre_execution_errors = []
        else:
            schema = context.schema._schema  # noqa: SLF001  # as the framework's own validation does
            context.pre_execution_errors = find_errors(schema, document, is_guarded=self._is_guarded)
            if not context.pre_execution_errors:
                self._known.put(text, document)
        yield
