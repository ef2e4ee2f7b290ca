"""Introspection: the one thing that graphql-core executes in production."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    OperationDefinitionNode,
    SelectionSetNode,
    execute_sync,
)

from resolvers.bindings.base import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphql import FieldNode, GraphQLSchema

    from resolvers.bindings.base import Charge, Step
    from resolvers.plan.schema import BoundSchema
    from resolvers.request import RequestState

__all__ = ["Introspection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Introspection(Reading):
    """One `__schema` or `__type` field, run by graphql-core on a document with nothing else in it."""

    schema: GraphQLSchema
    document: DocumentNode
    key: str

    @classmethod
    def field(
        cls,
        schema: BoundSchema,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        key: str,
        nodes: list[FieldNode],
    ) -> Any:
        """The field as the plan runs it."""
        alone = OperationDefinitionNode(
            operation=operation.operation,
            name=operation.name,
            variable_definitions=operation.variable_definitions,
            directives=(),
            selection_set=SelectionSetNode(selections=tuple(nodes)),
        )
        fragments = [node for node in document.definitions if isinstance(node, FragmentDefinitionNode)]
        reduced = DocumentNode(definitions=(alone, *fragments))
        binding = cls(schema=schema.graphql_schema, document=reduced, key=key)
        return IntrospectionField(binding, nullable=nodes[0].name.value == "__type")

    def price(self, step: Step, parents: int, bound: Any) -> list[Charge]:
        """See Reading: it asks nothing of the store."""
        del step, parents, bound
        return []

    async def fetch(self, step: Step, rows: Sequence[Any], bound: Any, request: RequestState) -> list[Any]:
        """See Reading."""
        del step, rows, bound
        if request.note_introspection is not None:
            request.note_introspection()
        result = execute_sync(self.schema, self.document, variable_values=dict(request.variables))
        if result.errors:
            raise result.errors[0]
        return [(result.data or {}).get(self.key)]


class IntrospectionField:
    """Stands in for a bound field: its value is complete already."""

    targets = ()
    is_list = False
    item_nullable = False

    def __init__(self, binding: Introspection, *, nullable: bool) -> None:
        self.binding = binding
        self.nullable = nullable
        self.name = "Query.__schema"
        self.argument_names = _NoArguments()
        self.definition = _NoArguments()


class _NoArguments:
    args: Mapping[str, Any] = {}

    @staticmethod
    def plain(values: Mapping[str, Any]) -> dict[str, Any]:
        """No arguments."""
        return dict(values)
