"""Lists of the whole table and of locations, for admins and support: who is in them, and what a change does."""

from collections.abc import Iterable
from typing import Any

import pytest
import pytest_asyncio

from domain.times import Instant
from loaders.backend import Backend
from tests import principals
from tests.api import RETIRE_LOCKER, UPDATE_STATUS, Api, mutation
from tests.conftest import Clock
from tests.places import CANCEL as CANCEL_BOOKING
from tests.places import MOVE, approve, book, create_location, paged, reject, ulid
from tests.reservations import CANCEL, EXTEND, RELEASE, START, sweep
from tests.wire import Wire

UPDATE_OWNER = mutation("updateOwner", "owner { version }")
OVERDUE = """{ overdueReservations { nodes {
  lockerId reservationId ownerId overdueSince locker { overdueSince: status } reservation { endAt } owner { name }
} } }"""


def at(hour: int, minute: int = 0) -> str:
    return f"2026-03-01T{hour:02d}:{minute:02d}:00.000Z"


async def listed(api: Api, field: str, own: str, order: str = "", **paging: Any) -> list[str]:
    """The keys of the entries of a list, read in pages of two in both directions."""
    given = f"{order}, " if order else ""
    forward = f"query ($first: Int, $after: String) {{ {field}({given}first: $first, after: $after)"
    backward = f"query ($first: Int, $after: String) {{ {field}({given}last: $first, before: $after)"
    shown = f"{{ nodes {{ key: {own} }} nextCursor }} {'}' * (1 + field.count('{') - field.count('}'))}"
    pages = [nodes async for nodes in paged(api, f"{forward} {shown}", 2, **paging)]
    found = [node["key"] for nodes in pages for node in nodes]
    back = [nodes async for nodes in paged(api, f"{backward} {shown}", 2, **paging)]
    assert [node["key"] for nodes in reversed(back) for node in nodes] == found
    return found


async def test_owners_are_listed_newest_first_and_a_change_moves_none(api: Api, clock: Clock) -> None:
    names = ["zoe", "ada", "max", "eve", "bob"]
    for name in names:
        await api.owner(name)
        clock.move(milliseconds=1)
    await api.done(UPDATE_OWNER, ownerId="ada", expectedVersion=1, name="Ada Lovelace")
    assert await listed(api, "owners", "ownerId") == names[::-1]
    assert await listed(api, "owners", "ownerId", "orderBy: ASC") == names


async def test_lockers_of_a_status_are_listed_wherever_they_are(api: Api, wire: Wire) -> None:
    for owner in ("ada", "bob"):
        await api.owner(owner)
    await create_location(api)
    names = [f"l{number}" for number in range(9)]
    for number, name in enumerate(names):
        place = {"locationId": ulid(0)} if number % 2 else {}
        await api.locker(name, "ada" if number % 3 else "bob", **place)
    await api.done(UPDATE_STATUS, lockerId="l4", newStatus="OCCUPIED", expectedVersion=1)
    await api.done(UPDATE_STATUS, lockerId="l5", newStatus="MAINTENANCE", expectedVersion=1)
    await api.done(RETIRE_LOCKER, lockerId="l6", expectedVersion=1)
    await api.done(MOVE, lockerId="l7", expectedVersion=1, newLocationId=None)

    async def lockers(status: str) -> list[str]:
        return await listed(api, "lockers", "lockerId", f"status: {status}")

    assert await lockers("AVAILABLE") == ["l0", "l1", "l2", "l3", "l7", "l8"]
    assert [await lockers(status) for status in ("OCCUPIED", "MAINTENANCE", "RETIRED")] == [["l4"], ["l5"], ["l6"]]
    await api.done(UPDATE_STATUS, lockerId="l4", newStatus="AVAILABLE", expectedVersion=2)
    assert (await lockers("OCCUPIED"), "l4" in await lockers("AVAILABLE")) == ([], True)
    wire.reset()
    assert await api.run("{ lockers(status: AVAILABLE, first: 3) { nodes { owner { name } location { code } } } }")
    assert (wire.operations["Query"], wire.operations["BatchGetItem"]) == (4, 1)


@pytest_asyncio.fixture
async def late(api: Api, backend: Backend, clock: Clock) -> Api:
    """Two lockers whose reservations are over and still occupy them, one that is in time and one that has left."""
    for name in ("ada", "bob"):
        await api.owner(name)
    await create_location(api)
    for number, end in enumerate((at(13, 30), at(13), at(18), at(13))):
        await api.locker(f"l{number}", "ada", locationId=ulid(0))
        await api.reservation(f"r{number}", f"l{number}", "bob", at(12), end)
        await api.done(START, lockerId=f"l{number}", reservationId=f"r{number}")
    await api.reservation("next", "l0", "bob", at(14), at(16))
    await api.done(RELEASE, lockerId="l3", reservationId="r3")
    assert await overdue(api) == []
    clock.now = Instant(at(14, 1))
    await sweep(backend)
    return api


async def overdue(api: Api) -> list[str]:
    return await listed(api, "overdueReservations", "lockerId")


