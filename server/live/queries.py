"""The subscriptions of this process: what happens is shown once for all that ask for the same, then passed on."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextvars import Context
from typing import Any, NamedTuple, Protocol

import orjson
from graphql import GraphQLError

from domain.activity import Activity, ActivityKind, PastActivity, history_places, past_activity
from domain.api_keys import ApiKey, ApiKeyId
from domain.authorization import Principal
from domain.errors import QueryTooComplexError, ResyncRequiredError, SmartLockerError, UnavailableError
from domain.times import EARLIEST, LATEST, Instant, shift
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import ACTIVITY
from loaders.contracts.activity import WHOLE_LOG
from loaders.following.catching_up import cursor_at, missed
from loaders.following.live import LiveLog
from loaders.following.tail import TICK
from loaders.table.positions import Position
from resolvers.entities.activity import cursor_of
from resolvers.entities.bindings.live import position_of
from resolvers.execution import Result
from resolvers.request_state import RequestState
from server.http.endpoint import http_error, to_json
from server.http.error_format import format_errors, request_error
from server.http.explanation import RequestCost, response_extensions
from server.http.operations import Subscribed
from server.http.request import GraphQLRequest
from server.http_errors import HttpError, to_http_error
from server.limits.deadlines import Deadline
from server.limits.request_limits import RequestBudget, RequestLimits, caller_key, rate_limited

logger = logging.getLogger(__name__)

_AT_ONCE = 100
"""How many activities of a subscription are shown together at most."""
_MESSAGES_AT_ONCE = 500
"""How many messages are sent before anything else may run: it takes some milliseconds."""
_MOST_WAITING = 1000
"""How many activities wait for the budget of a caller."""
_MOST_BEHIND = 10_000
"""How many wait to be shown, while there is budget: a second of everything that can be logged is read at once."""
_MOST_HELD_BYTES = 256 * 1024
"""Of what happens while a client catches up; it is read again if there is more."""


class Event(NamedTuple):
    """A message to a client: an activity, or an error that belongs to none."""

    payload: bytes
    activity_id: str | None = None
    cursor: str | None = None


_ENDS_CONNECTIONS = frozenset({ActivityKind.API_KEY_REVOKED, ActivityKind.API_KEY_SUSPENDED})


class Client(Protocol):
    """Where a subscription sends its events."""

    def deliver(self, events: Sequence[Event]) -> None:
        """Sends them, without waiting."""

    async def drained(self) -> None:
        """Waits until the client has taken what was delivered."""

    def complete(self) -> None:
        """The subscription has ended, after what was delivered."""

    def forbid(self) -> None:
        """The credentials are not valid any more: ends the connection."""


class Stream(Protocol):
    def stop(self) -> None: ...


class SubscriptionLimits(NamedTuple):
    of_caller: int
    of_process: int


class Meter(Protocol):
    """Counts for metrics."""

    def subscribed(self, change: int) -> None: ...

    def delivered(self, events: int) -> None: ...


class Subscription:
    """The subscription of one client: what its query shows, after what the client has missed."""

    def __init__(self, query: LiveQuery, client: Client) -> None:
        self.query = query
        self.client = client
        self._held: list[Event] | None = None
        """Events that come while the client catches up."""
        self._held_bytes = 0
        self._known: set[str] = set()
        """Activities that may be shown again."""
        self._known_until = EARLIEST
        self.is_warned = False
        self.is_open = True

    def hold(self) -> None:
        """Keeps what happens from now on until `release`."""
        self._held, self._held_bytes = [], 0

    def knows(self, activity: PastActivity) -> bool:
        return activity.activity_id in self._known

    def note(self, activity: PastActivity) -> None:
        """Notes that the client has an activity, since it may be found again."""
        self._known.add(activity.activity_id)
        self._known_until = max(self._known_until, activity.occurred_at)

    def release(self) -> bool:
        """Passes on what was held, and from here on everything at once; not if there was more than is kept."""
        held = self._held or []
        if self._held_bytes > _MOST_HELD_BYTES:
            return False
        self._held = None
        if self.is_open:
            self.offer(held)
        return True

    def offer(self, events: Sequence[Event]) -> None:
        if self._held is not None:
            self._held_bytes += sum(len(event.payload) for event in events)
            if self._held_bytes <= _MOST_HELD_BYTES:
                self._held += events
            else:
                self._held.clear()
            return
        if self._known:
            events = [event for event in events if event.activity_id not in self._known]
            if self.query.settled_until > self._known_until:
                self._known.clear()
        if events:
            self.deliver(events)

    def deliver(self, events: Sequence[Event]) -> None:
        self.client.deliver(events)
        self.query.queries.meter(len(events))
        self.is_warned = False

    def warn(self, error: SmartLockerError | HttpError) -> None:
        """Tells why the client has to wait; once, until something is delivered again."""
        if not self.is_warned:
            self.client.deliver([self.query.failure(error)])
        self.is_warned = True


class LiveQuery:
    """A document that one caller subscribes to, with the same variables, however often.

    It shows what happens to all of its subscriptions at once, while more waits.
    """

    def __init__(self, queries: LiveQueries, key: Hashable, subscribed: Subscribed) -> None:
        self.queries = queries
        self.key = key
        self.plan, self._request, self.principal = subscribed
        self.place = self.plan.wanted.place
        self.subscriptions: list[Subscription] = []
        self._waiting: deque[PastActivity] = deque()
        self._showing: list[PastActivity] = []
        """Those that wait no more, and were not all shown yet."""
        self._lost_since: str | None = None
        """Cursor before the first activity that was left out."""
        self._task: asyncio.Task[None] | None = None
        self._deciding: asyncio.Task[None] | None = None

    @property
    def settled_until(self) -> Instant:
        """Up to when its subscriptions were offered everything."""
        return self._settled_before(*self._showing, *self._waiting)

    def tell(self, activity: PastActivity) -> None:
        source, principal = self.plan.source, self.principal
        if not source.follows(principal, activity):
            if self._deciding is None:
                self._deciding = asyncio.create_task(self._decide(), context=Context())
        elif source.shows(principal, activity, self.plan.wanted):
            if len(self._waiting) >= _MOST_WAITING and self._lost_since is None and self._is_too_late:
                self._lost_since = cursor_at(self.place, self._settled_before(*self._waiting))
            if self._lost_since is None:
                self._waiting.append(activity)
            if self._task is None:
                # Not in the context of the request whose change it is.
                self._task = asyncio.create_task(self._work(), context=Context())

    @property
    def _is_too_late(self) -> bool:
        is_short = any(subscription.is_warned for subscription in self.subscriptions)
        return is_short or len(self._waiting) >= _MOST_BEHIND

    def end(self, error: Exception, *subscriptions: Subscription) -> None:
        """Ends subscriptions with an error, by default all of them."""
        if not isinstance(error, SmartLockerError):
            limits = self.queries.limits
            error = http_error(error, self.queries.new_id(), Deadline(limits.deadlines), limits)
        for subscription in subscriptions or [*self.subscriptions]:
            subscription.client.deliver([self.failure(error)])
            subscription.client.complete()
            self.queries.close(subscription)

    def stop(self) -> None:
        for task in (self._task, self._deciding):
            if task is not None:
                task.cancel()

    def offer(self, events: Sequence[Event]) -> None:
        for subscription in [*self.subscriptions]:
            subscription.offer(events)

    async def _offer_in_parts(self, events: Sequence[Event]) -> None:
        """Offers events, and lets the process do other things after some messages: there may be many subscriptions."""
        step = max(1, _MESSAGES_AT_ONCE // len(events))
        for number, subscription in enumerate([*self.subscriptions], 1):
            if subscription.is_open:
                subscription.offer(events)
            if number % step == 0:
                await asyncio.sleep(0)

    def failure(self, error: SmartLockerError | HttpError) -> Event:
        """An error that belongs to no activity, at the field: clients end a subscription at a result without data."""
        return Event(self._failed(self.queries.error(error)))

    def _not_shown(self, activity: PastActivity, error: SmartLockerError | HttpError, settled: Instant) -> Event:
        """An activity that could not be shown: the client learns which one, and has a cursor to go on from."""
        shown, cursor = self.queries.error(error), cursor_of(activity, settled)
        shown["extensions"] |= {"activityId": activity.activity_id, "cursor": cursor}
        return Event(self._failed(shown), activity.activity_id, cursor)

    def _failed(self, error: dict[str, Any]) -> bytes:
        key = self.plan.step.key
        return orjson.dumps({"data": {key: None}, "errors": [error | {"path": [key]}]})

    async def _decide(self) -> None:
        """Ends the subscriptions if the object is not the caller's any more, by its present owner.

        What another owner's object did is not shown in any case, and may have been told late: from before the object
        became the caller's.
        """
        while True:
            budget = RequestBudget(self.queries.limits.budgets, self.principal)
            state = self.queries.new_state(self.principal, self._request, budget, self.settled_until)
            try:
                await self.plan.source.admit(self.plan.wanted, self.plan.step.path, state)
            except UnavailableError as error:
                await asyncio.sleep(error.retry_after_seconds)
            except Exception as error:  # noqa: BLE001  # no client waits for ever
                self.end(error)
                return
            else:
                self._deciding = None
                return
            finally:
                await budget.spend(_units(state))

    async def _work(self) -> None:
        try:
            while self._waiting or self._lost_since is not None:
                if self._lost_since is not None:
                    self._waiting.clear()
                    lost, self._lost_since = self._lost_since, None
                    self.offer([self.failure(ResyncRequiredError(lost))])
                    continue
                batch = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
                batch.sort(key=ACTIVITY.key_of)
                self._showing = batch
                async for events in self.shown(batch, self._settled_before(*self._waiting), self.subscriptions):
                    await self._offer_in_parts(events)
                self._showing = []
        finally:
            self._task = None

    def _settled_before(self, *waiting: PastActivity) -> Instant:
        """Up to when everything was told, but for what waits: no cursor passes that."""
        told = self.queries.settled_until
        first = min((activity.occurred_at for activity in waiting), default=LATEST)
        return told if told < first else shift(first, -TICK)

    async def shown(
        self, activities: Sequence[PastActivity], settled: Instant, waiting: Sequence[Subscription]
    ) -> AsyncIterator[list[Event]]:
        """Shows activities, in parts where they are too many for a limit.

        Where the budget is used up, those who wait are told so once, and they are shown when it is refilled.
        """
        parts = deque([activities])
        while parts:
            part = parts.popleft()
            try:
                events = await self._show(part, settled)
            except (QueryTooComplexError, HttpError) as error:
                seconds = int(error.headers.get("Retry-After", 0)) if isinstance(error, HttpError) else 0
                if seconds:
                    for subscription in [*waiting]:
                        subscription.warn(error)
                    await asyncio.sleep(seconds)
                    parts.appendleft(part)
                    continue
                if len(part) > 1:
                    half = len(part) // 2
                    parts.extendleft([part[half:], part[:half]])
                    continue
                events = [self._not_shown(part[0], error, settled)]
            yield events

    async def _show(self, activities: Sequence[PastActivity], settled: Instant) -> list[Event]:
        """Shows activities as one request: with a permit, a deadline, and at the caller's cost."""
        queries, request_id = self.queries, self.queries.new_id()
        limits, deadline = queries.limits, Deadline(queries.limits.deadlines)
        budget = RequestBudget(limits.budgets, self.principal)
        await budget.begin()
        state = queries.new_state(self.principal, self._request, budget, settled)
        cost = RequestCost(limits.limit, self._request.cost, state, budget)
        try:
            with deadline:
                permit = limits.take_permit(self.principal)
                try:
                    results = await self.plan.show(activities, state)
                finally:
                    limits.return_permit(permit)
        except QueryTooComplexError:
            raise
        except Exception as error:
            raise http_error(error, request_id, deadline, limits) from error
        finally:
            state.close()
            await budget.settle(state)
        return [
            Event(self._payload(result, request_id, state, cost), activity.activity_id, cursor_of(activity, settled))
            for activity, result in zip(activities, results, strict=True)
        ]

    def _payload(self, result: Result, request_id: str, state: RequestState, cost: RequestCost) -> bytes:
        body: dict[str, Any] = {"data": result.data}
        if result.errors:
            body["errors"] = format_errors(result.errors, request_id, executed=True)
        if self._request.cost:
            body["extensions"] = response_extensions(self._request, state, cost, ran=True, failed=bool(result.errors))
        return to_json(body)


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
            await budget.spend(_units(reading) + _units(deciding))
            await self._wait_for_budget(subscription, budget)
            seen = [
                one
                for one in activities
                if not subscription.knows(one) and plan.source.shows(principal, one, plan.wanted, owner_id)
            ]
            for first in range(0, len(seen), _AT_ONCE):
                part = deque(seen[first : first + _AT_ONCE])
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


def _units(state: RequestState) -> float:
    """Units of what a request has read since this was last asked."""
    trace = state.trace
    assert trace is not None  # noqa: S101  # every batch has one
    units = sum(trace.units())
    trace.records.clear()
    return units
