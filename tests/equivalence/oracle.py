"""graphql-core executes the schema from the same bindings as the plan: one field of one object at a time.

Nothing of the plan is used: graphql-core collects the fields, coerces the arguments, completes the values and lifts
nulls. What a binding must know of the selection below it (`FieldStep.uses`) is computed with graphql-core's own
collection of fields.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    execute,
    is_abstract_type,
    is_enum_type,
)
from graphql.execution.collect_fields import FieldDetails, FragmentDetails, collect_subfields
from graphql.execution.executor import Executor

from domain.authorization import is_admin
from resolvers.api.payloads import ERROR_TYPES
from resolvers.bindings.base import BINDING, Binding, Call, Column, Embedded, FieldStep, Known, Reading
from resolvers.documents.parsing import MAX_ERRORS
from resolvers.entities.base import RECORD_TYPES
from resolvers.plan.bound_schema import BoundField, BoundSchema
from resolvers.request_state import RequestState
from resolvers.schema import declared_schema

Path = tuple[str | int, ...]

_ROOT = object()
_BELOW_ROOT = 2
_TYPE_OF = RECORD_TYPES | {type_: type_.__name__ for type_ in ERROR_TYPES}


@dataclass(slots=True)
class Execution:
    """One execution, the type of every field in it that was resolved, by its path in the response, and its damages.

    A list without its damaged items is a value and an error at once, which a resolver cannot return.
    """

    request: RequestState
    types: dict[Path, Any] = field(default_factory=dict)
    unproved: dict[str, Callable[[], Awaitable[GraphQLError | None]]] = field(default_factory=dict)
    """Root fields with an object that was not read: how to learn that it does not exist."""
    proved: set[str] = field(default_factory=set)
    """Root fields with a list that has an item."""
    damages: list[GraphQLError] = field(default_factory=list)


class Oracle:
    """Executes documents with graphql-core.

    Args:
        nullable: whether every field may be null, so that no null is lifted and every error is reported.
    """

    def __init__(self, *, nullable: bool = False) -> None:
        bound = BoundSchema(declared_schema.__wrapped__()._schema)  # noqa: SLF001  # its own: it is changed below
        self.schema: GraphQLSchema = bound.graphql_schema
        self._types: dict[str, dict[str, BoundField]] = bound.types
        declared = {
            (name, field): bound_field.definition.type
            for name, fields in bound.types.items()
            for field, bound_field in fields.items()
        }
        self._executor = _executor(declared)
        for type_ in self.schema.type_map.values():
            if isinstance(type_, GraphQLInterfaceType):
                type_.resolve_type = lambda value, *_: _TYPE_OF[type(value)]
            if isinstance(type_, GraphQLObjectType):
                type_.is_type_of = None
            if nullable and isinstance(type_, GraphQLObjectType | GraphQLInterfaceType):
                self._remove_non_null(type_)
        for type_name, fields in self._types.items():
            type_ = self.schema.type_map[type_name]
            assert isinstance(type_, GraphQLObjectType)
            for name, bound_field in fields.items():
                type_.fields[name].resolve = self._resolver(bound_field)

    async def execute(self, document: DocumentNode, variables: dict[str, Any], execution: Execution) -> ExecutionResult:
        result = execute(
            self.schema,
            document,
            _ROOT,
            execution,
            variables,
            max_coercion_errors=MAX_ERRORS,
            executor_class=self._executor,
        )
        completed = await result if isawaitable(result) else result
        assert isinstance(completed, ExecutionResult)
        for key, error_of in execution.unproved.items():
            if completed.data and completed.data.get(key) is not None and key not in execution.proved:
                error = await error_of()
                if error is not None:
                    completed.data[key] = None
                    others = [other for other in completed.errors or () if (other.path or [""])[0] != key]
                    completed.errors = [*others, error]
        errors = completed.errors or []
        failed = {tuple(error.path or ()) for error in errors}
        damages = [error for error in execution.damages if tuple(error.path or ()) not in failed]
        return ExecutionResult(completed.data, [*errors, *damages])

    @staticmethod
    def _remove_non_null(type_: GraphQLObjectType | GraphQLInterfaceType) -> None:
        if not type_.name.startswith("__"):
            for definition in type_.fields.values():
                definition.type = _nullable(definition.type)

    def _resolver(self, bound_field: BoundField) -> Callable[..., Any]:
        binding = _declared(bound_field)

        def resolve(row: Any, info: GraphQLResolveInfo[Execution], **values: Any) -> Any:
            if isinstance(binding, Reading):
                return self._read(binding, row, info, values)
            assert isinstance(binding, Column | Embedded)
            request: RequestState = info.context.request
            _require(binding, row, request)
            source = binding.source
            return getattr(row, source) if isinstance(source, str) else source(row, request)

        return resolve

    async def _read(
        self, binding: Reading, row: Any, info: GraphQLResolveInfo[Execution], values: dict[str, Any]
    ) -> Any:
        path = info.path.as_list()
        execution = _OneField(info.context, str(path[0]) if len(path) == _BELOW_ROOT else None)
        bound = binding.bind(values, execution.request)
        uses, has_steps = self._uses(binding, info)
        step = FieldStep(".".join(key for key in path if isinstance(key, str)), uses, has_steps=has_steps)
        call = Call(step, [row], bound)
        ((result,),) = await binding.results([call], execution)
        if isinstance(result, Exception):
            raise result
        for _, damage in binding.damages([result]):
            error = GraphQLError(str(damage), info.field_nodes, path=path, original_error=damage)
            info.context.damages.append(error)
        if binding.confirms(step):
            info.context.unproved[str(path[0])] = lambda: _error_of(binding.confirm([call], execution), info)
        return result

    def _uses(self, binding: Reading, info: GraphQLResolveInfo[Execution]) -> tuple[frozenset[str], bool]:
        """The attributes that the selection below a field reads of what it finds, and whether it has more than columns.

        Of a page, of its items.
        """
        selection = _Selection(self, info)
        below = selection.below(info.return_type, info.field_nodes)
        if binding.finds_pages:
            below = [
                item
                for name, nodes, type_ in _fields(below)
                for item in selection.items(name, nodes, type_.fields[name].type)
            ]
        used = [self._types[type_.name][name].binding for name, _, type_ in _fields(below)]
        uses = frozenset[str]().union(*(one.needs | one.rule.needs for one in used))
        return uses, not all(isinstance(one, Column) for one in used)


class _OneField:
    """The execution of one field of one object: nothing is started early.

    Args:
        context: the execution of the document.
        of_root: the root field of whose object it is a field, if it is one.
    """

    def __init__(self, context: Execution, of_root: str | None) -> None:
        self.request = context.request
        self._proved = context.proved
        self._of_root = of_root

    async def found(self, binding: Reading, calls: Sequence[Call]) -> list[list[Any]]:
        return [await binding.fetch(calls, self)]

    def start_early(self, known: Sequence[Known]) -> None:
        pass

    def note_items(self, _step: FieldStep) -> None:
        if self._of_root is not None:
            self._proved.add(self._of_root)

    def has_items(self, _step: FieldStep) -> bool:
        return False


def _executor(declared: dict[tuple[str, str], Any]) -> type[Executor[Execution]]:
    """graphql-core's executor, which notes the declared type of each field that it begins to execute."""

    class NotingExecutor(Executor[Execution]):
        def build_resolve_info(
            self, field_def: GraphQLField, field_nodes: list[FieldNode], parent_type: GraphQLObjectType, path: Any
        ) -> GraphQLResolveInfo[Execution]:
            name = field_nodes[0].name.value
            self.context_value.types[tuple(path.as_list())] = declared.get((parent_type.name, name), field_def.type)
            return super().build_resolve_info(field_def, field_nodes, parent_type, path)

    return NotingExecutor


