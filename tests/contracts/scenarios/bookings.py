"""Locations, bookings, calendars, payments and API keys."""

from decimal import Decimal
from functools import partial

from domain.api_keys import ApiKeyRole
from domain.authorization import Scope
from domain.bookings import DayPart
from domain.times import LATEST
from tests.contracts.samples import DAY, NOON, at
from tests.contracts.scenarios.actions import Call, admin, does, its, wait
from tests.contracts.scenarios.lockers import LOCATION, OWNER

MANAGE = does("updateLocation", change_id=None, manager_id=its.owner)
DEACTIVATE = does("deactivateLocation")
BOOK = does(
    "requestBooking",
    booking_id=its.booking,
    date=DAY,
    duration=DayPart.FULL_DAY,
    description=its.text,
    attendees=99_999,
)
approve = does("approveBooking", admin)
REJECT = does("rejectBooking", admin, reason=its.text)
CANCEL = does("cancelBooking")
PAY = does(
    "recordPayment",
    payment_id=its.payment,
    amount={"amount": Decimal("12345678901234.5678"), "currency": "EUR"},
    method=its.name,
    paid_at=NOON,
)
EVENT = does(
    "createCalendarEvent", admin, event_id=its.calendar_event, date=DAY, duration=DayPart.FULL_DAY, title=its.name
)
create_key = partial(
    does,
    "createApiKey",
    admin,
    key_id=its.key,
    name=its.name,
    role=ApiKeyRole.PARTNER,
    owner_ids=its.key_owners,
    scopes=list(Scope),
)
api_key, brief_key = create_key(expires_at=LATEST), create_key(expires_at=at(1))
BOOKED = (OWNER, LOCATION, BOOK)
CALENDAR = (OWNER, LOCATION, EVENT)

SCENARIOS: dict[str, tuple[Call, ...]] = {
    "create a location": (LOCATION,),
    "create a location again": (LOCATION, LOCATION),
    "create a location with a manager": (
        OWNER,
        does(
            "createLocation",
            location_id=its.location,
            code=its.code,
            name="R",
            time_zone=its.time_zone,
            manager_id=its.owner,
        ),
    ),
    "request a booking": BOOKED,
    "request a booking again": (*BOOKED, BOOK),
    "approve a booking": (*BOOKED, approve),
    "approve a booking again": (*BOOKED, approve, approve),
    "approve an approved booking": (
        *BOOKED,
        approve,
        does("approveBooking", admin, expected_version=2, change_id=None),
    ),
    "reject a booking": (*BOOKED, REJECT),
    "cancel a pending booking": (*BOOKED, CANCEL),
    "cancel an approved booking": (*BOOKED, approve, CANCEL),
    "record a payment": (*BOOKED, REJECT, PAY),
    "record a payment again": (*BOOKED, PAY, PAY),
    "create a calendar event": CALENDAR,
    "create a calendar event again": (*CALENDAR, EVENT),
    "create an API key": (api_key,),
    "create an API key again": (api_key, api_key),
    "create an API key again that has expired": (brief_key, wait(1), brief_key),
}
