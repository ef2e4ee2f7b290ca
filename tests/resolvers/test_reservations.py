import pytest
import pytest_asyncio

from tests.api import Api, mutation, refused, unchanged, user_error
from tests.conftest import Dump

FIELDS = "reservationId lockerId ownerId startAt endAt status createdAt updatedAt"
CREATE = mutation("createReservation", f"reservation {{ {FIELDS} }}")
UPDATE_STATUS = mutation("updateLockerStatus", "locker { status }")
BY_ID = f"""query ($locker: ID!) {{ reservation(lockerId: $locker, reservationId: "r1") {{
  {FIELDS} locker {{ lockerId status version }} owner {{ ownerId name }}
}} }}"""

NOW = "2026-03-01T12:00:00.000Z"
R1 = {
    "reservationId": "r1",
    "lockerId": "l1",
    "ownerId": "ada",
    "startAt": "2026-03-02T10:00:00.000Z",
    "endAt": "2026-03-02T12:00:00.000Z",
}
R1_SHOWN = {**R1, "status": "UPCOMING", "createdAt": NOW, "updatedAt": NOW}


@pytest_asyncio.fixture
async def free(api: Api) -> Api:
    """Two owners, and two lockers without reservations."""
    for owner in ("ada", "eve"):
        await api.owner(owner)
    for locker in ("l1", "l2"):
        await api.locker(locker, "ada")
    return api


@pytest_asyncio.fixture
async def reserved(free: Api) -> Api:
    """The same with a reservation of the first locker."""
    assert await free.mutate(CREATE, **R1) == {"reservation": R1_SHOWN, "userErrors": []}
    return free


async def test_a_reservation_is_shown_whole_and_found_by_its_id_at_its_locker(reserved: Api) -> None:
    await reserved.reservation("r1", "l2", "eve", R1["startAt"], R1["endAt"])
    await reserved.reservation("r2", "l2", "ada", "2026-03-03T10:00:00Z", "2026-03-03T11:00:00Z")
    for locker, owner in (("l1", "ada"), ("l2", "eve")):
        around = {
            # A reservation leaves its locker alone.
            "locker": {"lockerId": locker, "status": "AVAILABLE", "version": 1},
            "owner": {"ownerId": owner, "name": owner},
        }
        shown = {**R1_SHOWN, **around, "lockerId": locker, "ownerId": owner}
        assert await reserved.run(BY_ID, locker=locker) == {"reservation": shown}


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-03-02T10:00:00Z", "2026-03-02T12:00:00Z"),
        ("2026-03-02T09:00:00Z", "2026-03-02T13:00:00Z"),
        ("2026-03-02T10:30:00Z", "2026-03-02T11:30:00Z"),
        ("2026-03-02T09:00:00Z", "2026-03-02T10:00:00.001Z"),
        ("2026-03-02T11:59:59.999Z", "2026-03-02T13:00:00Z"),
        ("2026-02-10T10:00:00Z", "2026-03-02T10:00:00.001Z"),
    ],
)
async def test_an_overlap_is_refused_with_what_is_there(reserved: Api, dump: Dump, start: str, end: str) -> None:
    other = {"lockerId": "l1", "reservationId": "r2", "ownerId": "eve", "startAt": start, "endAt": end}
    payload = await refused(reserved, dump, CREATE, **other)
    message = f"The locker is already reserved from {R1['startAt']} to {R1['endAt']}."
    overlap = user_error("RESERVATION_OVERLAP", message, 409, "startAt") | {
        "__typename": "ReservationOverlapError",
        "reservation": {name: R1[name] for name in ("reservationId", "startAt", "endAt")},
    }
    assert payload == {"reservation": None, "userErrors": [overlap]}


async def test_a_reservation_of_the_longest_duration_is_seen_from_its_last_moment(free: Api) -> None:
    await free.reservation("long", "l1", "ada", "2026-03-02T00:00:00Z", "2026-04-01T00:00:00Z")
    window = {"startAt": "2026-03-31T23:59:59.999Z", "endAt": "2026-04-02T00:00:00Z"}
    payload = await free.mutate(CREATE, lockerId="l1", ownerId="eve", **window)
    assert payload["userErrors"][0]["reservation"]["reservationId"] == "long"
    await free.reservation("next", "l1", "eve", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z")


async def test_one_owner_cannot_use_one_id_at_two_lockers_for_the_same_start(reserved: Api, dump: Dump) -> None:
    payload = await refused(reserved, dump, CREATE, **R1 | {"lockerId": "l2"})
    message = (
        "The id r1 was used before, for the same start at another locker; reservationByReference finds it, if it has a "
        "reference."
    )
    assert payload == {"reservation": None, "userErrors": [user_error("ID_TAKEN", message, 409, "reservationId")]}
    await reserved.reservation("r2", "l2", "ada", R1["startAt"], R1["endAt"])


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ("2026-03-01T11:00:00Z", NOW, "endAt must be in the future"),
        ("2026-03-02T00:00:00Z", "2026-04-01T00:00:00.001Z", "a reservation must not be longer than 30 days"),
        ("2026-03-02T10:00:00Z", "2026-03-02T10:00:00Z", "endAt must be after the start"),
        ("2026-03-02T10:00:00.0009Z", "2026-03-02T10:00:00.0001Z", "endAt must be after the start"),
    ],
)
async def test_a_wrong_window_is_refused(free: Api, dump: Dump, start: str, end: str, message: str) -> None:
    payload = await refused(free, dump, CREATE, **R1 | {"startAt": start, "endAt": end})
    assert payload == {"reservation": None, "userErrors": [user_error("BAD_USER_INPUT", message, 400, "endAt")]}


async def test_a_locker_in_maintenance_takes_no_new_reservation(reserved: Api, dump: Dump) -> None:
    await reserved.mutate(UPDATE_STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=1)
    window = {"startAt": "2026-03-05T10:00:00Z", "endAt": "2026-03-05T11:00:00Z"}
    async with unchanged(dump):
        payload = await reserved.mutate(CREATE, lockerId="l1", ownerId="ada", **window)
        # What was promised before is still answered.
        assert await reserved.mutate(CREATE, **R1) == {"reservation": R1_SHOWN, "userErrors": []}
    in_maintenance = user_error("LOCKER_IN_MAINTENANCE", "Locker l1 is in maintenance.", 409, "lockerId")
    assert payload == {"reservation": None, "userErrors": [in_maintenance]}
