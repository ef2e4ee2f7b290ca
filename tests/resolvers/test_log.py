"""Each change is logged in its own transaction: what it was, who did it, and nothing that must not be told."""

from typing import Any

import pytest
import pytest_asyncio

from domain.activity import Activity, ActivityKind
from domain.authorization import DEVELOPMENT_ADMIN, Role
from domain.commands.lockers import RenameLocker
from domain.commands.owners import CreateOwner
from domain.models import LockerId, OwnerKind
from loaders import keys
from loaders.backend import Backend
from loaders.codecs import LOG_ENTRY
from loaders.contracts.access_codes import VERIFY_ACCESS_CODE
from loaders.contracts.events import RECORD_EVENTS
from loaders.contracts.reservations import USE_RESERVATION
from loaders.log import activities_of
from loaders.table.clock import Stamp, machine_timer
from loaders.table.stamps import MAX_AGE, TooLateError
from loaders.writes.lockers import rename_locker
from loaders.writes.owners import create_owner
from tests import codes
from tests.api import TRANSFER, Api, mutation, unchanged
from tests.conftest import Dump, Prepared
from tests.inputs import GOOD, document, stock
from tests.places import create_location, ulid
from tests.principals import owner
from tests.reservations import RELEASE
from tests.wire import Wire

DEVICE_KINDS = ("OPENED", "CLOSED", "ACCESS_DENIED", "TAMPERED")
RECORD = mutation("recordAccessEvents", "accessEvents { eventId }")


@pytest_asyncio.fixture
async def ready(api: Api, wire: Wire, prepared: Prepared, backend: Backend) -> Api:
    await prepared(stock, api, backend)
    wire.reset()
    return api


async def logged(dump: Dump) -> dict[tuple[str, str], list[Activity]]:
    """The activities of the log by the keys of its entries."""
    items = {key: item for key, item in (await dump()).items() if item["entityType"] == LOG_ENTRY.entity_type}
    return {key: activities_of(LOG_ENTRY.decode(item)) for key, item in items.items()}


async def told(api: Api, dump: Dump, query: str, **values: Any) -> dict[tuple[str, str], list[Activity]]:
    """The entries that a mutation adds to the log."""
    before = await logged(dump)
    await api.done(query, **values)
    return {key: activities for key, activities in (await logged(dump)).items() if key not in before}


SILENT = {"sendTestWebhook", "redeliver", "replayWebhook"}
"""The mutations that change nothing: they ask for messages to be sent."""


@pytest.mark.parametrize("name", [name for name in GOOD if name not in SILENT])
async def test_every_mutation_is_logged_once_by_its_caller(ready: Api, dump: Dump, wire: Wire, name: str) -> None:
    ((_, activities),) = (await told(ready, dump, document(name), **GOOD[name])).items()
    assert activities
    assert all(name in activity.happening.kind.by for activity in activities)
    assert {activity.actor and activity.actor.role for activity in activities} == {Role.ADMIN}
    assert [call.operation for call in wire.calls if "LOG#" in str(call.request)] == ["TransactWriteItems"]
    async with unchanged(dump):  # what is sent again changes nothing, and is not told again
        await ready.mutate(document(name), **GOOD[name])


def test_every_kind_is_caused_by_mutations_that_exist_or_by_time() -> None:
    by = {name for kind in ActivityKind for name in kind.by}
    assert by == GOOD.keys() - SILENT
    assert {kind for kind in ActivityKind if not kind.by} == {
        ActivityKind.RESERVATION_ENDED,
        ActivityKind.RESERVATION_OVERDUE,
        ActivityKind.OWNER_ERASED,
    }


def test_devices_record_neither_overstays_nor_actions_of_other_programs() -> None:
    by_devices = {kind for kind in ActivityKind if "recordAccessEvent" in kind.by}
    assert {kind.name for kind in by_devices} == {f"DOOR_{name}" for name in DEVICE_KINDS}
    assert by_devices == set(RECORD_EVENTS.emits)


