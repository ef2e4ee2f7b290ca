from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import Scope
from tests.api import Api, mutation, refused, unchanged, user_error
from tests.conftest import Clock, Dump
from tests.invariants import check_invariants
from tests.principals import owner, partner
from tests.wire import Wire

SHOWN = """reservation {
  status version startAt endAt updatedAt startedAt endedAt endedBy endReason locker { status version }
}"""
CANCEL, EXTEND, SHORTEN, START, RELEASE = (
    mutation(f"{verb}Reservation", SHOWN) for verb in ("cancel", "extend", "shorten", "start", "release")
)
OWN_RELEASE = mutation("releaseReservation", "reservation { status version endedAt endedBy endReason }")
STATUS = mutation("updateLockerStatus", "locker { status version }")
LOCKER = """{ locker(lockerId: "l1") { status version activeReservation { reservationId }
  accessEvents { nodes { action actorId result metadata } } } }"""
OF_BOB = """{ owner(ownerId: "bob") { reservations { nodes { endAt status } } notifications {
  nodes { id message reservationId lockerId bookingId booking { bookingId } } } } }"""
POINTER = ("LOCKER#l1", "RES#ACTIVE")


def at(hour: int, minute: int = 0) -> str:
    return f"2026-03-01T{hour:02d}:{minute:02d}:00.000Z"


R1, R2 = ({"lockerId": "l1", "reservationId": name} for name in ("r1", "r2"))


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


async def test_a_reservation_is_canceled_until_it_starts_and_hands_the_pointer_to_the_next(
    reserved: Api, clock: Clock, dump: Dump
) -> None:
    clock.move(minutes=-1)
    payload = await reserved.mutate(CANCEL, **R1)
    canceled = {"status": "CANCELLED", "version": 2, "updatedAt": at(11, 59), "endedBy": "ADMIN"}
    assert {name: payload["reservation"][name] for name in canceled} == canceled
    assert (await dump())[POINTER]["reservationId"] == "r2"
    clock.move(hours=3, minutes=1, milliseconds=-1)
    assert codes(await reserved.mutate(CANCEL, **R2)) == []
    assert POINTER not in await dump()
    nodes = (await reserved.run(OF_BOB))["owner"]["reservations"]["nodes"]
    assert [node["status"] for node in nodes] == ["CANCELLED"] * 2


async def test_a_change_of_a_later_reservation_leaves_the_pointer_where_it_is(reserved: Api, dump: Dump) -> None:
    pointer = (await dump())[POINTER]
    assert codes(await reserved.mutate(EXTEND, **R2, newEndAt=at(17))) == []
    assert (await dump())[POINTER] == pointer | {"lastEndAt": at(17)}
    assert codes(await reserved.mutate(CANCEL, **R2)) == []
    assert (await dump())[POINTER] == pointer | {"lastEndAt": at(17)}
    # What was canceled is in the way of none.
    assert codes(await reserved.mutate(EXTEND, **R1, newEndAt=at(18))) == []


async def test_an_extended_reservation_ends_later_everywhere(reserved: Api, clock: Clock, dump: Dump) -> None:
    clock.move(minutes=1)
    # Up to the start of the next one: a window does not hold its own end.
    payload = await reserved.mutate(EXTEND, **R1, newEndAt=at(15))
    extended = {"endAt": at(15), "updatedAt": at(12, 1), "status": "ACTIVE", "version": 2}
    assert {name: payload["reservation"][name] for name in extended} == extended
    table = await dump()
    held = f"RES#{at(12)}#r1"
    for key in (("LOCKER#l1", held), ("OWNER#bob", held), ("LOCKER#l1", held.replace("RES#", "LIVE#")), POINTER):
        assert {name: table[key][name] for name in extended} == extended
    assert (await reserved.run(OF_BOB))["owner"]["reservations"]["nodes"][0]["endAt"] == at(15)


