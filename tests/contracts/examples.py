"""An example of every contract: one call, on items as large as they can be, and what it sends to the store."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.booking_commands import CreateLocation
from domain.commands import (
    CreateOwner,
    CreateReservation,
    ExtendReservation,
    MoveLocker,
    RecordAccessEvent,
    RegisterLocker,
    TransferLocker,
    UpdateLockerStatus,
    UpdateOwner,
)
from domain.models import AccessAction, AccessResult, EventId, LockerStatus, OwnerKind, OwnerRole, ReservationId
from domain.principal import DEVELOPMENT_ADMIN
from loaders import reads
from loaders.batch import open_loaders
from loaders.contracts import CONTRACTS
from loaders.pages import Slice, Window
from loaders.writes.events import record_access_events
from loaders.writes.locations import create_location
from loaders.writes.lockers import move_locker, register_locker, transfer_locker, update_locker_status
from loaders.writes.owners import create_owner, update_owner
from loaders.writes.reservations import create_reservation, extend_reservation
from tests.contracts.list_example import (
    LOCATION,
    LOCKER,
    NAME,
    NOON,
    OTHER_LOCATION,
    OTHER_OWNER,
    OWNER,
    at,
)
from tests.contracts.lists import LISTS, large_metadata
from tests.contracts.place_lists import LARGE_LAT, LARGE_LNG, LARGE_ZONE, large_place

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from domain.models import LocationId
    from loaders.backend import Backend
    from loaders.contract import QueryContract
    from tests.contracts.seeds import Seeds

__all__ = [
    "CODE",
    "EXAMPLES",
    "Example",
    "large_event",
    "large_location",
    "large_locker",
    "large_owner",
    "large_reservation",
    "list_example",
    "make_location",
    "numbers",
    "two_owners",
]

EMAIL = "a" * 64 + "@" + "b" * 185 + ".com"
OTHER_EMAIL = "c" * 64 + "@" + "b" * 185 + ".com"
PHONE = "+" + "1" * 30
CODE = "c" * 40
RESERVATION = ReservationId("r" * 64)
EVENT = EventId("e" * 64)


@dataclass(frozen=True, kw_only=True)
class Example:
    """`prepare` brings the table to where `run` is the contract's own call, which sends these operations."""

    run: Callable[[Backend], Awaitable[object]]
    operations: dict[str, int]
    prepare: Callable[[Backend, Seeds], Awaitable[object]] = field(default=lambda _backend, _seeds: _nothing())


async def _nothing() -> None:
    """Nothing has to be there."""


async def large_owner(backend: Backend, _: object = None) -> None:
    """An owner with the longest of everything."""
    command = CreateOwner(
        owner_id=OWNER, kind=OwnerKind.ORGANIZATION, name=NAME, email=EMAIL, phone=PHONE, role=OwnerRole.ADMIN
    )
    await create_owner(backend, command)


async def make_location(backend: Backend, location_id: LocationId = LOCATION, code: str = CODE) -> object:
    """Creates a location with the longest of everything."""
    command = CreateLocation(
        location_id=location_id,
        code=code,
        name=NAME,
        time_zone=LARGE_ZONE,
        lat=LARGE_LAT,
        lng=LARGE_LNG,
        **large_place(),
    )
    return await create_location(backend, command)


async def large_location(backend: Backend, _: object = None) -> None:
    """Such an owner, an admin, and such a location."""
    await large_owner(backend)
    await make_location(backend)


async def large_locker(backend: Backend, _: object = None) -> None:
    """Such an owner's locker at such a location."""
    await large_location(backend)
    await _register(backend)


async def large_reservation(backend: Backend, _: object = None) -> None:
    """Such a locker, reserved from now on."""
    await large_locker(backend)
    await _reserve(backend)


