"""The execution of documents: parsed and validated once, priced with the variables of a request, charged and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphql import GraphQLError

from domain.authorization import DEVELOPMENT_ADMIN, Principal
from resolvers.api.payloads import ERROR_TYPES
from resolvers.documents.cache import CompiledOperation, DocumentCache, ValidDocument
from resolvers.documents.parsing import DEFAULT_LIMITS, DocumentLimits
from resolvers.entities.base import RECORD_TYPES
from resolvers.plan.compile import Place, PlanStep
from resolvers.plan.price import Price, price_of
from resolvers.plan.run import run_plan
from resolvers.request_state import ArgumentContext, PageSizes, RequestState
from resolvers.schema import bound_schema

# Validation takes about 5 ms for 100 tokens, and a unit stands for half a millisecond.
_SIZE_PER_UNIT = 10
# Every request has been charged this before its document is read.
_FIRST_UNIT = 1


@dataclass(slots=True)
class Result:
    """The result of a document. `ran` says whether execution began; without it there is no data."""

    data: dict[str, Any] | None = None
    errors: list[GraphQLError] = field(default_factory=list)
    ran: bool = False


class Executor:
    def __init__(
        self,
        limits: DocumentLimits = DEFAULT_LIMITS,
        *,
        hides_suggestions: bool = False,
    ) -> None:
        self.documents = DocumentCache(bound_schema(), limits, hides_suggestions=hides_suggestions)
        self._hides_suggestions = hides_suggestions
        self._type_of = RECORD_TYPES | {type_: type_.__name__ for type_ in ERROR_TYPES}

    async def document(self, text: str, request: RequestState) -> ValidDocument:
        """The document with this text. One that is not known is charged by its size, also where it is refused.

        Only one is parsed and validated at a time, and others get their turn in between: one that has mistakes takes
        the processor for as long as hundreds of other requests do.

        Raises:
            QueryTooComplexError: where it exceeds a limit.
            GraphQLSyntaxError: where it cannot be parsed.
            InvalidDocumentError: where it is not valid.
        """
        known = self.documents.known(text)
        if known is not None:
            return known
        async with request.fair_lock:
            size = self.documents.most_tokens(text)
            try:
                parsed = self.documents.parse(text)
                size = parsed.size
                return self.documents.known(text) or self.documents.add(text, parsed)
            finally:
                await request.budget.spend(size // _SIZE_PER_UNIT - _FIRST_UNIT)

    async def execute(self, operation: CompiledOperation, request: RequestState) -> Result:
        """Raises a QueryTooComplexError where an operation is expected to exceed the limit, or exceeds it."""
        priced = self._priced(operation, request.variables, request)
        if isinstance(priced, list):
            return Result(errors=priced, ran=True)
        root, bound, price = priced
        request.price = price
        if request.plan_only:
            return Result(ran=True)
        price.check(request.limit)
        await request.budget.charge(price)
        request.start_metering(stops=operation.type == "query")
        data, errors = await run_plan(root, bound, request, self._type_of)
        if request.trace is not None and request.trace.stopped_by is not None:
            raise request.trace.stopped_by
        return Result(data, errors, ran=True)

    def price(self, operation: CompiledOperation, variables: Mapping[str, Any], page_sizes: PageSizes) -> Price:
        """Prices an operation that is not run; raises a GraphQLError or SmartLockerError where an argument is wrong."""
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
    root: Place
    bound: dict[PlanStep, Any]
    price: Price


@dataclass(slots=True)
class _Pricing:
    """Stands in for the request of an operation that is only priced."""

    page_sizes: PageSizes
    hides_suggestions: bool
    principal: Principal = DEVELOPMENT_ADMIN
