"""Contracts of `smartlocker doctor`, for its reads and repairs; no request of the API uses them."""

from loaders import keys
from loaders.codecs import OWNER_BOOKING
from loaders.contracts.scanning import ReadItems, ReadRanges, ReadTable
from loaders.contracts.write_parts import AS_READ, IS_NEW, check, delete, put
from loaders.contracts.writing import WriteContract
from loaders.table.positions import Key

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
    purpose="Read what belongs to a locker, an owner, a location or a booking, and all webhooks, to check it",
    ranges=(keys.stretch, keys.log_entries),
    page_size=200,
    note="Only `smartlocker doctor` uses it. Access events, attempts and notifications are not read; of the log, what "
    "figures may not include yet.",
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

REPAIR = WriteContract(
    id="QC-83",
    purpose="Repair an item by what it follows from",
    steps=(
        check(
            "record", Key, AS_READ, when="the item follows from a record or a live copy, or its guard orders its writes"
        ),
        check("no record", Key, IS_NEW, when="the record of a surplus item does not exist"),
        # The largest items, bookings, are in the index only where nothing is checked.
        put("missing item", Key, IS_NEW, when="it is missing"),
        put("differing item", Key, AS_READ, when="it differs"),
        delete("surplus item", Key, AS_READ, when="nothing leads to it"),
    ),
    most_steps=2,
    silent="What is repaired becomes what its record tells already.",
    note="Only `smartlocker doctor --repair` uses it. The item and its record must be as they were read, so a repair "
    "that meets a change of either writes nothing.",
    cardinality="One item; its record is checked.",
    hot_partition=_RATE,
    item_bytes=OWNER_BOOKING.largest,
)
