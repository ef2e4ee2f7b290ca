"""A person with everything that can be known of one: every personal text is one of `SECRETS`."""

from dataclasses import replace
from typing import Any

from loaders.backend import Backend
from tests import codes, places, webhooks
from tests.api import Api, mutation
from tests.history import keep_history
from tests.principals import admin, device, owner
from tests.reservations import CANCEL, RELEASE

EMAIL, SUBJECT, ADMIN_SUBJECT = "Pia.Rossi@example.com", "pia@idp.example", "pia.admin@idp.example"
SECRETS = (
    *("Pia Rossi", EMAIL, EMAIL.lower(), "pia rossi", "+39 06 5550199", "39065550199", SUBJECT, ADMIN_SUBJECT),
    *("Rosa Bianchi", "rosa@example.com", "order-4711", "gift for Rosa", "Pia is ill", "locker for Pia's things"),
    *("party of Pia", "code for Rosa", "Pia overslept", "pia-hook", "hook of Pia", "seen by Pia", "lent by Pia"),
)
PIA, PIA_AS_ADMIN = replace(owner("pia"), subject=SUBJECT), replace(admin("pia"), subject=ADMIN_SUBJECT)
CREATE_RESERVATION = mutation("createReservation", "reservation { reservationId }")
RESERVE_ANY = mutation("reserveAnyLocker", "reservation { reservationId lockerId }")
RENAME = mutation("renameLocker", "locker { version }")
RETIRE = mutation("retireLocker", "locker { status }")
UPDATE_PLACE = mutation("updateLocation", "location { version }")
SET_BUDGET = mutation("setCallerBudget", "callerBudget { burst }")
PERSON = {"name": "Pia Rossi", "email": EMAIL, "phone": "+39 06 5550199"}


async def live(api: Api, backend: Backend) -> None:
    """Pia has reserved lockers of ada and one of her own, booked, got codes and a webhook, and acted as an admin."""
    place, pia = await places.prepare(api), api.by(PIA)
    await api.owner("pia", **PERSON, role="ADMIN")
    for locker, locker_owner in (("l1", "ada"), ("l2", "pia")):
        await api.locker(locker, locker_owner, locationId=place, reservableBy="EVERYONE")
    await pia.done(RENAME, lockerId="l2", expectedVersion=1, alias="locker for Pia's things")
    recipient = {"name": "Rosa Bianchi", "email": "rosa@example.com"}
    told: dict[str, Any] = {"recipient": recipient, "reference": "order-4711", "metadata": {"note": "gift for Rosa"}}
    window = {"startAt": "2026-03-01T11:00:00Z", "endAt": "2026-03-01T13:00:00Z"}
    await pia.done(CREATE_RESERVATION, reservationId="r1", lockerId="l1", ownerId="pia", **window, **told)
    later = {"startAt": "2026-03-01T14:00:00Z", "endAt": "2026-03-01T15:00:00Z", "locationId": place}
    await pia.done(RESERVE_ANY, reservationId="r2", ownerId="pia", **later, reference="order-4711-2")
    digits = await codes.create(pia, "c1", label="code for Rosa", reservationId="r1")
    await codes.verify(api, digits, "a1")
    await pia.done(codes.REVEAL, codeId="c1", lockerId="l1")
    await api.by(device("l1")).event("l1", eventId="e1", actorId="pia", metadata={"note": "seen by Pia"})
    await api.done(RELEASE, lockerId="l1", reservationId="r1", reason="Pia is ill")
    named = await api.run('{ reservationByReference(ownerId: "pia", reference: "order-4711-2") { lockerId } }')
    await pia.done(CANCEL, **named["reservationByReference"], reservationId="r2", reason="Pia overslept")
    await pia.done(codes.PROVISION, lockerId="l2", generation=1)
    await api.by(device("l2")).event("l2", eventId="e2", actorId="pia", metadata={"note": "lent by Pia"})
    await pia.done(RETIRE, lockerId="l2", expectedVersion=2)
    await places.book(pia, "b1", ownerId="pia", date="2026-03-01", description="party of Pia")
    await places.approve(api, "b1")
    await api.done(places.PAY, bookingId="b1", paymentId="p1", amount={"amount": 5, "currency": "EUR"})
    hook = {"url": "https://example.com/pia-hook", "description": "hook of Pia", "ownerId": "pia"}
    await webhooks.create(pia, "w1", **hook)
    await pia.done(webhooks.DELETE, webhookId="w1")
    await api.by(PIA_AS_ADMIN).done(UPDATE_PLACE, locationId=place, expectedVersion=1, name="New")
    await api.by(PIA_AS_ADMIN).done(mutation("createApiKey", "apiKey { keyId }"), **API_KEY)
    await pia_decides(api.by(PIA_AS_ADMIN), api)
    await api.done(SET_BUDGET, subject=SUBJECT, unitsPerMinute=6000, burst=6000)
    await keep_history(backend.store)


async def pia_decides(pia: Api, api: Api) -> None:
    """As an admin, Pia decides a booking, tries and shows a code, and provisions the device of somebody else."""
    await places.book(api, "b2")
    await pia.done(places.APPROVE, bookingId="b2", expectedVersion=1)
    digits = await codes.create(pia, "c2", "ONE_TIME")
    await pia.done(codes.VERIFY, lockerId="l1", digits=codes.wrong(digits), attemptId="a2")
    await pia.done(codes.REVEAL, codeId="c2", lockerId="l1")
    await pia.done(codes.PROVISION, lockerId="l1", generation=1)


API_KEY = {"keyId": "k1", "name": "A shop", "role": "PARTNER", "ownerIds": ["ada"], "scopes": ["OWNERS_READ"]}
