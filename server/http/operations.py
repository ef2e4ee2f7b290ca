"""The execution of one GraphQL request, by whatever transport it came."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from graphql import GraphQLError, get_operation_ast

from domain.authorization import Principal
from domain.errors import QueryTooComplexError, ReadOnlyError
from resolvers.documents.cache import InvalidDocumentError
from resolvers.execution import Executor, LivePlan, Result
from resolvers.request_state import RequestState
from server.http.error_format import format_errors
from server.http.explanation import Explainers, RequestCost, check_explain, response_extensions
from server.http.persisted_documents import PersistedDocuments
from server.http.request import GraphQLRequest, parse_request
from server.http_errors import GraphQLRequestError, HttpError
from server.limits.request_limits import RequestBudget, RequestLimits
from server.telemetry.observation import record_document

SUBSCRIPTION = "subscription"


class RequestObserver(Protocol):
    """Sees every GraphQL request that is executed, from its state to its result."""

    def started(self, state: RequestState) -> None:
        """Called with the state that the request is executed with."""

    def finished(self, state: RequestState, request: GraphQLRequest, result: Result | None) -> None:
        """Called once for each started request; `result` is None if the execution raised an exception."""


class Subscribed(NamedTuple):
    """A subscription that its caller may begin."""

    plan: LivePlan
    request: GraphQLRequest
    principal: Principal


class Answer(NamedTuple):
    body: dict[str, Any]
    has_failed: bool
    """Whether nothing was executed."""
    operation_type: str | None
    subscribed: Subscribed | None


@dataclass(slots=True, eq=False)
class Operations:
    executor: Executor
    new_state: Callable[[Principal, GraphQLRequest, RequestBudget], RequestState]
    documents: PersistedDocuments
    explainers: Explainers
    limits: RequestLimits
    is_read_only: Callable[[], bool]
    observer: RequestObserver | None

    async def answer(
        self,
        content: Any,
        headers: Mapping[str, str],
        principal: Principal,
        budget: RequestBudget,
        cost: RequestCost,
        request_id: str,
        allowed: Collection[str],
    ) -> Answer:
        """Executes a request whose caller is known; raises an HttpError or SmartLockerError where it is refused."""
        request = parse_request(content, headers)
        document = self.documents.find(request)
        record_document(document)
        check_explain(request, self.explainers, principal)
        cost.state = state = self.new_state(principal, request, budget)
        try:
            permit = self.limits.take_permit(principal)
            try:
                result = await self._run(request, document, state, allowed)
            finally:
                self.limits.return_permit(permit)
        finally:
            await budget.settle(state)  # also what it took before its deadline
        errors = result.errors
        if result.ran:
            self.documents.add(request)
        body: dict[str, Any] = {}
        if errors:
            body["errors"] = format_errors(errors, request_id, executed=result.ran)
        has_failed = bool(errors) and result.data is None and all(error.path is None for error in errors)
        if not has_failed:
            body["data"] = result.data
        extensions = response_extensions(request, state, cost, ran=not has_failed, failed=bool(errors))
        if extensions:
            body["extensions"] = extensions
        plan = result.subscription
        subscribed = None if plan is None else Subscribed(plan, request, principal)
        return Answer(body, has_failed, result.operation_type, subscribed)

    async def _run(self, request: GraphQLRequest, text: str, state: RequestState, allowed: Collection[str]) -> Result:
        if self.observer is not None:
            self.observer.started(state)
        result: Result | None = None
        try:
            result = await self._result(request, text, state, allowed)
        finally:
            state.close()
            if self.observer is not None:
                self.observer.finished(state, request, result)
        return result

    async def _result(
        self, request: GraphQLRequest, text: str, state: RequestState, allowed: Collection[str]
    ) -> Result:
        try:
            document = await self.executor.document(text, state)
        except InvalidDocumentError as invalid:
            node = get_operation_ast(invalid.document, request.operation_name)
            if node is None:
                return Result(errors=invalid.errors)
            kind = node.operation.value
            _check_type(state, kind, node.name.value if node.name else None, allowed)
            return Result(errors=invalid.errors, operation_type=kind)
        except GraphQLError as error:
            return Result(errors=[error])
        except QueryTooComplexError as error:
            return Result(errors=[GraphQLError(error.message, original_error=error)])
        operation = document.operation(request.operation_name)
        if operation is None:
            names = ", ".join(found.name for found in document.operations if found.name)
            raise GraphQLRequestError(
                400,
                f"Send the operationName of one of the document's operations: {names}."
                if names
                else "The document's operation has no name: send no operationName.",
            )
        _check_type(state, operation.type, operation.name, allowed)
        if operation.type == "mutation" and not state.plan_only and self.is_read_only():
            raise ReadOnlyError
        try:
            result = await self.executor.execute(operation, state)
        except QueryTooComplexError as error:
            result = Result(errors=[GraphQLError(error.message, original_error=error)], ran=True)
        result.operation_type = operation.type
        return result


def _check_type(state: RequestState, operation_type: str, name: str | None, allowed: Collection[str]) -> None:
    """Records type and name of the operation, and rejects it if the request's method does not allow the type."""
    if state.trace is not None:
        state.trace.operation_type, state.trace.operation_name = operation_type, name
    if operation_type not in allowed:
        raise HttpError(405, "GET is for queries and subscriptions: send mutations by POST.", headers={"Allow": "POST"})