@pytest.mark.parametrize("end", ["2026-03-01T15:00:00.001Z", "2026-03-01T15:30:00Z", "2026-03-02T00:00:00Z"])
async def test_extending_into_the_next_reservation_is_refused_with_it(reserved: Api, dump: Dump, end: str) -> None:
    payload = await refused(reserved, dump, EXTEND, **R1, newEndAt=end)
    message = f"The locker is already reserved from {at(15)} to {at(16)}."
    overlap = user_error("RESERVATION_OVERLAP", message, 409, "newEndAt") | {
        "__typename": "ReservationOverlapError",
        "reservation": {"reservationId": "r2", "startAt": at(15), "endAt": at(16)},
    }
    assert payload == {"reservation": None, "userErrors": [overlap]}


SO = "so it cannot be"


@pytest.mark.parametrize(
    ("write", "values", "hours", "status", "code", "message"),
    [
        (CANCEL, R1, 0, "ACTIVE", "RESERVATION_STARTED", f"has started, {SO} canceled. Release it instead."),
        (CANCEL, R1, 2, "EXPIRED", "RESERVATION_OVER", f"has ended, {SO} canceled."),
        (START, R2, 0, "UPCOMING", "RESERVATION_NOT_STARTED", f"starts at {at(15)}."),
        (START, R1, 2, "EXPIRED", "RESERVATION_OVER", f"has ended, {SO} started."),
        (RELEASE, R2, 0, "UPCOMING", "RESERVATION_NOT_STARTED", f"has not started, {SO} released. Cancel it instead."),
        (RELEASE, R1, 2, "EXPIRED", "RESERVATION_OVER", f"has ended, {SO} released."),
        (EXTEND, R1 | {"newEndAt": at(15)}, 2, "EXPIRED", "RESERVATION_OVER", f"has ended, {SO} extended."),
    ],
)
async def test_a_change_at_the_wrong_time_is_refused_with_the_reservation(
    reserved: Api, clock: Clock, dump: Dump, write: str, values: Any, hours: int, status: str, code: str, message: str
) -> None:
    clock.move(hours=hours)
    payload = await refused(reserved, dump, write, **values)
    assert payload["userErrors"] == [user_error(code, f"The reservation {message}", 409, "reservationId")]
    assert payload["reservation"]["status"] == status


@pytest.mark.parametrize(
    ("write", "end", "message"),
    [
        (EXTEND, "2026-03-01T13:59:59.999Z", f"after the current end, {at(14)}"),
        (EXTEND, at(12), "after the start"),
        (EXTEND, at(10), "after the start"),
        (SHORTEN, at(15), f"before the current end, {at(14)}"),
        (SHORTEN, at(12), "after the start"),
    ],
)
async def test_a_wrong_end_is_refused(reserved: Api, dump: Dump, write: str, end: str, message: str) -> None:
    payload = await refused(reserved, dump, write, **R1, newEndAt=end)
    wrong = user_error("BAD_USER_INPUT", f"newEndAt must be {message}", 400, "newEndAt")
    assert payload == {"reservation": None, "userErrors": [wrong]}


@pytest.mark.parametrize("end", [at(17), at(16), at(15, 30)])
async def test_a_reservation_that_was_canceled_cannot_be_extended(reserved: Api, dump: Dump, end: str) -> None:
    await reserved.mutate(CANCEL, **R2)
    payload = await refused(reserved, dump, EXTEND, **R2, newEndAt=end)
    message = f"The reservation was canceled, {SO} extended."
    assert payload["userErrors"] == [user_error("RESERVATION_OVER", message, 409, "reservationId")]
    assert payload["reservation"]["status"] == "CANCELLED"


async def test_a_reservation_can_be_extended_to_exactly_the_longest_duration(reserved: Api, dump: Dump) -> None:
    payload = await refused(reserved, dump, EXTEND, **R2, newEndAt="2026-03-31T15:00:00.001Z")
    message = "a reservation must not be longer than 30 days"
    assert payload == {"reservation": None, "userErrors": [user_error("BAD_USER_INPUT", message, 400, "newEndAt")]}
    assert codes(await reserved.mutate(EXTEND, **R2, newEndAt="2026-03-31T15:00:00Z")) == []


async def test_extending_again_after_the_end_gives_the_same_answer(reserved: Api, clock: Clock, dump: Dump) -> None:
    first = await reserved.mutate(EXTEND, **R1, newEndAt=at(14, 30))
    clock.move(hours=4)
    again = await refused(reserved, dump, EXTEND, **R1, newEndAt=at(14, 30))
    assert again == {"reservation": first["reservation"] | {"status": "EXPIRED"}, "userErrors": []}


