"""Demo data of locations: twelve around the world, with bookings in every state and calendars half full."""

import random
from dataclasses import asdict, replace
from datetime import timedelta
from decimal import Decimal

from domain.activity import ActivityKind, Happening, booking_happening
from domain.bookings import Booking, BookingId, BookingStatus, CalendarSlot, DayPart, DaySlot, Money, Payment
from domain.commands.base import fingerprint_of
from domain.commands.bookings import RequestBooking
from domain.commands.calendar import CreateCalendarEvent
from domain.commands.locations import Address as AddressInput
from domain.commands.locations import CreateLocation
from domain.commands.payments import Money as MoneyInput
from domain.commands.payments import RecordPayment
from domain.models import Address, Location, LocationId, LocationStatus, OwnerId, record_from
from domain.times import Day, Instant, shift
from loaders.codecs import CALENDAR_SLOT, NOTIFICATION, CalendarClaim
from loaders.contracts.writing import new_items
from loaders.tools.demo_history import Piece, by_admin, by_owner, history
from loaders.writes.booking_steps import notification_of, request_steps, slots_of_booking
from loaders.writes.calendar import create_steps as create_event
from loaders.writes.calendar import payment_steps
from loaders.writes.locations import create_steps as create_location

_PLACES = (
    ("lisbon-rossio", "Lisboa Rossio", "Lisboa", "Portugal", "Europe/Lisbon", "38.7139", "-9.1394"),
    ("london-kings-cross", "London King's Cross", "London", "United Kingdom", "Europe/London", "51.5308", "-0.1238"),
    ("rome-termini", "Roma Termini", "Roma", "Italy", "Europe/Rome", "41.9010", "12.5018"),
    ("berlin-mitte", "Berlin Mitte", "Berlin", "Germany", "Europe/Berlin", "52.5200", "13.4050"),
    ("istanbul-kadikoy", "İstanbul Kadıköy", "İstanbul", "Türkiye", "Europe/Istanbul", "40.9903", "29.0290"),  # noqa: RUF001  # as it is spelled
    ("nairobi-central", "Nairobi Central", "Nairobi", "Kenya", "Africa/Nairobi", "-1.2864", "36.8172"),
    ("mumbai-fort", "Mumbai Fort", "Mumbai", "India", "Asia/Kolkata", "18.9342", "72.8356"),
    ("tokyo-ueno", "東京上野", "Tokyo", "Japan", "Asia/Tokyo", "35.7138", "139.7773"),
    ("sydney-central", "Sydney Central", "Sydney", "Australia", "Australia/Sydney", "-33.8832", "151.2070"),
    ("auckland-britomart", "Auckland Britomart", "Auckland", "New Zealand", "Pacific/Auckland", "-36.8442", "174.7680"),
    ("sao-paulo-luz", "São Paulo Luz", "São Paulo", "Brazil", "America/Sao_Paulo", "-23.5346", "-46.6355"),
    ("austin-main-01", "Austin Main Center", "Austin", "United States", "America/Chicago", "30.2672", "-97.7431"),
)
LOCATIONS = len(_PLACES)

_PURPOSES = ("Birthday party", "Team off-site", "Yoga class", "Repair café", "Book launch", "Blood donation")
_BOOKINGS = (
    (BookingStatus.APPROVED, DayPart.FULL_DAY),
    (BookingStatus.PENDING, DayPart.MORNING),
    (BookingStatus.REJECTED, DayPart.AFTERNOON),
    (BookingStatus.APPROVED, DayPart.MORNING),
    (BookingStatus.CANCELLED, DayPart.FULL_DAY),
    (BookingStatus.PENDING, DayPart.AFTERNOON),
)
_KINDS = {
    BookingStatus.APPROVED: ActivityKind.BOOKING_APPROVED,
    BookingStatus.REJECTED: ActivityKind.BOOKING_REJECTED,
    BookingStatus.CANCELLED: ActivityKind.BOOKING_CANCELLED,
}
_CALENDAR_DAYS = 14


def location_id(number: int) -> LocationId:
    """The id of the location with that number, from 0: a ULID."""
    return LocationId(f"01HDEM{number % LOCATIONS + 1:020d}")


def time_zone(number: int) -> str:
    return _PLACES[number % LOCATIONS][4]