async def test_a_locker_that_moves_is_told_where_it_was_and_where_it_is(api: Api, dump: Dump) -> None:
    await api.owner("ada")
    places = [ulid(number) for number in range(8)]
    first, second = places[0], next(one for one in places if keys.log_shard(one) != keys.log_shard(places[0]))
    for number, place in enumerate(places):
        if place in {first, second}:
            await create_location(api, number)
    await api.locker("l1", "ada", locationId=first)
    entries = await told(api, dump, document("moveLocker"), lockerId="l1", newLocationId=second, expectedVersion=1)
    assert sorted(key[0] for key in entries) == sorted(f"LOG#{keys.log_shard(one)}" for one in (first, second))
    one, other = entries.values()
    assert one == other
    (change,) = one[0].happening.changes
    assert (change.field, change.before, change.after) == ("locationId", first, second)


async def test_a_transfer_concerns_both_owners_and_names_no_values_of_texts(api: Api, dump: Dump) -> None:
    await api.owner("ada")
    await api.owner("bob")
    await api.locker("l1", "ada", alias="Secret")
    caller = api.by(owner("ada"))
    ((_, (renamed,)),) = (
        await told(caller, dump, document("renameLocker"), lockerId="l1", alias="Hidden", expectedVersion=1)
    ).items()
    assert [(change.field, change.before, change.after) for change in renamed.happening.changes] == [
        ("alias", None, None)
    ]
    assert renamed.actor is not None
    assert (renamed.actor.subject, renamed.actor.role, renamed.actor.owner_id) == ("ada", Role.OWNER, "ada")
    ((_, (given,)),) = (await told(api, dump, TRANSFER, lockerId="l1", newOwnerId="bob", expectedVersion=2)).items()
    assert given.happening.owners == ("bob", "ada")
    assert given.happening.version == 3


async def test_events_of_lockers_anywhere_are_one_entry_for_each_part_of_the_log(api: Api, dump: Dump) -> None:
    owners = [f"o{number}" for number in range(12)]
    for number, name in enumerate(owners):
        await api.owner(name)
        await api.locker(f"l{number}", name)
    events = [{"lockerId": f"l{number}", "action": "OPEN", "actorId": "x", "result": "SUCCESS"} for number in range(12)]
    entries = await told(api, dump, RECORD, events=events)
    assert {key[0] for key in entries} == {f"LOG#{keys.log_shard(name)}" for name in owners}
    found = sorted((activity.happening.locker_id, activity.activity_id) for one in entries.values() for activity in one)
    assert [locker for locker, _ in found] == sorted(f"l{number}" for number in range(12))
    assert len({activity_id for _, activity_id in found}) == 12


async def test_a_contract_states_how_many_parts_of_the_log_a_reservation_can_concern(api: Api, dump: Dump) -> None:
    """Those of its owner and of the locker's, where the locker is at no location, and of where it was reserved."""
    await create_location(api, 0)
    await api.owner("ada")
    await api.owner("mia")
    shards = [keys.log_shard(one) for one in ("ada", "mia", ulid(0))]
    assert len(set(shards)) == 3
    await api.locker("l1", "ada", locationId=ulid(0), reservableBy="EVERYONE")
    await api.reservation("r1", "l1", "mia", codes.START, codes.END)
    digits = await codes.create(api, "c1")
    await api.done(document("moveLocker"), lockerId="l1", newLocationId=None, expectedVersion=1)

    verified = await told(api, dump, codes.VERIFY, lockerId="l1", digits=digits, attemptId="a1")
    released = await told(api, dump, RELEASE, lockerId="l1", reservationId="r1")

    assert len(verified) == VERIFY_ACCESS_CODE.log_entries == 2
    assert len(released) == USE_RESERVATION.log_entries == 3


async def test_a_transaction_is_not_sent_too_long_after_its_stamp(backend: Backend, api: Api, wire: Wire) -> None:
    await api.owner("ada")
    await api.locker("l1", "ada")
    stamps = iter([MAX_AGE + 1, MAX_AGE + 1, 0.0])
    late = Backend(
        backend.store,
        backend.clock,
        backend.new_id,
        lambda: Stamp(backend.stamp().at, machine_timer() - next(stamps)),
        backend.longest_reservation,
    )
    wire.reset()
    with pytest.raises(TooLateError):
        await create_owner(late, CreateOwner(kind=OwnerKind.USER, name="Late"), DEVELOPMENT_ADMIN)
    assert wire.operations == {}
    command = RenameLocker(locker_id=LockerId("l1"), alias="Late", expected_version=1)
    assert (await rename_locker(late, command, DEVELOPMENT_ADMIN)).alias == "Late"
    assert wire.operations == {"GetItem": 2, "TransactWriteItems": 1}
