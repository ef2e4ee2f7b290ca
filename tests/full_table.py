"""A small table with items of every kind, made by the API alone."""

from typing import Any

from domain.budgets import Budget
from loaders import keys
from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.writes.budgets import TableBudgets
from loaders.writes.moments import end_due_reservations
from tests import codes, figures, principals, webhooks
from tests.api import CREATE_RESERVATION, TRANSFER, Api, mutation
from tests.conftest import Clock
from tests.history import keep_history
from tests.places import CREATE_EVENT, PAY, approve, book, prepare, reject, ulid
from tests.reservations import CANCEL, RELEASE, START

ANY = mutation("reserveAnyLocker", "reservation { lockerId }")
CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
ERASE = mutation("eraseOwner", "owner { ownerId }")
SET_BUDGET = mutation("setCallerBudget", "callerBudget { burst }")


async def reserve(api: Api, name: str, start: str, end: str, owner: str = "bob", **values: Any) -> None:
    named = {"reservationId": name, "lockerId": "l1", "ownerId": owner, **values}
    await api.done(CREATE_RESERVATION, **named, startAt=f"2026-03-0{start}:00Z", endAt=f"2026-03-0{end}:00Z")


async def fill(api: Api, clock: Clock, backend: Backend) -> None:
    """A location with lockers, reservations, bookings and codes in every state."""
    store = backend.store
    assert isinstance(store, DynamoStore)
    place = await prepare(api)
    await api.owner("bob", email="Bob@example.com", phone="+39 06 1234")
    await api.done(
        mutation("updateLocation", "location { version }"), locationId=place, expectedVersion=1, managerId="ada"
    )
    await api.locker("l1", "ada", locationId=place, alias="Left", features=["charging"], reservableBy="EVERYONE")
    await api.locker("l2", "ada", locationId=place, size="L", reservableBy="EVERYONE")
    await api.locker("l3", "bob")
    await api.done(TRANSFER, lockerId="l3", expectedVersion=1, newOwnerId="ada")
    await reserve(api, "gone", "1T17:00", "1T18:00")
    await api.by(principals.owner("ada")).done(CANCEL, lockerId="l1", reservationId="gone", reason="The door is stuck.")
    await reserve(api, "left", "1T11:00", "1T12:01")
    await api.done(START, lockerId="l1", reservationId="left")
    await api.done(RELEASE, lockerId="l1", reservationId="left")
    clock.move(minutes=5)
    await reserve(api, "over", "1T11:30", "1T12:06", lockerId="l2")
    await reserve(api, "past", "1T11:30", "1T12:06", "ada", lockerId="l3")
    await api.done(START, lockerId="l2", reservationId="over")
    recipient = {"name": "Rita", "email": "rita@example.com", "phone": "+390612345678"}
    await reserve(api, "running", "1T12:03", "1T14:00")
    await reserve(api, "next", "2T12:00", "2T14:00", reference="order 1", recipient=recipient, metadata={"size": 3})
    await api.done(
        ANY,
        reservationId="any",
        locationId=place,
        ownerId="bob",
        size="L",
        startAt="2026-03-03T12:00:00Z",
        endAt="2026-03-03T13:00:00Z",
    )
    await book(api, "b1")
    await approve(api, "b1")
    await book(api, "b2", date="2026-03-11", duration="MORNING")
    await book(api, "b3", date="2026-03-12")
    await reject(api, "b3", reason="The room is closed.")
    event = {"locationId": place, "duration": "FULL_DAY", "title": "Cleaning"}
    await api.by(principals.admin("root")).done(CREATE_EVENT, eventId="cleaning", date="2026-03-13", **event)
    amount = {"amount": "49.90", "currency": "EUR"}
    await api.done(PAY, bookingId="b1", paymentId="p1", amount=amount, method="card")
    await api.done(
        CREATE_KEY, keyId="key1", name="Partner", role="PARTNER", ownerIds=["bob"], scopes=["RESERVATIONS_READ"]
    )
    await api.done(SET_BUDGET, keyId="key1", unitsPerMinute=600)
    await api.done(SET_BUDGET, subject="ada", unitsPerMinute=60)
    await api.owner("gone")
    await api.done(ERASE, ownerId="gone", subjects=["gone@idp.example"])
    await api.event("l1", eventId="e1", metadata={"battery": 80})
    await use_codes(api, place)
    await webhooks.create(api, "w1", ownerId="bob", description="Orders", kinds=["RESERVATION_CREATED"])
    await api.done(webhooks.ROTATE, webhookId="w1", expectedRotation=1)
    await api.done(webhooks.TEST, webhookId="w1", testId="try")
    await webhooks.deliver(backend, "w1")
    await keep_history(store)
    await TableBudgets(lambda: store, Budget(60, 60), lambda: 1_772_366_400_000_000).take("somebody", 1)
    clock.move(minutes=2)
    for shard in range(keys.LOG_SHARDS):
        await end_due_reservations(backend, shard, clock.now)
    await figures.follow(backend)


async def use_codes(api: Api, place: str) -> None:
    """Codes of each kind: used, revoked, known to a device, and guessed at."""
    digits = await codes.create(api, "c1", reservationId="running")
    await codes.create(api, "c2", "STANDING", label="Staff")
    once = await codes.create(api, "c3", "ONE_TIME")
    await codes.create(api, "c4", "COURIER", maxUses=3)
    await api.done(codes.REVOKE, lockerId="l1", codeId="c4")
    await codes.create(api, "c6", "STANDING", lockerId="l3")
    await api.done(codes.CREATE, codeId="c5", kind="BOOKING", bookingId="b1")
    key = (await api.done(codes.PROVISION, lockerId="l1", generation=1))["deviceKey"]
    device = codes.Device(api.by(principals.device("l1")), key, lockerId="l1")
    assert await codes.verify(api, digits, "granted") == "GRANTED"
    assert await device.acknowledge((await device.listed())["revision"]) == []
    await device.api.done(codes.REPORT, lockerId="l1", codeId="c3", eventId="offline", usedAt="2026-03-01T12:05:00Z")
    await api.done(codes.REVEAL, lockerId="l1", codeId="c2", revealId="reveal")
    for number in range(5):
        assert await codes.verify(api, codes.wrong(digits, once), f"denied-{number}") == "DENIED"
    assert place == ulid(0)
