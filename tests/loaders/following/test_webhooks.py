"""Deliveries of webhooks, sent to a receiver of the test by a process that follows the log."""

import asyncio
from functools import partial
from typing import Any

import pytest

from domain.times import Instant, shift
from domain.webhooks import PAUSES, Answer
from loaders import keys
from loaders.backend import Backend
from loaders.following import endpoints
from loaders.following.attempts import AT_ONCE
from tests.api import CREATE_RESERVATION, RENAME, Api, mutation
from tests.conftest import Clock, Dump
from tests.places import prepare, ulid
from tests.webhooks import (
    AGAIN,
    DELETE,
    DISABLE,
    DOWN,
    ENABLE,
    OK,
    REPLAY,
    ROTATE,
    TEST,
    UPDATE,
    URL,
    Receiver,
    create,
    deliveries,
    sending,
    until,
)
from tests.wire import Call, Until, Wire

ROOM = endpoints.MOST_WAITING
RECORD = mutation("recordAccessEvents", "accessEvents { eventId }")


async def rename(api: Api, number: int = 0, locker: str = "l1") -> None:
    """A change of a locker, which is the version after `number` others."""
    await api.done(RENAME, lockerId=locker, expectedVersion=number + 1, alias=f"Name {number}")


async def until_settled(api: Api, status: str, number: int = 1, name: str = "w1") -> list[dict[str, Any]]:
    """The deliveries, once so many of them have a status."""

    async def settled() -> list[dict[str, Any]] | None:
        found = await deliveries(api, name)
        return found if sum(one["status"] == status for one in found) >= number else None

    found: list[dict[str, Any]] = await until(settled)
    return found


async def webhook(api: Api, fields: str, name: str = "w1") -> Any:
    return (await api.run(f'{{ webhook(webhookId: "{name}") {{ {fields} }} }}'))["webhook"]


async def shows(api: Api, field: str, value: Any) -> bool:
    return bool((await webhook(api, field))[field] == value)


async def until_failing(api: Api, name: str = "w1") -> None:
    """Until a failed attempt is stored, with the time it failed: only then may a test move the clock."""
    await until(partial(_fails, api, name))


async def _fails(api: Api, name: str) -> bool:
    return bool((await webhook(api, "failingSince", name))["failingSince"])


async def attempted(api: Api, attempts: int) -> dict[str, Any] | None:
    """The only delivery, once it was sent so often."""
    found = await deliveries(api)
    return found[0] if found and found[0]["attempts"] == attempts else None


def opens(numbers: range) -> list[dict[str, str]]:
    event = {"lockerId": "l1", "action": "OPEN", "actorId": "x", "result": "SUCCESS"}
    return [event | {"eventId": f"e{number}"} for number in numbers]


async def has_no_task(dump: Dump) -> bool:
    return not [key for key in await dump() if key[0].startswith("WEBHOOK_TASKS")]


async def test_an_endpoint_is_told_what_it_wants_signed_and_once(one: Api, backend: Backend, dump: Dump) -> None:
    secret = await create(one, kinds=["LOCKER_CHANGED"])
    await create(one, "others", kinds=["LOCKER_RETIRED"], url=f"{URL}/others")
    receiver = Receiver()
    async with sending(backend, receiver):
        await rename(one)
        (delivery,) = await until_settled(one, "DELIVERED")
    async with sending(backend, receiver):  # which reads the same of the log again
        await rename(one, 1)
        await until_settled(one, "DELIVERED", 2)
    first, second = receiver.got
    first.verify(secret)
    assert (first.url, first.id, first.content["type"]) == (URL, delivery["activityId"], "locker.changed")
    assert [message.content["data"]["version"] for message in (first, second)] == [2, 3]
    assert (delivery["attempts"], delivery["statusCode"], delivery["duration"]) == (1, 200, 12)
    assert await deliveries(one, "others") == []
    items = (await dump()).values()
    assert not [item for item in items if str(item.get("GSI1PK", "")).startswith("DUE_DELIVERY")]


async def test_a_delivery_costs_two_writes_and_a_failed_attempt_one_more(
    one: Api, backend: Backend, wire: Wire, clock: Clock
) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    receiver = Receiver()
    async with sending(backend, receiver):
        await rename(one)
        await until_settled(one, "DELIVERED")
        receiver.answer = lambda _: DOWN
        await rename(one, 1)
        await until_failing(one)
        receiver.answer = lambda _: OK
        clock.move(seconds=7)
        await until_settled(one, "DELIVERED", 2)
    puts = [call.request["Item"] for call in wire.of("PutItem") if "DELIVERY#" in str(call.request["Item"]["SK"])]
    assert [(item["status"]["S"], item["attempts"]["N"], "GSI1PK" in item) for item in puts] == [
        ("WAITING", "0", True),
        ("DELIVERED", "1", False),
        ("WAITING", "0", True),
        ("WAITING", "1", True),
        ("DELIVERED", "2", False),
    ]


