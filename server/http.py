"""GraphQL over HTTP: from a request's bytes to the schema and back."""

from __future__ import annotations

import logging
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types.execution import PreExecutionError
from strawberry.types.graphql import OperationType

from domain.errors import SmartLockerError
from resolvers.lazy import collapse_absent
from server.compression import compress
from server.explanation import RequestCost, check_explain, extensions_of, trace_of
from server.graphiql import graphiql_page
from server.incoming import (
    RefusedError,
    RequestError,
    asks_early_for_cost,
    asks_for_cost,
    names_a_document,
    operation_of,
    read_content,
    refusal_of,
)
from server.negotiation import GRAPHQL, HTML, JSON, choose_media_type
from server.observation import REQUEST_ID
from server.problems import describe_errors, internal_message, request_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Receive, Scope, Send
    from strawberry.types import ExecutionResult

    from domain.principal import Principal
    from loaders.trace import Trace
    from resolvers.context import Context
    from resolvers.schema import SmartLockerSchema
    from server.documents import Documents
    from server.explanation import Explainers
    from server.gate import Gate
    from server.incoming import Operation
    from server.limits import RequestLimits

__all__ = ["GraphQLEndpoint"]

logger = logging.getLogger(__name__)

_OPERATION_TYPES = {"GET": {OperationType.QUERY}, "POST": set(OperationType)}
_OK = 200


class GraphQLEndpoint:
    """The ASGI application at /graphql."""

    def __init__(
        self,
        schema: SmartLockerSchema,
        authenticate: Callable[[Request], Awaitable[Principal]],
        new_context: Callable[[Principal, Trace | None], Context],
        new_request_id: Callable[[], str],
        documents: Documents,
        explainers: Explainers,
        gate: Gate,
        limits: RequestLimits,
        *,
        shows_graphiql: bool,
    ) -> None:
        self._schema = schema
        self._authenticate = authenticate
        self._new_context = new_context
        self._new_request_id = new_request_id
        self._documents = documents
        self._explainers = explainers
        self._gate = gate
        self._limits = limits
        self._shows_graphiql = shows_graphiql

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        request = Request(scope, receive)
        request_id = self._new_request_id()
        REQUEST_ID.set(request_id)
        media_type = choose_media_type(_header(request, "accept"), (JSON, GRAPHQL))
        coding = _header(request, "accept-encoding")
        cost = RequestCost(self._limits.maximum, asks_early_for_cost(request))
        try:
            async with self._limits.deadline():
                response = await self._answer(request, media_type, request_id, cost)
                await compress(response, coding)
        except RefusedError as refusal:
            response = _refusal(refusal, media_type or JSON, request_id, cost)
        except SmartLockerError as problem:
            response = _refusal(refusal_of(problem), media_type or JSON, request_id, cost)
        except ClientDisconnect:
            return
        except Exception:
            logger.exception("request %s failed", request_id)
            error = request_error(internal_message(request_id), "INTERNAL_SERVER_ERROR", 500, request_id)
            response = _json(_failed(error, cost.told_of_refused), 500, media_type or JSON)
        response.headers["X-Request-Id"] = request_id
        response.headers["Cache-Control"] = "no-store"
        response.headers["Vary"] = "Accept, Accept-Encoding"
        await response(scope, receive, send)

    async def _answer(self, request: Request, media_type: str | None, request_id: str, cost: RequestCost) -> Response:
        self._gate.check(request)
        if request.method not in _OPERATION_TYPES:
            raise RefusedError(405, "GraphQL takes GET and POST.", headers={"Allow": "GET, POST"})
        if self._shows_graphiql and _wants_page(request):
            return graphiql_page()
        if media_type is None:
            raise RefusedError(406, f"The answer can be {GRAPHQL} or {JSON}.")
        principal = await self._authenticate(request)
        cost.budget = budget = self._limits.budget(principal)
        await budget.begin()
        content = await read_content(request)
        cost.is_asked = asks_for_cost(request.headers, content)
        operation = operation_of(content, request.headers)
        document = self._documents.text_of(operation)
        cost.context = context = self._new_context(principal, trace_of(operation))
        context.admission.charge = budget.charge
        context.admission.only_plan = operation.explain == "plan"
        check_explain(operation, self._explainers, principal)
        with self._limits.place():
            result = await self._run(operation, document, context, _OPERATION_TYPES[request.method])
        executed = not isinstance(result, PreExecutionError)
        if executed:
            self._documents.keep(operation)
        answer: dict[str, Any] = {}
        errors = collapse_absent(result.data, result.errors or [])
        if errors:
            answer["errors"] = describe_errors(errors, request_id, executed=executed)
        failed_before = bool(errors) and result.data is None and all(error.path is None for error in errors)
        if not failed_before:
            answer["data"] = result.data
        told = extensions_of(operation, context, cost, ran=not failed_before, failed=bool(errors))
        if told:
            answer["extensions"] = told
        fails = failed_before and media_type == GRAPHQL
        return _json(answer, answer["errors"][0]["extensions"]["status"] if fails else _OK, media_type)

    async def _run(
        self, operation: Operation, document: str, context: Context, allowed: set[OperationType]
    ) -> ExecutionResult:
        try:
            result = await self._schema.execute(
                document,
                variable_values=operation.variables,
                context_value=context,
                operation_name=operation.operation_name,
                allowed_operation_types=allowed,
            )
        except CannotGetOperationTypeError as error:
            raise RequestError(400, "The document has no operation of that name, or no name was given.") from error
        except InvalidOperationTypeError as error:
            raise RefusedError(
                405, "GET is for queries: send anything else by POST.", headers={"Allow": "POST"}
            ) from error
        finally:
            context.loaders.stop()
        refusal = result.errors[0].original_error if result.errors else None
        if isinstance(refusal, RefusedError):
            raise refusal  # the framework makes an error of the document's of whatever stops it
        return result


def _wants_page(request: Request) -> bool:
    return (
        request.method == "GET"
        and not names_a_document(request)
        and choose_media_type(_header(request, "accept"), (HTML, JSON, GRAPHQL)) == HTML
    )


def _refusal(refusal: RefusedError, media_type: str, request_id: str, cost: RequestCost) -> Response:
    error = request_error(refusal.message, refusal.code, refusal.status, request_id)
    is_told_in_the_answer = isinstance(refusal, RequestError) and media_type == JSON
    content = _failed(error, cost.told_of_refused)
    response = _json(content, _OK if is_told_in_the_answer else refusal.status, media_type)
    response.headers.update(refusal.headers)
    return response


def _failed(error: dict[str, Any], extensions: dict[str, Any]) -> dict[str, Any]:
    """The answer where the request failed as a whole."""
    return {"errors": [error], "extensions": extensions} if extensions else {"errors": [error]}


def _header(request: Request, name: str) -> str:
    """A header's value; one that came several times counts as one list."""
    return ",".join(request.headers.getlist(name))


def _json(content: dict[str, Any], status: int, media_type: str) -> Response:
    return Response(orjson.dumps(content, default=_exact), status, {"Content-Type": f"{media_type}; charset=utf-8"})


def _exact(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} is no JSON")
