"""The subscriptions of this process: what happens is passed on to all that ask for it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol

from graphql import GraphQLError

from domain.activity import Activity, ActivityKind, history_places, past_activity
from domain.api_keys import ApiKey, ApiKeyId
from domain.authorization import Principal
from domain.errors import ResyncRequiredError, SmartLockerError, UnavailableError
from domain.times import Instant
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import ACTIVITY
from loaders.contracts.activity import WHOLE_LOG
from loaders.following.catching_up import missed
from loaders.following.live import LiveLog
from loaders.table.positions import Position
from resolvers.entities.bindings.live import position_of
from resolvers.request_state import RequestState
from server.http.error_format import format_errors, request_error
from server.http.operations import Subscribed
from server.http.request import GraphQLRequest
from server.http_errors import HttpError, to_http_error
from server.limits.request_limits import RequestBudget, RequestLimits, caller_key, rate_limited
from server.live.query import AT_ONCE, LiveQuery, units_since
from server.live.subscription import Client, Subscription

_ENDS_CONNECTIONS = frozenset({ActivityKind.API_KEY_REVOKED, ActivityKind.API_KEY_SUSPENDED})


class Stream(Protocol):
    def stop(self) -> None: ...


class Connection(Protocol):
    def forbid(self) -> None:
        """The credentials are not valid any more: ends the connection."""


class SubscriptionLimits(NamedTuple):
    of_caller: int
    of_process: int


class Meter(Protocol):
    """Counts for metrics."""

    def subscribed(self, change: int) -> None: ...

    def delivered(self, events: int) -> None: ...


class LiveQueries:
    """All subscriptions of this process. The log is read only while there are any."""

    def __init__(
        self,
        backend: Callable[[], Backend],
        new_state: Callable[[Principal, GraphQLRequest, RequestBudget, Instant], RequestState],
        limits: RequestLimits,
        most: SubscriptionLimits,
        new_id: Callable[[], str],
        read_key: Callable[[ApiKeyId], Awaitable[ApiKey | None]],
        meter: Meter | None,
    ) -> None:
        self.new_state = new_state
        self.limits = limits
        self.new_id = new_id
        self.log = LiveLog(backend, self._tell)
        self._most = most
        self._read_key = read_key
        self._meter = meter
        self._queries: dict[Hashable, LiveQuery] = {}
        self._places: dict[str, list[LiveQuery]] = {}
        self._callers: Counter[str] = Counter()
        self._subscriptions: set[Subscription] = set()
        self._keys: dict[Connection, str] = {}
        """The API keys of connections."""
        self.streams: set[Stream] = set()
        """Streams of events, which end when the server stops."""
        self.is_stopping = False

    @property
    def settled_until(self) -> Instant:
        return self.log.position

    def meter(self, events: int) -> None:
        if self._meter is not None:
            self._meter.delivered(events)

    async def open(self, subscribed: Subscribed, client: Client) -> Subscription:
        """Begins a subscription; what happens from now on is delivered once `catch_up` has been awaited.

        Raises an HttpError or an UnavailableError where there are too many, or the log cannot be read.
        """
        caller = caller_key(subscribed.principal)
        if self._callers[caller] >= self._most.of_caller:
            raise rate_limited(f"You have {self._most.of_caller} subscriptions, as many as one caller may.", 1)
        if self._callers.total() >= self._most.of_process:
            raise UnavailableError("This server has as many subscriptions as it may: try again in a moment.")
        self._callers[caller] += 1
        try:
            await self.log.join()
        except BaseException:
            self._uncount(caller)
            raise
        if self._meter is not None:
            self._meter.subscribed(1)
        subscription = Subscription(self._query(subscribed), client)
        subscription.query.subscriptions.append(subscription)
        self._subscriptions.add(subscription)
        subscription.hold()
        try:
            await self._check_key(subscribed.principal)
        except BaseException:
            self.close(subscription)
            raise
        return subscription

    async def follow_key(self, principal: Principal, connection: Connection) -> None:
        """Ends a connection when its API key is revoked or suspended, also an idle one; raises as `open` does."""
        if principal.by_key and principal.credential is not None:
            await self.log.join()
            self._keys[connection] = principal.credential
            await self._check_key(principal)

    def leave_key(self, connection: Connection) -> None:
        if self._keys.pop(connection, None) is not None:
            self.log.leave()

    async def _check_key(self, principal: Principal) -> None:
        """Looks once more whether an API key is valid; what happens to it from now on, the log tells.

        Raises an HttpError if it was revoked or suspended.
        """
        if principal.by_key and principal.credential is not None:
            api_key = await self._read_key(ApiKeyId(principal.credential))
            if api_key is None or api_key.revoked_at is not None:
                raise HttpError(401, "The API key was revoked.", "UNAUTHENTICATED")
            if api_key.suspended_at is not None:
                raise HttpError(401, "The API key is suspended.", "UNAUTHENTICATED")

    def close(self, subscription: Subscription) -> None:
        """Ends a subscription; harmless if it has ended."""
        if subscription not in self._subscriptions:
            return
        self._subscriptions.remove(subscription)
        subscription.is_open = False
        query = subscription.query
        query.subscriptions.remove(subscription)
        if not query.subscriptions:
            query.stop()
            del self._queries[query.key]
            self._places[query.place].remove(query)
            if not self._places[query.place]:
                del self._places[query.place]
        self._uncount(caller_key(query.principal))
        self.log.leave()
        if self._meter is not None:
            self._meter.subscribed(-1)

    async def catch_up(self, subscription: Subscription, subscribed: Subscribed) -> None:
        """Delivers what the client has missed, if it names a cursor, and then what happened meanwhile.

        If too much has happened meanwhile, that has been missed too.
        """
        query, client, after = subscription.query, subscription.client, subscribed.plan.wanted.after
        last = after or keys.activities(query.place, self.settled_until).beginning
        is_live = after is None and subscription.release()
        while not is_live:
            subscription.hold()  # what was held is read
            try:
                async for reached in self._deliver_missed(subscription, subscribed, last):
                    last = reached
                is_live = subscription.release()
            except ResyncRequiredError as error:
                client.deliver([query.failure(error)])
                last = position_of(error.cursor, query.place)
            except UnavailableError as error:
                subscription.warn(error)
                await asyncio.sleep(error.retry_after_seconds)
            except Exception as error:  # noqa: BLE001  # no client waits for ever
                query.end(error, subscription)
                return

    async def _deliver_missed(
        self, subscription: Subscription, subscribed: Subscribed, after: Position
    ) -> AsyncIterator[Position]:
        """Delivers what was missed after a cursor; yields how far it has got.

        Whether the caller may follow the object is decided by its present owner, for each page anew.
        """
        query, (plan, request, principal) = subscription.query, subscribed
        told_until = query.settled_until
        budget = RequestBudget(self.limits.budgets, principal)
        reading = self.new_state(principal, request, budget, told_until)
        async for until, activities in missed(reading.backend, plan.wanted.place, after):
            deciding = self.new_state(principal, request, budget, told_until)
            owner_id = await plan.source.admit(plan.wanted, plan.step.path, deciding)
            await budget.spend(units_since(reading) + units_since(deciding))
            await self._wait_for_budget(subscription, budget)
            seen = [
                one
                for one in activities
                if not subscription.knows(one) and plan.source.shows(principal, one, plan.wanted, owner_id)
            ]
            for first in range(0, len(seen), AT_ONCE):
                part = deque(seen[first : first + AT_ONCE])
                async for events in query.shown([*part], until, [subscription]):
                    for event in events:
                        if not subscription.is_open:
                            return
                        subscription.deliver([event])
                        await subscription.client.drained()
                        activity = part.popleft()
                        if activity.occurred_at > told_until:
                            subscription.note(activity)
                        if activity.occurred_at <= until:
                            yield ACTIVITY.key_of(activity)

    async def _wait_for_budget(self, subscription: Subscription, budget: RequestBudget) -> None:
        """Waits until the caller has paid for what was read."""
        while True:
            try:
                await budget.begin()
            except HttpError as error:
                subscription.warn(error)
                await asyncio.sleep(int(error.headers.get("Retry-After", 1)))
            else:
                return

    def error(self, error: SmartLockerError | HttpError, request_id: str | None = None) -> dict[str, Any]:
        """An error as clients get it. No header can say when to try again, so `retryAfter` does."""
        request_id = request_id or self.new_id()
        if isinstance(error, HttpError):
            shown = request_error(error.message, error.code, error.status, request_id)
        else:
            (shown,) = format_errors([GraphQLError(error.message, original_error=error)], request_id, executed=True)
            error = to_http_error(error)
        if "Retry-After" in error.headers:
            shown["extensions"]["retryAfter"] = int(error.headers["Retry-After"])
        return shown

    def stop(self) -> None:
        """Ends all streams of events, as the server stops; WebSockets are closed by it."""
        self.is_stopping = True
        for stream in [*self.streams]:
            stream.stop()

    def forbid(self, key_id: str) -> None:
        """Ends the connections of an API key that was revoked or suspended."""
        for connection in [one for one, own in self._keys.items() if own == key_id]:
            connection.forbid()
        for subscription in [*self._subscriptions]:
            principal = subscription.query.principal
            if principal.by_key and principal.credential == key_id:
                subscription.client.forbid()

    def _tell(self, activities: Sequence[Activity]) -> None:
        for activity in activities:
            happening = activity.happening
            if happening.kind in _ENDS_CONNECTIONS and happening.api_key_id is not None:
                self.forbid(happening.api_key_id)
            for place in (WHOLE_LOG, *history_places(happening)):
                queries = self._places.get(place)
                if queries is not None:
                    past = past_activity(activity, place, 0)
                    for query in [*queries]:
                        query.tell(past)

    def _query(self, subscribed: Subscribed) -> LiveQuery:
        """The query of a subscription: that of others which ask for the same, if there are any."""
        plan, request, principal = subscribed
        variables = {name: value for name, value in (request.variables or {}).items() if name != plan.cursor_variable}
        key = (
            principal,
            plan.operation,
            plan.wanted.place,
            plan.wanted.kinds,
            json.dumps(variables, default=str, sort_keys=True),  # orjson refuses long integers
            request.cost,
        )
        query = self._queries.get(key)
        if query is None:
            query = self._queries[key] = LiveQuery(self, key, subscribed)
            self._places.setdefault(query.place, []).append(query)
        return query

    def _uncount(self, caller: str) -> None:
        self._callers[caller] -= 1
        if not self._callers[caller]:
            del self._callers[caller]