async def test_a_reservation_is_shortened_and_the_time_after_is_free(reserved: Api, clock: Clock, dump: Dump) -> None:
    payload = await reserved.mutate(SHORTEN, **R1, newEndAt=at(13))
    assert (payload["reservation"]["endAt"], payload["reservation"]["version"]) == (at(13), 2)
    await reserved.reservation("r3", "l1", "ada", at(13), at(15))
    check_invariants(await dump(), clock.now)


async def test_a_check_in_occupies_the_locker_and_a_release_frees_it(reserved: Api, clock: Clock, dump: Dump) -> None:
    clock.move(minutes=5)
    payload = await reserved.mutate(START, **R1)
    started = {"status": "ACTIVE", "version": 2, "startAt": at(12), "endAt": at(14), "updatedAt": at(12, 5)}
    started |= {"startedAt": at(12, 5), "endedAt": None, "endedBy": None, "endReason": None}
    occupied = {"locker": {"status": "OCCUPIED", "version": 2}}
    assert payload == {"reservation": started | occupied, "userErrors": []}
    check_invariants(await dump(), clock.now)
    clock.move(minutes=25)
    payload = await reserved.by(owner("bob")).mutate(OWN_RELEASE, **R1, reason="Done")
    released = {"status": "COMPLETED", "version": 3, "endedAt": at(12, 30), "endedBy": "OWNER", "endReason": "Done"}
    assert payload["reservation"] == released
    await reserved.reservation("r3", "l1", "ada", at(12, 30), at(15))
    found = (await reserved.run(LOCKER))["locker"]
    assert (found["status"], found["version"]) == ("AVAILABLE", 3)
    assert found["activeReservation"] == {"reservationId": "r3"}
    assert (await reserved.run(OF_BOB))["owner"]["notifications"]["nodes"] == []
    check_invariants(await dump(), clock.now)


@pytest.mark.parametrize(
    ("steps", "status"),
    [([], "EXPIRED"), ([START], "COMPLETED"), ([RELEASE], "COMPLETED"), ([START, RELEASE], "COMPLETED")],
    ids=["unused", "checked in", "released", "checked in and released"],
)
async def test_an_ended_reservation_shows_its_fate(reserved: Api, clock: Clock, steps: list[str], status: str) -> None:
    for step in steps:
        assert codes(await reserved.mutate(step, **R1)) == []
    clock.move(hours=3)
    data = await reserved.run('{ reservation(lockerId: "l1", reservationId: "r1") { status } }')
    assert data["reservation"]["status"] == status


@pytest.mark.parametrize(
    ("write", "values"),
    [(START, R1), (RELEASE, R1 | {"reason": "Done"}), (SHORTEN, R1 | {"newEndAt": at(13)}), (CANCEL, R2)],
    ids=["start", "release", "shorten", "cancel"],
)
async def test_a_change_that_is_repeated_with_its_id_returns_the_reservation_and_another_version_conflicts(
    reserved: Api, wire: Wire, dump: Dump, write: str, values: dict[str, Any]
) -> None:
    content = {**values, "expectedVersion": 1, "changeId": "c1"}
    first = await reserved.mutate(write, **content)
    assert (first["reservation"]["version"], first["userErrors"]) == (2, [])
    wire.reset()
    async with unchanged(dump):
        assert await reserved.mutate(write, **content) == first
        # without an id, it is based on a version that is gone
        stale = await reserved.mutate(write, **values, expectedVersion=1)
        place = {name: values[name] for name in R1}
        other = await reserved.mutate(EXTEND, **place, newEndAt=at(20), changeId="c1")
    assert wire.operations["TransactWriteItems"] == 0
    assert (codes(stale), stale["userErrors"][0]["currentVersion"]) == (["VERSION_CONFLICT"], 2)
    assert stale["reservation"] == first["reservation"]
    assert codes(other) == ["ID_TAKEN"]