async def test_overdue_reservations_are_those_that_are_over_and_occupy_their_lockers(late: Api) -> None:
    found = (await late.run(OVERDUE))["overdueReservations"]["nodes"]
    assert found == [
        {"lockerId": name, "reservationId": name.replace("l", "r"), "ownerId": "bob", "overdueSince": end}
        | {"locker": {"overdueSince": "OCCUPIED"}, "reservation": {"endAt": end}, "owner": {"name": "bob"}}
        for name, end in (("l1", at(13)), ("l0", at(13, 30)))
    ]
    assert await listed(late, "overdueReservations", "lockerId", "orderBy: DESC") == ["l0", "l1"]


@pytest.mark.parametrize(
    ("document", "values"),
    [
        (RELEASE, {"reservationId": "r0"}),
        (UPDATE_STATUS, {"newStatus": "AVAILABLE", "expectedVersion": 2}),
        (UPDATE_STATUS, {"newStatus": "MAINTENANCE", "expectedVersion": 2}),
        (START, {"reservationId": "next"}),
    ],
)
async def test_an_overdue_reservation_leaves_the_list_with_the_change_that_ends_it(
    late: Api, document: str, values: dict[str, Any]
) -> None:
    await late.done(document, lockerId="l0", **values)
    assert await overdue(late) == ["l1"]


async def test_a_change_that_ends_no_overdue_stay_leaves_it_in_the_list(late: Api, backend: Backend) -> None:
    await late.done(MOVE, lockerId="l0", expectedVersion=2, newLocationId=None)
    await late.done(RELEASE, lockerId="l0", reservationId="next")
    await sweep(backend)
    assert await overdue(late) == ["l1", "l0"]


def here(field: str, number: int = 0) -> str:
    return f'location(locationId: "{ulid(number)}") {{ {field}'


async def test_reservations_of_a_location_stay_where_they_were_made(api: Api, backend: Backend, clock: Clock) -> None:
    await api.owner("ada")
    for number in range(2):
        await create_location(api, number)
    for name, place in (("l0", ulid(0)), ("l1", ulid(0)), ("l2", ulid(1))):
        await api.locker(name, "ada", locationId=place)
    await api.reservation("late", "l0", "ada", at(15), at(16))
    await api.reservation("soon", "l1", "ada", at(13), at(14))
    await api.reservation("gone", "l0", "ada", at(14), at(15))
    await api.reservation("there", "l2", "ada", at(14), at(15))
    await api.done(CANCEL, lockerId="l0", reservationId="gone")

    async def reservations(number: int = 0, order: str = "") -> list[str]:
        return await listed(api, here("reservations", number), "reservationId", order)

    assert await reservations() == ["soon", "gone", "late"]
    assert await reservations(0, "orderBy: DESC") == ["late", "gone", "soon"]
    assert await reservations(0, f'window: {{from: "{at(13)}", to: "{at(14)}"}}') == ["soon", "gone"]
    assert await reservations(1) == ["there"]
    await api.done(MOVE, lockerId="l1", expectedVersion=1, newLocationId=ulid(1))
    await api.reservation("moved", "l1", "ada", at(17), at(18))
    await api.done(EXTEND, lockerId="l1", reservationId="soon", newEndAt=at(14, 30))
    clock.now = Instant(at(14, 31))
    await sweep(backend)
    assert (await reservations(), await reservations(1)) == (["soon", "gone", "late"], ["there", "moved"])


async def test_bookings_of_a_location_are_listed_by_date_and_by_status(api: Api) -> None:
    await api.owner("ada")
    await api.owner("root", role="ADMIN")
    for number in range(2):
        await create_location(api, number)
    for day in (5, 3, 4, 2, 1):
        await book(api, f"b{day}", date=f"2026-04-0{day}")
    await book(api, "elsewhere", locationId=ulid(1))
    await approve(api, "b2")
    await reject(api, "b3")
    await api.done(CANCEL_BOOKING, bookingId="b4")

    async def bookings(order: str = "") -> list[str]:
        return await listed(api, here("bookings"), "bookingId", order)

    assert await bookings() == ["b1", "b2", "b3", "b4", "b5"]
    assert await bookings("orderBy: DESC") == ["b5", "b4", "b3", "b2", "b1"]
    statuses: Iterable[str] = ("PENDING", "APPROVED", "REJECTED", "CANCELLED")
    assert [await bookings(f"status: {one}") for one in statuses] == [["b1", "b5"], ["b2"], ["b3"], ["b4"]]


async def test_owners_do_not_read_the_lists_of_all(late: Api, wire: Wire) -> None:
    wire.reset()
    for field in (
        "owners",
        "lockers(status: AVAILABLE)",
        "overdueReservations",
        here("reservations"),
        here("bookings"),
    ):
        closing = "}" * (1 + field.count("{"))
        answer = await late.by(principals.owner("ada")).send(f"{{ {field} {{ nodes {{ __typename }} }} {closing}")
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN"]
    assert wire.operations["Query"] == 0
