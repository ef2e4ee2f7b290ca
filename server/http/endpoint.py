"""The GraphQL endpoint: from an HTTP request to the schema and back."""

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from typing import Any, Protocol

import orjson
from graphql import GraphQLError, get_operation_ast
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from domain.authorization import Principal
from domain.errors import QueryTooComplexError, ReadOnlyError, SmartLockerError
from resolvers.documents.cache import InvalidDocumentError
from resolvers.execution import Executor, Result
from resolvers.request_state import RequestState
from server.auth.authenticator import Authenticator
from server.http.compression import compress
from server.http.error_format import format_errors, internal_message, request_error
from server.http.explanation import Explainers, RequestCost, check_explain, response_extensions
from server.http.graphiql import graphiql_page
from server.http.headers import HttpRequest
from server.http.host_origin import HostOriginCheck
from server.http.negotiation import GRAPHQL, HTML, JSON, choose_media_type
from server.http.persisted_documents import PersistedDocuments
from server.http.request import GraphQLRequest, has_document, parse_request, read_content, wants_cost, wants_cost_early
from server.http_errors import GraphQLRequestError, HttpError, to_http_error
from server.limits.deadlines import Deadline
from server.limits.request_limits import RequestBudget, RequestLimits
from server.telemetry.observation import REQUEST_ID, record_caller, record_document

logger = logging.getLogger(__name__)

_OPERATION_TYPES = {"GET": {"query"}, "POST": {"query", "mutation", "subscription"}}
_OK = 200
_CONTENT_TYPES = {media_type: f"{media_type}; charset=utf-8".encode() for media_type in (JSON, GRAPHQL)}
_HEADERS = [(b"cache-control", b"no-store"), (b"vary", b"Accept, Accept-Encoding")]


class RequestObserver(Protocol):
    """Sees every GraphQL request that is executed, from its state to its result."""

    def started(self, state: RequestState) -> None:
        """Called with the state that the request is executed with."""

    def finished(self, state: RequestState, request: GraphQLRequest, result: Result | None) -> None:
        """Called once for each started request; `result` is None if the execution raised an exception."""


