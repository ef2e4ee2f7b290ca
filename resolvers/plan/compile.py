"""Compiles an operation into a tree of places and steps. The tree does not depend on variables.

A place is where objects of one type stand in the response. Its columns are read from all of its objects at once by a
generated function; each of its steps runs once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    OperationDefinitionNode,
    SchemaMetaFieldDef,
    SelectionNode,
    TypeMetaFieldDef,
    ValueNode,
    VariableNode,
    get_argument_values,
)
from graphql.execution.values import VariableValues, coerce_argument

from resolvers.bindings.base import Binding, Column, Embedded, FieldStep, Reading
from resolvers.bindings.rules import AS_OBJECT
from resolvers.documents.selection import Selected, SelectionPart, Walker, parts_of
from resolvers.plan.bound_schema import BoundField, BoundSchema
from resolvers.plan.introspection import Introspection
from resolvers.plan.price import Price
from resolvers.request_state import ArgumentContext, RequestState

_INTROSPECTION = {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}
_NO_VARIABLE = ""
"""Stands for an argument that is neither a constant nor a variable."""


@dataclass(frozen=True, slots=True)
class PlanColumn:
    key: str
    nodes: list[FieldNode]
    binding: Column
    nullable: bool

    def value(self, row: Any, request: RequestState) -> Any:
        source = self.binding.source
        return getattr(row, source) if isinstance(source, str) else source(row, request)


class PlanStep(FieldStep):
    """A step at one place of the response: a field that reads, writes or holds objects."""

    __slots__ = (
        "_arguments",
        "below",
        "binding",
        "field",
        "item_places",
        "key",
        "nodes",
        "places",
        "reads",
        "reads_alone",
    )

    def __init__(
        self, key: str, path: str, nodes: list[FieldNode], field: BoundField, places: dict[str, Place]
    ) -> None:
        finds_pages = isinstance(field.binding, Reading) and field.binding.finds_pages
        self.item_places: list[Place] = _item_places(places.values()) if finds_pages else [*places.values()]
        """Where the objects stand that its columns and steps are about: of pages, their items."""
        uses: frozenset[str] = frozenset[str]().union(*(place.uses for place in self.item_places))
        super().__init__(path, uses, has_steps=any(place.steps for place in self.item_places))
        self.key = key
        self.nodes = nodes
        self.field = field
        self.binding: Binding = field.binding
        self.places = places
        """Where its objects stand, by their type."""
        self.below = [step for place in places.values() for step in place.reading]
        """The steps below it that ask the store; not itself, so that a plan is freed as soon as it is dropped."""
        self.reads = isinstance(field.binding, Reading) or bool(self.below)
        """Whether it, or anything below it, asks the store."""
        self.reads_alone = isinstance(field.binding, Reading) and field.binding.reads_alone(self)
        self._arguments = _Arguments(field, nodes[0])

    def variable_of(self, argument: str) -> str | None:
        """The variable that an argument is, if it is one."""
        return self._arguments.variables.get(argument)

    def bind(self, variables: VariableValues, request: ArgumentContext) -> Any:
        """Checks its arguments for one request; an error is a value."""
        assert isinstance(self.binding, Reading)  # noqa: S101  # nothing else has arguments
        try:
            values = self._arguments.values(variables, hide_suggestions=request.hides_suggestions)
            return self.binding.bind(values, request)
        except Exception as error:  # noqa: BLE001  # it becomes the field's own error
            return error


class Place:
    __slots__ = (
        "alone",
        "columns",
        "error",
        "keys",
        "outputs",
        "prices",
        "reading",
        "restrictions",
        "steps",
        "type_name",
        "uses",
    )

    def __init__(
        self,
        type_name: str,
        keys: list[str],
        columns: list[PlanColumn],
        steps: list[PlanStep],
        error: GraphQLError | None = None,
    ) -> None:
        self.type_name = type_name
        self.error = error
        """Why it is not known what is selected: every object here fails with it."""
        self.keys = keys
        self.columns = {column.key: column for column in columns}
        self.steps: dict[str, PlanStep] = {step.key: step for step in steps}
        self.reading: list[PlanStep] = []
        """All steps here and below that ask the store themselves."""
        for step in steps:
            self.reading += [step, *step.below] if isinstance(step.binding, Reading) else step.below
        self.alone = steps[0] if len(steps) == 1 and self.reading == steps and steps[0].reads_alone else None
        """The only step that reads here and below, if its binding can do so in fewer calls."""
        self.prices: dict[Hashable, Price] = {}
        """Of an operation's root: its price by what it depends on."""
        self.restrictions = {column.binding.rule for column in columns if column.binding.rule != AS_OBJECT}
        """The rules of columns that have one of their own."""
        self.uses: frozenset[str] = _uses(columns, steps)
        self.outputs = _generate(type_name, keys, self.columns)
        """Makes an output object for each row, with every key in document order; steps fill theirs in later."""


def compile_operation(
    schema: BoundSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    includes: Callable[[SelectionNode], bool],
) -> Place:
    walker = Walker(document, includes, once=True)
    root = operation.operation.value.capitalize()
    compiler = _Compiler(schema, walker, document, operation)
    return compiler.place(root, [SelectionPart(operation.selection_set)], "")


