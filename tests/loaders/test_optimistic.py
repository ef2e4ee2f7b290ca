from collections import Counter

import pytest

from domain.access_codes import CodeDoor
from domain.activity import ActivityKind, Happening
from domain.errors import TooManyChangesError
from domain.models import Door, LockerId
from loaders.backend import Backend
from loaders.codecs import CODE_DOOR
from loaders.contracts.access_codes import PROVISION_DEVICE
from loaders.contracts.locations import CREATE_LOCATION
from loaders.reads.live_reservations import MovedError
from loaders.table.errors import TransactionRefusedError
from loaders.table.operations import Step
from loaders.writes.log import Log
from loaders.writes.optimistic import Decision, optimistic_write
from tests.wire import Wire

DOOR = Door("locker:l1")
HAPPENING = Happening(kind=ActivityKind.DEVICE_PROVISIONED, locker_id=LockerId("l1"))


def first_door() -> Step:
    return PROVISION_DEVICE.step("first door", (DOOR,), CODE_DOOR.encode(CodeDoor(revision=1)))


async def test_a_decision_without_steps_writes_nothing(backend: Backend, wire: Wire) -> None:
    async def decide(_: Counter[str]) -> Decision[str]:
        return Decision("as it was")

    wire.reset()
    assert await optimistic_write(backend.store, PROVISION_DEVICE, decide, log=Log(backend, None)) == "as it was"
    assert not wire.operations


async def test_what_is_half_visible_or_refused_is_decided_again_and_counted(backend: Backend, wire: Wire) -> None:
    seen: list[Counter[str]] = []
    await Log(backend, None).transact(PROVISION_DEVICE, [first_door()], HAPPENING)

    async def decide(refused: Counter[str]) -> Decision[int]:
        seen.append(Counter(refused))
        if len(seen) == 1:
            raise MovedError
        return Decision(len(seen), [] if refused["first door"] == 2 else [first_door()], [HAPPENING])

    wire.reset()
    assert await optimistic_write(backend.store, PROVISION_DEVICE, decide, log=Log(backend, None)) == 4
    assert seen == [{}, {}, {"first door": 1}, {"first door": 2}]
    assert wire.operations["TransactWriteItems"] == 2


async def test_a_refusal_may_mean_that_the_request_was_made_before(backend: Backend, wire: Wire) -> None:
    await Log(backend, None).transact(PROVISION_DEVICE, [first_door()], HAPPENING)

    async def decide(_: Counter[str]) -> Decision[str]:
        steps = [first_door()]
        return Decision("new", steps, [HAPPENING], lambda refusal: "made" if "first door" in refusal.failed else None)

    wire.reset()
    assert await optimistic_write(backend.store, PROVISION_DEVICE, decide, log=Log(backend, None)) == "made"
    assert wire.operations["TransactWriteItems"] == 1


async def test_after_the_last_round_the_error_names_the_object(backend: Backend) -> None:
    async def decide(_: Counter[str]) -> Decision[None]:
        raise MovedError

    with pytest.raises(TooManyChangesError) as raised:
        await optimistic_write(backend.store, PROVISION_DEVICE, decide, changed=("door", "lockerId"))
    assert str(raised.value) == "Too many concurrent changes to this door. Try again."
    assert raised.value.path == ("input", "lockerId")


async def test_a_write_of_one_round_raises_a_refusal_that_nothing_explains(backend: Backend) -> None:
    step = CREATE_LOCATION.step("manager", ("nobody",))

    async def decide(_: Counter[str]) -> Decision[None]:
        return Decision(None, [step])

    with pytest.raises(TransactionRefusedError):
        await optimistic_write(backend.store, CREATE_LOCATION, decide)
