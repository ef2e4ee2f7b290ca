"""The execution of documents: parsed and validated once, priced with the variables of a request, charged and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from graphql import GraphQLError

from domain.activity import PastActivity
from domain.authorization import DEVELOPMENT_ADMIN, Principal
from domain.errors import SmartLockerError
from resolvers.api.payloads import ERROR_TYPES
from resolvers.documents.cache import CompiledOperation, DocumentCache, ValidDocument
from resolvers.entities.base import RECORD_TYPES
from resolvers.entities.bindings.live import BoundLive, Live, position_of
from resolvers.limits import DEFAULT_LIMITS, DocumentLimits
from resolvers.plan.compile import Place, PlanStep
from resolvers.plan.price import Price, price_of
from resolvers.plan.run import run_events, run_plan
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
    operation_type: str | None = None
    subscription: LivePlan | None = None
    """Of a subscription that the caller may begin."""


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
        if operation.type == "subscription":
            return await self._begin(operation, priced, request)
        data, errors = await run_plan(root, bound, request, self._type_of)
        if request.trace is not None and request.trace.stopped_by is not None:
            raise request.trace.stopped_by
        return Result(data, errors, ran=True)

    async def _begin(self, operation: CompiledOperation, priced: _Priced, request: RequestState) -> Result:
        """Decides whether the caller may begin a subscription; its arguments, and its field alone, may be wrong."""
        if len(priced.root.steps) != 1:
            return Result(errors=[GraphQLError("A subscription selects one field.", operation.node)], ran=True)
        plan = LivePlan(self._type_of, operation, priced.root, priced.bound)
        step = plan.step
        try:
            if isinstance(plan.wanted, Exception):
                raise plan.wanted
            await plan.source.admit(plan.wanted, step.path, request)
        except GraphQLError as error:
            return Result(errors=[error], ran=True)
        except SmartLockerError as error:
            return Result(errors=[GraphQLError(error.message, step.nodes, original_error=error)], ran=True)
        return Result(ran=True, subscription=plan)

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


class LivePlan:
    """The plan of a subscription that runs: shows activities, and decides on which of them the caller may see."""

    def __init__(
        self,
        type_of: Mapping[type, str],
        operation: CompiledOperation,
        root: Place,
        bound: Mapping[PlanStep, Any],
    ) -> None:
        (self.step,) = root.steps.values()
        assert isinstance(self.step.binding, Live)  # noqa: S101  # there is no other field
        self.operation = operation
        self.source: Live = self.step.binding
        self.wanted: BoundLive = bound[self.step]
        self._type_of = type_of
        self._root = root
        self._bound = bound

    @property
    def cursor_variable(self) -> str | None:
        """The variable that names the cursor, if it is for nothing else."""
        name = self.step.variable_of("after")
        return name if name is not None and self.operation.uses_once(name) else None

    def resume(self, cursor: str) -> None:
        """Begins after a cursor; raises an InvalidCursorError where it is not of this subscription."""
        self.wanted = replace(self.wanted, after=position_of(cursor, self.wanted.place))

    async def show(self, activities: Sequence[PastActivity], request: RequestState) -> list[Result]:
        """The result of each; raises a QueryTooComplexError where there are too many to be shown at once."""
        wanted = replace(self.wanted, events=len(activities), begins=False)
        bound = {**self._bound, self.step: wanted}
        request.price = price_of(self._root, bound)
        request.price.check(request.limit)
        await request.budget.charge(request.price)
        request.start_metering(stops=True)
        shown = await run_events(self._root, bound, request, self._type_of, activities)
        if request.trace is not None and request.trace.stopped_by is not None:
            raise request.trace.stopped_by
        return [Result(data, errors, ran=True) for data, errors in shown]


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
