"""The faults of the store, as rules of the proxy that are switched while it runs."""

from collections import Counter
from collections.abc import Callable
from random import Random

import aiohttp
from aiohttp import web

from loaders import keys
from tests.wire import Answer, Call, Lose, Twice, Wait, Wire, conflict

HANG_SECONDS = 5
"""Longer than the server waits for an answer; the request then reaches the store nevertheless."""


class CountingWire(Wire):
    """A proxy for long runs: counts the calls and forgets them; a store that is down closes the connection."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.count = 0

    async def handle(self, request: web.Request) -> web.Response:
        self.count += 1
        try:
            return await super().handle(request)
        except aiohttp.ClientError:
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        finally:
            self.calls.clear()


def noise(chance: Random) -> Callable[[Call], Answer | Lose | Twice | None]:
    """10 % of transactions meet another, 5 % of answers are lost, 5 % of requests are sent twice."""

    def fault(call: Call) -> Answer | Lose | Twice | None:
        draw = chance.random()
        if draw < 0.05:
            return Lose()
        if draw < 0.10:
            return Twice()
        return conflict(call) if draw < 0.20 and call.operation == "TransactWriteItems" else None

    return fault


def hanging(chance: Random) -> Callable[[Call], Wait | None]:
    return lambda _: Wait(HANG_SECONDS) if chance.random() < 0.05 else None


class Throttling:
    """Every call is throttled; those with which servers look after the store and follow the log are not counted."""

    def __init__(self) -> None:
        self.calls = 0
        self.transactions: Counter[str] = Counter()

    def __call__(self, call: Call) -> Answer:
        self.calls += not (call.operation == "PutItem" or call.keys == [keys.table_state()] or _is_following(call))
        if call.operation == "TransactWriteItems":
            self.transactions[call.request["ClientRequestToken"]] += 1
        return Answer.error("ProvisionedThroughputExceededException")


def _is_following(call: Call) -> bool:
    """Whether a lease, the log or what is due is read, which no request does."""
    asked = call.request.get("ExpressionAttributeValues", {}) if call.operation == "Query" else call.keys
    return call.operation != "TransactWriteItems" and any(one in str(asked) for one in ("LEASE#", "'LOG#", "'DUE#"))


class LosingTransactions:
    def __init__(self) -> None:
        self.lost = 0

    def __call__(self, call: Call) -> Lose | None:
        if call.operation != "TransactWriteItems":
            return None
        self.lost += 1
        return Lose()
