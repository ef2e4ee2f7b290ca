"""GraphQL over WebSocket: the subprotocol `graphql-transport-ws`, and no other."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from starlette.types import Receive, Scope, Send

from domain.authorization import Principal
from domain.errors import SmartLockerError, UnavailableError
from resolvers.request_state import FairLock
from server.auth.authenticator import Authenticator
from server.http.endpoint import http_error, to_json
from server.http.error_format import request_error
from server.http.explanation import RequestCost
from server.http.headers import HttpRequest
from server.http.host_origin import HostOriginCheck
from server.http.operations import Answer, Operations
from server.http.request import wants_cost
from server.http_errors import HttpError
from server.limits.deadlines import Deadline
from server.limits.request_limits import RequestBudget, RequestLimits
from server.live.messages import BAD_REQUEST, CloseError, check_payload, id_of, is_object, parsed, pong
from server.live.outbox import SEND_AT_ONCE, Outbox
from server.live.queries import LiveQueries
from server.live.subscription import Event, Subscription
from server.telemetry.observation import REQUEST_ID, Observation, record_caller

logger = logging.getLogger(__name__)

SUBPROTOCOL: Final = "graphql-transport-ws"
_INIT_SECONDS: Final = 5
_ALLOWED: Final = frozenset({"query", "mutation", "subscription"})
_EARLY_MESSAGES: Final = 10
_EARLY_BYTES: Final = 16 * 1024
"""Of a message before the connection is acknowledged: the client is not known yet."""
_SMALL_BYTES: Final = 1024
_MAX_REASON_BYTES: Final = 123
_UNAUTHORIZED, _FORBIDDEN, _NOT_ACCEPTABLE = 4401, 4403, 4406
_INIT_TIMEOUT, _DUPLICATE, _TOO_MANY_INITS, _TRY_LATER = 4408, 4409, 4429, 1013
_RESTART: Final = 1012
_STATUS_OK: Final = 200
_STATUS_UNAUTHENTICATED: Final = 401


@dataclass(slots=True, eq=False)
class WebSocketEndpoint:
    operations: Operations
    authenticate: Authenticator
    new_request_id: Callable[[], str]
    host_origin_check: HostOriginCheck
    limits: RequestLimits
    live: LiveQueries
    require_usable_table: Callable[[], None]
    most_operations: int
    """How many operations may run on one connection."""
    observing: Callable[[str, Scope], AbstractContextManager[Observation | None]]
    parsing: FairLock = field(default_factory=FairLock)
    """Held while a message is parsed: a large one takes milliseconds, and hostile clients send many at once."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self.host_origin_check.check(_request(scope, None))
        except HttpError as error:
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
            await send({"type": "websocket.http.response.body", "body": error.message.encode()})
            return
        if SUBPROTOCOL in scope["subprotocols"]:
            await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
            await _Connection(self, scope, receive, send).run()
        else:
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": _NOT_ACCEPTABLE, "reason": "Subprotocol not acceptable"})


class _Operation:
    """An operation of a connection: where its results go, until it has ended."""

    def __init__(self, connection: _Connection, operation_id: str) -> None:
        self._connection = connection
        self._id = operation_id
        self._head = b'{"id":%s,"type":"next","payload":' % orjson.dumps(operation_id)
        self.task: asyncio.Task[None] | None = None
        self.subscription: Subscription | None = None
        self.has_ended = False

    def deliver(self, events: Sequence[Event]) -> None:
        if not self.has_ended:
            self._connection.outbox.put(*[b"%s%s}" % (self._head, event.payload) for event in events])

    async def drained(self) -> None:
        await self._connection.outbox.drained()

    def complete(self) -> None:
        self._end({"id": self._id, "type": "complete"})

    def fail(self, errors: list[dict[str, Any]]) -> None:
        self._end({"id": self._id, "type": "error", "payload": errors})

    def forbid(self) -> None:
        self._connection.forbid()

    def _end(self, message: dict[str, Any]) -> None:
        if not self.has_ended:
            self.has_ended = True
            self._connection.forget(self._id)
            self._connection.outbox.put(to_json(message))


