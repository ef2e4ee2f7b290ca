"""The schema: every entity's queries and mutations, merged."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import strawberry
from graphql import MiddlewareManager, OperationDefinitionNode
from strawberry.extensions import SchemaExtension
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.tools import merge_types

from resolvers.admission import PlanFirst
from resolvers.api_keys import ApiKeyMutations, ApiKeyQueries
from resolvers.booking_mutations import BookingMutations
from resolvers.bookings import BookingQueries
from resolvers.calendar import CalendarMutations
from resolvers.documents import Checked, ValidDocuments, find_errors
from resolvers.errors import ERROR_TYPES
from resolvers.events import AccessEventMutations
from resolvers.fieldkinds import FieldKinds
from resolvers.limits import DEFAULT_LIMITS, MOST_ERRORS, DocumentLimits, parse_within
from resolvers.locations import LocationMutations, LocationQueries
from resolvers.locker_mutations import LockerMutations
from resolvers.lockers import LockerQueries
from resolvers.nodes import NodeQueries
from resolvers.owner_mutations import OwnerMutations
from resolvers.owners import OwnerQueries
from resolvers.paths import note_path
from resolvers.permissions import guard_schema
from resolvers.planner import plan_of
from resolvers.reservations import ReservationMutations, ReservationQueries
from resolvers.scalars import schema_config
from resolvers.selection import find_variable_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import DocumentNode, GraphQLError
    from strawberry.types import ExecutionContext

    from loaders.trace import Trace
    from resolvers.plan import Plan
    from resolvers.planner import PageSizes

__all__ = ["SmartLockerSchema", "build_schema"]

Query: Any = merge_types(
    "Query",
    (NodeQueries, LockerQueries, OwnerQueries, ReservationQueries, LocationQueries, BookingQueries, ApiKeyQueries),
)
Mutation: Any = merge_types(
    "Mutation",
    (
        OwnerMutations,
        LockerMutations,
        ReservationMutations,
        AccessEventMutations,
        LocationMutations,
        BookingMutations,
        CalendarMutations,
        ApiKeyMutations,
    ),
)
Query.__strawberry_definition__.description = "What can be asked."
Mutation.__strawberry_definition__.description = "What can be changed: each takes one input and gives one payload."


class OneOperation(SchemaExtension):
    """Of several operations a request must name the one to run; the framework would run the first."""

    def on_parse(self) -> Iterator[None]:
        """Refuses what names none; where the request is traced, the one is noted."""
        yield
        context = self.execution_context
        if context.graphql_document is None:
            return
        wanted = context._provided_operation_name  # noqa: SLF001  # see above
        operations = [
            node for node in context.graphql_document.definitions if isinstance(node, OperationDefinitionNode)
        ]
        if wanted is None and len(operations) > 1:
            raise CannotGetOperationTypeError(None)
        trace = getattr(context.context, "trace", None)
        if trace is not None:
            _note_operation(trace, operations, wanted)


def _note_operation(trace: Trace, operations: list[OperationDefinitionNode], wanted: str | None) -> None:
    """The name comes from the document, where it is a name for certain: a request may name anything."""
    for node in operations:
        name = None if node.name is None else node.name.value
        if wanted in {None, name}:
            trace.operation_type, trace.operation_name = node.operation.value, name


class SmartLockerSchema(strawberry.Schema):
    """Knows what a document costs; leaves the errors to the HTTP layer, which knows the request they belong to."""

    @cached_property
    def _field_kinds(self) -> FieldKinds:
        return FieldKinds(self._schema)

    def document(self, text: str, operation_name: str | None, variables: dict[str, Any]) -> DocumentNode:
        """A document that is valid, keeps the limits, and has this operation for these variables.

        Raises:
            TooComplexError: where it is over a limit.
            GraphQLError: where it is not valid or has not.
        """
        document = parse_within(text, self.limits)
        errors = find_errors(self._schema, document, is_guarded=self.is_guarded)
        errors = errors or self.variable_errors(document, operation_name, variables)
        if errors:
            raise errors[0]
        return document

    def variable_errors(
        self, document: DocumentNode, operation_name: str | None, variables: dict[str, Any]
    ) -> list[GraphQLError]:
        """What is wrong with the variables of a valid document's operation."""
        return find_variable_errors(self._schema, document, operation_name, variables, is_guarded=self.is_guarded)

    def plan(
        self, document: DocumentNode, operation_name: str | None, variables: Mapping[str, Any], sizes: PageSizes
    ) -> Plan:
        """What an operation of a valid document would ask of the store at most."""
        return plan_of(self._field_kinds, document, operation_name, variables, sizes)

    limits = DEFAULT_LIMITS
    is_guarded = False

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Logs nothing here."""

    def _get_middleware_manager(self, extensions: list[SchemaExtension]) -> MiddlewareManager:
        """Has every field note its path where the trace wants it; else resolvers are called as they are."""
        manager = super()._get_middleware_manager(extensions)
        trace = getattr(extensions[0].execution_context.context, "trace", None)
        if trace is None or not trace.wants_paths:
            return manager
        return MiddlewareManager(*manager.middlewares, note_path)

    def _get_custom_context_kwargs(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Values that do not fit are told without the names of those that would, and not all of very many."""
        own = {"hide_suggestions": self.is_guarded, "max_coercion_errors": MOST_ERRORS}
        return super()._get_custom_context_kwargs(*args, **kwargs) | own


def build_schema(limits: DocumentLimits = DEFAULT_LIMITS, *, is_guarded: bool = False) -> SmartLockerSchema:
    """The schema, each field behind its rule; documents that have proved valid are kept.

    Args:
        limits: what a document may have.
        is_guarded: whether mistakes are told without the names of what is there.
    """
    known = ValidDocuments()
    schema = SmartLockerSchema(
        query=Query,
        mutation=Mutation,
        types=ERROR_TYPES,
        config=schema_config(),
        extensions=[OneOperation, lambda: Checked(known, limits, is_guarded=is_guarded), PlanFirst],
    )
    schema.limits = limits
    schema.is_guarded = is_guarded
    guard_schema(schema._schema)  # noqa: SLF001  # Strawberry has no other way to its fields as they are served
    return schema