@dataclass(frozen=True, slots=True)
class _Compiler:
    schema: BoundSchema
    walker: Walker
    document: DocumentNode
    operation: OperationDefinitionNode

    def place(self, type_name: str, parts: list[SelectionPart], path: str) -> Place:
        possible = self.schema.possible
        try:
            found = self.walker.select(parts, lambda condition: type_name in possible[condition]).fields
        except GraphQLError as error:
            return Place(type_name, [], [], [], error)
        columns: list[PlanColumn] = []
        steps: list[PlanStep] = []
        for key, selected in found.items():
            self._add(type_name, key, selected, f"{path}.{key}" if path else key, columns, steps)
        return Place(type_name, list(found), columns, steps)

    def _add(
        self,
        type_name: str,
        key: str,
        selected: list[Selected],
        path: str,
        columns: list[PlanColumn],
        steps: list[PlanStep],
    ) -> None:
        nodes = [node for node, _ in selected]
        name = nodes[0].name.value
        if name == "__typename":
            columns.append(PlanColumn(key, nodes, Column(source=lambda *_: type_name, reads=()), nullable=False))
            return
        if name in _INTROSPECTION:
            binding = Introspection.of(self.schema, self.document, self.operation, key, nodes)
            field = BoundField(f"Query.{name}", _INTROSPECTION[name], binding, ())  # its value is complete already
        else:
            field = self.schema.types[type_name][name]
        if isinstance(field.binding, Column):
            columns.append(PlanColumn(key, nodes, field.binding, nullable=field.nullable))
            return
        parts = parts_of(selected)
        places = {target: self.place(target, parts, path) for target in field.targets}
        steps.append(PlanStep(key, path, nodes, field, places))


class _Arguments:
    __slots__ = ("_constants", "_field", "_node", "variables")

    def __init__(self, field: BoundField, node: FieldNode) -> None:
        self._field = field.definition
        self._node = node
        self._constants: dict[str, Any] = {}
        self.variables: dict[str, str] = {}
        """The arguments that are variables, each with the variable's name."""
        nodes = {argument.name.value: argument for argument in node.arguments or ()}
        try:
            for name, definition in self._field.args.items():
                given = nodes.get(name)
                if given is not None and isinstance(given.value, VariableNode):
                    self.variables[definition.out_name or name] = given.value.name.value
                elif given is None or not _has_variables(given.value):
                    coerce_argument(self._constants, node, name, definition, given, None, None)
                else:
                    self.variables[name] = _NO_VARIABLE
        except GraphQLError:
            self.variables[""] = _NO_VARIABLE

    def values(self, variables: VariableValues, *, hide_suggestions: bool) -> Mapping[str, Any]:
        """Raises a GraphQLError where one does not fit."""
        values, given = self._constants.copy(), variables.coerced
        for name, variable in self.variables.items():
            value = given.get(variable)
            if value is None:  # not given, null, or inside of another value: graphql-core knows what that means
                return get_argument_values(self._field, self._node, variables, hide_suggestions=hide_suggestions)
            values[name] = value
        return values


def _has_variables(node: ValueNode) -> bool:
    left: list[Any] = [node]
    while left:
        value = left.pop()
        if isinstance(value, VariableNode):
            return True
        left += getattr(value, "values", None) or [field.value for field in getattr(value, "fields", None) or ()]
    return False


def _uses(columns: list[PlanColumn], steps: list[PlanStep]) -> frozenset[str]:
    used: set[str] = set()
    for column in columns:
        used |= column.binding.needs | column.binding.rule.needs
    for step in steps:
        used |= step.binding.needs | step.binding.rule.needs
    return frozenset(used)


def _item_places(connections: Iterable[Place]) -> list[Place]:
    """Where the items of a page stand: below its nodes, and below the node of its edges."""
    found: list[Place] = []
    for connection in connections:
        for step in connection.steps.values():
            if isinstance(step.binding, Embedded):
                places = step.places.values()
                found += places if step.binding.are_items else _item_places(places)
    return found


def _generate(
    type_name: str, keys: list[str], columns: Mapping[str, PlanColumn]
) -> Callable[..., list[dict[str, Any]]]:
    """Compiles a function that reads all columns of many objects: one dict literal, no loop over columns."""
    scope: dict[str, Any] = {}
    entries = []
    for position, key in enumerate(keys):
        column = columns.get(key)
        if column is None:
            entries.append(f"{key!r}: None")
        elif isinstance(column.binding.source, str):
            entries.append(f"{key!r}: row.{column.binding.source}")
        else:
            scope[f"column_{position}"] = column.binding.source
            entries.append(f"{key!r}: column_{position}(row, request)")
    # Response keys are GraphQL names and attributes are our own, so nothing of a client's becomes code.
    source = f"def make(rows, request):\n    return [{{{', '.join(entries)}}} for row in rows]\n"
    exec(_code(source, type_name), scope)  # noqa: S102  # see above
    made: Callable[..., list[dict[str, Any]]] = scope["make"]
    return made


@lru_cache(maxsize=1024)
def _code(source: str, type_name: str) -> CodeType:
    """Documents that differ only in names and arguments share it."""
    return compile(source, f"<columns of {type_name}>", "exec")
