"""The GraphQL endpoint: from an HTTP request to the schema and back."""

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from domain.errors import SmartLockerError
from server.auth.authenticator import Authenticator
from server.http.compression import compress
from server.http.error_format import internal_message, request_error
from server.http.explanation import RequestCost
from server.http.headers import HttpRequest
from server.http.host_origin import HostOriginCheck
from server.http.negotiation import EVENTS, GRAPHQL, HTML, JSON, choose_media_type
from server.http.operations import SUBSCRIPTION, Answer, Operations
from server.http.request import has_document, read_content, wants_cost, wants_cost_early
from server.http_errors import GraphQLRequestError, HttpError, to_http_error
from server.limits.deadlines import Deadline
from server.limits.request_limits import RequestBudget, RequestLimits
from server.telemetry.observation import REQUEST_ID, record_caller

logger = logging.getLogger(__name__)

_OPERATION_TYPES = {"GET": {"query", SUBSCRIPTION}, "POST": {"query", "mutation", SUBSCRIPTION}}
_OK = 200
_CONTENT_TYPES = {media_type: f"{media_type}; charset=utf-8".encode() for media_type in (JSON, GRAPHQL)}
_HEADERS = [(b"cache-control", b"no-store"), (b"vary", b"Accept, Accept-Encoding")]


class StreamResponse(Response):
    """A response that is sent as its parts become known; it has all headers already."""


@dataclass(slots=True, eq=False)
class GraphQLEndpoint:
    operations: Operations
    authenticate: Authenticator
    new_request_id: Callable[[], str]
    host_origin_check: HostOriginCheck
    limits: RequestLimits
    _: KW_ONLY
    require_usable_table: Callable[[], None]
    graphiql_page: Callable[[], Response] | None
    """The page for browsers, if they get one."""
    new_stream: Callable[[Answer, Request, str], StreamResponse]
    """Answers a subscription with events: its request, the response so far, and the request's id."""

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
            failure = http_error(error, request_id, deadline, self.limits)
            content = _error_content(failure, request_id, cost)
            if media_type is None and isinstance(failure, GraphQLRequestError):
                response = self.new_stream(
                    Answer(content, has_failed=True, operation_type=None, subscribed=None), request, request_id
                )
            else:
                response = _error_response(failure, content, media_type or JSON)
        if not isinstance(response, StreamResponse):
            response.raw_headers += [(b"x-request-id", request_id.encode()), *_HEADERS]
        await response(scope, receive, send)

    async def _respond(self, request: Request, media_type: str | None, request_id: str, cost: RequestCost) -> Response:
        self.host_origin_check.check(request)
        if request.method not in _OPERATION_TYPES:
            raise HttpError(405, "Send GraphQL requests by GET or POST.", headers={"Allow": "GET, POST"})
        if self.graphiql_page is not None and _wants_page(request):
            return self.graphiql_page()
        accepts_events = choose_media_type(_header(request, "accept"), (EVENTS,)) is not None
        if media_type is None and not accepts_events:
            raise HttpError(406, f"The response is {GRAPHQL} or {JSON}: accept one of them.")
        self.require_usable_table()
        principal = await self.authenticate(request)
        record_caller(principal)
        cost.budget = budget = RequestBudget(self.limits.budgets, principal)
        await budget.begin()
        content = await read_content(request)
        cost.is_requested = wants_cost(request.headers, content)
        allowed = _OPERATION_TYPES[request.method]
        answer = await self.operations.answer(content, request.headers, principal, budget, cost, request_id, allowed)
        # Without an operation, what a client wants that accepts nothing but events is a subscription.
        wanted = answer.operation_type or (SUBSCRIPTION if media_type is None else None)
        if answer.subscribed is not None or ("errors" in answer.body and wanted == SUBSCRIPTION):
            if accepts_events:
                return self.new_stream(answer, request, request_id)
            if answer.subscribed is not None:
                raise HttpError(406, f"A subscription is answered as {EVENTS}, or over a WebSocket: accept it.")
        fails = answer.has_failed and media_type == GRAPHQL
        status = answer.body["errors"][0]["extensions"]["status"] if fails else _OK
        return _json(answer.body, status, media_type or JSON)


def http_error(error: Exception, request_id: str, deadline: Deadline, limits: RequestLimits) -> HttpError:
    """How a request ends that raised an error."""
    match error:
        case HttpError():
            return error
        case SmartLockerError():
            return to_http_error(error)
        case TimeoutError() if deadline.is_expired:
            return limits.timeout_error()
    logger.error("request %s failed", request_id, exc_info=error)
    return HttpError(500, internal_message(request_id), "INTERNAL_SERVER_ERROR")


class _JsonResponse(Response):
    """A response whose headers are known."""

    def __init__(self, body: bytes, status: int, media_type: str) -> None:
        self.status_code = status
        self.body = body
        self.background = None
        self.raw_headers = [(b"content-type", _CONTENT_TYPES[media_type]), (b"content-length", b"%d" % len(body))]


def _wants_page(request: Request) -> bool:
    return (
        request.method == "GET"
        and not has_document(request)
        and choose_media_type(_header(request, "accept"), (HTML, JSON, GRAPHQL)) == HTML
    )


def _error_content(error: HttpError, request_id: str, cost: RequestCost) -> dict[str, Any]:
    content: dict[str, Any] = {"errors": [request_error(error.message, error.code, error.status, request_id)]}
    extensions = cost.rejected_extensions
    if extensions:
        content["extensions"] = extensions
    return content


def _error_response(error: HttpError, content: dict[str, Any], media_type: str) -> Response:
    is_success = isinstance(error, GraphQLRequestError) and media_type == JSON
    response = _json(content, _OK if is_success else error.status, media_type)
    response.headers.update(error.headers)
    return response


def _header(request: Request, name: str) -> str:
    """The value of a header; several headers of that name count as one list."""
    values = request.headers.getlist(name)
    return ",".join(values) if len(values) > 1 else values[0] if values else ""


def _json(content: dict[str, Any], status: int, media_type: str) -> Response:
    return _JsonResponse(to_json(content), status, media_type)


def to_json(content: dict[str, Any]) -> bytes:
    return orjson.dumps(content, default=_exact)


def _exact(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} is not serializable as JSON")