async def test_what_fails_is_sent_again_by_the_schedule_until_it_has_failed(
    one: Api, backend: Backend, clock: Clock
) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    receiver = Receiver(lambda _: DOWN)
    async with sending(backend, receiver):
        await rename(one)
        for attempts, pause in enumerate(PAUSES, 1):
            delivery = await until(partial(attempted, one, attempts))
            assert (delivery["status"], delivery["statusCode"], delivery["error"]) == ("WAITING", 503, None)
            earliest, latest = shift(clock.now, pause), shift(clock.now, pause * 1.2)
            assert earliest <= delivery["nextAttemptAt"] <= latest
            clock.now = Instant(delivery["nextAttemptAt"])
        (delivery,) = await until_settled(one, "FAILED")
    assert (delivery["attempts"], delivery["nextAttemptAt"]) == (len(PAUSES) + 1, None)
    assert len({message.id for message in receiver.got}) == 1
    assert (await webhook(one, "status failingSince"))["failingSince"] == "2026-03-01T12:00:00.000Z"


async def test_retry_after_holds_back_the_whole_endpoint(one: Api, backend: Backend, clock: Clock) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    receiver = Receiver(lambda _: Answer(429, 1, retry_after=600))
    async with sending(backend, receiver):
        await rename(one)
        await until_failing(one)
        await rename(one, 1)
        await until_settled(one, "WAITING", 2)
        clock.move(seconds=500)
        await until_settled(one, "WAITING", 2)
        receiver.answer = lambda _: OK
        assert len(receiver.got) == 1
        clock.move(seconds=101)
        await until_settled(one, "DELIVERED", 2)
    assert len(receiver.got) == 3


@pytest.mark.parametrize(("answer", "reason"), [(Answer(410, 1), "GONE"), (DOWN, "FAILING")])
async def test_an_endpoint_that_is_gone_or_fails_for_five_days_is_disabled_and_its_owner_told(
    one: Api, backend: Backend, clock: Clock, answer: Answer, reason: str
) -> None:
    await create(one, kinds=["LOCKER_CHANGED", "WEBHOOK_DISABLED"])
    receiver = Receiver(lambda _: answer)
    async with sending(backend, receiver):
        await rename(one)
        await until_failing(one)
        if reason == "FAILING":
            assert (await webhook(one, "status"))["status"] == "ACTIVE"
            clock.move(days=5, seconds=1)
        await until(partial(shows, one, "status", "DISABLED"))
    assert await webhook(one, "disabledReason version") == {"disabledReason": reason, "version": 2}
    shown = await one.run(
        '{ owner(ownerId: "ada") { notifications { nodes { webhookId message } } } activity(first: 1) '
        "{ nodes { kind webhookId actor { role } } } }"
    )
    (notice,) = shown["owner"]["notifications"]["nodes"]
    assert notice["webhookId"] == "w1"
    assert notice["message"].startswith("Your webhook w1 was disabled: ")
    assert shown["activity"]["nodes"] == [{"kind": "WEBHOOK_DISABLED", "webhookId": "w1", "actor": None}]


async def test_a_success_ends_the_five_days(one: Api, backend: Backend, clock: Clock) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    receiver = Receiver(lambda _: DOWN)
    async with sending(backend, receiver):
        await rename(one)
        await until_failing(one)
        receiver.answer = lambda _: OK
        clock.move(days=4)
        await until_settled(one, "DELIVERED")
        await until(partial(shows, one, "failingSince", None))
        receiver.answer = lambda _: DOWN
        clock.move(days=2)
        await rename(one, 1)
        await until_failing(one)
    assert (await webhook(one, "status"))["status"] == "ACTIVE"


async def test_a_disabled_endpoint_goes_on_where_it_was(one: Api, backend: Backend) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    await create(one, "w2", kinds=["LOCKER_CHANGED"], url=f"{URL}/2")
    receiver = Receiver()
    async with sending(backend, receiver):
        await rename(one)
        await until_settled(one, "DELIVERED")
        await one.done(DISABLE, webhookId="w1", expectedVersion=1)
        for number in (1, 2):
            await rename(one, number)
        await rename(one, 3)
        await until_settled(one, "DELIVERED", 4, "w2")  # all were told
        assert len(await deliveries(one)) == 1
        await one.done(ENABLE, webhookId="w1", expectedVersion=2)
        await until_settled(one, "DELIVERED", 4)
        await rename(one, 4)
        await until_settled(one, "DELIVERED", 5)
    own = [message.content["data"]["version"] for message in receiver.got if message.url == URL]
    assert sorted(own) == [2, 3, 4, 5, 6]


