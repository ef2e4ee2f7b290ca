"""Subscriptions as server-sent events: one connection for each, as graphql-sse has it ("distinct connections")."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from domain.errors import SmartLockerError
from server.http.endpoint import StreamResponse, to_json
from server.http.operations import Answer, Subscribed
from server.http_errors import HttpError
from server.live.outbox import Outbox
from server.live.queries import LiveQueries
from server.live.subscription import Event

_COMMENT_SECONDS = 12
_COMMENT = b":\n\n"
_COMPLETE = b"event: complete\ndata:\n\n"


class EventStream(StreamResponse):
    """Sends the events of a subscription, or the errors for which it cannot begin.

    It ends without `complete` when the server stops or the credentials are not valid any more, so that the client
    comes back. Each event has the cursor from which it then goes on.
    """

    def __init__(self, live: LiveQueries, answer: Answer, request: Request, request_id: str) -> None:
        self.raw_headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-cache, no-transform"),
            (b"x-accel-buffering", b"no"),
            (b"x-request-id", request_id.encode()),
        ]
        self.status_code, self.body, self.background = 200, b"", None
        self._live = live
        self._answer = answer
        self._last_event_id = request.headers.get("last-event-id")
        self._ended = asyncio.Event()

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        async def send_part(part: bytes) -> None:
            await send({"type": "http.response.body", "body": part, "more_body": True})

        self._outbox = Outbox(send_part, self._ended.set)
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send_part(_COMMENT)
        sending = asyncio.create_task(self._outbox.run())
        watching = asyncio.create_task(self._watch(receive))
        try:
            await self._run()
        finally:
            watching.cancel()
            self._outbox.end()
            with suppress(OSError):  # the client is gone
                await sending
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _run(self) -> None:
        subscribed = self._answer.subscribed
        if subscribed is None:
            self.deliver([Event(to_json(self._answer.body))])
            self.complete()
            return
        self._live.streams.add(self)
        try:
            if self._live.is_stopping:
                return
            if self._last_event_id:
                subscribed.plan.resume(self._last_event_id)
            subscription = await self._live.open(subscribed, self)
            catching_up = asyncio.create_task(self._live.catch_up(subscription, subscribed))
            try:
                await self._until_it_ends(subscribed)
            finally:
                catching_up.cancel()
                self._live.close(subscription)
        except (SmartLockerError, HttpError) as error:
            self.deliver([Event(to_json({"errors": [self._live.error(error)]}))])
            self.complete()
        finally:
            self._live.streams.discard(self)

    async def _until_it_ends(self, subscribed: Subscribed) -> None:
        expires_at = subscribed.principal.expires_at
        while not self._ended.is_set():
            left = _COMMENT_SECONDS if expires_at is None else min(_COMMENT_SECONDS, expires_at - time.time())
            if left <= 0:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), left)
                return
            self._outbox.put(_COMMENT)

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._outbox.end(at_once=True)
        self._ended.set()

    def deliver(self, events: Sequence[Event]) -> None:
        for event in events:
            cursor = b"" if event.cursor is None else b"id: %s\n" % event.cursor.encode()
            self._outbox.put(b"event: next\n%sdata: %s\n\n" % (cursor, event.payload))

    async def drained(self) -> None:
        await self._outbox.drained()

    def complete(self) -> None:
        self._outbox.put(_COMPLETE)
        self._ended.set()

    def forbid(self) -> None:
        self.stop()

    def stop(self) -> None:
        self._ended.set()
