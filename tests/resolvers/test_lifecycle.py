"""The life of a reservation: checked in, released, shortened, taken over, and ended by the owner of the locker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.authorization import Scope
from tests.api import mutation, unchanged, user_error
from tests.invariants import check_invariants
from tests.principals import owner, partner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

SHOWN = "reservation { status version startAt endAt startedAt endedAt endedBy endReason locker { status version } }"
START = mutation("startReservation", SHOWN)
RELEASE = mutation("releaseReservation", SHOWN)
OWN_RELEASE = mutation("releaseReservation", "reservation { status version endedAt endedBy endReason }")
CANCEL = mutation("cancelReservation", SHOWN)
EXTEND = mutation("extendReservation", SHOWN)
SHORTEN = mutation("shortenReservation", SHOWN)
STATUS = mutation("updateLockerStatus", "locker { status version }")
LOCKER = """{ locker(lockerId: "l1") { status version activeReservation { reservationId }
  accessEvents { nodes { action actorId result metadata } } } }"""
NOTICES = """{ owner(ownerId: "bob") { notifications {
  nodes { id message reservationId lockerId bookingId booking { bookingId } } } } }"""

R1 = {"lockerId": "l1", "reservationId": "r1"}
R2 = {"lockerId": "l1", "reservationId": "r2"}


def at(hour: int, minute: int = 0) -> str:
    return f"2026-03-01T{hour:02d}:{minute:02d}:00.000Z"


@pytest_asyncio.fixture
async def reserved(api: Api) -> Api:
    """Ada's locker, reserved at noon by Bob from 12 to 14 and from 15 to 16."""
    for name in ("ada", "bob"):
        await api.owner(name)
    await api.locker("l1", "ada")
    await api.reservation("r1", "l1", "bob", at(12), at(14))
    await api.reservation("r2", "l1", "bob", at(15), at(16))
    return api


def codes(payload: dict[str, Any]) -> list[str]:
    return [error["code"] for error in payload["userErrors"]]


async def test_a_check_in_occupies_the_locker_and_a_release_frees_it_and_the_rest_of_the_window(
    reserved: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    clock.move(minutes=5)
    payload = await reserved.mutate(START, **R1)
    started = {
        "status": "ACTIVE",
        "version": 2,
        "startAt": at(12),
        "endAt": at(14),
        "startedAt": at(12, 5),
        "endedAt": None,
        "endedBy": None,
        "endReason": None,
        "locker": {"status": "OCCUPIED", "version": 2},
    }
    assert payload == {"reservation": started, "userErrors": []}
    check_invariants(await dump(), clock.now)
    clock.move(minutes=25)
    payload = await reserved.by(owner("bob")).mutate(OWN_RELEASE, **R1, reason="Done")
    released = {"status": "COMPLETED", "version": 3, "endedAt": at(12, 30), "endedBy": "OWNER", "endReason": "Done"}
    assert payload["reservation"] == released
    freed = await reserved.run('{ locker(lockerId: "l1") { status version } }')
    assert freed["locker"] == {"status": "AVAILABLE", "version": 3}
    await reserved.reservation("r3", "l1", "ada", at(12, 30), at(15))
    data = await reserved.run(LOCKER)
    assert data["locker"]["activeReservation"] == {"reservationId": "r3"}
    assert (await reserved.run(NOTICES))["owner"]["notifications"]["nodes"] == []
    check_invariants(await dump(), clock.now)


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([], "EXPIRED"),
        ([START], "COMPLETED"),
        ([RELEASE], "COMPLETED"),
        ([START, RELEASE], "COMPLETED"),
    ],
    ids=["unused", "checked in", "released", "checked in and released"],
)
async def test_what_became_of_a_reservation_shows_when_it_has_ended(
    reserved: Api, clock: Clock, steps: list[str], status: str
) -> None:
    for step in steps:
        assert codes(await reserved.mutate(step, **R1)) == []
    clock.move(hours=3)
    data = await reserved.run('{ reservation(lockerId: "l1", reservationId: "r1") { status } }')
    assert data["reservation"]["status"] == status


