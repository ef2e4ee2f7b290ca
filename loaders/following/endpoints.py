"""The endpoints, and the deliveries to them that wait, as a process that follows the log knows them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, TypeAlias, TypeVar

from domain.times import EARLIEST, Instant
from domain.webhooks import MAX_WAITING, Delivery, TaskKind, Webhook, WebhookId, WebhookStatus, WebhookTask
from loaders import keys
from loaders.contracts.reading import ReadTail
from loaders.contracts.webhooks import LIST_REVISION, WEBHOOK_LIST
from loaders.conversion import DamagedItemError
from loaders.following.followers import Fence
from loaders.table.client import Store
from loaders.table.clock import machine_timer

M = TypeVar("M")
Place: TypeAlias = tuple[Instant, str]
"""The time and the id of an activity."""

WRITES_AT_ONCE = 32
MOST_WAITING = MAX_WAITING // keys.LOG_SHARDS
"""To one endpoint in one part of the log."""


async def read_all(store: Store, contract: ReadTail[M], *key: Any, consistent: bool) -> list[M]:
    """All items of a range, without those that are damaged, which `doctor` finds."""
    found, is_all, after = list[M](), False, None
    while not is_all:
        page, is_all = await contract.read(store, *key, consistent=consistent, after=after)
        found += [one for _, one in page if not isinstance(one, DamagedItemError)]
        after = page[-1][0] if page else None
    return found


class Endpoints:
    """All endpoints but those that were deleted, read again when one has changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read_at = float("-inf")
        self._lock = asyncio.Lock()
        self.revision: str | None = ""
        self.all: Mapping[WebhookId, Webhook] = {}

    async def refresh(self, oldest: float = 0) -> None:
        """Knows them as they are now, or as they were so many seconds ago."""
        asked_at = machine_timer()
        async with self._lock:
            if self._read_at >= asked_at - oldest and self._read_at > float("-inf"):
                return
            sent_at = machine_timer()
            found = await LIST_REVISION.read(self._store)
            revision = None if found is None else found.revision
            if revision != self.revision:
                webhooks = await read_all(self._store, WEBHOOK_LIST, consistent=True)
                self.all = {one.webhook_id: one for one in webhooks if one.status is not WebhookStatus.DELETED}
                self.revision = revision
            self._read_at = sent_at


class Lane:
    """The deliveries of one part of the log that wait for one endpoint."""

    def __init__(self) -> None:
        self.due: dict[Place, Instant] = {}
        self.is_abandoned = False
        self._records: dict[Place, Delivery] = {}
        self._order: list[tuple[Instant, Place]] = []
        self._sending: set[Place] = set()

    @property
    def room(self) -> int:
        return MOST_WAITING - len(self.due)

    def add(self, delivery: Delivery, *, is_fresh: bool = False) -> None:
        """Remembers that it waits; one that is fresh need not be read again before it is sent."""
        place, due = place_of(delivery), delivery.next_attempt_at or EARLIEST
        self.due[place] = due
        self._records.pop(place, None)
        if is_fresh:
            self._records[place] = delivery
        heappush(self._order, (due, place))

    def take(self, now: Instant) -> Place | None:
        """One that is due and is not being sent, until `give_back`."""
        while self._order and self._order[0][0] <= now:
            due, place = heappop(self._order)
            if self.due.get(place) == due and place not in self._sending:
                self._sending.add(place)
                return place
        return None

    def record(self, place: Place) -> Delivery | None:
        return self._records.pop(place, None)

    def give_back(self, place: Place) -> None:
        self._sending.discard(place)
        if place in self.due:
            heappush(self._order, (self.due[place], place))

    def drop(self, place: Place) -> None:
        self.due.pop(place, None)
        self._records.pop(place, None)


@dataclass(eq=False)
class Health:
    """How an endpoint has answered this process, in all parts of the log."""

    sending: int = 0
    works: bool = False
    """Whether the last attempt succeeded: otherwise one at a time is enough."""
    paused_until: Instant = EARLIEST
    marked_at: float = float("-inf")
    """When it was last written that it works."""


@dataclass(eq=False)
class Part:
    """A part of the log that this process follows."""

    fence: Fence
    lanes: dict[WebhookId, Lane] = field(default_factory=dict)
    tasks: dict[str, WebhookTask] = field(default_factory=dict)
    """By their tokens."""
    ended: set[str] = field(default_factory=set)
    """Tokens of tasks that are done."""
    revision: str | None = ""
    """Of the endpoints, when tasks were last read strongly."""
    looks_at: float = 0.0
    """When endpoints and tasks are read again."""
    reads_at: float = 0.0
    """When it is read what waits."""
    acts_at: float = 0.0
    """When tasks are carried on with."""
    is_loaded: asyncio.Event = field(default_factory=asyncio.Event)
    has_work: asyncio.Event = field(default_factory=asyncio.Event)
    is_busy: bool = False
    """Whether tasks are being carried out."""

    def lane(self, webhook_id: WebhookId) -> Lane:
        return self.lanes.setdefault(webhook_id, Lane())

    def is_behind(self, webhook: Webhook) -> bool:
        """Whether a task tells it what happens, until it is up to date."""
        return any(
            task.kind is TaskKind.RESUME and task.webhook_id == webhook.webhook_id and task.request_id not in self.ended
            for task in self.tasks.values()
        )

    async def sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.has_work.wait()
        except TimeoutError:
            return
        finally:
            self.has_work.clear()


def place_of(delivery: Delivery) -> Place:
    return delivery.occurred_at, delivery.activity_id
