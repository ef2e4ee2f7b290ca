"""Valid documents with their compiled plans, kept by their text."""

from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    OperationDefinitionNode,
    Undefined,
    coerce_input_value,
    get_nullable_type,
    get_variable_values,
    validate,
)
from graphql.execution.get_variable_signature import get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource

from resolvers.documents.acceptance import is_certainly_valid
from resolvers.documents.parsing import MAX_ERRORS, ParsedDocument, parse_within
from resolvers.documents.rules import RULES
from resolvers.documents.selection import directive_variables, is_included, variable_uses
from resolvers.limits import DocumentLimits
from resolvers.plan.bound_schema import BoundSchema
from resolvers.plan.compile import Place, compile_operation

_MAX_DOCUMENTS = 256
_MAX_TREES = 16
_TOKEN_CHARACTERS = 2  # at least, with what separates it from the next
_AS_THEY_ARE = {"ID": str, "String": str, "Boolean": bool}
"""Types whose values need no coercion where they are given as these."""


class InvalidDocumentError(Exception):
    def __init__(self, document: DocumentNode, errors: list[GraphQLError]) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.document = document
        self.errors = errors


class CompiledOperation:
    """One operation of a valid document, compiled on first use.

    `@skip` and `@include` change the tree, so there is one for each setting of the variables that they use, and only
    the latest of these are kept.
    """

    def __init__(self, schema: BoundSchema, document: DocumentNode, node: OperationDefinitionNode) -> None:
        self._schema = schema
        self._document = document
        self.node = node
        self.type = node.operation.value
        self.name = None if node.name is None else node.name.value
        self._variable_nodes = node.variable_definitions or ()
        signatures = [get_variable_signature(schema.graphql_schema, variable) for variable in self._variable_nodes]
        self._signatures = [found for found in signatures if not isinstance(found, GraphQLError)]
        types = {found.name: str(get_nullable_type(found.type)) for found in self._signatures}
        self._as_they_are = {name: _AS_THEY_ARE[type_] for name, type_ in types.items() if type_ in _AS_THEY_ARE}
        self._directive_variables = tuple(sorted(directive_variables(document)))
        self._trees: OrderedDict[tuple[Any, ...], Place] = OrderedDict()

    def coerced(self, variables: Mapping[str, Any], *, hides_suggestions: bool) -> VariableValues | list[GraphQLError]:
        """The variables of a request as their types have them, or what is wrong with them."""
        sources, values = {}, {}
        value: Any
        for signature in self._signatures:
            name = signature.name
            given = variables.get(name)
            if given is None:
                value = Undefined
            elif type(given) is self._as_they_are.get(name):
                value = given
            else:
                value = coerce_input_value(given, signature.type)
            if value is Undefined:  # not given, null or wrong: graphql-core knows what that means
                return get_variable_values(
                    self._schema.graphql_schema,
                    self._variable_nodes,
                    dict(variables),
                    MAX_ERRORS,
                    hide_suggestions=hides_suggestions,
                )
            sources[name] = VariableValueSource(signature, given)
            values[name] = value
        return VariableValues(sources, values)

    def uses_once(self, variable: str) -> bool:
        """Whether the document has a variable of this name in one place only, beside its declarations."""
        return variable_uses(self._document)[variable] == 1

    def tree(self, variables: Mapping[str, Any]) -> Place:
        setting = tuple(variables.get(name) for name in self._directive_variables)
        tree = self._trees.get(setting)
        if tree is None:
            includes = partial(is_included, variables=dict(zip(self._directive_variables, setting, strict=True)))
            tree = self._trees[setting] = compile_operation(self._schema, self._document, self.node, includes)
            if len(self._trees) > _MAX_TREES:
                self._trees.popitem(last=False)
        return tree


class ValidDocument:
    def __init__(self, schema: BoundSchema, document: DocumentNode) -> None:
        self.operations = [
            CompiledOperation(schema, document, node)
            for node in document.definitions
            if isinstance(node, OperationDefinitionNode)
        ]

    def operation(self, name: str | None) -> CompiledOperation | None:
        """The operation with that name, or the only one."""
        if name is None:
            return self.operations[0] if len(self.operations) == 1 else None
        return next((operation for operation in self.operations if operation.name == name), None)


class DocumentCache:
    """Parses, validates and keeps documents; the one that was not used for longest goes first."""

    def __init__(
        self,
        schema: BoundSchema,
        limits: DocumentLimits,
        *,
        hides_suggestions: bool,
    ) -> None:
        self._schema = schema
        self._limits = limits
        self._hides_suggestions = hides_suggestions
        self._documents: OrderedDict[str, ValidDocument] = OrderedDict()

    def get(self, text: str) -> ValidDocument:
        """The document with this text; raises as `Executor.document` does."""
        return self.known(text) or self.add(text, self.parse(text))

    def known(self, text: str) -> ValidDocument | None:
        known = self._documents.get(text)
        if known is not None:
            self._documents.move_to_end(text)
        return known

    def parse(self, text: str) -> ParsedDocument:
        """Parses a document; raises as `get` does."""
        return parse_within(text, self._limits)

    def most_tokens(self, text: str) -> int:
        """How many tokens of a text are read at most before it is refused."""
        return min(len(text) // _TOKEN_CHARACTERS, self._limits.tokens)

    def add(self, text: str, parsed: ParsedDocument) -> ValidDocument:
        """Validates a document and keeps it; raises as `get` does."""
        if not is_certainly_valid(self._schema, parsed.node):
            errors = validate(
                self._schema.graphql_schema,
                parsed.node,
                RULES,
                max_errors=MAX_ERRORS,
                hide_suggestions=self._hides_suggestions,
            )
            if errors:
                raise InvalidDocumentError(parsed.node, errors)
        _unlink_tokens(parsed.node)
        document = self._documents[text] = ValidDocument(self._schema, parsed.node)
        if len(self._documents) > _MAX_DOCUMENTS:
            self._documents.popitem(last=False)
        return document


def _unlink_tokens(document: DocumentNode) -> None:
    """Frees the document as soon as it is dropped: tokens that name each other wait for the garbage collector."""
    token = document.loc.start_token if document.loc else None
    while token:
        token.prev = None
        token = token.next
