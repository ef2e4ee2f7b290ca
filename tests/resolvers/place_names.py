"""The names that locations, bookings, calendars, payments and notifications were promised to have."""

from __future__ import annotations

__all__ = ["ENUMS", "FIELDS", "INPUTS", "LOCKER_FIELDS", "MUTATIONS", "OWNER_FIELDS", "QUERIES"]

_PAGING = ["first: Int", "after: String", "last: Int", "before: String"]
_ADDRESS = [
    "formattedAddress: String",
    "street: String",
    "city: String",
    "region: String",
    "postalCode: String",
    "country: String",
    "placeId: String",
    "lat: Decimal",
    "lng: Decimal",
]
_DAYS = ["window: DateWindow!"]

QUERIES: dict[str, tuple[str, list[str]]] = {
    "location": ("Location", ["locationId: ID!"]),
    "locationByCode": ("Location", ["code: String!"]),
    "locations": ("LocationConnection", ["status: LocationStatus! = ACTIVE", *_PAGING]),
    "booking": ("Booking", ["bookingId: ID!"]),
    "pendingBookings": ("BookingConnection", _PAGING),
}
LOCKER_FIELDS: dict[str, tuple[str, list[str]]] = {"locationId": ("ID", []), "location": ("Location", [])}
OWNER_FIELDS: dict[str, tuple[str, list[str]]] = {
    "phone": ("String", []),
    "role": ("OwnerRole!", []),
    "bookings": ("BookingConnection", ["orderBy: OrderBy! = ASC", *_PAGING]),
    "notifications": ("NotificationConnection", _PAGING),
}
FIELDS: dict[str, dict[str, tuple[str, list[str]]]] = {
    "Location": {
        "id": ("ID!", []),
        "locationId": ("ID!", []),
        "code": ("String!", []),
        "name": ("String!", []),
        "formattedAddress": ("String", []),
        "street": ("String", []),
        "city": ("String", []),
        "region": ("String", []),
        "postalCode": ("String", []),
        "country": ("String", []),
        "placeId": ("String", []),
        "lat": ("Decimal", []),
        "lng": ("Decimal", []),
        "timeZone": ("String!", []),
        "status": ("LocationStatus!", []),
        "createdAt": ("DateTime!", []),
        "updatedAt": ("DateTime!", []),
        "version": ("Int!", []),
        "lockers": ("LockerConnection", _PAGING),
        "calendar": ("[CalendarDay!]", _DAYS),
        "availability": ("[DayAvailability!]", _DAYS),
    },
    "Booking": {
        "id": ("ID!", []),
        "bookingId": ("ID!", []),
        "locationId": ("ID!", []),
        "location": ("Location", []),
        "ownerId": ("ID!", []),
        "owner": ("Owner", []),
        "date": ("Date!", []),
        "duration": ("Duration!", []),
        "description": ("String!", []),
        "attendees": ("Int!", []),
        "status": ("BookingStatus!", []),
        "requestedAt": ("DateTime!", []),
        "updatedAt": ("DateTime!", []),
        "decidedBy": ("ID", []),
        "reason": ("String", []),
        "version": ("Int!", []),
        "payments": ("PaymentConnection", _PAGING),
    },
    "CalendarDay": {
        "date": ("Date!", []),
        "morning": ("CalendarEvent", []),
        "afternoon": ("CalendarEvent", []),
    },
    "DayAvailability": {"date": ("Date!", []), "freeSlots": ("[DaySlot!]!", [])},
}
MUTATIONS = {
    "createLocation": "location: Location",
    "updateLocation": "location: Location",
    "deactivateLocation": "location: Location",
    "reactivateLocation": "location: Location",
    "requestBooking": "booking: Booking",
    "cancelBooking": "booking: Booking",
    "approveBooking": "booking: Booking",
    "rejectBooking": "booking: Booking",
    "recordPayment": "payment: Payment",
    "createCalendarEvent": "calendarEvents: [CalendarEvent!]",
    "deleteCalendarEvent": "deletedEventId: ID",
}
INPUTS = {
    "MoveLockerInput": ["lockerId: ID!", "newLocationId: ID", "expectedVersion: Int!"],
    "CreateLocationInput": ["locationId: ID", "code: String!", "name: String!", "timeZone: String!", *_ADDRESS],
    "UpdateLocationInput": [
        "locationId: ID!",
        "expectedVersion: Int!",
        "name: String",
        "timeZone: String",
        *_ADDRESS,
    ],
    "DeactivateLocationInput": ["locationId: ID!", "expectedVersion: Int!"],
    "ReactivateLocationInput": ["locationId: ID!", "expectedVersion: Int!"],
    "RequestBookingInput": [
        "bookingId: ID",
        "locationId: ID!",
        "ownerId: ID!",
        "date: Date!",
        "duration: Duration!",
        "description: String!",
        "attendees: Int!",
    ],
    "CancelBookingInput": ["bookingId: ID!", "ownerId: ID!"],
    "ApproveBookingInput": ["bookingId: ID!", "adminId: ID!", "expectedVersion: Int!"],
    "RejectBookingInput": ["bookingId: ID!", "adminId: ID!", "reason: String!", "expectedVersion: Int!"],
    "RecordPaymentInput": [
        "paymentId: ID",
        "bookingId: ID!",
        "amount: Decimal!",
        "currency: String!",
        "method: String",
        "paidAt: DateTime",
    ],
    "CreateCalendarEventInput": [
        "eventId: ID",
        "locationId: ID!",
        "adminId: ID!",
        "date: Date!",
        "duration: Duration!",
        "title: String!",
    ],
    "DeleteCalendarEventInput": ["locationId: ID!", "eventId: ID!", "adminId: ID!"],
    "DateWindow": ["from: Date!", "to: Date!"],
}
ENUMS = {
    "OwnerRole": ["USER", "ADMIN"],
    "LocationStatus": ["ACTIVE", "INACTIVE"],
    "DaySlot": ["MORNING", "AFTERNOON"],
    "Duration": ["MORNING", "AFTERNOON", "FULL_DAY"],
    "BookingStatus": ["PENDING", "APPROVED", "REJECTED", "CANCELLED"],
}