@pytest.mark.parametrize("write", [START, RELEASE], ids=["start", "release"])
async def test_without_version_and_id_a_repeat_changes_nothing(reserved: Api, dump: Dump, write: str) -> None:
    first = await reserved.mutate(write, **R1)
    assert await refused(reserved, dump, write, **R1) == first


async def test_a_locker_in_maintenance_is_not_checked_in_and_a_release_keeps_it_so(reserved: Api, dump: Dump) -> None:
    await reserved.mutate(STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=1)
    assert codes(await refused(reserved, dump, START, **R1)) == ["LOCKER_IN_MAINTENANCE"]
    payload = await reserved.mutate(RELEASE, **R1)
    assert payload["reservation"]["locker"] == {"status": "MAINTENANCE", "version": 2}


async def test_the_next_start_takes_over_and_records_the_overstay(reserved: Api, clock: Clock, dump: Dump) -> None:
    await reserved.mutate(START, **R1)
    clock.move(hours=3)
    assert (await reserved.run(LOCKER))["locker"]["status"] == "OCCUPIED"
    payload = await reserved.mutate(START, **R2)
    assert payload["reservation"]["locker"] == {"status": "OCCUPIED", "version": 3}
    (event,) = (await reserved.run(LOCKER))["locker"]["accessEvents"]["nodes"]
    overstay = {"action": "OVERSTAY", "actorId": "bob", "result": "SUCCESS"}
    assert event == overstay | {"metadata": {"overstayed": "r1", "started": "r2"}}
    # The one that overstayed has no claim on the locker any more.
    assert codes(await refused(reserved, dump, RELEASE, **R1)) == ["RESERVATION_OVER"]
    payload = await reserved.mutate(RELEASE, **R2)
    assert payload["reservation"]["locker"] == {"status": "AVAILABLE", "version": 4}
    check_invariants(await dump(), clock.now)


async def test_an_ended_reservation_that_occupies_a_locker_is_released(reserved: Api, clock: Clock, dump: Dump) -> None:
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
    [(CANCEL, R2, "CANCELLED", "canceled"), (RELEASE, R1, "COMPLETED", "ended")],
    ids=["cancel", "release"],
)
async def test_the_owner_of_the_locker_ends_a_reservation_with_a_reason_which_its_owner_is_told(
    reserved: Api, dump: Dump, write: str, place: dict[str, str], status: str, done: str
) -> None:
    ada, bob = reserved.by(owner("ada")), reserved.by(owner("bob"))
    message = "reason is required to end a reservation of another owner"
    payload = await refused(ada, dump, write, **place)
    assert payload["userErrors"] == [user_error("BAD_USER_INPUT", message, 400, "reason")]
    ended = (await ada.mutate(write, **place, reason="Water damage"))["reservation"]
    assert (ended["status"], ended["endedBy"], ended["endReason"]) == (status, "LOCKER_OWNER", "Water damage")
    (notice,) = (await bob.run(OF_BOB))["owner"]["notifications"]["nodes"]
    node = await bob.run("query ($id: ID!) { node(id: $id) { id } }", id=notice.pop("id"))
    assert node["node"] is not None
    message = f"Your reservation of locker l1 from {ended['startAt']} was {done}: Water damage"
    assert notice == {"message": message, **place, "bookingId": None, "booking": None}


@pytest.mark.parametrize(
    ("write", "values"),
    [(START, {}), (EXTEND, {"newEndAt": at(15)}), (SHORTEN, {"newEndAt": at(13)})],
    ids=["start", "extend", "shorten"],
)
async def test_the_owner_of_the_locker_may_only_end_what_others_reserved(
    reserved: Api, dump: Dump, write: str, values: dict[str, str]
) -> None:
    end_it = "Only the owner who made the reservation may do this. You may cancel or release it, with a reason."
    unknown = "You do not have access to this, or it does not exist."
    for principal, message in (
        (owner("ada"), end_it),
        (owner("eve"), unknown),
        (partner(Scope.RESERVATIONS_WRITE, of="eve"), unknown),
    ):
        payload = await refused(reserved.by(principal), dump, write, **R1, **values)
        assert payload["userErrors"] == [user_error("FORBIDDEN", message, 403, "reservationId")]
