"""GraphQL over HTTP: from a request's bytes to the schema and back."""

from __future__ import annotations

import json
import logging
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from strawberry.http.ides import get_graphql_ide_html
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types.execution import PreExecutionError
from strawberry.types.graphql import OperationType

from resolvers.lazy import collapse_absent
from server.problems import describe_errors, internal_message, request_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

    from resolvers.context import Context
    from resolvers.schema import SmartLockerSchema

__all__ = ["GraphQLEndpoint"]

logger = logging.getLogger(__name__)

_GRAPHQL_TYPE = "application/graphql-response+json"
_JSON_TYPE = "application/json"
_BODY_BYTES = 256 * 1024
_OK = 200


class _Operation(NamedTuple):
    """What a client asks for."""

    query: str
    variables: dict[str, Any] | None
    operation_name: str | None


class _RefusedError(Exception):
    """The request is not GraphQL over HTTP; it gets this status and message."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


class GraphQLEndpoint:
    """The ASGI application at /graphql."""

    def __init__(
        self, schema: SmartLockerSchema, new_context: Callable[[], Context], new_request_id: Callable[[], str]
    ) -> None:
        self._schema = schema
        self._new_context = new_context
        self._new_request_id = new_request_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        request = Request(scope, receive)
        request_id = self._new_request_id()
        try:
            response = await self._answer(request, request_id)
        except _RefusedError as refusal:
            error = request_error(refusal.message, "BAD_USER_INPUT", refusal.status, request_id)
            response = _json({"errors": [error]}, refusal.status, _JSON_TYPE)
            response.headers.update(refusal.headers)
        except ClientDisconnect:
            return
        except Exception:
            logger.exception("request %s failed", request_id)
            error = request_error(internal_message(request_id), "INTERNAL_SERVER_ERROR", 500, request_id)
            response = _json({"errors": [error]}, 500, _JSON_TYPE)
        response.headers["X-Request-Id"] = request_id
        response.headers["Cache-Control"] = "no-store"
        await response(scope, receive, send)

    async def _answer(self, request: Request, request_id: str) -> Response:
        if request.method not in {"GET", "POST"}:
            raise _RefusedError(405, "GraphQL takes GET and POST.", {"Allow": "GET, POST"})
        is_get = request.method == "GET"
        if is_get and "query" not in request.query_params and _wants_page(request):
            return HTMLResponse(get_graphql_ide_html(graphql_ide="graphiql"))
        operation = _from_query(request) if is_get else await _from_body(request)
        try:
            result = await self._schema.execute(
                operation.query,
                variable_values=operation.variables,
                context_value=self._new_context(),
                operation_name=operation.operation_name,
                allowed_operation_types=OperationType.from_http("GET" if is_get else "POST"),
            )
        except CannotGetOperationTypeError as error:
            raise _RefusedError(400, "The document has no operation of that name, or no name was given.") from error
        except InvalidOperationTypeError as error:
            raise _RefusedError(405, "A mutation takes POST.", {"Allow": "POST"}) from error
        executed = not isinstance(result, PreExecutionError)
        answer: dict[str, Any] = {}
        errors = collapse_absent(result.data, result.errors or [])
        if errors:
            answer["errors"] = describe_errors(errors, request_id, executed=executed)
        failed_before = bool(errors) and result.data is None and all(error.path is None for error in errors)
        if not failed_before:
            answer["data"] = result.data
        media_type = _media_type(request)
        return _json(answer, 400 if failed_before and media_type == _GRAPHQL_TYPE else _OK, media_type)


def _from_query(request: Request) -> _Operation:
    parameters = request.query_params
    variables = parameters.get("variables")
    return _operation(
        {
            "query": parameters.get("query"),
            "variables": _parse_json(variables.encode(errors="replace")) if variables else None,
            "operationName": parameters.get("operationName"),
        }
    )


async def _from_body(request: Request) -> _Operation:
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != _JSON_TYPE:
        raise _RefusedError(415, f"The body must be {_JSON_TYPE}.", {"Accept": _JSON_TYPE})
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY_BYTES:
            raise _RefusedError(413, f"The body may have {_BODY_BYTES // 1024} KB at most.")
    return _operation(_parse_json(bytes(body)))


def _parse_json(text: bytes) -> Any:
    """Strict JSON whose numbers stay exact: one parser knows the rules, the other keeps the digits."""
    try:
        orjson.loads(text)
        return json.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise _RefusedError(400, "The request is not valid JSON.") from error


def _operation(content: Any) -> _Operation:
    if not isinstance(content, dict):
        raise _RefusedError(400, "The request must be a JSON object; batches are not taken.")
    query, variables, name = (content.get(key) for key in ("query", "variables", "operationName"))
    if not isinstance(query, str) or not query.strip():
        raise _RefusedError(400, "query must be a GraphQL document.")
    if variables is not None and not isinstance(variables, dict):
        raise _RefusedError(400, "variables must be a JSON object.")
    if name is not None and not isinstance(name, str):
        raise _RefusedError(400, "operationName must be text.")
    return _Operation(query, variables, name)


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _media_type(request: Request) -> str:
    return _GRAPHQL_TYPE if _GRAPHQL_TYPE in request.headers.get("accept", "") else _JSON_TYPE


def _json(content: dict[str, Any], status: int, media_type: str) -> Response:
    return Response(orjson.dumps(content, default=_exact), status, {"Content-Type": f"{media_type}; charset=utf-8"})


def _exact(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} is no JSON")