@pytest.mark.parametrize(
    ("write", "values"),
    [(START, {}), (RELEASE, {"reason": "Done"}), (SHORTEN, {"newEndAt": at(13)}), (CANCEL, {})],
    ids=["start", "release", "shorten", "cancel"],
)
async def test_a_change_that_is_repeated_with_its_id_returns_the_reservation_and_another_version_conflicts(
    reserved: Api, wire: Wire, dump: Callable[[], Any], write: str, values: dict[str, Any]
) -> None:
    place = R2 if write == CANCEL else R1
    content = {**place, **values, "expectedVersion": 1, "changeId": "c1"}
    first = await reserved.mutate(write, **content)
    assert (first["reservation"]["version"], first["userErrors"]) == (2, [])
    wire.reset()
    async with unchanged(dump):
        assert await reserved.mutate(write, **content) == first
        # without an id, it is based on a version that is gone
        stale = await reserved.mutate(write, **place, **values, expectedVersion=1)
        other = await reserved.mutate(EXTEND, **place, newEndAt=at(20), changeId="c1")
    assert wire.operations["TransactWriteItems"] == 0
    assert codes(stale) == ["VERSION_CONFLICT"]
    assert stale["userErrors"][0]["currentVersion"] == 2
    assert stale["reservation"] == first["reservation"]
    assert codes(other) == ["ID_TAKEN"]


@pytest.mark.parametrize("write", [START, RELEASE])
async def test_without_version_and_id_a_repeat_changes_nothing(
    reserved: Api, wire: Wire, dump: Callable[[], Any], write: str
) -> None:
    first = await reserved.mutate(write, **R1)
    wire.reset()
    async with unchanged(dump):
        assert await reserved.mutate(write, **R1) == first
    assert wire.operations["TransactWriteItems"] == 0


@pytest.mark.parametrize(
    ("write", "place", "hours", "code"),
    [
        (START, R2, 0, "RESERVATION_NOT_STARTED"),
        (RELEASE, R2, 0, "RESERVATION_NOT_STARTED"),
        (START, R1, 2, "RESERVATION_OVER"),
        (RELEASE, R1, 2, "RESERVATION_OVER"),
        (CANCEL, R1, 0, "RESERVATION_STARTED"),
        (START, {**R1, "reservationId": "nope"}, 0, "NOT_FOUND"),
    ],
)
async def test_a_change_at_the_wrong_time_is_refused_and_changes_nothing(
    reserved: Api, clock: Clock, dump: Callable[[], Any], write: str, place: dict[str, str], hours: int, code: str
) -> None:
    clock.move(hours=hours)
    async with unchanged(dump):
        assert codes(await reserved.mutate(write, **place)) == [code]


