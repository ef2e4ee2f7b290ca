"""A document that one caller subscribes to: what happens is shown once for all of its subscriptions."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any

import orjson

from domain.activity import PastActivity
from domain.errors import QueryTooComplexError, ResyncRequiredError, SmartLockerError, UnavailableError
from domain.times import LATEST, Instant, shift
from loaders.codecs import ACTIVITY
from loaders.following.catching_up import cursor_at
from loaders.following.tail import TICK
from resolvers.entities.activity import cursor_of
from resolvers.execution import Result
from resolvers.request_state import RequestState
from server.http.endpoint import http_error, to_json
from server.http.error_format import format_errors
from server.http.explanation import RequestCost, response_extensions
from server.http.operations import Subscribed
from server.http_errors import HttpError
from server.limits.deadlines import Deadline
from server.limits.request_limits import RequestBudget
from server.live.subscription import Event, Subscription

if TYPE_CHECKING:
    from server.live.queries import LiveQueries

AT_ONCE = 100
"""How many activities of a subscription are shown together at most."""
_MESSAGES_AT_ONCE = 500
"""How many messages are sent before anything else may run: it takes some milliseconds."""
_MOST_WAITING = 1000
"""How many activities wait for the budget of a caller."""
_MOST_BEHIND = 10_000
"""How many wait to be shown, while there is budget: a second of everything that can be logged is read at once."""


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
                await budget.spend(units_since(state))

    async def _work(self) -> None:
        try:
            while self._waiting or self._lost_since is not None:
                if self._lost_since is not None:
                    self._waiting.clear()
                    lost, self._lost_since = self._lost_since, None
                    self.offer([self.failure(ResyncRequiredError(lost))])
                    continue
                batch = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
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


def units_since(state: RequestState) -> float:
    """Units of what a request has read since this was last asked."""
    trace = state.trace
    assert trace is not None  # noqa: S101  # every batch has one
    units = sum(trace.units())
    trace.records.clear()
    return units