def numbers() -> dict[str, Any]:
    """The metadata that grows most on its way into the table: 16 KB of JSON, all of it numbers of one digit."""
    metadata = {"a": [1] * ((16 * 1024 - len('{"a":[]}') + 1) // 2)}
    assert len(json.dumps(metadata, separators=(",", ":"))) == 16 * 1024 - 1
    return metadata


def large_event(event_id: EventId | None, metadata: dict[str, Any]) -> RecordAccessEvent:
    """An event that happens now."""
    return RecordAccessEvent(
        locker_id=LOCKER,
        event_id=event_id,
        action=AccessAction.UNLOCK,
        actor_id="a" * 64,
        result=AccessResult.SUCCESS,
        metadata=metadata,
    )


async def _recorded(backend: Backend, _: object) -> None:
    await large_locker(backend)
    await record_access_events(backend, [large_event(EVENT, numbers())], DEVELOPMENT_ADMIN, [("input",)])


async def two_owners(backend: Backend, _: object = None) -> None:
    """Such a locker, and another owner."""
    await large_locker(backend)
    other = CreateOwner(owner_id=OTHER_OWNER, kind=OwnerKind.ORGANIZATION, name=NAME, email=OTHER_EMAIL, phone=PHONE)
    await create_owner(backend, other)


async def _two_locations(backend: Backend, _: object) -> None:
    await large_locker(backend)
    await make_location(backend, OTHER_LOCATION, CODE[::-1][1:])


async def _register(backend: Backend) -> object:
    command = RegisterLocker(locker_id=LOCKER, owner_id=OWNER, alias=NAME, location_id=LOCATION)
    return await register_locker(backend, command, DEVELOPMENT_ADMIN)


async def _reserve(backend: Backend) -> object:
    command = CreateReservation(
        locker_id=LOCKER, reservation_id=RESERVATION, owner_id=OWNER, start_at=NOON, end_at=at(60)
    )
    return await create_reservation(backend, command, DEVELOPMENT_ADMIN)


async def _extend(backend: Backend) -> object:
    command = ExtendReservation(locker_id=LOCKER, reservation_id=RESERVATION, new_end_at=at(90))
    return await extend_reservation(backend, command, DEVELOPMENT_ADMIN)


async def _occupy(backend: Backend) -> object:
    command = UpdateLockerStatus(locker_id=LOCKER, new_status=LockerStatus.OCCUPIED, expected_version=1)
    return await update_locker_status(backend, command, DEVELOPMENT_ADMIN)


async def _record(backend: Backend) -> object:
    chosen = [large_event(EventId(f"{number:064d}"), large_metadata()) for number in range(25)]
    return await record_access_events(
        backend, chosen, DEVELOPMENT_ADMIN, [("input", "events", str(number)) for number in range(25)]
    )


def list_example(contract_id: str, queries: int = 1) -> Example:
    """The largest page, with one item more behind it."""
    contract: QueryContract = CONTRACTS[contract_id]  # type: ignore[assignment]
    example = LISTS[contract_id]
    largest = Slice(contract.page.maximum)
    return Example(
        prepare=lambda _, seeds: seeds.put(example.large(number) for number in range(contract.page.maximum + 1)),
        run=lambda backend: example.read(backend.store, largest, contract.orders[0], Window()),
        operations={"Query": queries},
    )


EXAMPLES: dict[str, Example] = {
    "QC-01": Example(
        prepare=large_locker,
        run=lambda backend: open_loaders(backend).locker.load(LOCKER),
        operations={"GetItem": 1},
    ),
    "QC-02": list_example("QC-02"),
    "QC-03": Example(prepare=large_locker, run=_occupy, operations={"GetItem": 1, "TransactWriteItems": 1}),
    "QC-04": Example(
        prepare=large_locker, run=_reserve, operations={"BatchGetItem": 1, "Query": 1, "TransactWriteItems": 1}
    ),
    "QC-05": list_example("QC-05"),
    "QC-06": Example(
        prepare=two_owners,
        run=lambda backend: transfer_locker(
            backend, TransferLocker(locker_id=LOCKER, new_owner_id=OTHER_OWNER, expected_version=1), DEVELOPMENT_ADMIN
        ),
        operations={"GetItem": 1, "TransactWriteItems": 1},
    ),
    "QC-07": Example(
        prepare=large_reservation,
        run=lambda backend: open_loaders(backend).active_reservation.load(LOCKER),
        operations={"GetItem": 1},
    ),
    "QC-08": Example(prepare=large_locker, run=_record, operations={"GetItem": 1, "TransactWriteItems": 1}),
    "QC-09": list_example("QC-09", queries=2),
    "QC-10": Example(
        prepare=_recorded, run=lambda backend: reads.latest_event(backend.store, LOCKER), operations={"Query": 1}
    ),
    "QC-11": Example(
        prepare=large_location,
        run=_register,
        operations={"TransactWriteItems": 1},
    ),
    "QC-12": Example(
        prepare=_two_locations,
        run=lambda backend: move_locker(
            backend, MoveLocker(locker_id=LOCKER, new_location_id=OTHER_LOCATION, expected_version=1), DEVELOPMENT_ADMIN
        ),
        operations={"GetItem": 1, "TransactWriteItems": 1},
    ),
    "QC-13": Example(
        prepare=large_reservation,
        run=_extend,
        operations={"BatchGetItem": 1, "GetItem": 1, "Query": 1, "TransactWriteItems": 1},
    ),
    "QC-14": list_example("QC-14"),
    "QC-15": Example(
        prepare=large_reservation,
        run=lambda backend: reads.reservation_by_id(backend.store, LOCKER, RESERVATION),
        operations={"GetItem": 2},
    ),
    "QC-16": Example(
        prepare=_recorded,
        run=lambda backend: open_loaders(backend).event.load((LOCKER, NOON, EVENT)),
        operations={"GetItem": 1},
    ),
    "QC-20": Example(
        prepare=large_owner,
        run=lambda backend: open_loaders(backend).owner.load(OWNER),
        operations={"GetItem": 1},
    ),
    "QC-21": Example(
        prepare=large_owner,
        run=lambda backend: reads.owner_by_email(backend.store, EMAIL, lambda _: True),
        operations={"GetItem": 2},
    ),
    "QC-22": Example(
        prepare=large_owner,
        run=lambda backend: update_owner(
            backend, UpdateOwner(owner_id=OWNER, expected_version=1, name=NAME, email=OTHER_EMAIL), DEVELOPMENT_ADMIN
        ),
        operations={"GetItem": 1, "TransactWriteItems": 1},
    ),
}