async def test_an_endpoint_that_was_disabled_while_nobody_followed_misses_nothing(one: Api, backend: Backend) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    await rename(one)
    await one.done(DISABLE, webhookId="w1", expectedVersion=1)
    await rename(one, 1)
    await one.done(ENABLE, webhookId="w1", expectedVersion=2)
    receiver = Receiver()
    async with sending(backend, receiver):
        await until_settled(one, "DELIVERED", 2)
    assert sorted(message.content["data"]["version"] for message in receiver.got) == [2, 3]


async def test_when_too_many_wait_the_position_of_the_endpoint_waits(one: Api, backend: Backend, dump: Dump) -> None:
    await create(one, kinds=["DOOR_OPENED"])
    await create(one, "w2", kinds=["DOOR_OPENED"], url=f"{URL}/2")
    number = 400
    receiver = Receiver(hangs=frozenset({URL}))
    async with sending(backend, receiver):
        for first in range(0, number, 25):
            await one.done(RECORD, events=opens(range(first, first + 25)))
        await receiver.has(number, f"{URL}/2")
    items = await dump()
    ours = [item for (place, _), item in items.items() if place == "WEBHOOK#w1"]
    waiting = [item for item in ours if str(item.get("GSI1PK", "")).startswith("DUE_DELIVERY")]
    assert 0 < len(waiting) <= ROOM
    assert len([key for key in items if key[0].startswith("WEBHOOK_TASKS")]) == 1
    receiver.hangs = frozenset()
    async with sending(backend, receiver):
        await receiver.until(lambda some: len({message.id for message in some.got if message.url == URL}) == number)
        await until(partial(has_no_task, dump))
        await one.event("l1", eventId="last")
        await receiver.until(lambda some: sum(message.url == URL for message in some.got) > number)


async def test_nothing_is_lost_while_a_task_is_being_ended(one: Api, backend: Backend, wire: Wire) -> None:
    await create(one, kinds=["DOOR_OPENED"])
    await one.done(DISABLE, webhookId="w1", expectedVersion=1)
    await one.done(ENABLE, webhookId="w1", expectedVersion=2)
    task = f"WEBHOOK_TASKS#{keys.log_shard('ada')}"
    came, free = asyncio.Event(), asyncio.Event()

    def fault(call: Call) -> Until | None:
        if call.operation != "TransactWriteItems" or "Delete" not in str(call.request) or task not in str(call.request):
            return None
        came.set()
        return Until(free)

    def is_behind() -> bool:
        puts = (call.request for call in wire.of("PutItem"))
        return any(put["Item"]["PK"]["S"] == task and "number" not in put["ConditionExpression"] for put in puts)

    wire.fault = fault
    receiver = Receiver(hangs=frozenset({URL}))
    async with sending(backend, receiver):
        await came.wait()
        for first in range(0, 400, 25):
            await one.done(RECORD, events=opens(range(first, first + 25)))
        await until(is_behind)
        free.set()
        receiver.hangs = frozenset()
        await receiver.until(lambda some: len({message.id for message in some.got}) == 400)


async def test_endpoints_that_hang_delay_no_other(one: Api, backend: Backend) -> None:
    hanging = [f"{URL}/{number}" for number in range(20)]
    await prepare(one)
    for number, url in enumerate(hanging):
        target = {"locationId": ulid(0)} if number % 2 else {"all": True}
        await create(one, f"h{number}", url=url, **target)
    await create(one, kinds=["LOCKER_CHANGED"])
    await one.locker("l2", "ada", locationId=ulid(0))
    receiver = Receiver(hangs=frozenset(hanging))
    async with sending(backend, receiver):
        for number in range(5):
            await rename(one, number)
            await rename(one, number, "l2")
        await receiver.has(10, URL)
        assert len(receiver.got) - 10 <= len(hanging)  # one at a time to each
    assert AT_ONCE > 20


