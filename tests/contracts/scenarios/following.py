"""Those who follow the log: leases that are taken, renewed and given back, and the tail that is read."""

from collections.abc import Callable
from typing import Any

from loaders.backend import Backend
from loaders.contracts.following import LOG_TAIL
from loaders.following.leases import Leases
from tests.contracts.samples import NOON, Names
from tests.contracts.scenarios.actions import Call
from tests.contracts.scenarios.lockers import OWNER


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


def tail(*, consistent: bool) -> Call:
    return lambda backend, _: LOG_TAIL.read(backend.store, 0, NOON, consistent=consistent)


SCENARIOS: dict[str, tuple[Call, ...]] = {
    "take the first lease of a part of the log, and renew it": (TAKEN,),
    "take over a lease, and give it back": (TAKEN, leases(take, take, give_back)),
    LOG_TAIL.purpose: (OWNER, tail(consistent=False)),
    f"{LOG_TAIL.purpose}, all since a position": (OWNER, tail(consistent=True)),
}
