"""Demo data of access codes: for a reservation, for a booking and standing, and the devices of their doors."""

from contextlib import suppress

from domain.access_codes import AccessCodeKind, CodeId
from domain.authorization import Principal, Role
from domain.bookings import BookingId
from domain.commands.access_codes import CreateAccessCode, ProvisionDevice
from domain.errors import BadInputError, NotFoundError, ReservationOverError
from domain.models import ReservationId
from loaders.backend import Backend
from loaders.tools.demo import locker_id
from loaders.tools.demo_places import location_id
from loaders.writes.access_codes import create_access_code
from loaders.writes.code_devices import provision_device

_CREATOR = Principal(subject="demo", role=Role.ADMIN)
_LOCKER, _LOCATION = locker_id(1), location_id(2)
_CODES = (
    CreateAccessCode(
        code_id=CodeId("demo-reservation"),
        kind=AccessCodeKind.RESERVATION,
        locker_id=_LOCKER,
        reservation_id=ReservationId("booking-000002-3"),
        label="Tomorrow's guest",
    ),
    CreateAccessCode(
        code_id=CodeId("demo-standing"), kind=AccessCodeKind.STANDING, locker_id=_LOCKER, label="Cleaning crew"
    ),
    CreateAccessCode(
        code_id=CodeId("demo-booking"),
        kind=AccessCodeKind.BOOKING,
        booking_id=BookingId("rome-termini-4"),
        label="Host of the event",
    ),
)
_DEVICES = (ProvisionDevice(locker_id=_LOCKER, generation=1), ProvisionDevice(location_id=_LOCATION, generation=1))


async def load_demo_codes(backend: Backend) -> None:
    """Creates what does not exist yet, as far as the other demo data has what it is for."""
    for code in _CODES:
        with suppress(NotFoundError, ReservationOverError, BadInputError):  # the last two where its day is over
            await create_access_code(backend, code, _CREATOR)
    for device in _DEVICES:
        with suppress(NotFoundError, BadInputError):  # the latter where another device has followed
            await provision_device(backend, device, _CREATOR)