async def test_a_reservation_is_shortened_and_the_time_after_it_is_free(
    reserved: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    payload = await reserved.mutate(SHORTEN, **R1, newEndAt=at(13))
    assert (payload["reservation"]["endAt"], payload["reservation"]["version"]) == (at(13), 2)
    await reserved.reservation("r3", "l1", "ada", at(13), at(15))
    check_invariants(await dump(), clock.now)
    async with unchanged(dump):
        for end, message in (
            (at(14), f"newEndAt must be before the current end, {at(13)}"),
            (at(12), "newEndAt must be after the start"),
        ):
            refused = await reserved.mutate(SHORTEN, **R1, newEndAt=end)
            assert refused["userErrors"] == [user_error("BAD_USER_INPUT", message, 400, "newEndAt")]


async def test_a_locker_in_maintenance_is_not_checked_in_and_stays_in_maintenance_after_a_release(
    reserved: Api, dump: Callable[[], Any]
) -> None:
    await reserved.mutate(STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=1)
    async with unchanged(dump):
        assert codes(await reserved.mutate(START, **R1)) == ["LOCKER_IN_MAINTENANCE"]
    payload = await reserved.mutate(RELEASE, **R1)
    assert payload["reservation"]["locker"] == {"status": "MAINTENANCE", "version": 2}


async def test_the_next_start_takes_over_an_occupied_locker_and_records_the_overstay(
    reserved: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await reserved.mutate(START, **R1)
    clock.move(hours=3)
    assert (await reserved.run(LOCKER))["locker"]["status"] == "OCCUPIED"
    payload = await reserved.mutate(START, **R2)
    assert payload["reservation"]["locker"] == {"status": "OCCUPIED", "version": 3}
    (event,) = (await reserved.run(LOCKER))["locker"]["accessEvents"]["nodes"]
    assert event == {
        "action": "OVERSTAY",
        "actorId": "bob",
        "result": "SUCCESS",
        "metadata": {"overstayed": "r1", "started": "r2"},
    }
    # The one that overstayed has no claim on the locker any more.
    async with unchanged(dump):
        assert codes(await reserved.mutate(RELEASE, **R1)) == ["RESERVATION_OVER"]
    payload = await reserved.mutate(RELEASE, **R2)
    assert payload["reservation"]["locker"] == {"status": "AVAILABLE", "version": 4}
    check_invariants(await dump(), clock.now)


async def test_a_reservation_that_has_ended_is_released_while_it_occupies_its_locker(
    reserved: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await reserved.mutate(START, **R1)
    clock.move(hours=2, minutes=10)
    payload = await reserved.mutate(RELEASE, **R1)
    assert (payload["reservation"]["endAt"], payload["reservation"]["endedAt"]) == (at(14), at(14, 10))
    assert payload["reservation"]["locker"]["status"] == "AVAILABLE"
    check_invariants(await dump(), clock.now)


async def test_a_release_leaves_a_locker_alone_whose_status_someone_else_has_set(reserved: Api) -> None:
    await reserved.mutate(START, **R1)
    for status, version in (("AVAILABLE", 2), ("OCCUPIED", 3)):
        await reserved.mutate(STATUS, lockerId="l1", newStatus=status, expectedVersion=version)
    payload = await reserved.mutate(RELEASE, **R1)
    assert payload["reservation"]["locker"] == {"status": "OCCUPIED", "version": 4}


@pytest.mark.parametrize(
    ("write", "place", "status", "done"),
    [(CANCEL, R2, "CANCELLED", "cancelled"), (RELEASE, R1, "COMPLETED", "ended")],
    ids=["cancel", "release"],
)
async def test_the_owner_of_the_locker_ends_a_reservation_with_a_reason_which_its_owner_is_told(
    reserved: Api, dump: Callable[[], Any], write: str, place: dict[str, str], status: str, done: str
) -> None:
    ada = reserved.by(owner("ada"))
    async with unchanged(dump):
        refused = await ada.mutate(write, **place)
    message = "reason is required to end a reservation of another owner"
    assert refused["userErrors"] == [user_error("BAD_USER_INPUT", message, 400, "reason")]
    payload = await ada.mutate(write, **place, reason="Water damage")
    ended = payload["reservation"]
    assert (ended["status"], ended["endedBy"], ended["endReason"]) == (status, "LOCKER_OWNER", "Water damage")
    (notice,) = (await reserved.by(owner("bob")).run(NOTICES))["owner"]["notifications"]["nodes"]
    node = await reserved.by(owner("bob")).run("query ($id: ID!) { node(id: $id) { id } }", id=notice.pop("id"))
    assert node["node"] is not None
    assert notice == {
        "message": f"Your reservation of locker l1 from {ended['startAt']} was {done}: Water damage",
        "reservationId": place["reservationId"],
        "lockerId": "l1",
        "bookingId": None,
        "booking": None,
    }


@pytest.mark.parametrize(
    ("write", "values"),
    [(START, {}), (EXTEND, {"newEndAt": at(15)}), (SHORTEN, {"newEndAt": at(13)})],
    ids=["start", "extend", "shorten"],
)
async def test_the_owner_of_the_locker_may_only_end_what_others_reserved(
    reserved: Api, dump: Callable[[], Any], write: str, values: dict[str, str]
) -> None:
    async with unchanged(dump):
        end_it = "Only the owner who made the reservation may do this. You may cancel or release it, with a reason."
        unknown = "You do not have access to this, or it does not exist."
        for principal, message in (
            (owner("ada"), end_it),
            (owner("eve"), unknown),
            (partner(Scope.RESERVATIONS_WRITE, of="eve"), unknown),
        ):
            payload = await reserved.by(principal).mutate(write, **R1, **values)
            assert payload["userErrors"] == [user_error("FORBIDDEN", message, 403, "reservationId")]


async def test_a_check_in_repairs_missing_copies_of_its_locker(
    reserved: Api, plain_client: Any, table: str, dump: Callable[[], Any], clock: Clock
) -> None:
    key = {"PK": {"S": "OWNER#ada"}, "SK": {"S": "LOCKER#l1"}}
    await plain_client.delete_item(TableName=table, Key=key)
    assert codes(await reserved.mutate(START, **R1)) == []
    check_invariants(await dump(), clock.now)