async def test_a_test_a_redelivery_and_a_replay_are_sent(one: Api, backend: Backend) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    receiver = Receiver()
    before = backend.stamp().at
    async with sending(backend, receiver):
        await rename(one)
        await rename(one, 1)
        latest, first = await until_settled(one, "DELIVERED", 2)
        await one.done(TEST, webhookId="w1", testId="try")
        await until_settled(one, "DELIVERED", 3)
        assert receiver.got[-1].content["type"] == "webhook.test"
        assert receiver.got[-1].id == "try"
        named = {"activityId": first["activityId"], "occurredAt": first["occurredAt"]}
        await one.done(AGAIN, webhookId="w1", **named)
        await receiver.until(lambda some: len(some.got) == 4)
        assert receiver.got[-1].id == first["activityId"]
        await one.done(REPLAY, webhookId="w1", fromTime=before, replayId="r1")
        await receiver.until(lambda some: len(some.got) == 6)
        assert {message.id for message in receiver.got[4:]} == {first["activityId"], latest["activityId"]}
        await one.done(REPLAY, webhookId="w1", fromTime=before, replayId="r1")  # the same again
        await one.done(TEST, webhookId="w1", testId="last")
        await receiver.until(lambda some: some.got[-1].id == "last")
    assert len(receiver.got) == 7


async def test_a_redelivery_that_was_done_and_is_asked_for_again_does_not_stand_in_the_way_of_another(
    one: Api, backend: Backend, dump: Dump
) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    receiver = Receiver()
    async with sending(backend, receiver):
        await rename(one)
        (delivery,) = await until_settled(one, "DELIVERED")
        named = {"webhookId": "w1", "activityId": delivery["activityId"], "occurredAt": delivery["occurredAt"]}
        for number, redelivery_id in enumerate(("r1", "r1", "r2")):
            await one.done(AGAIN, **named, redeliveryId=redelivery_id)
            await receiver.has(3 if redelivery_id == "r2" else 2)
            await until(partial(has_no_task, dump))
            assert len(receiver.got) == (2, 2, 3)[number]
        await one.done(UPDATE, webhookId="w1", expectedVersion=1, kinds=["LOCKER_RETIRED"])
        (refused,) = (await one.mutate(AGAIN, **named))["userErrors"]
        assert refused["message"] == "The webhook is no longer told of LOCKER_CHANGED."


async def test_two_secrets_sign_while_one_is_renewed(one: Api, backend: Backend, clock: Clock) -> None:
    old = await create(one, kinds=["LOCKER_CHANGED"])
    new = (await one.done(ROTATE, webhookId="w1", expectedRotation=1))["secret"]
    receiver = Receiver()
    async with sending(backend, receiver):
        await rename(one)
        await until_settled(one, "DELIVERED")
        receiver.got[0].verify(old)
        receiver.got[0].verify(new)
        clock.move(hours=24)
        await rename(one, 1)
        await until_settled(one, "DELIVERED", 2)
    receiver.got[1].verify(new)
    with pytest.raises(Exception, match="No matching signature"):
        receiver.got[1].verify(old)


async def test_a_changed_address_is_used_and_a_deleted_endpoint_is_not_told(
    one: Api, backend: Backend, dump: Dump
) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    receiver = Receiver(lambda _: DOWN)
    async with sending(backend, receiver):
        await rename(one)
        await receiver.until(lambda some: some.got)
        await one.done(UPDATE, webhookId="w1", expectedVersion=1, url=f"{URL}/new")
        await rename(one, 1)
        await receiver.until(lambda some: some.got[-1].url == f"{URL}/new")
        await one.done(DELETE, webhookId="w1")
        await create(one, "w2", kinds=["LOCKER_CHANGED"], url=f"{URL}/2")
        await rename(one, 2)
        await receiver.until(lambda some: some.got[-1].url == f"{URL}/2")
        await until_settled(one, "FAILED", 2)
    assert len(receiver.got) == 3
    assert not [key for key, item in (await dump()).items() if "GSI1PK" in item and key[0] == "WEBHOOK#w1"]


async def test_who_reserves_is_told_its_reference_and_the_owner_of_the_locker_is_not(
    api: Api, backend: Backend
) -> None:
    await prepare(api)
    await api.owner("bob")
    await api.locker("l1", "ada", locationId=ulid(0), reservableBy="EVERYONE")
    await create(api, "hers", ownerId="ada", kinds=["RESERVATION_CREATED"], url=f"{URL}/ada")
    await create(api, "his", ownerId="bob", kinds=["RESERVATION_CREATED"], url=f"{URL}/bob")
    receiver = Receiver()
    async with sending(backend, receiver):
        await api.done(
            CREATE_RESERVATION,
            lockerId="l1",
            reservationId="r1",
            ownerId="bob",
            reference="order 1",
            startAt="2026-03-02T10:00:00Z",
            endAt="2026-03-02T11:00:00Z",
        )
        await receiver.until(lambda some: len(some.got) == 2)
    told = {message.url[-3:]: message.content["data"].get("reference") for message in receiver.got}
    assert told == {"ada": None, "bob": "order 1"}
