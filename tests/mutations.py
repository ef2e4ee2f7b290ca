"""Every mutation, registered once: all suites that try every mutation take their examples from here."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from domain.models import LockerSize, LockerStatus, ReservableBy
from domain.times import to_instant
from tests.contracts.samples import NOON
from tests.contracts.scenarios.actions import Call, admin, does, its, wait
from tests.contracts.scenarios.bookings import CALENDAR, DEACTIVATE, MANAGE, api_key
from tests.contracts.scenarios.lockers import (
    CANCEL,
    OTHER_LOCATION,
    OTHER_OWNER,
    OWNER,
    PLACED,
    RENAME,
    UPCOMING,
    reserve,
)
from tests.contracts.scenarios.lockers import LOCATION as PLACE
from tests.contracts.scenarios.webhooks import DISABLE, WEBHOOK
from tests.places import DAY, ulid

Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """Examples of one mutation."""

    good: Values
    """An input that succeeds on the table of `tests.inputs.stock`."""
    refused: str
    """An input, as a document has it, that writes nothing on the table of the permission matrix: where a caller may use
    the mutation, it is refused for another reason, or repeats what was done. `@tenant` and the like are replaced."""
    chosen_id: str | None = None
    """The id that a client may choose, by which a repeated request is recognized."""
    present: Values | None = None
    """If it takes a version: an input that names what is there already, on the table of `test_present_values`."""
    brings: Values | None = None
    """The mutation that brings that about, if it is not there from the start."""
    share: int = 1
    """How often documents that look for what belongs to others begin with it: more often where much can be reached."""
    scenarios: dict[str, tuple[Call, ...]] = field(default_factory=dict)
    """Scenarios of its contract that are a matter of this mutation alone; their requests are in the snapshots."""


VERSION = {"expectedVersion": 1}
EVENT = {"lockerId": "l1", "eventId": "e1", "action": "OPEN", "actorId": "ada", "result": "SUCCESS"}
DECISION = {"bookingId": "b1", **VERSION}
REVISION = "2.2.6b86b273ff34"
"""Of the list of l1 that `stock` leaves."""
LOCKER = {"lockerId": "l1", "expectedVersion": 2}
LOCATION = {"locationId": ulid(0), "expectedVersion": 2}

STALE = "expectedVersion: 999"
SUSPEND = does("suspendApiKey")
TODAY = to_instant(datetime.now(UTC))
"""A replay names times of the log, which are real."""
OWN = 'lockerId: "locker-@tenant"'
THERE = 'locationId: "@place"'
DECIDED = f'bookingId: "booking-@tenant", {STALE}'
CANCELLED = f'{OWN}, reservationId: "canceled-@tenant"'
REVOKED = f'{OWN}, codeId: "revoked-@tenant"'
SENT = f'{OWN}, eventId: "event-@tenant", action: CLOSE, actorId: "x", result: FAIL'
RESERVED = 'ownerId: "@reserves", startAt: "2026-03-01T11:30:00Z", endAt: "2026-03-01T12:30:00Z"'
BUDGET = does("setCallerBudget", admin, subject=its.subject, units_per_minute=10**7, burst=10**7)


def status(new: LockerStatus, **more: Any) -> Call:
    return does("updateLockerStatus", new_status=new, **more)


MUTATIONS: dict[str, Mutation] = {
    "createOwner": Mutation(
        good={"ownerId": "bob", "kind": "USER", "name": "Bob", "email": "bob@example.com"},
        refused='ownerId: "@tenant", kind: USER, name: "Another"',
        chosen_id="ownerId",
    ),
    "updateOwner": Mutation(
        good={"ownerId": "ada", "name": "Ada", "email": "ada@example.com", **VERSION},
        refused=f'ownerId: "@tenant", name: "Another", {STALE}',
        present={"ownerId": "ada", "expectedVersion": 2, "name": "Ada", "email": None, "role": "USER"},
        share=4,
        brings={"ownerId": "ada", "name": "Ada"},
    ),
    "eraseOwner": Mutation(
        good={"ownerId": "root", "subjects": ["root@idp.example"]},
        refused='ownerId: "@tenant"',
        scenarios={"erase the profile of an owner": (OWNER, does("eraseOwner", subjects=its.subjects))},
    ),
    "registerLocker": Mutation(
        good={"lockerId": "l9", "ownerId": "ada", "alias": "Front", "locationId": ulid(0)},
        refused=f'{OWN}, ownerId: "@tenant", alias: "Another"',
        chosen_id="lockerId",
        share=4,
    ),
    "registerLockers": Mutation(
        good={"lockers": [{"lockerId": "l9", "ownerId": "ada", "size": "L"}]},
        refused=f'lockers: [{{{OWN}, ownerId: "@tenant", alias: "Another"}}]',
    ),
    "configureLocker": Mutation(
        good={
            "lockerId": "l1",
            "reservableBy": "EVERYONE",
            "size": "L",
            "features": ["refrigerated", "charging", "charging"],
            **VERSION,
        },
        refused=f"{OWN}, size: XL, {STALE}",
        present={**LOCKER, "reservableBy": "MEMBERS", "size": "M", "features": None},
        share=4,
        scenarios={
            "enlarge a locker": (*PLACED, does("configureLocker", size=LockerSize.XL)),
            "offer a locker to everyone": (*PLACED, does("configureLocker", reservable_by=ReservableBy.EVERYONE)),
        },
    ),
    "renameLocker": Mutation(
        good={"lockerId": "l1", "alias": "Front", **VERSION},
        refused=f'{OWN}, alias: "Another", {STALE}',
        present={**LOCKER, "alias": "Front"},
        share=4,
        brings={"lockerId": "l1", "alias": "Front"},
        scenarios={"rename a locker": (*PLACED, RENAME)},
    ),
    "moveLocker": Mutation(
        good={"lockerId": "l1", "newLocationId": ulid(0), **VERSION},
        refused=f'{OWN}, newLocationId: "@place", {STALE}',
        present={**LOCKER, "newLocationId": ulid(0)},
        share=4,
        scenarios={
            "move a locker": (*PLACED, OTHER_LOCATION, does("moveLocker", new_location_id=its.other_location)),
            "take a locker away from its location": (*PLACED, does("moveLocker", new_location_id=None)),
        },
    ),
    "updateLockerStatus": Mutation(
        good={"lockerId": "l1", "newStatus": "OCCUPIED", **VERSION},
        refused=f"{OWN}, newStatus: OCCUPIED, {STALE}",
        present={**LOCKER, "newStatus": "AVAILABLE"},
        share=4,
        scenarios={
            "update a locker's status": (*PLACED, status(LockerStatus.OCCUPIED)),
            "take a locker out of service": (*PLACED, status(LockerStatus.MAINTENANCE)),
            "put a locker back into service": (
                *PLACED,
                status(LockerStatus.MAINTENANCE),
                status(LockerStatus.AVAILABLE, expected_version=2, change_id=None),
            ),
        },
    ),
    "changeLockers": Mutation(
        good={"lockers": [{"lockerId": "l1", "newStatus": "OCCUPIED", **VERSION, "changeId": "c1"}]},
        refused=f"lockers: [{{{OWN}, size: XL, {STALE}}}]",
        share=2,
    ),
    "retireLocker": Mutation(
        good={"lockerId": "l2", **VERSION},
        refused=f"{OWN}, {STALE}",
        present={**LOCKER, "lockerId": "l2"},
        share=4,
        brings={"lockerId": "l2"},
        scenarios={
            "retire a locker": (*PLACED, does("retireLocker")),
            "retire a locker after its last reservation": (*PLACED, reserve(0, 60), wait(90), does("retireLocker")),
            "retire a locker after a cancellation": (*UPCOMING, CANCEL, does("retireLocker")),
        },
    ),
    "transferLocker": Mutation(
        good={"lockerId": "l1", "newOwnerId": "root", **VERSION},
        refused=f'{OWN}, newOwnerId: "@tenant", expectedVersion: 1',
        present={**LOCKER, "newOwnerId": "ada"},
        share=4,
        scenarios={"transfer a locker": (*PLACED, OTHER_OWNER, does("transferLocker", new_owner_id=its.other_owner))},
    ),
    "createReservation": Mutation(
        good={
            "lockerId": "l1",
            "reservationId": "r9",
            "ownerId": "ada",
            "startAt": "2026-03-02T10:00:00Z",
            "endAt": "2026-03-02T12:00:00Z",
            "reference": "order 4711",
            "recipient": {"name": "Rita", "email": "rita@example.com"},
            "metadata": {"parcels": 2},
        },
        refused=f"{OWN}, {RESERVED}",
        chosen_id="reservationId",
        share=4,
    ),
    "reserveAnyLocker": Mutation(
        good={
            "locationId": ulid(0),
            "size": "L",
            "reservationId": "any",
            "ownerId": "ada",
            "startAt": "2026-03-02T10:00:00Z",
            "endAt": "2026-03-02T12:00:00Z",
        },
        refused=f"{THERE}, size: XL, {RESERVED}",
        chosen_id="reservationId",
        share=4,
    ),
    "cancelReservation": Mutation(good={"lockerId": "l1", "reservationId": "r1"}, refused=CANCELLED, share=4),
    "startReservation": Mutation(good={"lockerId": "l1", "reservationId": "r0", **VERSION}, refused=CANCELLED, share=4),
    "releaseReservation": Mutation(good={"lockerId": "l1", "reservationId": "r0"}, refused=CANCELLED, share=4),
    "shortenReservation": Mutation(
        good={"lockerId": "l1", "reservationId": "r1", "newEndAt": "2026-03-05T10:30:00Z"},
        refused=f'{CANCELLED}, newEndAt: "2026-05-03T00:00:00Z"',
        share=4,
    ),
    "extendReservation": Mutation(
        good={"lockerId": "l1", "reservationId": "r1", "newEndAt": "2026-03-05T12:00:00Z"},
        refused=f'{CANCELLED}, newEndAt: "2026-05-03T00:00:00Z"',
        share=4,
    ),
    "recordAccessEvent": Mutation(good=EVENT, refused=SENT, chosen_id="eventId", share=4),
    "recordAccessEvents": Mutation(good={"events": [EVENT]}, refused=f"events: [{{{SENT}}}]", share=4),
    "createAccessCode": Mutation(
        good={"codeId": "c9", "kind": "RESERVATION", "lockerId": "l1", "reservationId": "r1"},
        refused=f'{OWN}, codeId: "code-@tenant", kind: RESERVATION, reservationId: "current-@tenant"',
        chosen_id="codeId",
    ),
    "rotateAccessCode": Mutation(
        good={"lockerId": "l1", "codeId": "c1", "expectedRotation": 1}, refused=f"{REVOKED}, expectedRotation: 0"
    ),
    "revealAccessCode": Mutation(
        good={"lockerId": "l1", "codeId": "c1", "revealId": "x"}, refused=REVOKED, chosen_id="revealId"
    ),
    "revokeAccessCode": Mutation(good={"lockerId": "l1", "codeId": "c1"}, refused=REVOKED),
    "verifyAccessCode": Mutation(
        good={"lockerId": "l1", "digits": "000000", "attemptId": "a9"},
        refused=f'{OWN}, digits: "000000", attemptId: "attempt-@tenant"',
    ),
    "clearLockout": Mutation(good={"lockerId": "l1"}, refused=OWN),
    "provisionDevice": Mutation(good={"lockerId": "l1", "generation": 2}, refused=f"{OWN}, generation: 9"),
    "acknowledgeAccessCodes": Mutation(
        good={"lockerId": "l1", "revision": REVISION}, refused=f'{OWN}, revision: "old"'
    ),
    "reportAccessCodeUse": Mutation(
        good={"lockerId": "l1", "codeId": "c1", "eventId": "u1", "usedAt": "2026-03-01T11:00:00Z"},
        refused=f'{OWN}, codeId: "code-@tenant", eventId: "event-@tenant", usedAt: "2026-03-01T11:00:00Z"',
    ),
    "createLocation": Mutation(
        good={"locationId": ulid(9), "code": "rome", "name": "Rome", "timeZone": "Europe/Rome"},
        refused='code: "rome", name: "Another", timeZone: "Europe/Rome"',
        chosen_id="locationId",
    ),
    "updateLocation": Mutation(
        good={"locationId": ulid(0), "address": {"city": "Roma"}, **VERSION},
        refused=f'{THERE}, name: "Another", {STALE}',
        present={**LOCATION, "name": "New", "address": {"city": None}},
        brings={"locationId": ulid(0), "name": "New"},
        scenarios={
            "update a location": (PLACE, does("updateLocation", name="New")),
            "give a location a manager": (OWNER, PLACE, MANAGE),
        },
    ),
    "deactivateLocation": Mutation(
        good={"locationId": ulid(0), **VERSION},
        refused=f"{THERE}, {STALE}",
        present={"locationId": ulid(1), "expectedVersion": 2},
        brings={"locationId": ulid(1)},
        scenarios={"deactivate a location": (PLACE, DEACTIVATE)},
    ),
    "reactivateLocation": Mutation(
        good={"locationId": ulid(8), "expectedVersion": 2},
        refused=f"{THERE}, {STALE}",
        present=LOCATION,
        scenarios={
            "reactivate a location": (PLACE, DEACTIVATE, does("reactivateLocation", expected_version=2, change_id=None))
        },
    ),
    "requestBooking": Mutation(
        good={
            "bookingId": "b9",
            "locationId": ulid(0),
            "ownerId": "ada",
            "date": DAY,
            "duration": "FULL_DAY",
            "description": "Chess",
            "attendees": 5,
        },
        refused=f'{THERE}, bookingId: "booking-@tenant", ownerId: "@tenant", date: "2026-12-01", duration: MORNING, '
        'description: "Other", attendees: 1',
        chosen_id="bookingId",
        share=4,
    ),
    "cancelBooking": Mutation(good={"bookingId": "b1"}, refused='bookingId: "rejected-@tenant"', share=4),
    "approveBooking": Mutation(good=DECISION, refused=DECIDED, present={"bookingId": "yes", "expectedVersion": 2}),
    "rejectBooking": Mutation(
        good={**DECISION, "reason": "No"},
        refused=f'reason: "No", {DECIDED}',
        present={"bookingId": "no", "reason": "N", "expectedVersion": 2},
    ),
    "recordPayment": Mutation(
        good={"bookingId": "b1", "paymentId": "p1", "amount": {"amount": 1, "currency": "EUR"}},
        refused='bookingId: "booking-@tenant", paymentId: "payment-@tenant", amount: {amount: 99, currency: "EUR"}',
        chosen_id="paymentId",
    ),
    "createCalendarEvent": Mutation(
        good={"eventId": "c1", "locationId": ulid(0), "date": DAY, "duration": "MORNING", "title": "Works"},
        refused=f'{THERE}, date: "@day", duration: MORNING, title: "Another"',
        chosen_id="eventId",
    ),
    "deleteCalendarEvent": Mutation(
        good={"locationId": ulid(0), "eventId": "c0"},
        refused=f'{THERE}, eventId: "nothing"',
        scenarios={
            "delete a calendar event": (*CALENDAR, does("deleteCalendarEvent", admin, event_id=its.calendar_event))
        },
    ),
    "createApiKey": Mutation(
        good={"keyId": "k1", "name": "Hall 3", "role": "DEVICE", "lockerId": "l1"},
        refused='name: "Another", role: DEVICE',
        chosen_id="keyId",
    ),
    "suspendApiKey": Mutation(
        good={"keyId": "k0", **VERSION},
        refused=f'keyId: "key-1", {STALE}',
        present={"keyId": "k0", "expectedVersion": 2},
        brings={"keyId": "k0"},
        scenarios={"suspend an API key": (api_key, SUSPEND)},
    ),
    "resumeApiKey": Mutation(
        good={"keyId": "k2", "expectedVersion": 2},
        refused=f'keyId: "key-1", {STALE}',
        present={"keyId": "k2", **VERSION},
        scenarios={
            "resume an API key": (api_key, SUSPEND, does("resumeApiKey", expected_version=2, change_id=None)),
        },
    ),
    "revokeApiKey": Mutation(
        good={"keyId": "k0"},
        refused='keyId: "nothing"',
        scenarios={"revoke an API key": (api_key, does("revokeApiKey"))},
    ),
    "createWebhook": Mutation(
        good={"webhookId": "w9", "url": "https://example.com/hook", "ownerId": "ada", "kinds": ["LOCKER_CHANGED"]},
        refused='webhookId: "webhook-@tenant", url: "https://example.com/other", ownerId: "@tenant"',
        chosen_id="webhookId",
        share=2,
        scenarios={
            "create a webhook": (OWNER, WEBHOOK),
            "create a webhook again": (OWNER, WEBHOOK, WEBHOOK),
            "create a webhook for a location": (
                PLACE,
                does("createWebhook", webhook_id=its.webhook, url=its.url, location_id=its.location),
            ),
        },
    ),
    "updateWebhook": Mutation(
        good={"webhookId": "w1", "url": "https://example.com/new", **VERSION},
        refused=f'webhookId: "webhook-@tenant", description: "Another", {STALE}',
        present={"webhookId": "w1", "expectedVersion": 2, "description": "New"},
        brings={"webhookId": "w1", "description": "New"},
        share=2,
        scenarios={"update a webhook": (OWNER, WEBHOOK, does("updateWebhook", url="https://example.com/new"))},
    ),
    "rotateWebhookSecret": Mutation(
        good={"webhookId": "w1", "expectedRotation": 1},
        refused='webhookId: "webhook-@tenant", expectedRotation: 9',
        scenarios={
            "rotate the secret of a webhook": (OWNER, WEBHOOK, does("rotateWebhookSecret", expected_rotation=1))
        },
    ),
    "enableWebhook": Mutation(
        good={"webhookId": "w0", "expectedVersion": 2},
        refused=f'webhookId: "webhook-@tenant", {STALE}',
        present={"webhookId": "w1", "expectedVersion": 2},
        scenarios={
            "enable a webhook": (OWNER, WEBHOOK, DISABLE, does("enableWebhook", expected_version=2, change_id=None))
        },
    ),
    "disableWebhook": Mutation(
        good={"webhookId": "w1", **VERSION},
        refused=f'webhookId: "webhook-@tenant", {STALE}',
        present={"webhookId": "w0", "expectedVersion": 2},
        brings={"webhookId": "w0"},
        scenarios={"disable a webhook": (OWNER, WEBHOOK, DISABLE)},
    ),
    "deleteWebhook": Mutation(
        good={"webhookId": "w1"},
        refused='webhookId: "deleted-@tenant"',
        scenarios={"delete a webhook": (OWNER, WEBHOOK, does("deleteWebhook"))},
    ),
    "sendTestWebhook": Mutation(
        good={"webhookId": "w1", "testId": "t1"},
        refused='webhookId: "webhook-@tenant", testId: "asked"',
        chosen_id="testId",
        scenarios={"test a webhook": (OWNER, WEBHOOK, does("sendTestWebhook", test_id=its.code_id))},
    ),
    "redeliver": Mutation(
        good={"webhookId": "w1", "activityId": "a1", "occurredAt": "2026-03-01T12:00:00Z", "redeliveryId": "x"},
        refused='webhookId: "webhook-@tenant", activityId: "nothing", occurredAt: "2026-03-01T12:00:00Z"',
        chosen_id="redeliveryId",
    ),
    "replayWebhook": Mutation(
        good={"webhookId": "w1", "fromTime": TODAY, "toTime": TODAY, "replayId": "x"},
        refused='webhookId: "webhook-@tenant", fromTime: "2999-01-01T00:00:00Z"',
        chosen_id="replayId",
        scenarios={"replay a webhook": (OWNER, WEBHOOK, does("replayWebhook", from_time=NOON, replay_id=its.code_id))},
    ),
    "setCallerBudget": Mutation(
        good={"subject": "ada", "unitsPerMinute": 1000},
        refused='subject: "ada", burst: 5',
        scenarios={
            "give a caller a budget": (BUDGET,),
            "change the budget of an API key": (
                api_key,
                does("setCallerBudget", admin, key_id=its.key, units_per_minute=10),
                does("setCallerBudget", admin, key_id=its.key, units_per_minute=10, burst=20),
            ),
            "take the budget away": (BUDGET, does("setCallerBudget", admin, subject=its.subject)),
        },
    ),
}
