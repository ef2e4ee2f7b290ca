"""Contracts of `smartlocker doctor`, for its reads and repairs; no request of the API uses them."""

from __future__ import annotations

from loaders import keys
from loaders.codecs import (
    ACTIVE_POINTER,
    CALENDAR_SLOT,
    EMAIL_CLAIM,
    GUARD,
    OWNER_BOOKING,
    RESERVATION_CLAIM,
    RESERVATION_SLOT,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
)
from loaders.contracts.reservations import POINTER_AS_READ
from loaders.contracts.scanning import ReadItems, ReadRanges, ReadTable
from loaders.contracts.write_parts import EXISTS, IS_NEW, check, delete, put, update
from loaders.contracts.writing import WriteContract
from loaders.table.positions import Key

_CLAIM_BYTES = 2000
_RATE = "One record's partition, at the pace of an operator."

DOCTOR_SCAN = ReadTable(
    id="QC-80",
    purpose="Read the table to look for violated invariants",
    page_size=200,
    consistent=True,
    note="Only `smartlocker doctor --full-scan` uses it; it states the cost first and limits its rate.",
    cardinality="All items of the table, once.",
    hot_partition="One partition at a time; the rate is limited.",
)

DOCTOR_RANGES = ReadRanges(
    id="QC-81",
    purpose="Read what belongs to a locker, an owner or a location, to check it",
    ranges=(
        keys.locker_timeline,
        keys.live_reservations,
        keys.reservation_claims,
        keys.owner_lockers,
        keys.owner_reservations,
        keys.reservation_slots,
        keys.reservation_references,
        keys.owner_bookings,
        keys.location_lockers,
        keys.location_offers,
        keys.location_days,
    ),
    page_size=200,
    note="Only `smartlocker doctor` uses it. Access events and notifications are not read.",
    cardinality="Up to some 10,000 items of a locker or owner.",
    hot_partition=_RATE,
)

DOCTOR_ITEMS = ReadItems(
    id="QC-82",
    purpose="Read records, copies and claims by their keys, to compare them",
    note="Only `smartlocker doctor` uses it.",
    cardinality="Up to 100 keys in a request.",
    hot_partition=_RATE,
)

REPAIR_DERIVED = WriteContract(
    id="QC-83",
    purpose="Repair a copy, claim, half day, counter or index entry of a record",
    steps=(
        check("record", Key, "#version = :readVersion", when="the record has a version"),
        check(
            "reservation",
            STORED_RESERVATION,
            "#ownerId = :readOwner AND #status = :readStatus AND #endAt = :readEnd AND #version = :readVersion",
            when="the record is a reservation",
        ),
        check("no reservation", STORED_RESERVATION, IS_NEW, when="a claim names none that exists"),
        # The largest copies, those of bookings, are not in the index.
        put("copy", Key, "attribute_not_exists(#PK) OR #entityType = :kind", when="a copy is missing or differs"),
        put("claim", Key, IS_NEW, when="a claim or a half day is missing", item_bytes=_CLAIM_BYTES),
        delete("surplus copy", Key, "#entityType = :kind", when="a copy is in another owner's or location's list"),
        delete("surplus claim", RESERVATION_CLAIM, "#startAt = :readStart", when="a claim names no reservation"),
        delete(
            "surplus slot",
            RESERVATION_SLOT,
            "#reservationId = :reservationId AND #lockerId = :lockerId",
            when="its reservation was canceled or released",
        ),
        delete("surplus address", EMAIL_CLAIM, "#ownerId = :ownerId", when="its owner has another email address"),
        delete(
            "surplus half day",
            CALENDAR_SLOT,
            "#bookingId = :bookingId",
            when="its booking is not approved for that half day",
        ),
        update(
            "pending count",
            keys.pending_count,
            "#pendingBookings = :readCount",
            when="more pending bookings are counted than there are",
            item_bytes=_CLAIM_BYTES,
        ),
        update(
            "index entry",
            Key,
            "#version = :readVersion",
            when="a record is in the wrong place of the index",
            index_writes=2,
        ),
    ),
    most_steps=2,
    note="Only `smartlocker doctor --repair` uses it. The record is checked in the same transaction to be as it was "
    "read, so a repair that meets a change of the record writes nothing.",
    cardinality="One item; its record is checked.",
    hot_partition=_RATE,
    item_bytes=OWNER_BOOKING.largest,
)

REPAIR_TIMELINE = WriteContract(
    id="QC-84",
    purpose="Repair the active pointer, the guard or a live copy of a locker",
    steps=(
        check("guard", GUARD, "#revision = :readRevision", when="the locker has one"),
        put("missing guard", GUARD, IS_NEW, when="the locker has reservations and no guard"),
        put("missing pointer", ACTIVE_POINTER, IS_NEW, when="the locker has none"),
        put("pointer", ACTIVE_POINTER, POINTER_AS_READ, when="it names a wrong reservation"),
        delete("surplus pointer", ACTIVE_POINTER, POINTER_AS_READ, when="no reservation is left"),
        update("stale guard", GUARD, "#revision = :readRevision", when="it names a reservation that does not exist"),
        check("no reservation", STORED_RESERVATION, IS_NEW, when="the guard is repaired"),
        put("live copy", STORED_LIVE_RESERVATION, None, when="it is missing or differs"),
        delete("surplus live copy", Key, EXISTS, when="its reservation is not live"),
    ),
    most_steps=2,
    note="Only `smartlocker doctor --repair` uses it. Every write of a locker's reservations changes the guard, so a "
    "repair that meets one writes nothing.",
    cardinality="One item; another is checked.",
    hot_partition=_RATE,
    item_bytes=STORED_LIVE_RESERVATION.largest,
)
