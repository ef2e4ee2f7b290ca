"""Paging arguments, windows, and the look-ups that go through a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.booking_commands import CreateLocation
from domain.commands import CreateOwner, CreateReservation, RegisterLocker, UpdateOwner
from domain.errors import BadInputError
from domain.models import LocationId, LockerId, OwnerId, OwnerKind, ReservationId
from domain.principal import DEVELOPMENT_ADMIN
from domain.times import EARLIEST, LATEST, Instant
from loaders import reads
from loaders.items import DamagedItemError
from loaders.pages import Slice, Window, slice_of
from loaders.table.values import item_to_wire
from loaders.writes.locations import create_location
from loaders.writes.lockers import register_locker
from loaders.writes.owners import create_owner, update_owner
from loaders.writes.reservations import create_reservation

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.wire import Call, Wire

NOON, ONE = Instant("2026-03-01T12:00:00.000Z"), Instant("2026-03-01T13:00:00.000Z")
ADA, L1, R1 = OwnerId("ada"), LockerId("l1"), ReservationId("r1")


def slice_with(**given: Any) -> Slice:
    arguments = {"first": None, "after": None, "last": None, "before": None, "default": 25, "maximum": 100}
    return slice_of(**{**arguments, **given})


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({}, Slice(25)),
        ({"first": 1}, Slice(1)),
        ({"first": 100}, Slice(100)),
        ({"after": "c"}, Slice(25, cursor="c")),
        ({"first": 3, "after": "c"}, Slice(3, cursor="c")),
        ({"last": 3}, Slice(3, backward=True)),
        ({"before": "c"}, Slice(25, backward=True, cursor="c")),
        ({"last": 3, "before": "c"}, Slice(3, backward=True, cursor="c")),
        ({"first": 3, "after": ""}, Slice(3, cursor="")),
        ({"default": 5, "maximum": 5}, Slice(5)),
    ],
)
def test_paging_arguments_name_one_part_of_a_list(given: dict[str, Any], part: Slice) -> None:
    assert slice_with(**given) == part


@pytest.mark.parametrize(
    "given",
    [
        {"first": 1, "last": 1},
        {"first": 1, "before": "c"},
        {"after": "c", "last": 1},
        {"after": "c", "before": "c"},
    ],
)
def test_paging_in_both_directions_at_once_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(BadInputError) as refusal:
        slice_with(**given)
    assert refusal.value.message == "Page with first and after, or with last and before, not with both."
    assert refusal.value.path == ("last",)


@pytest.mark.parametrize("name", ["first", "last"])
@pytest.mark.parametrize("size", [0, -1, 101, 2**31 - 1])
def test_a_page_that_no_contract_allows_is_refused(name: str, size: int) -> None:
    with pytest.raises(BadInputError) as refusal:
        slice_with(**{name: size})
    assert refusal.value.message == f"{name} must be 1 to 100, not {size}."
    assert refusal.value.path == (name,)


def test_a_cursor_is_complained_of_by_the_argument_it_came_in() -> None:
    assert Slice(1).cursor_argument == "after"
    assert Slice(1, backward=True).cursor_argument == "before"


def test_a_window_without_bounds_is_all_of_time() -> None:
    assert Window() == Window(EARLIEST, LATEST)


def test_a_window_of_one_moment_is_a_window() -> None:
    assert Window(NOON, NOON).end == NOON


def test_a_window_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(BadInputError) as refusal:
        Window(ONE, NOON)
    assert refusal.value.message == "window.from must not lie after window.to."
    assert refusal.value.path == ("window", "from")


async def reserve(backend: Backend) -> None:
    await create_owner(backend, CreateOwner(owner_id=ADA, kind=OwnerKind.USER, name="Ada", email="Ada@Example.com"))
    await register_locker(backend, RegisterLocker(locker_id=L1, owner_id=ADA), DEVELOPMENT_ADMIN)
    await create_reservation(
        backend,
        CreateReservation(locker_id=L1, reservation_id=R1, owner_id=ADA, start_at=NOON, end_at=ONE),
        DEVELOPMENT_ADMIN,
    )


async def test_a_reservation_is_found_by_its_id_through_its_claim(backend: Backend, wire: Wire) -> None:
    await reserve(backend)
    wire.reset()
    reservation = await reads.reservation_by_id(backend.store, L1, R1)
    assert reservation is not None
    assert (reservation.reservation_id, reservation.start_at) == (R1, NOON)
    assert [call.keys for call in wire.calls] == [
        [("LOCKER#l1", "RID#r1")],
        [("LOCKER#l1", "RES#2026-03-01T12:00:00.000Z#r1")],
    ]


async def test_a_reservation_that_a_plain_read_does_not_show_beside_its_claim_is_read_strongly(
    backend: Backend, wire: Wire
) -> None:
    await reserve(backend)
    wire.reset()
    key = ("LOCKER#l1", "RES#2026-03-01T12:00:00.000Z#r1")

    def not_yet(call: Call) -> None:
        if call.keys == [key] and not call.request["ConsistentRead"]:
            del call.response["Item"]

    wire.amend = not_yet
    reservation = await reads.reservation_by_id(backend.store, L1, R1)
    assert reservation is not None
    assert (reservation.reservation_id, reservation.start_at) == (R1, NOON)
    assert [(call.keys, call.request["ConsistentRead"]) for call in wire.calls] == [
        ([("LOCKER#l1", "RID#r1")], False),
        ([key], False),
        ([key], True),
    ]


async def test_a_reservation_that_is_not_there_costs_one_read(backend: Backend, wire: Wire) -> None:
    assert await reads.reservation_by_id(backend.store, L1, R1) is None
    assert wire.operations == {"GetItem": 1}


async def test_an_owner_is_found_by_its_address_in_any_case(backend: Backend, wire: Wire) -> None:
    await reserve(backend)
    wire.reset()
    owner = await reads.owner_by_email(backend.store, "aDA@eXAMPLE.COM", lambda _: True)
    assert owner is not None
    assert (owner.owner_id, owner.email) == (ADA, "Ada@Example.com")
    assert [call.keys for call in wire.calls] == [[("EMAIL#ada@example.com", "META")], [("OWNER#ada", "META")]]


async def test_an_address_that_nobody_has_any_more_finds_nobody(backend: Backend) -> None:
    await reserve(backend)
    await update_owner(
        backend, UpdateOwner(owner_id=ADA, expected_version=1, email="new@example.com"), DEVELOPMENT_ADMIN
    )
    assert await reads.owner_by_email(backend.store, "ada@example.com", lambda _: True) is None
    found = await reads.owner_by_email(backend.store, "new@example.com", lambda _: True)
    assert found is not None
    assert found.version == 2


@pytest.mark.parametrize("email", [None, "other@example.com"])
async def test_a_claim_whose_owner_has_another_address_by_now_finds_nobody(
    backend: Backend, plain_client: Any, table: str, email: str | None
) -> None:
    await create_owner(backend, CreateOwner(owner_id=ADA, kind=OwnerKind.USER, name="Ada", email=email))
    claim = {"PK": "EMAIL#ada@example.com", "SK": "META", "entityType": "EMAIL_CLAIM", "ownerId": "ada"}
    await plain_client.put_item(TableName=table, Item=item_to_wire(claim))
    assert await reads.owner_by_email(backend.store, "ada@example.com", lambda _: True) is None


async def test_a_code_leads_to_its_location_and_one_that_nobody_has_costs_one_read(
    backend: Backend, wire: Wire
) -> None:
    location_id = LocationId("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    command = CreateLocation(location_id=location_id, code="rome-1", name="Rome", time_zone="Europe/Rome")
    await create_location(backend, command)
    wire.reset()
    assert await reads.location_id_of(backend.store, "rome-1") == location_id
    assert await reads.location_id_of(backend.store, "rome-2") is None
    assert [call.keys for call in wire.calls] == [
        [("LOCATION_CODE#rome-1", "META")],
        [("LOCATION_CODE#rome-2", "META")],
    ]


async def test_a_damaged_item_is_an_error_and_never_shown_half_right(
    backend: Backend, plain_client: Any, table: str
) -> None:
    item = {"PK": "LOCKER#l1", "SK": "META", "entityType": "LOCKER", "lockerId": "l1"}
    await plain_client.put_item(TableName=table, Item=item_to_wire(item))
    with pytest.raises(DamagedItemError, match=r"^item LOCKER / META \(a16ece53ad8b\) has no good ownerId$"):
        await reads.consistent_locker(backend.store, L1)
