"""The schema: every entity's queries and mutations, merged, and the execution of documents on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import strawberry
from graphql import GraphQLError
from strawberry.printer import print_schema
from strawberry.tools import merge_types

from domain.authorization import DEVELOPMENT_ADMIN
from resolvers.api.payloads import ERROR_TYPES
from resolvers.api.scalars import schema_config
from resolvers.documents.cache import DocumentCache
from resolvers.documents.parsing import DEFAULT_LIMITS, DocumentLimits
from resolvers.entities.access_codes import AccessCodeMutations
from resolvers.entities.api_keys import ApiKeyMutations, ApiKeyQueries
from resolvers.entities.base import RECORD_TYPES
from resolvers.entities.bookings import BookingMutations, BookingQueries
from resolvers.entities.calendar import CalendarMutations
from resolvers.entities.code_devices import CodeDeviceMutations
from resolvers.entities.events import AccessEventMutations
from resolvers.entities.locations import LocationMutations, LocationQueries
from resolvers.entities.lockers import LockerMutations, LockerQueries
from resolvers.entities.nodes import NodeQueries
from resolvers.entities.owners import OwnerMutations, OwnerQueries
from resolvers.entities.reservations import ReservationMutations, ReservationQueries
from resolvers.entities.viewer import ViewerQueries
from resolvers.plan.bound_schema import BoundSchema
from resolvers.plan.price import price_of
from resolvers.plan.run import run_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.authorization import Principal
    from resolvers.documents.cache import CompiledOperation, ValidDocument
    from resolvers.plan.compile import Place, PlanStep
    from resolvers.plan.price import Price
    from resolvers.request_state import ArgumentContext, PageSizes, RequestState

Query: Any = merge_types(
    "Query",
    (
        ViewerQueries,
        NodeQueries,
        LockerQueries,
        OwnerQueries,
        ReservationQueries,
        LocationQueries,
        BookingQueries,
        ApiKeyQueries,
    ),
)
Mutation: Any = merge_types(
    "Mutation",
    (
        OwnerMutations,
        LockerMutations,
        ReservationMutations,
        AccessEventMutations,
        AccessCodeMutations,
        CodeDeviceMutations,
        LocationMutations,
        BookingMutations,
        CalendarMutations,
        ApiKeyMutations,
    ),
)
Query.__strawberry_definition__.description = "Everything that can be read."
Mutation.__strawberry_definition__.description = (
    "Everything that can be changed. Each mutation takes one input and returns one payload."
)

# Validation takes about 5 ms for 100 tokens, and a unit stands for half a millisecond.
_SIZE_PER_UNIT = 10
# Every request has been charged this before its document is read.
_FIRST_UNIT = 1

_PLURALS = {"AccessCode": "access codes", "AccessEvent": "access events", "ApiKey": "API keys"}


@dataclass(slots=True)
class Result:
    """What a document came to. `ran` says whether execution began; without it there is no data."""

    data: dict[str, Any] | None = None
    errors: list[GraphQLError] = field(default_factory=list)
    ran: bool = False


class SmartLockerSchema:
    """Prices and runs documents.

    Args:
        limits: what a document may have.
        hides_suggestions: whether error messages leave out the names of what exists.
    """

    def __init__(self, limits: DocumentLimits = DEFAULT_LIMITS, *, hides_suggestions: bool = False) -> None:
        self._strawberry = declared_schema()
        self.bound = BoundSchema(self._strawberry._schema)  # noqa: SLF001  # Strawberry has no other way to it
        self.bound.require_attributes(RECORD_TYPES)
        self.documents = DocumentCache(self.bound, limits, hides_suggestions=hides_suggestions)
        self._hides_suggestions = hides_suggestions
        self._type_of = RECORD_TYPES | {type_: type_.__name__ for type_ in ERROR_TYPES}

    async def document(self, text: str, request: RequestState) -> ValidDocument:
        """The document with this text. One that is not known is charged by its size, also where it is refused.

        Only one is parsed and validated at a time, and others get their turn in between: this takes the processor for
        as long as hundreds of other requests do.

        Raises:
            QueryTooComplexError: where it exceeds a limit.
            GraphQLSyntaxError: where it cannot be parsed.
            InvalidDocumentError: where it is not valid.
        """
        known = self.documents.known(text)
        if known is not None:
            return known
        async with request.turn:
            size = self.documents.most_tokens(text)
            try:
                parsed = self.documents.parse(text)
                size = parsed.size
                return self.documents.known(text) or self.documents.add(text, parsed)
            finally:
                await request.spend(size // _SIZE_PER_UNIT - _FIRST_UNIT)

    def sdl(self) -> str:
        """The schema in GraphQL's own language."""
        return print_schema(self._strawberry)

    async def execute(
        self, operation: CompiledOperation, variables: Mapping[str, Any], request: RequestState
    ) -> Result:
        """Prices an operation and, unless only its plan is wanted, runs it.

        Raises:
            QueryTooComplexError: where it is expected to exceed the limit, or exceeds it while running.
        """
        request.variables = variables
        request.hides_suggestions = self._hides_suggestions
        priced = self._priced(operation, variables, request)
        if isinstance(priced, list):
            return Result(errors=priced, ran=True)
        root, bound, price = priced
        request.price = price
        if request.plan_only:
            return Result(ran=True)
        price.check(request.limit)
        if request.charge is not None:
            request.budget = await request.charge(price)
        request.start_metering(stops=operation.type == "query")
        try:
            data, errors = await run_plan(root, bound, request, self._type_of)
        finally:
            request.close()
        if request.trace is not None and request.trace.stopped_by is not None:
            raise request.trace.stopped_by
        return Result(data, errors, ran=True)

    def price(self, operation: CompiledOperation, variables: Mapping[str, Any], page_sizes: PageSizes) -> Price:
        """Prices an operation that is not run.

        Raises:
            GraphQLError: where a variable or an argument does not fit its type.
            SmartLockerError: where an argument is wrong.
        """
        priced = self._priced(operation, variables, _Pricing(page_sizes, self._hides_suggestions))
        if isinstance(priced, list):
            raise priced[0]
        for value in priced.bound.values():
            if isinstance(value, Exception):
                raise value
        return priced.price

    def _priced(
        self, operation: CompiledOperation, variables: Mapping[str, Any], context: ArgumentContext
    ) -> _Priced | list[GraphQLError]:
        coerced = operation.coerced(variables, hides_suggestions=self._hides_suggestions)
        if isinstance(coerced, list):
            return coerced
        root = operation.tree(coerced.coerced)
        bound = {step: step.bind(coerced, context) for step in root.reading}
        return _Priced(root, bound, price_of(root, bound))


