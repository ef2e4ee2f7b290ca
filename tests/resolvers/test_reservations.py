"""Reservations as they are made: half-open windows that never overlap, ids that are answered for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.api import mutation, unchanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api
    from tests.conftest import Clock

FIELDS = "reservationId lockerId ownerId startAt endAt status createdAt updatedAt"
CREATE = mutation("createReservation", f"reservation {{ {FIELDS} }}")
CANCEL = mutation("cancelReservation", f"reservation {{ {FIELDS} }}")
EXTEND = mutation("extendReservation", f"reservation {{ {FIELDS} }}")
UPDATE_STATUS = mutation("updateLockerStatus", "locker { status }")
BY_ID = f"query ($locker: ID!, $id: ID!) {{ reservation(lockerId: $locker, reservationId: $id) {{ {FIELDS} }} }}"
REFERENCES = """{ reservation(lockerId: "l1", reservationId: "r1") {
  locker { lockerId status version } owner { ownerId name }
} }"""

NOW = "2026-03-01T12:00:00.000Z"
R1 = {
    "reservationId": "r1",
    "lockerId": "l1",
    "ownerId": "ada",
    "startAt": "2026-03-02T10:00:00.000Z",
    "endAt": "2026-03-02T12:00:00.000Z",
}
R1_SHOWN = {**R1, "status": "ACTIVE", "createdAt": NOW, "updatedAt": NOW}


@pytest_asyncio.fixture
async def free(api: Api) -> Api:
    """Two owners, and two lockers that nobody has reserved."""
    await api.owner("ada")
    await api.owner("eve")
    await api.locker("l1", "ada")
    await api.locker("l2", "ada")
    return api


def error(code: str, message: str, path: str, status: int = 409) -> dict[str, Any]:
    return {
        "__typename": "PlainError",
        "message": message,
        "code": code,
        "path": ["input", path],
        "status": status,
        "retryable": False,
    }


async def test_a_reservation_is_shown_whole_and_found_by_its_id(free: Api) -> None:
    assert await free.mutate(CREATE, **R1) == {"reservation": R1_SHOWN, "userErrors": []}
    assert await free.run(BY_ID, locker="l1", id="r1") == {"reservation": R1_SHOWN}
    assert await free.run(REFERENCES) == {
        "reservation": {
            "locker": {"lockerId": "l1", "status": "AVAILABLE", "version": 1},
            "owner": {"ownerId": "ada", "name": "ada"},
        }
    }


async def test_a_reservation_without_an_id_is_given_one(free: Api) -> None:
    made = (await free.mutate(CREATE, **{name: R1[name] for name in R1 if name != "reservationId"}))["reservation"]
    assert len(made["reservationId"]) == 26
    assert await free.run(BY_ID, locker="l1", id=made["reservationId"]) == {"reservation": made}


async def test_times_with_an_offset_and_without_milliseconds_are_understood_as_utc(free: Api) -> None:
    payload = await free.mutate(
        CREATE, **R1 | {"startAt": "2026-03-02T12:00:00+02:00", "endAt": "2026-03-02t12:00:00z"}
    )
    assert payload == {"reservation": R1_SHOWN, "userErrors": []}


async def test_a_reservation_leaves_the_lockers_version_alone(free: Api, dump: Callable[[], Any]) -> None:
    before = (await dump())["LOCKER#l1", "META"]
    await free.mutate(CREATE, **R1)
    assert (await dump())["LOCKER#l1", "META"] == before


async def test_a_reservation_that_does_not_exist_is_not_found(free: Api) -> None:
    answer = await free.send(BY_ID, locker="l1", id="nope")
    (found,) = answer["errors"]
    assert answer["data"] == {"reservation": None}
    assert (found["message"], found["path"]) == ("Locker l1 has no reservation nope.", ["reservation"])
    assert (found["extensions"]["code"], found["extensions"]["status"]) == ("NOT_FOUND", 404)


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
async def test_a_window_that_shares_a_moment_with_a_live_one_is_refused_with_the_one_in_the_way(
    free: Api, dump: Callable[[], Any], start: str, end: str
) -> None:
    await free.mutate(CREATE, **R1)
    async with unchanged(dump):
        payload = await free.mutate(CREATE, lockerId="l1", reservationId="r2", ownerId="eve", startAt=start, endAt=end)
    assert payload == {
        "reservation": None,
        "userErrors": [
            {
                "__typename": "ReservationOverlap",
                "message": "The locker is already reserved from 2026-03-02T10:00:00.000Z to 2026-03-02T12:00:00.000Z.",
                "code": "RESERVATION_OVERLAP",
                "path": ["input", "startAt"],
                "status": 409,
                "retryable": False,
                "reservation": {name: R1[name] for name in ("reservationId", "startAt", "endAt")},
            }
        ],
    }


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z"),
        ("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"),
    ],
)
async def test_windows_may_touch_since_an_end_is_not_part_of_its_window(free: Api, start: str, end: str) -> None:
    await free.mutate(CREATE, **R1)
    await free.reservation("r2", "l1", "eve", start, end)


async def test_a_reservation_of_the_longest_duration_is_seen_from_its_last_moment(free: Api) -> None:
    await free.reservation("long", "l1", "ada", "2026-03-02T00:00:00Z", "2026-04-01T00:00:00Z")
    window = {"startAt": "2026-03-31T23:59:59.999Z", "endAt": "2026-04-02T00:00:00Z"}
    payload = await free.mutate(CREATE, lockerId="l1", ownerId="eve", **window)
    assert payload["userErrors"][0]["reservation"]["reservationId"] == "long"
    await free.reservation("next", "l1", "eve", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z")


async def test_a_cancelled_reservation_is_in_nobodys_way(free: Api) -> None:
    await free.mutate(CREATE, **R1)
    await free.mutate(CANCEL, lockerId="l1", reservationId="r1")
    await free.reservation("r2", "l1", "eve", R1["startAt"], R1["endAt"])


async def test_the_same_window_at_another_locker_is_free(free: Api) -> None:
    await free.mutate(CREATE, **R1)
    await free.reservation("r2", "l2", "ada", R1["startAt"], R1["endAt"])


async def test_the_same_reservation_id_may_be_used_at_two_lockers(free: Api) -> None:
    await free.mutate(CREATE, **R1)
    await free.reservation("r1", "l2", "eve", R1["startAt"], R1["endAt"])
    await free.reservation("r2", "l2", "ada", "2026-03-03T10:00:00Z", "2026-03-03T11:00:00Z")
    assert (await free.run(BY_ID, locker="l1", id="r1"))["reservation"] == R1_SHOWN
    assert (await free.run(BY_ID, locker="l2", id="r1"))["reservation"] == R1_SHOWN | {
        "lockerId": "l2",
        "ownerId": "eve",
    }


async def test_one_owner_cannot_use_one_id_at_two_lockers_for_the_same_start(
    free: Api, dump: Callable[[], Any]
) -> None:
    await free.mutate(CREATE, **R1)
    async with unchanged(dump):
        payload = await free.mutate(CREATE, **R1 | {"lockerId": "l2"})
    message = "The id r1 was used before, for the same start at another locker."
    assert payload == {"reservation": None, "userErrors": [error("ID_TAKEN", message, "reservationId")]}


async def test_a_reservation_that_began_before_it_was_made_is_active_at_once(free: Api) -> None:
    await free.reservation("r1", "l1", "ada", "2026-02-20T00:00:00Z", "2026-03-01T12:00:00.001Z")
    data = await free.run('{ locker(lockerId: "l1") { activeReservation { reservationId status } } }')
    assert data["locker"]["activeReservation"] == {"reservationId": "r1", "status": "ACTIVE"}


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ("2026-03-01T11:00:00Z", NOW, "endAt must be in the future"),
        ("2026-02-01T11:00:00Z", "2026-02-02T11:00:00Z", "endAt must be in the future"),
        ("2026-03-02T00:00:00Z", "2026-04-01T00:00:00.001Z", "a reservation must not be longer than 30 days"),
        ("2026-03-02T10:00:00Z", "2026-03-02T10:00:00Z", "endAt must be after the start"),
        ("2026-03-02T10:00:00Z", "2026-03-02T09:59:59.999Z", "endAt must be after the start"),
        ("2026-03-02T10:00:00.0009Z", "2026-03-02T10:00:00.0001Z", "endAt must be after the start"),
    ],
)
async def test_a_window_that_is_over_empty_backwards_or_too_long_is_refused(
    free: Api, dump: Callable[[], Any], start: str, end: str, message: str
) -> None:
    async with unchanged(dump):
        payload = await free.mutate(CREATE, **R1 | {"startAt": start, "endAt": end})
    assert payload == {"reservation": None, "userErrors": [error("BAD_USER_INPUT", message, "endAt", 400)]}


async def test_a_reservation_may_last_exactly_the_longest_duration(free: Api) -> None:
    await free.reservation("r1", "l1", "ada", "2026-03-02T00:00:00Z", "2026-04-01T00:00:00Z")


async def test_a_locker_in_maintenance_takes_no_new_reservation(free: Api, dump: Callable[[], Any]) -> None:
    await free.mutate(CREATE, **R1)
    await free.mutate(UPDATE_STATUS, lockerId="l1", newStatus="MAINTENANCE", expectedVersion=1)
    window = {"startAt": "2026-03-05T10:00:00Z", "endAt": "2026-03-05T11:00:00Z"}
    async with unchanged(dump):
        payload = await free.mutate(CREATE, lockerId="l1", ownerId="ada", **window)
        # What was promised before is still answered.
        assert await free.mutate(CREATE, **R1) == {"reservation": R1_SHOWN, "userErrors": []}
    refused = error("LOCKER_IN_MAINTENANCE", "Locker l1 is in maintenance.", "lockerId")
    assert payload == {"reservation": None, "userErrors": [refused]}


@pytest.mark.parametrize(
    ("missing", "message"),
    [({"lockerId": "nope"}, "Locker nope does not exist."), ({"ownerId": "nope"}, "Owner nope does not exist.")],
)
async def test_a_reservation_needs_a_locker_and_an_owner_that_exist(
    free: Api, dump: Callable[[], Any], missing: dict[str, str], message: str
) -> None:
    async with unchanged(dump):
        payload = await free.mutate(CREATE, **R1 | missing)
    (path,) = missing
    assert payload == {"reservation": None, "userErrors": [error("NOT_FOUND", message, path, 404)]}


@pytest.mark.parametrize("days", [0, 30])
async def test_the_same_creation_again_gives_the_first_result_even_after_it_ended(
    free: Api, clock: Clock, dump: Callable[[], Any], days: int
) -> None:
    await free.mutate(CREATE, **R1)
    clock.move(days=days)
    async with unchanged(dump):
        payload = await free.mutate(CREATE, **R1)
    assert payload == {"reservation": R1_SHOWN | {"status": "EXPIRED" if days else "ACTIVE"}, "userErrors": []}


async def test_the_same_creation_again_is_known_after_it_was_extended_and_after_it_was_cancelled(
    free: Api, clock: Clock, dump: Callable[[], Any]
) -> None:
    await free.mutate(CREATE, **R1)
    clock.move(minutes=1)
    extended = await free.mutate(EXTEND, lockerId="l1", reservationId="r1", newEndAt="2026-03-02T13:00:00Z")
    async with unchanged(dump):
        assert await free.mutate(CREATE, **R1) == extended
    cancelled = await free.mutate(CANCEL, lockerId="l1", reservationId="r1")
    async with unchanged(dump):
        assert await free.mutate(CREATE, **R1) == cancelled
    assert cancelled["reservation"]["status"] == "CANCELLED"


@pytest.mark.parametrize(
    "other",
    [{"ownerId": "eve"}, {"startAt": "2026-03-02T09:00:00Z"}, {"endAt": "2026-03-02T13:00:00Z"}],
)
async def test_a_reservations_id_used_for_other_content_is_taken(
    free: Api, dump: Callable[[], Any], other: dict[str, str]
) -> None:
    await free.mutate(CREATE, **R1)
    async with unchanged(dump):
        payload = await free.mutate(CREATE, **R1 | other)
    message = "The id r1 was used before, for another reservation of this locker."
    assert payload == {"reservation": None, "userErrors": [error("ID_TAKEN", message, "reservationId")]}
