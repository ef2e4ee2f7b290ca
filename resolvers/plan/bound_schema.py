"""The schema as the plan sees it: every field with its binding. A field that is not declared well fails the build."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    is_abstract_type,
    is_composite_type,
    is_object_type,
)

from resolvers.bindings.base import BINDING, EVERYTHING, Binding, Column, Embedded, Reading
from resolvers.bindings.nodes import NODE_KINDS
from resolvers.bindings.rules import AS_OBJECT
from resolvers.bindings.writes import Writing
from resolvers.request_state import RequestState

DECLARED = "strawberry-definition"
"""Key of what Strawberry declares, in the extensions of graphql-core's objects."""


class FieldDeclarationError(Exception):
    """A field lacks what every field must declare: a binding, a bound, or that it can be null."""


class BoundField:
    __slots__ = ("binding", "definition", "is_list", "item_nullable", "name", "nullable", "targets")

    def __init__(self, name: str, definition: GraphQLField, binding: Binding, targets: tuple[str, ...]) -> None:
        self.name = name
        self.definition = definition
        self.binding = binding
        self.targets = targets
        """The object types that its value can have; empty for a leaf."""
        type_ = definition.type
        self.nullable = not isinstance(type_, GraphQLNonNull)
        inner: Any = type_.of_type if isinstance(type_, GraphQLNonNull) else type_
        self.is_list = isinstance(inner, GraphQLList)
        self.item_nullable = self.is_list and not isinstance(inner.of_type, GraphQLNonNull)


class BoundSchema:
    def __init__(self, schema: GraphQLSchema) -> None:
        self.graphql_schema = schema
        _use_python_names(schema)
        self.introspection_answers: OrderedDict[Any, Any] = OrderedDict()
        objects = {
            name: type_
            for name, type_ in schema.type_map.items()
            if isinstance(type_, GraphQLObjectType) and not name.startswith("__")
        }
        self.possible: dict[str, frozenset[str]] = {
            name: frozenset(self._objects_of(type_))
            for name, type_ in schema.type_map.items()
            if is_composite_type(type_)
        }
        self.types: dict[str, dict[str, BoundField]] = {
            name: {field: self._bound(name, field, definition) for field, definition in type_.fields.items()}
            for name, type_ in objects.items()
        }

    def require_attributes(self, record_types: Mapping[type, str]) -> None:
        """Raises a FieldDeclarationError where no record has what a field reads; a copy need not have all of it."""
        records: dict[str, list[type]] = {}
        for record, type_name in record_types.items():
            records.setdefault(type_name, []).append(record)
        for type_name, classes in records.items():
            for field in self.types[type_name].values():
                for attribute in (field.binding.needs | field.binding.rule.needs) - EVERYTHING:
                    if not any(hasattr(record, attribute) for record in classes):
                        raise FieldDeclarationError(f"{field.name} reads {attribute}, which no record has")

    def _objects_of(self, type_: Any) -> list[str]:
        if is_abstract_type(type_):
            return [possible.name for possible in self.graphql_schema.get_possible_types(type_)]
        return [type_.name] if is_object_type(type_) else []

    def _bound(self, type_name: str, field: str, definition: GraphQLField) -> BoundField:
        name = f"{type_name}.{field}"
        declared = definition.extensions[DECLARED]
        binding: Binding | None = declared.metadata.get(BINDING)
        if binding is None:
            raise FieldDeclarationError(f"{name} has neither a column nor a binding")
        if isinstance(binding, Column | Embedded) and binding.source == "":
            if field == "id" and type_name in NODE_KINDS:
                kind = NODE_KINDS[type_name]
                binding = Column(source=kind.global_id, reads=tuple(kind.key))
            else:
                binding = replace(binding, source=declared.python_name)
        named = get_named_type(definition.type)
        if isinstance(binding, Column) and isinstance(named, GraphQLEnumType):
            binding = _with_names(binding, named)
        targets = tuple(sorted(self._objects_of(named)))
        bound = BoundField(name, definition, binding, targets)
        if isinstance(binding, Embedded) and bound.is_list and not binding.of_page and binding.most < 1:
            raise FieldDeclarationError(f"{name} is a list of objects and must say how long it can be")
        if not bound.nullable and _can_be_refused(binding):
            raise FieldDeclarationError(
                f"{name} can be refused or fail and must be nullable, or its object is lost too"
            )
        return bound


def _use_python_names(schema: GraphQLSchema) -> None:
    """Lets graphql-core give arguments and fields of input objects their Python names when it checks their values."""
    for type_ in schema.type_map.values():
        values = list(type_.fields.values()) if isinstance(type_, GraphQLInputObjectType) else []
        if isinstance(type_, GraphQLObjectType) and not type_.name.startswith("__"):
            values = [argument for field in type_.fields.values() for argument in field.args.values()]
        for value in values:
            value.out_name = value.extensions[DECLARED].python_name


def _can_be_refused(binding: Binding) -> bool:
    """Whether a field can fail where its object is shown. What a mutation refuses, its payload says."""
    return (isinstance(binding, Reading) or binding.rule != AS_OBJECT) and not isinstance(binding, Writing)


def _with_names(column: Column, enum: GraphQLEnumType) -> Column:
    """A column of an enum whose stored values are not its names in the schema."""
    names = {member: member.name for member in enum.extensions[DECLARED].wrapped_cls}
    if all(member.value == name for member, name in names.items()):
        return column
    source = column.source

    def shown(row: Any, request: RequestState) -> Any:
        value = getattr(row, source) if isinstance(source, str) else source(row, request)
        return [names[member] for member in value] if isinstance(value, tuple | list) else names.get(value)

    return replace(column, source=shown, reads=tuple(column.needs))