class _Priced(NamedTuple):
    """An operation with the arguments of one request, ready to run."""

    root: Place
    bound: dict[PlanStep, Any]
    price: Price


@dataclass(slots=True)
class _Pricing:
    """Stands in for the request of an operation that is only priced."""

    page_sizes: PageSizes
    hides_suggestions: bool
    principal: Principal = DEVELOPMENT_ADMIN


def build_schema(limits: DocumentLimits = DEFAULT_LIMITS, *, hides_suggestions: bool = False) -> SmartLockerSchema:
    """The schema with its bindings; one without a binding for every field is not built."""
    return SmartLockerSchema(limits, hides_suggestions=hides_suggestions)


@cache
def declared_schema() -> strawberry.Schema:
    """The schema of all types, which is always the same and takes a tenth of a second."""
    schema = strawberry.Schema(query=Query, mutation=Mutation, types=ERROR_TYPES, config=schema_config())
    _describe_connections(schema)
    return schema


def _describe_connections(schema: strawberry.Schema) -> None:
    """A page of lockers says that it is one: a description must make sense on its own."""
    types: dict[str, Any] = dict(schema.schema_converter.type_map)
    for name, type_ in types.items():
        for suffix, text in (("Connection", "A page of {}."), ("Edge", "An item of a page of {}, with its cursor.")):
            if name.endswith(suffix):
                entity = name.removesuffix(suffix)
                description = text.format(_PLURALS.get(entity, f"{entity.lower()}s"))
                type_.definition.description = description
                type_.implementation.description = description
