"""The interfaces of those who follow the log, and of those who look for what has become due."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, Protocol

from domain.activity import Activity
from domain.times import Instant


class Fence(NamedTuple):
    """The right to work on a part of the log; who takes it over has a higher number."""

    shard: int
    number: int


class Follower(Protocol):
    """Is told everything that happens, by part of the log.

    It may be told the same again after a failure, and for a moment by two processes: doing it twice must be harmless.
    If it raises, it is told the same again later; other followers go on.
    """

    @property
    def name(self) -> str:
        """The name under which its positions are stored."""

    @property
    def is_ordered(self) -> bool:
        """Whether it is told only what is older than the horizon, in order: nothing older can come afterwards.

        Otherwise it is told at once, about a second late; something older may come up to the horizon later.
        """

    async def apply(self, shard: int, activities: Sequence[Activity], until: Instant, fence: Fence) -> None:
        """Called with activities, at least one, in the order of the log.

        When it has returned, the follower was told everything up to `until`, included. A follower that is ordered is
        told nothing later than that: these are all activities after the `until` of the call before.
        """


class Sweeper(Protocol):
    """Looks for what has become due, where nobody does anything: every few seconds for each part of the log."""

    @property
    def name(self) -> str:
        """Its name in logs and metrics."""

    async def sweep(self, shard: int, now: Instant, fence: Fence) -> bool:
        """Does what is due at `now`; returns whether more is, so that it is called again within a second."""


class Worker(Protocol):
    """Does what belongs to a part of the log for as long as this process follows it, and takes its own time."""

    @property
    def name(self) -> str:
        """Its name in logs."""

    async def work(self, fence: Fence, may_work: Callable[[], bool]) -> NoReturn:
        """Works until it is canceled; begins nothing while it may not work. If it raises, it is called again."""
