from datetime import timedelta
from pathlib import Path

from domain.access_codes import FAILURE_WINDOW, Lockout
from domain.times import shift
from tests.api import Api, refused, unchanged
from tests.codes import CLEAR, VERIFY, create, furnish, verify, wrong
from tests.conftest import NOW, Clock, Dump
from tests.places import ulid
from tests.principals import device, owner

PAGE = (Path(__file__).parents[2] / "docs" / "access-codes.md").read_text()
EVENTS = (
    '{ locker(lockerId: "l1") { status lockout { failures lockedUntil } accessEvents { nodes { action result } } } }'
)


async def fail(api: Api, times: int, digits: str, prefix: str) -> list[str]:
    """The decisions on so many wrong entries."""
    return [await verify(api, wrong(digits), f"{prefix}{number}") for number in range(times)]


async def test_five_failures_lock_the_door_for_five_minutes_then_ten(api: Api, clock: Clock) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    assert await fail(api, 4, digits, "a") == ["DENIED"] * 4
    assert await verify(api, digits, "right") == "GRANTED", "a success does not reset the count"
    assert await fail(api, 2, digits, "b") == ["DENIED", "LOCKED_OUT"]
    for minutes in (5, 10):
        clock.move(minutes=minutes, seconds=-1)
        assert await verify(api, digits, f"c{minutes}") == "LOCKED_OUT"
        clock.move(seconds=1)
        assert await verify(api, digits, f"d{minutes}") == "GRANTED"
        await fail(api, 5, digits, f"e{minutes}")
    events = [event["action"] for event in (await api.run(EVENTS))["locker"]["accessEvents"]["nodes"]]
    assert (events.count("TAMPER"), events.count("DENIED"), events.count("UNLOCK")) == (3, 15, 3)


async def test_a_locked_door_writes_nothing_and_the_owner_can_clear_it(api: Api, dump: Dump) -> None:
    await furnish(api)
    digits = await create(api, "c1")
    await fail(api, 5, digits, "a")
    async with unchanged(dump):
        payload = await api.by(device("l1")).mutate(VERIFY, lockerId="l1", digits=digits, attemptId="b")
        assert (payload["decision"], payload["lockedUntil"]) == ("LOCKED_OUT", "2026-03-01T12:05:00.000Z")
        assert (await api.by(owner("bob")).mutate(CLEAR, lockerId="l1"))["userErrors"][0]["code"] == "FORBIDDEN"
    cleared = await api.by(owner("ada")).mutate(CLEAR, lockerId="l1")
    assert cleared["lockout"] == {"failures": [], "lockedUntil": None, "lockouts": 0}
    async with unchanged(dump):
        assert await api.by(owner("ada")).mutate(CLEAR, lockerId="l1") == cleared
    assert await verify(api, digits, "b") == "GRANTED"


async def test_nobody_learns_from_a_verification_whether_a_locker_exists(api: Api, dump: Dump) -> None:
    await furnish(api)
    attempt = {"digits": await create(api, "c1"), "attemptId": "a"}
    for caller, door, code in (
        (api.by(device("nothing")), {"lockerId": "l1"}, "FORBIDDEN"),
        (api.by(device("nothing")), {"lockerId": "nothing"}, "FORBIDDEN"),
        (api, {"locationId": ulid(0)}, "NOT_FOUND"),
    ):
        payload = await refused(caller, dump, VERIFY, **door, **attempt)
        assert (payload["decision"], payload["userErrors"][0]["code"]) == (None, code)


def test_the_page_states_the_most_guesses_of_a_day() -> None:
    """The most come from locking the door while that costs little, then four guesses in every quarter of an hour."""

    def guesses(lockouts: int) -> int:
        lockout, now, count = Lockout(), NOW, 0
        while now <= shift(NOW, timedelta(days=1)):
            burst = 5 if lockout.lockouts < lockouts else 4
            for _ in range(burst):
                lockout = lockout.after_failure(now)
            count += burst
            is_locked = lockout.is_locked(now) and lockout.locked_until
            now = lockout.locked_until if is_locked else shift(now, FAILURE_WINDOW)  # type: ignore[assignment]
        return count + (burst == 4)  # the last guess may lock the door

    found = [guesses(lockouts) for lockouts in range(30)]
    assert f"at most {max(found)} guesses a day" in PAGE
    assert f"ignores the\nlockout has {found[-1]}." in PAGE