class _Connection:
    def __init__(self, endpoint: WebSocketEndpoint, scope: Scope, receive: Receive, send: Send) -> None:
        self._endpoint = endpoint
        self._scope = scope
        self._receive = receive
        self._send = send
        # It may come back, and then gets the rest as fast as it reads.
        self.outbox = Outbox(
            self._send_text,
            lambda: self.close(_TRY_LATER, "The client reads too slowly"),
            scope.get("extensions", {}).get(SEND_AT_ONCE, {}).get("send"),
        )
        self._closing: tuple[int, str] | None = None
        self._credentials: str | None = None
        self._early_messages = 0
        self._has_begun = False
        self._is_acknowledged = False
        self._operations: dict[str, _Operation] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        """Of operations that run, also of those whose results the client does not want any more."""
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_INIT_SECONDS, self.close, _INIT_TIMEOUT, "Connection initialisation timeout")
        sending = asyncio.create_task(self._send_all())
        try:
            while (message := await self._receive())["type"] != "websocket.disconnect":
                if message["type"] == "websocket.receive" and self._closing is None:
                    await self._take(message)
                    await asyncio.sleep(0)  # others have their turn, however many messages wait
            if message.get("code") == _RESTART:
                await self._finish()
        finally:
            self._timer.cancel()
            self._endpoint.live.leave_key(self)
            for operation in [*self._operations.values()]:
                self._drop(operation)
            if self._closing is None:
                self.outbox.end(at_once=True)
            with suppress(OSError):  # the client is gone
                await sending
            await self._ended()

    async def _finish(self) -> None:
        """Answers the queries and mutations that run: the server stops."""
        for operation in [*self._operations.values()]:
            if operation.subscription is not None:
                self._drop(operation)
        await self._ended()
        self.close(_RESTART, "The server is stopping")

    async def _ended(self) -> None:
        """Waits until no operation runs."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def close(self, code: int, reason: str) -> None:
        """Closes the connection, once what waits was sent."""
        if self._closing is None:
            self._closing = code, reason.encode()[:_MAX_REASON_BYTES].decode(errors="ignore")
            self.outbox.end()

    def forbid(self) -> None:
        self.close(_FORBIDDEN, "Forbidden")

    def forget(self, operation_id: str) -> None:
        self._operations.pop(operation_id, None)

    async def _send_text(self, part: bytes) -> None:
        await self._send({"type": "websocket.send", "text": part.decode()})

    async def _send_all(self) -> None:
        await self.outbox.run()
        if self._closing is not None:
            code, reason = self._closing
            await self._send({"type": "websocket.close", "code": code, "reason": reason})

    async def _take(self, received: Mapping[str, Any]) -> None:
        try:
            await self._handle(await self._message(received.get("text")))
        except CloseError as error:
            self.close(error.code, str(error))
        except Exception:
            logger.exception("a connection failed")
            self.close(_TRY_LATER, "Internal error")

    async def _message(self, text: str | None) -> dict[str, Any]:
        if text is None:
            raise CloseError(BAD_REQUEST, "Messages are text")
        if not self._is_acknowledged:
            self._early_messages += 1
            if self._early_messages > _EARLY_MESSAGES or len(text) > _EARLY_BYTES:
                raise CloseError(BAD_REQUEST, "Too much before connection_init")
        if len(text) <= _SMALL_BYTES:
            return parsed(text)
        async with self._endpoint.parsing:
            return parsed(text)

    async def _handle(self, message: dict[str, Any]) -> None:
        payload = message.get("payload")
        match message.get("type"):
            case "connection_init" if is_object(payload):
                await self._begin(payload or {})
            case "ping" if is_object(payload):
                self.outbox.put(pong(payload))
            case "pong" if is_object(payload):
                pass
            case "subscribe" if isinstance(payload, dict):
                self._subscribe(id_of(message), payload)
            case "complete":
                operation = self._operations.get(id_of(message))
                if operation is not None:
                    self._drop(operation)
            case _:
                raise CloseError(BAD_REQUEST, "Invalid message")

    async def _begin(self, payload: dict[str, Any]) -> None:
        if self._has_begun:
            raise CloseError(_TOO_MANY_INITS, "Too many initialisation requests")
        self._has_begun = True
        given = next((value for name, value in payload.items() if name.lower() == "authorization"), None)
        if given is not None and not isinstance(given, str):
            raise CloseError(_FORBIDDEN, "Forbidden")
        self._credentials = given
        principal = await self._principal(begins=True)
        assert self._timer is not None  # noqa: S101  # it runs since the beginning
        self._timer.cancel()
        self._is_acknowledged = True
        self.outbox.put(to_json({"type": "connection_ack"}))
        if principal.expires_at is not None:
            left = max(0.0, principal.expires_at - time.time())
            self._timer = asyncio.get_running_loop().call_later(left, self.close, _FORBIDDEN, "Forbidden")

    async def _principal(self, *, begins: bool = False) -> Principal:
        """The caller; asked again for each operation, as an API key may have been revoked."""
        try:
            principal = await self._endpoint.authenticate(_request(self._scope, self._credentials))
            if begins:
                await self._endpoint.live.follow_key(principal, self)
        except HttpError as error:
            raise CloseError(_FORBIDDEN, "Forbidden") from error
        except UnavailableError as error:
            raise CloseError(_TRY_LATER, "Try again later") from error
        return principal

    def _subscribe(self, operation_id: str, payload: dict[str, Any]) -> None:
        if not self._is_acknowledged:
            raise CloseError(_UNAUTHORIZED, "Unauthorized")
        if operation_id in self._operations:
            raise CloseError(_DUPLICATE, f"Subscriber for {operation_id} already exists")
        check_payload(payload)
        operation = _Operation(self, operation_id)
        most = self._endpoint.most_operations
        if max(len(self._operations), len(self._tasks)) >= most:
            message = f"This connection has {most} operations running, as many as it may."
            operation.fail([request_error(message, "RATE_LIMITED", 429, self._endpoint.new_request_id())])
            return
        self._operations[operation_id] = operation
        operation.task = task = asyncio.create_task(self._operate(operation, payload))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _operate(self, operation: _Operation, payload: dict[str, Any]) -> None:
        endpoint, request_id = self._endpoint, self._endpoint.new_request_id()
        REQUEST_ID.set(request_id)
        deadline = Deadline(endpoint.limits.deadlines)
        cost = RequestCost(endpoint.limits.limit, wants_cost({}, payload))
        try:
            with endpoint.observing("WEBSOCKET", self._scope) as observation:
                try:
                    with deadline:
                        answer = await self._answer(payload, cost, request_id)
                except CloseError:
                    raise
                except Exception as error:  # noqa: BLE001  # every operation has an answer
                    failure = http_error(error, request_id, deadline, endpoint.limits)
                    operation.fail([endpoint.live.error(failure, request_id)])
                    return
                finally:
                    if observation is not None:
                        observation.response_started(_STATUS_OK, b"")
            await self._deliver(operation, answer)
        except CloseError as error:
            self.close(error.code, str(error))
        except Exception as error:  # noqa: BLE001  # as above
            failure = http_error(error, request_id, deadline, endpoint.limits)
            operation.fail([endpoint.live.error(failure, request_id)])
            self._drop(operation)

    async def _answer(self, payload: dict[str, Any], cost: RequestCost, request_id: str) -> Answer:
        endpoint = self._endpoint
        endpoint.require_usable_table()
        principal = await self._principal()
        record_caller(principal)
        cost.budget = budget = RequestBudget(endpoint.limits.budgets, principal)
        await budget.begin()
        # The protocol demands a query, also beside the id of a document.
        content = payload if payload.get("query") else {name: payload[name] for name in payload.keys() - {"query"}}
        return await endpoint.operations.answer(content, {}, principal, budget, cost, request_id, _ALLOWED)

    async def _deliver(self, operation: _Operation, answer: Answer) -> None:
        live, subscribed = self._endpoint.live, answer.subscribed
        if subscribed is None:
            if answer.has_failed:
                operation.fail(answer.body["errors"])
            else:
                operation.deliver([Event(to_json(answer.body))])
                operation.complete()
            return
        if operation.has_ended or live.is_stopping:
            return
        try:
            operation.subscription = subscription = await live.open(subscribed, operation)
        except (SmartLockerError, HttpError) as error:
            if error.status == _STATUS_UNAUTHENTICATED:
                raise CloseError(_FORBIDDEN, "Forbidden") from error
            operation.fail([live.error(error, REQUEST_ID.get())])
            return
        if operation.has_ended or live.is_stopping:
            live.close(subscription)
        else:
            await live.catch_up(subscription, subscribed)

    def _drop(self, operation: _Operation) -> None:
        """Ends an operation that the client does not want any more; a mutation that runs is not stopped halfway."""
        operation.has_ended = True
        self._operations = {name: one for name, one in self._operations.items() if one is not operation}
        if operation.subscription is not None:
            self._endpoint.live.close(operation.subscription)
            if operation.task is not None:
                operation.task.cancel()


def _request(scope: Scope, credentials: str | None) -> HttpRequest:
    """The request of a connection as if it were one of HTTP, with the credentials that were sent after it."""
    headers = scope["headers"]
    if credentials is not None:
        headers = [header for header in headers if header[0] != b"authorization"]
        headers.append((b"authorization", credentials.encode("latin-1", errors="replace")))

    async def nothing() -> Any:
        raise NotImplementedError

    return HttpRequest({**scope, "type": "http", "method": "GET", "headers": headers}, nothing)
