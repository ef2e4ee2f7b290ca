"""Every read contract: look-ups by the key of the examples, pages, and what is read otherwise."""

from collections.abc import Awaitable, Iterator
from typing import Any

from domain.activity import Activity, ActivityKind, Actor, Change, Happening
from domain.authorization import Role
from domain.times import EARLIEST, LATEST
from loaders import keys
from loaders.backend import Backend
from loaders.contracts.activity import KEEP_HISTORY
from loaders.contracts.base import Consistency, Order
from loaders.contracts.bookings import LOCATION_CALENDAR
from loaders.contracts.events import LATEST_EVENT
from loaders.contracts.reading import ReadOne
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.reservations import CURRENT_RESERVATION, NEXT_RESERVATION, RESERVATION_BEFORE
from loaders.contracts.search import SEARCH_KEYS
from loaders.cursors import encode_cursor
from loaders.following.followers import Fence
from loaders.following.history import HistoryFollower
from loaders.pages import PageRequest
from tests.contracts.lists import LISTS, ListExample
from tests.contracts.samples import NOON, SHORT, Names, arguments_of, at, day
from tests.contracts.scenarios.actions import Call
from tests.contracts.scenarios.bookings import BOOKED, PAY, REJECT, api_key, approve
from tests.contracts.scenarios.codes import AT_LOCATION, CODED, CROWD, REVEALED, enter
from tests.contracts.scenarios.following import TAKEN, counted
from tests.contracts.scenarios.lockers import (
    FOR_OTHER,
    FOR_RECIPIENT,
    LOCATION,
    LOCKER,
    OTHER_OWNER,
    OWNER,
    PLACED,
    RESERVED,
    record_events,
    reserve,
)
from tests.contracts.scenarios.webhooks import WEBHOOK


async def keep_activity(backend: Backend, names: Names) -> None:
    """A locker is transferred, which concerns four objects."""
    happening = Happening(
        kind=ActivityKind.LOCKER_TRANSFERRED,
        locker_id=names.locker,
        location_id=names.location,
        owner_id=names.other_owner,
        former_owner_id=names.owner,
        version=2,
        changes=(Change("ownerId", names.owner, names.other_owner),),
    )
    actor = Actor(subject=names.subject, role=Role.OWNER, owner_id=names.owner, key_id=names.key)
    activity = Activity(activity_id="text", occurred_at=NOON, actor=actor, happening=happening)
    follower = HistoryFollower(backend.store, backend.retention.history)
    await follower.apply(0, [activity], NOON, Fence(0, 1))


_EVENT = (*PLACED, record_events("01"))
_LOOK_UPS: dict[str, tuple[Call, ...]] = {
    "QC-180": (OWNER, WEBHOOK),
    "QC-01": PLACED,
    "QC-07": RESERVED,
    "QC-15": RESERVED,
    "QC-16": _EVENT,
    "QC-18": RESERVED,
    "QC-20": (OWNER,),
    "QC-21": (OWNER,),
    "QC-25": RESERVED,
    "QC-31": (LOCATION,),
    "QC-36": (LOCATION,),
    "QC-41": (*BOOKED, REJECT),
    "QC-51": (*BOOKED, PAY),
    "QC-52": (*BOOKED, REJECT),
    "QC-53": (*BOOKED, approve),
    "QC-60": (api_key,),
    "QC-70": (),
    "QC-88": (*PLACED, OTHER_OWNER, reserve(0, 60, **FOR_OTHER)),
    "QC-89": (*PLACED, OTHER_OWNER, FOR_RECIPIENT),
    "QC-100": (*CODED, *REVEALED),
    "QC-103": (*CODED, CROWD),
    "QC-104": (*CODED, enter("000000")),
    "QC-120": (TAKEN,),
    "QC-155": (keep_activity,),
    "QC-160": (LOCATION, counted(0)),
    "QC-161": (LOCATION, counted(0)),
    "QC-162": (LOCATION, counted(0)),
    "QC-109": (LOCATION, enter("000000", **AT_LOCATION)),
}
"""The record that each look-up finds."""


def key_of(contract: ReadOne[Any], names: Names) -> tuple[Any, ...]:
    given: dict[str, dict[str, Any]] = {
        "QC-16": {"event_id": names.event[:-2] + "01"},
        "QC-52": {"created_at": NOON, "notification_id": f"{names.booking}-rejected"},
        "QC-88": {"owner_id": names.other_owner},
        "QC-161": {"shard": keys.log_shard(names.location)},
        "QC-162": {"date": NOON[:10]},
    }
    return tuple(arguments_of(contract.key, names, **given.get(contract.id, {})).values())


def look_up(contract: ReadOne[Any], *, consistent: bool = False) -> Call:
    return lambda backend, names: contract.read(backend.store, *key_of(contract, names), consistent=consistent)


def look_up_two(contract: ReadOne[Any]) -> Call:
    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        *parents, last = key_of(contract, names)
        other = last + 1 if isinstance(last, int) else f"{last}-2"
        return contract.read_many(backend.store, [(*parents, last), (*parents, other)])

    return run


def page(example: ListExample, order: Order, *, backward: bool) -> Call:
    cursor = encode_cursor(example.position(1)) if backward else None
    return lambda backend, _: example.read(backend.store, PageRequest(3, backward, cursor), order)


def _reads() -> Iterator[tuple[str, tuple[Call, ...]]]:
    for contract_id, prepared in _LOOK_UPS.items():
        contract = CONTRACTS[contract_id]
        assert isinstance(contract, ReadOne)
        yield contract.purpose, (*prepared, look_up(contract))
        if key_of(contract, SHORT):
            yield f"{contract.purpose}, two of them", (*prepared, look_up_two(contract))
        if contract.consistency is Consistency.EVENTUAL_OR_STRONG:
            yield f"{contract.purpose}, consistent", (*prepared, look_up(contract, consistent=True))
    for example in LISTS.values():
        for order in example.contract.orders:
            purpose = f"{example.contract.purpose}, {order}"
            yield purpose, (page(example, order, backward=False),)
            yield f"{purpose}, before a cursor", (page(example, order, backward=True),)


def first(contract: Any, *bounds: Any) -> Call:
    return lambda backend, names: contract.first(backend.store, names.locker, *bounds)


def calendar(backend: Backend, names: Names) -> Awaitable[Any]:
    return LOCATION_CALENDAR.whole(backend.store, names.location, day(0), day(91))


def search_keys(backend: Backend, names: Names) -> Awaitable[Any]:
    wanted = [(codec, tuple(arguments_of(codec.key, names).values())) for codec in SEARCH_KEYS.codecs]
    return SEARCH_KEYS.read(backend.store, wanted)


SCENARIOS: dict[str, tuple[Call, ...]] = {
    **dict(_reads()),
    LATEST_EVENT.purpose: (*_EVENT, first(LATEST_EVENT)),
    LOCATION_CALENDAR.purpose: (calendar,),
    NEXT_RESERVATION.purpose: (*RESERVED, first(NEXT_RESERVATION, NOON, LATEST)),
    CURRENT_RESERVATION.purpose: (*RESERVED, first(CURRENT_RESERVATION, EARLIEST, at(60))),
    KEEP_HISTORY.purpose: (keep_activity,),
    SEARCH_KEYS.purpose: (*BOOKED, LOCKER, api_key, WEBHOOK, search_keys),
    RESERVATION_BEFORE.purpose: (*RESERVED, first(RESERVATION_BEFORE, at(60))),
}
