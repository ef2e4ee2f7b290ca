"""One part of the log, read at its end and passed on to all followers.

A transaction may become visible after one with a later stamp, but never with a stamp that is older than the horizon. So
the last horizon is read again and again, and a position never passes *now - horizon*.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from domain.activity import Activity
from domain.errors import UnavailableError
from domain.times import EARLIEST, LATEST, Instant, shift, to_datetime
from loaders.backend import Backend
from loaders.codecs import LogEntry
from loaders.concurrency import together
from loaders.contracts.following import LOG_TAIL
from loaders.conversion import DamagedItemError
from loaders.following.followers import Fence, Follower
from loaders.keys import log_stamp_of
from loaders.log import HORIZON, activities_of

logger = logging.getLogger(__name__)

WORK_SECONDS = 10
"""How long a follower or a sweeper may take."""
_WHOLE_SECONDS = 5
"""How often everything since the position is read; in between, only the last seconds are."""
_OVERLAP = timedelta(seconds=5)
"""Of the reads in between: as a rule, a transaction is visible that soon after its stamp."""
LONGEST_PAUSE = 60.0
"""After failures in a row, in seconds."""
_MORE = 10
"""How many entries more a follower is told after each success, if it was told fewer after a failure."""
TICK = timedelta(milliseconds=1)


@dataclass(eq=False)
class _Tail:
    """How far one follower has got."""

    follower: Follower
    position: Instant
    passed_until: Instant = EARLIEST
    """Up to when it was told what was visible."""
    told: set[str] = field(default_factory=set)
    """Sort keys of what it was told after its position."""
    read_at: float = 0.0
    whole_at: float = 0.0
    """When everything since the position must be read again."""
    paused_until: float = 0.0
    failures: int = 0
    most: int = LOG_TAIL.most
    """How many entries it is told at once, and those of the same millisecond: fewer after a failure."""
    is_behind: bool = True
    """Whether it was not told everything when the log was last read as a whole."""

    def is_due(self, now: float) -> bool:
        return now >= self.paused_until and (now >= self.whole_at or not self.follower.is_ordered)


@dataclass(frozen=True, slots=True)
class _Read:
    """The answer to one Query."""

    start: Instant
    horizon: Instant
    """Nothing can appear any more up to then."""
    asked_at: Instant
    until: Instant
    """Everything from the start to then is in it, if it was visible."""
    entries: list[tuple[str, LogEntry | DamagedItemError]]
    """By sort key."""
    is_whole: bool
    """Whether it was strongly consistent, from the position of the follower that it was sent for."""

    def is_for(self, tail: _Tail) -> bool:
        """Whether it can be passed on to this follower too."""
        if not self.is_whole:
            return not tail.follower.is_ordered
        return self.start <= _after(tail.position) and self.until > tail.position


class LogTail:
    """Passes one part of the log on to its followers. A follower that fails is told the same again, later."""

    def __init__(
        self,
        backend: Backend,
        fence: Fence,
        followers: Iterable[Follower],
        positions: Mapping[str, Instant],
        timer: Callable[[], float],
        told: Callable[[int, str, int], None] | None = None,
        horizon: timedelta = HORIZON,
    ) -> None:
        self._backend = backend
        self.fence = fence
        self._timer = timer
        self._told = told
        self._horizon = horizon
        self._stored = positions
        self._tails = [_Tail(follower, positions.get(follower.name, EARLIEST)) for follower in followers]

    @property
    def positions(self) -> dict[str, Instant]:
        """Up to when each follower was told everything; also those of followers that this version does not have."""
        return {**self._stored, **{tail.follower.name: tail.position for tail in self._tails}}

    @property
    def lags(self) -> dict[str, float]:
        """How many seconds each follower is behind."""
        now = to_datetime(self._backend.stamp().at)
        reached = {tail.follower.name: max(tail.position, tail.passed_until) for tail in self._tails}
        return {
            name: (now - to_datetime(until)).total_seconds() for name, until in reached.items() if until != EARLIEST
        }

    @property
    def is_behind(self) -> bool:
        """Whether a follower was not told everything that was visible when the log was last read as a whole."""
        return any(tail.is_behind for tail in self._tails)

    async def step(self) -> None:
        """Sends one Query at most, for the follower that has waited longest, and passes on what it has found.

        It sends more only where a whole answer is of one millisecond, as there is no position inside one, and where
        there is more of the last seconds: the newest is last.
        """
        now = self._timer()
        due = [tail for tail in self._tails if tail.is_due(now)]
        if not due:
            return
        first = min(due, key=lambda tail: tail.read_at)
        read = await self._read(first, is_whole=now >= first.whole_at)
        sharing = [tail for tail in due if tail is first or read.is_for(tail)]
        for tail in sharing:
            tail.read_at = now
        await together(self._pass_on(tail, read) for tail in sharing)

    async def _read(self, tail: _Tail, *, is_whole: bool) -> _Read:
        asked_at = self._backend.stamp().at
        start = _after(tail.position)
        if not is_whole:
            start = max(start, shift(asked_at, -_OVERLAP))
        found, is_all = await LOG_TAIL.read(self._backend.store, self.fence.shard, start, consistent=is_whole)
        while not is_all and (not is_whole or log_stamp_of(found[0][0].sk) == log_stamp_of(found[-1][0].sk)):
            more, is_all = await LOG_TAIL.read(
                self._backend.store, self.fence.shard, start, consistent=is_whole, after=found[-1][0]
            )
            found += more
        entries = [(place.sk, entry) for place, entry in found]
        until = LATEST
        if not is_all:  # the last of them may not be all of their millisecond
            last = log_stamp_of(entries[-1][0])
            until = shift(last, -TICK)
            entries = [(key, entry) for key, entry in entries if log_stamp_of(key) < last]
        return _Read(start, shift(asked_at, -self._horizon), asked_at, until, entries, is_whole=is_whole)

    async def _pass_on(self, tail: _Tail, read: _Read) -> None:
        position = tail.position
        if read.is_whole and read.start <= _after(position):
            position = max(position, min(read.until, read.horizon))
        last = position if tail.follower.is_ordered else read.until
        new = {
            key: entry
            for key, entry in read.entries
            if tail.position < log_stamp_of(key) <= last and key not in tail.told
        }
        if is_cut := len(new) > tail.most:
            beyond = log_stamp_of([*new][tail.most])
            new = {key: entry for key, entry in new.items() if log_stamp_of(key) <= beyond}
            position, last = min(position, beyond), min(last, beyond)
        activities = activities_in(new.values())
        try:
            if activities:
                async with asyncio.timeout(WORK_SECONDS):
                    await tail.follower.apply(self.fence.shard, activities, position, self.fence)
        except Exception as error:  # noqa: BLE001  # whatever it is, the other followers go on
            self._failed(tail, error)
            tail.most = max(1, len(new) // 2)
            return
        tail.most = min(LOG_TAIL.most, tail.most + _MORE)
        if tail.failures:
            tail.failures = 0
            log_recovery(f"{tail.follower.name} in part {self.fence.shard}")
        if read.is_whole:
            tail.is_behind = is_cut or read.until < read.horizon
            tail.whole_at = self._timer() + (0 if tail.is_behind else _WHOLE_SECONDS)
        tail.position = position
        tail.passed_until = min(read.asked_at, last)
        tail.told = {key for key in (*tail.told, *new) if log_stamp_of(key) > position}
        if self._told is not None:
            self._told(self.fence.shard, tail.follower.name, len(activities))

    def _failed(self, tail: _Tail, error: Exception) -> None:
        if not tail.failures:
            log_failure(f"{tail.follower.name} in part {self.fence.shard}", error)
        tail.failures += 1
        tail.whole_at = 0.0
        tail.paused_until = self._timer() + min(2.0**tail.failures, LONGEST_PAUSE)


def log_failure(what: str, error: Exception) -> None:
    """Logs the first of several failures in a row."""
    is_expected = isinstance(error, UnavailableError)
    logger.error("following the log: %s failed, and is tried again", what, exc_info=None if is_expected else error)


def log_recovery(what: str) -> None:
    logger.warning("following the log: %s works again", what)


def activities_in(entries: Iterable[LogEntry | DamagedItemError]) -> list[Activity]:
    """The activities of entries; a damaged entry is logged and left out, as it would stop its followers for good."""
    told: list[Activity] = []
    for entry in entries:
        try:
            if isinstance(entry, DamagedItemError):
                raise entry
            told += activities_of(entry)
        except DamagedItemError as damage:
            logger.error("left out of the log: %s", damage)  # noqa: TRY400  # no fault of ours to trace
    return told


def _after(position: Instant) -> Instant:
    return shift(position, TICK)
