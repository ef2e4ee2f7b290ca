"""Those who follow the log: leases that are taken, renewed and given back, and the tail that is read."""

from collections.abc import Awaitable, Callable
from typing import Any

from domain.activity import Activity, ActivityKind, Happening
from domain.models import LockerSize, LockerStatus
from domain.times import LATEST
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import LOG_LEASE, LogLease
from loaders.contracts.activity import MISSED_ACTIVITY
from loaders.contracts.following import LOG_TAIL
from loaders.following.erasures import Erasures
from loaders.following.figures import FiguresFollower
from loaders.following.followers import Fence
from loaders.following.leases import Leases
from loaders.table.operations import Action, Step, Transact
from tests.contracts.samples import NOON, Names, at
from tests.contracts.scenarios.actions import Call, does, its
from tests.contracts.scenarios.lockers import FOR_RECIPIENT, LOCATION, OTHER_OWNER, OWNER, PLACED


def leases(*works: Callable[[Leases, dict[int, Any]], Any]) -> Call:
    """Works of one process with the lease of the first part, ten seconds apart."""

    async def run(backend: Backend, names: Names) -> None:
        seconds = iter(range(0, 100, 10))
        now = 0.0
        own = Leases(backend.store, "h" * 26, [0], lambda: now)
        for work in works:
            now = next(seconds)
            await work(own, {0: {names.code_id: NOON}})

    return run


async def take(own: Leases, _: Any) -> None:
    await own.take()


async def renew(own: Leases, positions: Any) -> None:
    await own.renew(positions)


async def give_back(own: Leases, positions: Any) -> None:
    await own.give_back(positions)


TAKEN = leases(take, renew)


async def missed(backend: Backend, _: Names) -> None:
    within = keys.activities("owner:acme", NOON)
    await MISSED_ACTIVITY.read(backend.store, "owner:acme", NOON, LATEST, consistent=True, after=within.beginning)


def tail(*, consistent: bool) -> Call:
    return lambda backend, _: LOG_TAIL.read(backend.store, 0, NOON, consistent=consistent)


def counted(minutes: int) -> Call:
    """Counts that a locker was registered and opened, so many minutes after noon."""

    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        own = {"locker_id": names.locker, "location_id": names.location, "owner_id": names.owner}
        registered = Happening(
            kind=ActivityKind.LOCKER_REGISTERED, **own, version=1, status=LockerStatus.AVAILABLE, size=LockerSize.XL
        )
        happenings = (registered, Happening(kind=ActivityKind.DOOR_OPENED, **own))
        told = [
            Activity(activity_id="a", occurred_at=at(minutes), actor=None, happening=happening)
            for happening in happenings
        ]
        shard = keys.log_shard(names.location)
        return FiguresFollower(backend).apply(shard, told, at(minutes), Fence(shard, 1))

    return run


async def settled(backend: Backend, _: Names) -> None:
    """History is kept up to now."""
    leases = [LogLease(shard=shard, number=1, counter=1, positions={"history": LATEST}) for shard in range(4)]
    steps = [Step("item", Action.PUT, LOG_LEASE.key_of(one), LOG_LEASE.encode(one)) for one in leases]
    await backend.store.transact(Transact("", tuple(steps)))


async def sweep(backend: Backend, names: Names) -> None:
    shard = keys.log_shard(names.other_owner)
    await Erasures(backend).sweep(shard, backend.clock(), Fence(shard, 1))


_ERASED = (
    *(*PLACED, OTHER_OWNER, FOR_RECIPIENT),
    *(does("releaseReservation"), does("eraseOwner", owner_id=its.other_owner, subjects=its.subjects)),
)
"""Without a reason there is no notification, which would be erased at the same moment as the reservation."""

SCENARIOS: dict[str, tuple[Call, ...]] = {
    "take the first lease of a part of the log, and renew it": (TAKEN,),
    "take over a lease, and give it back": (TAKEN, leases(take, take, give_back)),
    "count the first activities": (LOCATION, counted(0)),
    "count further activities": (LOCATION, counted(0), counted(1)),
    "erase what is left of an owner": (*_ERASED, settled, sweep),
    LOG_TAIL.purpose: (OWNER, tail(consistent=False)),
    MISSED_ACTIVITY.purpose: (OWNER, missed),
    f"{LOG_TAIL.purpose}, all since a position": (OWNER, tail(consistent=True)),
}