def location_piece(number: int, owners: list[OwnerId], admin: OwnerId, midnight: Instant) -> Piece:
    chance = random.Random(f"location {number}")
    location = _location(number, admin, midnight)
    address = AddressInput(**asdict(location.address))
    content = fingerprint_of(CreateLocation, location, without="location_id", address=address)
    created = Happening(kind=ActivityKind.LOCATION_CREATED, location_id=location.location_id, version=1)
    piece = new_items(create_location(location, content))
    piece += history(midnight, location.created_at, by_admin(admin), created)
    for count in range(len(_BOOKINGS)):
        piece += _booking(chance, location, owners, admin, count, midnight)
    for count in range(_CALENDAR_DAYS // 7):
        day = Day(shift(midnight, timedelta(days=7 * count + 3))[:10])
        piece += _cleaning(location, admin, day, count, midnight)
    return piece


def _location(number: int, admin: OwnerId, midnight: Instant) -> Location:
    code, name, city, country, zone, lat, lng = _PLACES[number]
    created = shift(midnight, timedelta(days=-400 + number))
    return Location(
        location_id=location_id(number),
        code=code,
        name=name,
        address=Address(
            formatted_address=f"{name}, {city}, {country}",
            city=city,
            country=country,
            lat=Decimal(lat),
            lng=Decimal(lng),
        ),
        time_zone=zone,
        status=LocationStatus.ACTIVE,
        created_at=created,
        updated_at=created,
        version=1,
        manager_id=admin,
    )


def _booking(
    chance: random.Random, location: Location, owners: list[OwnerId], admin: OwnerId, count: int, midnight: Instant
) -> Piece:
    status, duration = _BOOKINGS[count]
    decided = status in {BookingStatus.APPROVED, BookingStatus.REJECTED}
    requested = shift(midnight, timedelta(days=-10, minutes=chance.randint(0, 1439)))
    changed = shift(midnight, timedelta(days=-5, minutes=chance.randint(0, 1439)))
    booking = Booking(
        booking_id=BookingId(f"{location.code}-{count + 1}"),
        location_id=location.location_id,
        owner_id=chance.choice(owners),
        date=Day(shift(midnight, timedelta(days=3 * count - 2))[:10]),
        duration=duration,
        description=chance.choice(_PURPOSES),
        attendees=chance.randint(4, 80),
        status=status,
        requested_at=requested,
        updated_at=requested if status is BookingStatus.PENDING else changed,
        decided_by=admin if decided else None,
        reason="The room is being painted." if status is BookingStatus.REJECTED else None,
        version=1 if status is BookingStatus.PENDING else 2,
    )
    content = fingerprint_of(RequestBooking, booking, without="booking_id")
    piece = new_items(request_steps(booking, content, most_pending=1))
    if decided:
        notice = notification_of(booking)
        piece.append((NOTIFICATION.key_of(notice), NOTIFICATION.encode(notice)))
    asked = replace(booking, status=BookingStatus.PENDING, version=1)
    requested_by = by_owner(booking.owner_id)
    piece += history(midnight, requested, requested_by, booking_happening(ActivityKind.BOOKING_REQUESTED, asked))
    if status is not BookingStatus.PENDING:
        happening = booking_happening(_KINDS[status], booking, asked)
        piece += history(midnight, changed, by_admin(admin) if decided else requested_by, happening)
    if status is BookingStatus.APPROVED:
        piece += [(CALENDAR_SLOT.key_of(slot), CALENDAR_SLOT.encode(slot)) for slot in slots_of_booking(booking)]
        piece += _payment(booking, admin, midnight)
    return piece


def _cleaning(location: Location, admin: OwnerId, day: Day, count: int, midnight: Instant) -> Piece:
    """An event created by an administrator, on a day without bookings."""
    slot = CalendarSlot(
        location_id=location.location_id,
        date=day,
        slot=DaySlot.MORNING,
        event_id=f"cleaning-{count + 1}",
        title="Cleaning",
        booking_id=None,
        created_by=admin,
        created_at=shift(midnight, timedelta(days=-20)),
        duration=DayPart.MORNING,
    )
    content = fingerprint_of(CreateCalendarEvent, slot, without="event_id")
    claim = record_from(CalendarClaim, slot, fingerprint=content)
    created = Happening(
        kind=ActivityKind.CALENDAR_EVENT_CREATED, location_id=location.location_id, calendar_event_id=slot.event_id
    )
    return new_items(create_event(claim, [slot], admin)) + history(midnight, slot.created_at, by_admin(admin), created)


def _payment(booking: Booking, admin: OwnerId, midnight: Instant) -> Piece:
    payment = Payment(
        payment_id="deposit",
        booking_id=booking.booking_id,
        amount=Money(amount=Decimal("49.90"), currency="EUR"),
        method="card",
        paid_at=booking.updated_at,
        recorded_at=booking.updated_at,
    )
    amount = MoneyInput(**asdict(payment.amount))
    content = fingerprint_of(RecordPayment, payment, without="payment_id", amount=amount)
    paid = booking_happening(ActivityKind.PAYMENT_RECORDED, booking)
    recorded = replace(paid, payment_id=payment.payment_id, version=None)
    return new_items(payment_steps(payment, content)) + history(
        midnight, payment.recorded_at, by_admin(admin), recorded
    )
