"""What a validated document selects, given its variables: fields by response key, fragments and directives applied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    VariableNode,
    get_variable_values,
    value_from_ast_untyped,
)

from domain.errors import TooComplexError
from resolvers.context import is_included
from resolvers.limits import MOST_ERRORS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphql import DocumentNode, GraphQLSchema, SelectionNode, SelectionSetNode

__all__ = ["Fields", "Selections", "find_variable_errors", "operation_of"]

Fields = dict[str, list[FieldNode]]

MOST_SELECTIONS = 2000


class Selections:
    """Looks at each selection set once, and at so many selections at most: fragments can be spread without end."""

    def __init__(
        self,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],
        applies_to: Mapping[str, frozenset[str]],
    ) -> None:
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._variables = _with_defaults(operation, variables)
        self._applies_to = applies_to
        self._known: dict[tuple[str, tuple[int, ...]], Fields] = {}
        self._left = MOST_SELECTIONS

    def fields(self, type_name: str, parents: Sequence[FieldNode | OperationDefinitionNode]) -> Fields:
        """The fields below others of one response key, on an object of this type.

        Raises:
            TooComplexError: where the document selects too much to be looked at.
        """
        key = type_name, tuple(map(id, parents))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._collected(type_name, [parent.selection_set for parent in parents])
        self._left -= len(found)
        return found

    def value(self, field: FieldNode, argument: str) -> Any:
        """What an argument is given; None where it is left out."""
        for node in field.arguments or ():
            if node.name.value == argument:
                if isinstance(node.value, VariableNode):
                    return self._variables.get(node.value.name.value)
                return value_from_ast_untyped(node.value, self._variables)
        return None

    def _collected(self, type_name: str, sets: Sequence[SelectionSetNode | None]) -> Fields:
        fields: Fields = {}
        spread: set[str] = set()
        stack = [selection_set for selection_set in reversed(sets) if selection_set is not None]
        while stack:
            for node in stack.pop().selections:
                self._left -= 1
                if self._left < 0:
                    raise TooComplexError(f"The document selects more than {MOST_SELECTIONS} fields.")
                if node.directives and not is_included(node, self._variables):
                    continue
                if isinstance(node, FieldNode):
                    key = node.alias.value if node.alias else node.name.value
                    fields.setdefault(key, []).append(node)
                else:
                    stack += self._fragment(type_name, node, spread)
        return fields

    def _fragment(self, type_name: str, node: SelectionNode, spread: set[str]) -> list[SelectionSetNode]:
        """What a fragment selects, if it applies to the type and was not spread here before."""
        if isinstance(node, InlineFragmentNode):
            fragment: Any = node
        else:
            name = node.name.value  # type: ignore[attr-defined]
            if name in spread:
                return []
            spread.add(name)
            fragment = self._fragments[name]
        condition = fragment.type_condition
        if condition is not None and type_name not in self._applies_to[condition.name.value]:
            return []
        return [fragment.selection_set]


def operation_of(document: DocumentNode, name: str | None) -> OperationDefinitionNode | None:
    """The operation of that name, or the only one."""
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode) and (name is None or (node.name and node.name.value == name)):
            return node
    return None


def find_variable_errors(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation_name: str | None,
    variables: dict[str, Any],
    *,
    is_guarded: bool,
) -> list[GraphQLError]:
    """The first of what is wrong with the variables of an operation, or that there is no such operation."""
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    operation = operation_of(document, operation_name)
    if operation is None or (operation_name is None and len(operations) > 1):
        return [GraphQLError("The document has no operation of that name, or no name was given.")]
    found = get_variable_values(
        schema, operation.variable_definitions or (), variables, MOST_ERRORS, hide_suggestions=is_guarded
    )
    return found if isinstance(found, list) else []


def _with_defaults(operation: OperationDefinitionNode, given: Mapping[str, Any]) -> dict[str, Any]:
    variables = dict(given)
    for definition in operation.variable_definitions or ():
        name = definition.variable.name.value
        if name not in variables and definition.default_value is not None:
            variables[name] = value_from_ast_untyped(definition.default_value)
    return variables