@dataclass(slots=True, eq=False)
class GraphQLEndpoint:
    executor: Executor
    authenticate: Authenticator
    new_state: Callable[[Principal, GraphQLRequest, RequestBudget], RequestState]
    new_request_id: Callable[[], str]
    documents: PersistedDocuments
    explainers: Explainers
    host_origin_check: HostOriginCheck
    limits: RequestLimits
    _: KW_ONLY
    require_usable_table: Callable[[], None]
    is_read_only: Callable[[], bool]
    shows_graphiql: bool
    observer: RequestObserver | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HttpRequest(scope, receive)
        request_id = self.new_request_id()
        REQUEST_ID.set(request_id)
        media_type = choose_media_type(_header(request, "accept"), (JSON, GRAPHQL))
        coding = _header(request, "accept-encoding")
        cost = RequestCost(self.limits.limit, wants_cost_early(request))
        deadline = Deadline(self.limits.deadlines)
        try:
            with deadline:
                response = await self._respond(request, media_type, request_id, cost)
                await compress(response, coding)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001  # every request has a response
            failure = self._http_error(error, request_id, is_late=deadline.is_expired)
            response = _error_response(failure, media_type or JSON, request_id, cost)
        response.raw_headers += [(b"x-request-id", request_id.encode()), *_HEADERS]
        await response(scope, receive, send)

    def _http_error(self, error: Exception, request_id: str, *, is_late: bool) -> HttpError:
        match error:
            case HttpError():
                return error
            case SmartLockerError():
                return to_http_error(error)
            case TimeoutError() if is_late:
                return self.limits.timeout_error()
        logger.error("request %s failed", request_id, exc_info=error)
        return HttpError(500, internal_message(request_id), "INTERNAL_SERVER_ERROR")

    async def _respond(self, request: Request, media_type: str | None, request_id: str, cost: RequestCost) -> Response:
        self.host_origin_check.check(request)
        if request.method not in _OPERATION_TYPES:
            raise HttpError(405, "Send GraphQL requests by GET or POST.", headers={"Allow": "GET, POST"})
        if self.shows_graphiql and _wants_page(request):
            return graphiql_page()
        if media_type is None:
            raise HttpError(406, f"The response is {GRAPHQL} or {JSON}: accept one of them.")
        self.require_usable_table()
        principal = await self.authenticate(request)
        record_caller(principal)
        cost.budget = budget = RequestBudget(self.limits.budgets, principal)
        await budget.begin()
        content = await read_content(request)
        cost.is_requested = wants_cost(request.headers, content)
        graphql_request = parse_request(content, request.headers)
        document = self.documents.find(graphql_request)
        record_document(document)
        check_explain(graphql_request, self.explainers, principal)
        cost.state = state = self.new_state(principal, graphql_request, budget)
        try:
            permit = self.limits.take_permit(principal)
            try:
                result = await self._run(graphql_request, document, state, _OPERATION_TYPES[request.method])
            finally:
                self.limits.return_permit(permit)
        finally:
            await budget.settle(state)  # also what it took before its deadline
        errors = result.errors
        if result.ran:
            self.documents.add(graphql_request)
        body: dict[str, Any] = {}
        if errors:
            body["errors"] = format_errors(errors, request_id, executed=result.ran)
        failed_before = bool(errors) and result.data is None and all(error.path is None for error in errors)
        if not failed_before:
            body["data"] = result.data
        extensions = response_extensions(graphql_request, state, cost, ran=not failed_before, failed=bool(errors))
        if extensions:
            body["extensions"] = extensions
        fails = failed_before and media_type == GRAPHQL
        return _json(body, body["errors"][0]["extensions"]["status"] if fails else _OK, media_type)

    async def _run(self, request: GraphQLRequest, text: str, state: RequestState, allowed: set[str]) -> Result:
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

    async def _result(self, request: GraphQLRequest, text: str, state: RequestState, allowed: set[str]) -> Result:
        try:
            document = await self.executor.document(text, state)
        except InvalidDocumentError as invalid:
            node = get_operation_ast(invalid.document, request.operation_name)
            if node is not None:
                _check_type(state, node.operation.value, node.name.value if node.name else None, allowed)
            return Result(errors=invalid.errors)
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
            return await self.executor.execute(operation, state)
        except QueryTooComplexError as error:
            return Result(errors=[GraphQLError(error.message, original_error=error)], ran=True)


class _JsonResponse(Response):
    """A response whose headers are known."""

    def __init__(self, body: bytes, status: int, media_type: str) -> None:
        self.status_code = status
        self.body = body
        self.background = None
        self.raw_headers = [(b"content-type", _CONTENT_TYPES[media_type]), (b"content-length", b"%d" % len(body))]


def _check_type(state: RequestState, operation_type: str, name: str | None, allowed: set[str]) -> None:
    """Records type and name of the operation, and rejects it if the request's method does not allow the type."""
    if state.trace is not None:
        state.trace.operation_type, state.trace.operation_name = operation_type, name
    if operation_type not in allowed:
        raise HttpError(405, "GET is for queries only: send mutations by POST.", headers={"Allow": "POST"})


def _wants_page(request: Request) -> bool:
    return (
        request.method == "GET"
        and not has_document(request)
        and choose_media_type(_header(request, "accept"), (HTML, JSON, GRAPHQL)) == HTML
    )


def _error_response(error: HttpError, media_type: str, request_id: str, cost: RequestCost) -> Response:
    content: dict[str, Any] = {"errors": [request_error(error.message, error.code, error.status, request_id)]}
    extensions = cost.rejected_extensions
    if extensions:
        content["extensions"] = extensions
    is_success = isinstance(error, GraphQLRequestError) and media_type == JSON
    response = _json(content, _OK if is_success else error.status, media_type)
    response.headers.update(error.headers)
    return response


def _header(request: Request, name: str) -> str:
    """The value of a header; several headers of that name count as one list."""
    values = request.headers.getlist(name)
    return ",".join(values) if len(values) > 1 else values[0] if values else ""


def _json(content: dict[str, Any], status: int, media_type: str) -> Response:
    return _JsonResponse(orjson.dumps(content, default=_exact), status, media_type)


def _exact(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} is not serializable as JSON")
