"""The schema: every entity's queries and mutations, merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import strawberry
from graphql import OperationDefinitionNode
from strawberry.extensions import SchemaExtension
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.tools import merge_types

from resolvers.booking_mutations import BookingMutations
from resolvers.bookings import BookingQueries
from resolvers.calendar import CalendarMutations
from resolvers.documents import Checked, ValidDocuments
from resolvers.errors import ERROR_TYPES
from resolvers.events import AccessEventMutations
from resolvers.limits import DEFAULT_LIMITS, DocumentLimits
from resolvers.locations import LocationMutations, LocationQueries
from resolvers.locker_mutations import LockerMutations
from resolvers.lockers import LockerQueries
from resolvers.nodes import NodeQueries
from resolvers.owners import OwnerMutations, OwnerQueries
from resolvers.reservations import ReservationMutations, ReservationQueries
from resolvers.scalars import schema_config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLError
    from strawberry.types import ExecutionContext

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
        """Refuses what names none."""
        yield
        context = self.execution_context
        if context.graphql_document is None or context._provided_operation_name is not None:  # noqa: SLF001  # see above
            return
        if sum(isinstance(node, OperationDefinitionNode) for node in context.graphql_document.definitions) > 1:
            raise CannotGetOperationTypeError(None)


class SmartLockerSchema(strawberry.Schema):
    """Leaves the errors to the HTTP layer, which knows the request they belong to."""

    is_guarded = False

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Logs nothing here."""

    def _get_custom_context_kwargs(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Values that do not fit are told without the names of those that would."""
        return super()._get_custom_context_kwargs(*args, **kwargs) | {"hide_suggestions": self.is_guarded}


def build_schema(limits: DocumentLimits = DEFAULT_LIMITS, *, is_guarded: bool = False) -> SmartLockerSchema:
    """The schema; documents that have proved valid are kept.

    Args:
        limits: what a document may have.
        is_guarded: whether strangers may learn nothing of the schema, by introspection or by suggestions.
    """
    known = ValidDocuments()
    schema = SmartLockerSchema(
        query=Query,
        mutation=Mutation,
        types=ERROR_TYPES,
        config=schema_config(),
        extensions=[OneOperation, lambda: Checked(known, limits, is_guarded=is_guarded)],
    )
    schema.is_guarded = is_guarded
    return schema
