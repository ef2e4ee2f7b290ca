"""The schema: every entity's queries and mutations, merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import strawberry
from graphql import MiddlewareManager, OperationDefinitionNode
from strawberry.extensions import ParserCache, SchemaExtension, ValidationCache
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.tools import merge_types

from resolvers.booking_mutations import BookingMutations
from resolvers.bookings import BookingQueries
from resolvers.calendar import CalendarMutations
from resolvers.errors import ERROR_TYPES
from resolvers.events import AccessEventMutations
from resolvers.locations import LocationMutations, LocationQueries
from resolvers.locker_mutations import LockerMutations
from resolvers.lockers import LockerQueries
from resolvers.nodes import NodeQueries
from resolvers.owners import OwnerMutations, OwnerQueries
from resolvers.paths import note_path
from resolvers.reservations import ReservationMutations, ReservationQueries
from resolvers.scalars import schema_config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLError
    from strawberry.types import ExecutionContext

    from loaders.trace import Trace

__all__ = ["build_schema"]

Query: Any = merge_types(
    "Query", (NodeQueries, LockerQueries, OwnerQueries, ReservationQueries, LocationQueries, BookingQueries)
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
    """Leaves the errors to the HTTP layer, which knows the request they belong to."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Logs nothing here."""

    def _get_middleware_manager(self, extensions: list[SchemaExtension]) -> MiddlewareManager:
        """Has every field note its path where the trace wants it; else resolvers are called as they are."""
        manager = super()._get_middleware_manager(extensions)
        trace = getattr(extensions[0].execution_context.context, "trace", None)
        if trace is None or not trace.wants_paths:
            return manager
        return MiddlewareManager(*manager.middlewares, note_path)


def build_schema() -> SmartLockerSchema:
    """The schema; parsed and validated documents are kept in bounded caches."""
    return SmartLockerSchema(
        query=Query,
        mutation=Mutation,
        types=ERROR_TYPES,
        config=schema_config(),
        extensions=[OneOperation, ParserCache, ValidationCache],
    )
