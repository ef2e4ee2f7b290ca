"""All followers and sweepers, as a server runs them."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

from loaders.backend import Backend
from loaders.following.erasures import Erasures
from loaders.following.figures import FiguresFollower
from loaders.following.followers import Follower, Sweeper
from loaders.following.history import HistoryFollower
from loaders.following.leases import LEASE_TIMES, LeaseTimes
from loaders.following.moments import Moments
from loaders.following.webhooks import Webhooks
from loaders.log import HORIZON


def followers_of(backend: Backend) -> list[Follower]:
    return [HistoryFollower(backend.store, backend.retention.history), FiguresFollower(backend)]


def sweepers_of(backend: Backend) -> list[Sweeper]:
    return [Moments(backend), Erasures(backend)]


class FollowingParts(NamedTuple):
    """Who follows the log in a process."""

    followers: Callable[[Backend], Sequence[Follower]] = followers_of
    sweepers: Callable[[Backend], Sequence[Sweeper]] = sweepers_of
    times: LeaseTimes = LEASE_TIMES
    horizon: timedelta = HORIZON
    webhooks: Callable[..., Webhooks] | None = Webhooks
    """Who sends webhooks, unless nobody does."""
