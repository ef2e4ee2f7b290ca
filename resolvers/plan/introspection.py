"""Introspection: the one thing that graphql-core executes in production."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLSchema,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    Visitor,
    execute_sync,
    print_ast,
    visit,
)

from resolvers.bindings.base import Call, Charge, Execution, FieldStep, Reading
from resolvers.bindings.rules import AS_OBJECT
from resolvers.plan.bound_schema import BoundSchema

_MAX_ANSWERS = 32
# Half a millisecond of the processor each.
_UNITS = {"__schema": 200, "__type": 20}


@dataclass(frozen=True, slots=True, kw_only=True)
class Introspection(Reading):
    """One `__schema` or `__type` field, run by graphql-core on a document with nothing else in it."""

    schema: GraphQLSchema
    document: DocumentNode
    text: str
    key: str
    units: int
    """The charge if its answer is not kept."""
    variable_names: frozenset[str]
    answers: OrderedDict[Any, Any]
    """The latest answers, by document and variables: the schema never changes, and to execute it takes long."""

    @classmethod
    def of(
        cls,
        schema: BoundSchema,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        key: str,
        nodes: list[FieldNode],
    ) -> Introspection:
        """The `nodes` of one response key, alone with the fragments of their document."""
        alone = OperationDefinitionNode(
            operation=operation.operation,
            variable_definitions=operation.variable_definitions,
            directives=(),
            selection_set=SelectionSetNode(selections=tuple(nodes)),
        )
        fragments = [node for node in document.definitions if isinstance(node, FragmentDefinitionNode)]
        reduced = DocumentNode(definitions=(alone, *fragments))
        used = _Variables()
        for node in (*nodes, *fragments):
            visit(node, used)
        return cls(
            rule=AS_OBJECT,
            schema=schema.graphql_schema,
            document=reduced,
            text=print_ast(reduced),
            key=key,
            units=_UNITS[nodes[0].name.value],
            variable_names=frozenset(used.names),
            answers=schema.introspection_answers,
        )

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        return []

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        """See Reading: others get their turn where it is executed."""
        request, answers = execution.request, self.answers
        if request.note_introspection is not None:
            request.note_introspection()
        used = {name: value for name, value in request.variables.items() if name in self.variable_names}
        place = self.text, self.key, repr(sorted(used.items()))
        if place not in answers:
            async with request.fair_lock:
                await request.budget.spend(self.units)
                if place not in answers:
                    answers[place] = self.execute(request.variables)
            if len(answers) > _MAX_ANSWERS:
                answers.popitem(last=False)
        answers.move_to_end(place)
        return [answers[place]]

    def execute(self, variables: Mapping[str, Any]) -> Any:
        """Raises a GraphQLError where the field has no value."""
        result = execute_sync(self.schema, self.document, variable_values=dict(variables))
        if result.errors:
            raise result.errors[0]
        return (result.data or {}).get(self.key)


class _Variables(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_variable(self, node: VariableNode, *_: Any) -> None:
        self.names.add(node.name.value)