class _Selection:
    """The selections of a document, as graphql-core collects it."""

    def __init__(self, oracle: Oracle, info: GraphQLResolveInfo[Execution]) -> None:
        self._schema = oracle.schema
        self._info = info
        self._fragments = {name: FragmentDetails(node) for name, node in info.fragments.items()}

    def below(self, declared: Any, nodes: Iterable[FieldNode]) -> list[tuple[GraphQLObjectType, Any]]:
        """The fields below others for each object type that can stand there."""
        type_ = _named(declared)
        objects = self._schema.get_possible_types(type_) if is_abstract_type(type_) else [type_]
        details = [FieldDetails(node, None) for node in nodes]
        return [(of, self._collected(of, details)) for of in objects if isinstance(of, GraphQLObjectType)]

    def items(self, name: str, nodes: list[FieldNode], declared: Any) -> list[tuple[GraphQLObjectType, Any]]:
        """The fields of a page's items below one field of the page."""
        if name == "nodes":
            return self.below(declared, nodes)
        if name != "edges":
            return []
        return [
            item
            for inner, inner_nodes, edge in _fields(self.below(declared, nodes))
            if inner == "node"
            for item in self.below(edge.fields["node"].type, inner_nodes)
        ]

    def _collected(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Any:
        info = self._info
        try:
            collected = collect_subfields(
                self._schema, self._fragments, info.variable_values, info.operation, type_, details
            )
        except GraphQLError:  # the variable of a directive is null: the objects fail, whatever is read of them
            return {}
        return collected.grouped_field_set


def _fields(selected: list[tuple[GraphQLObjectType, Any]]) -> list[tuple[str, list[FieldNode], GraphQLObjectType]]:
    return [
        (details[0].node.name.value, [detail.node for detail in details], type_)
        for type_, grouped in selected
        for details in grouped.values()
        if details[0].node.name.value != "__typename"
    ]


async def _error_of(
    proof: Awaitable[list[Exception | None]], info: GraphQLResolveInfo[Execution]
) -> GraphQLError | None:
    (error,) = await proof
    if error is None:
        return None
    return GraphQLError(str(error), info.field_nodes, path=info.path.as_list(), original_error=error)


def _require(binding: Binding, row: Any, request: RequestState) -> None:
    rule, principal = binding.rule, request.principal
    if not is_admin(principal) and not (rule.admits(principal) and rule.permits(principal, row)):
        raise rule.refusal(principal)


def _declared(bound_field: BoundField) -> Binding:
    """The binding of a field; of an enum, the one that finds its values, which graphql-core names."""
    definition = bound_field.definition
    if not is_enum_type(_named(definition.type)):
        return bound_field.binding
    declared = definition.extensions["strawberry-definition"]
    binding: Column = declared.metadata[BINDING]
    return replace(binding, source=binding.source or declared.python_name)


def _named(type_: Any) -> Any:
    while isinstance(type_, GraphQLNonNull | GraphQLList):
        type_ = type_.of_type
    return type_


def _nullable(type_: Any) -> Any:
    if isinstance(type_, GraphQLNonNull):
        return _nullable(type_.of_type)
    return GraphQLList(_nullable(type_.of_type)) if isinstance(type_, GraphQLList) else type_
