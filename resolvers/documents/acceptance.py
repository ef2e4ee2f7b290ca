"""Accepts most valid documents in one pass: graphql-core validates only what may be invalid.

What is not accepted need not be wrong. Whatever is rare or hard to decide is left to graphql-core, and so is every
error: null literals, directives but `@skip` and `@include`, introspection, subscriptions, and fields of one response
key that are not written alike.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from graphql import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLIncludeDirective,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSkipDirective,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    TypeNameMetaFieldDef,
    Undefined,
    ValueNode,
    VariableDefinitionNode,
    VariableNode,
    get_named_type,
    is_input_type,
    is_required_argument,
    print_ast,
    type_from_ast,
)
from graphql.utilities import validate_input_literal
from graphql.validation.rules.variables_in_allowed_position import allowed_variable_usage

from resolvers.plan.bound_schema import DECLARED, BoundSchema

_CONDITIONS = {"skip": GraphQLSkipDirective.args, "include": GraphQLIncludeDirective.args}


def is_certainly_valid(schema: BoundSchema, document: DocumentNode) -> bool:
    """Whether validation would find no error. The document must be within its limits: fragments are written out."""
    operations = [node for node in document.definitions if type(node) is OperationDefinitionNode]
    fragments = {node.name.value: node for node in document.definitions if type(node) is FragmentDefinitionNode}
    names = {operation.name.value for operation in operations if operation.name is not None}
    if len(operations) + len(fragments) != len(document.definitions):  # another kind, or one name twice
        return False
    if len(operations) > 1 and len(names) != len(operations):
        return False
    if any(fragment.directives or fragment.variable_definitions for fragment in fragments.values()):
        return False
    used: set[str] = set()
    return all(_Operation(schema, fragments, used).accepts(node) for node in operations) and len(used) == len(fragments)


class _Part(NamedTuple):
    """A selection set, the type it selects from, and the fragments that lead to it."""

    parent: Any
    selections: SelectionSetNode
    within: frozenset[str] = frozenset()


class _Operation:
    def __init__(self, schema: BoundSchema, fragments: Mapping[str, FragmentDefinitionNode], used: set[str]) -> None:
        self._schema = schema.graphql_schema
        self._possible = schema.possible
        self._fragments = fragments
        self._used_fragments = used
        self._variables: dict[str, tuple[Any, ValueNode | None]] = {}
        self._used_variables: set[str] = set()

    def accepts(self, node: OperationDefinitionNode) -> bool:
        root = self._schema.get_root_type(node.operation)
        return (
            root is not None
            and node.operation is not OperationType.SUBSCRIPTION
            and not node.directives
            and all(self._declares(variable) for variable in node.variable_definitions or ())
            and self._accepts_place([_Part(root, node.selection_set)])
            and len(self._used_variables) == len(self._variables)
        )

    def _declares(self, node: VariableDefinitionNode) -> bool:
        type_, name = type_from_ast(self._schema, node.type), node.variable.name.value
        if node.directives or name in self._variables or not is_input_type(type_):
            return False
        self._variables[name] = type_, node.default_value
        return node.default_value is None or self._accepts_value(node.default_value, type_)

    def _accepts_place(self, parts: list[_Part]) -> bool:
        """Whether all that is selected at one place of the response is valid, and can be merged."""
        found: dict[str, tuple[FieldNode, GraphQLField]] = {}
        below: dict[str, list[_Part]] = {}
        while parts:
            parent, selections, within = parts.pop()
            for node in selections.selections:
                if node.directives and not self._accepts_directives(node.directives):
                    return False
                if isinstance(node, FieldNode):
                    field = self._field(node, parent)
                    key = (node.alias or node.name).value
                    if field is None or not _are_alike(found.setdefault(key, (node, field)), (node, field)):
                        return False
                    if node.selection_set is not None:
                        part = _Part(get_named_type(field.type), node.selection_set, within)
                        below.setdefault(key, []).append(part)
                elif fragment := self._fragment(node, parent, within):
                    parts.append(fragment)
                else:
                    return False
        return all(map(self._accepts_place, below.values()))

    def _field(self, node: FieldNode, parent: Any) -> GraphQLField | None:
        name = node.name.value
        field: GraphQLField | None = (
            TypeNameMetaFieldDef if name == "__typename" else getattr(parent, "fields", {}).get(name)
        )
        if field is None or not self._accepts_arguments(field.args, node.arguments or ()):
            return None
        has_fields = get_named_type(field.type).name in self._possible
        return field if has_fields == (node.selection_set is not None) else None

    def _fragment(self, node: Any, parent: Any, within: frozenset[str]) -> _Part | None:
        if isinstance(node, FragmentSpreadNode):
            name = node.name.value
            if name in within or name not in self._fragments or node.arguments:
                return None
            self._used_fragments.add(name)
            within |= {name}
            node = self._fragments[name]
        if node.type_condition is not None:
            condition = node.type_condition.name.value
            if self._possible[parent.name].isdisjoint(self._possible.get(condition, ())):
                return None
            parent = self._schema.type_map[condition]
        return _Part(parent, node.selection_set, within)

    def _accepts_directives(self, nodes: Sequence[DirectiveNode]) -> bool:
        names = {node.name.value for node in nodes}
        return (
            len(names) == len(nodes)
            and names <= _CONDITIONS.keys()
            and all(self._accepts_arguments(_CONDITIONS[node.name.value], node.arguments or ()) for node in nodes)
        )

    def _accepts_arguments(self, definitions: Mapping[str, Any], nodes: Sequence[Any]) -> bool:
        """Whether arguments of a field or directive, or fields of an input object, are known, given and valid."""
        given = {node.name.value: node.value for node in nodes}
        if len(given) != len(nodes) or not given.keys() <= definitions.keys():
            return False
        for name, definition in definitions.items():
            if name not in given:
                if is_required_argument(definition):
                    return False
            elif not self._accepts_value(given[name], definition.type):
                return False
        return True

    def _accepts_value(self, node: ValueNode, type_: Any) -> bool:
        if isinstance(node, VariableNode):
            variable = self._variables.get(node.name.value)
            self._used_variables.add(node.name.value)
            return variable is not None and allowed_variable_usage(self._schema, *variable, type_, Undefined)
        inner = type_.of_type if isinstance(type_, GraphQLNonNull) else type_
        if isinstance(node, ListValueNode):
            return isinstance(inner, GraphQLList) and all(
                self._accepts_value(item, inner.of_type) for item in node.values
            )
        if isinstance(node, ObjectValueNode):
            is_usual = isinstance(inner, GraphQLInputObjectType) and not _is_one_of(inner)
            return is_usual and self._accepts_arguments(inner.fields, node.fields)
        if isinstance(node, NullValueNode):
            return False
        errors: list[object] = []
        validate_input_literal(node, type_, lambda *error: errors.append(error))
        return not errors


def _are_alike(one: tuple[FieldNode, GraphQLField], other: tuple[FieldNode, GraphQLField]) -> bool:
    (node, field), (other_node, other_field) = one, other
    return node is other_node or (
        node.name.value == other_node.name.value
        and str(field.type) == str(other_field.type)
        and [*map(print_ast, node.arguments or ())] == [*map(print_ast, other_node.arguments or ())]
    )


def _is_one_of(type_: GraphQLInputObjectType) -> bool:
    return type_.is_one_of or type_.extensions[DECLARED].is_one_of
