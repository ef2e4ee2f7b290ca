"""What only commands ask of the store; no request of the API sends it."""

from __future__ import annotations

from loaders import keys
from loaders.codecs import (
    ACTIVE_POINTER,
    BOOKING,
    GUARD,
    LOCKER,
    OLD_BOOKING,
    OWNER_LOCKER,
    OWNER_RESERVATION,
    RESERVATION_CLAIM,
    RESERVATION_SLOT,
    STORED_LIVE_RESERVATION,
    STORED_RESERVATION,
)
from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.reservations import GUARD_RULES, SLOTS_READ
from loaders.contracts.scanning import ReadTable
from loaders.contracts.write_parts import EXISTS, IS_NEW, ItemRead, RangeRead, delete, put, update
from loaders.contracts.writing import WriteContract
from loaders.table.positions import Key

_LARGEST_BYTES = 25_600
_PAGE = 1000

LIVE_COPIES_AT_ONCE = 5
"""How many live copies of reservations of an earlier version one transaction writes."""

_WRITTEN_BY_OTHERS = f"{EXISTS} AND attribute_not_exists(#revision)"
_OLD = "a reservation has an older form"

LOAD_DEMO_DATA = WriteContract(
    id="QC-72",
    purpose="Load demo data",
    steps=(put("item", Key, IS_NEW, most=MAX_ITEMS),),
    most_steps=MAX_ITEMS,
    note="Only `smartlocker demo load` and the first start of the embedded store use it.",
    cardinality=f"Up to {MAX_ITEMS} new items in a transaction.",
    hot_partition="None: the items belong to many owners, locations and lockers.",
    item_bytes=2000,
)

UPGRADE_RESERVATIONS = WriteContract(
    id="QC-74",
    purpose="Bring the reservations and the active pointer of a locker to today's form",
    reads=(
        ItemRead("guard", GUARD),
        RangeRead("all", keys.locker_reservations, STORED_RESERVATION, _PAGE),
        RangeRead("copies", keys.live_reservations, STORED_LIVE_RESERVATION, _PAGE),
        ItemRead(
            "claims",
            RESERVATION_CLAIM,
            at_once=MAX_ITEMS,
            when="only where an earlier version wrote reservations without a revision",
        ),
        SLOTS_READ,
    ),
    rounds=24,
    steps=(
        *GUARD_RULES,
        put("old form", STORED_RESERVATION, _WRITTEN_BY_OTHERS, when=_OLD),
        delete(
            "old key",
            Key,
            _WRITTEN_BY_OTHERS,
            when=f"{_OLD} and an older spelling of its start",
            item_bytes=STORED_RESERVATION.largest,
        ),
        put("new key", STORED_RESERVATION, IS_NEW, when="the same"),
        put("new claim", RESERVATION_CLAIM, IS_NEW, when=_OLD),
        put("new copy", OWNER_RESERVATION, "attribute_not_exists(#PK) OR #lockerId = :lockerId", when=_OLD),
        put(
            "new live copy",
            STORED_LIVE_RESERVATION,
            None,
            when="an earlier version or another program wrote a live reservation",
            most=LIVE_COPIES_AT_ONCE,
        ),
        put("new pointer", ACTIVE_POINTER, None, when="no older form is left, and one is active"),
        delete("dropped pointer", ACTIVE_POINTER, None, when="the same, and none is active"),
        put(
            "taken slot",
            RESERVATION_SLOT,
            "attribute_not_exists(#PK) OR #endAt <= :now",
            when="a live reservation has no slot",
        ),
        update(
            "slot of a reservation",
            STORED_RESERVATION,
            "#status = :readStatus AND #endAt = :readEnd AND attribute_not_exists(#slot)",
            when="a live reservation has no slot",
        ),
    ),
    most_steps=6,
    note="Only `smartlocker migrate` uses it: one transaction for each reservation, then live copies, then the "
    "pointer.",
    cardinality="One reservation with its claim and copy, five live copies, or the pointer; and the guard.",
    hot_partition="None: each locker has its own partition.",
)

CONVERT_ITEM = WriteContract(
    id="QC-78",
    purpose="Bring an item that another program wrote to today's form",
    reads=(
        ItemRead("locker", LOCKER),
        ItemRead("owner copy", OWNER_LOCKER),
        ItemRead("old booking", OLD_BOOKING, when="a calendar event names a booking"),
        ItemRead("booking", BOOKING, when="a calendar event names a booking"),
    ),
    rounds=12,
    steps=(
        update(
            "item",
            Key,
            f"{EXISTS} AND (#version = :readVersion OR attribute_not_exists(#version))",
            when="its key stays",
            index_writes=1,
        ),
        delete("old item", Key, EXISTS, when="its key changes", index_writes=1),
        put("new item", Key, IS_NEW, when="its key changes", most=3, index_writes=1),
        put("claim", Key, IS_NEW, when="its id or address must be unique", item_bytes=1800),
        put("copy", Key, None, when="a locker or booking has copies", most=4, item_bytes=9000, index_writes=1),
        delete("old copy", Key, None, when="a user's booking is converted", item_bytes=1000),
    ),
    most_steps=7,
    note="Only `smartlocker migrate` uses it.",
    cardinality="One item, its claim and its copies.",
    hot_partition="The items of one partition follow one another in a scan; the migration limits its rate.",
    item_bytes=_LARGEST_BYTES,
)

MIGRATION_SCAN = ReadTable(
    id="QC-75",
    purpose="Read the table for a migration",
    page_size=200,
    note="Only `smartlocker migrate` uses it; it states the cost first and limits its rate.",
    cardinality="All items of the table, once.",
    hot_partition="One partition at a time; the rate is limited.",
)

TRANSFER_SCAN = ReadTable(
    id="QC-76",
    purpose="Read the table for an export, or to compare it with an import",
    page_size=200,
    consistent=True,
    note="Only `smartlocker export` and `smartlocker import` use it; they state the cost first.",
    cardinality="All items of the table: once for an export, twice for an import.",
    hot_partition="One partition at a time; the rate of an export is limited.",
)

IMPORT_ITEM = WriteContract(
    id="QC-77",
    purpose="Import an item",
    operation="PutItem",
    steps=(
        put("new item", Key, "attribute_not_exists(#PK)", index_writes=1),
        put("differing item", Key, "attribute_exists(#PK)", when="a differing item may be overwritten", index_writes=2),
    ),
    most_steps=1,
    note="Only `smartlocker import` uses it; it states the cost first and limits its rate.",
    cardinality="One item.",
    hot_partition="The items of one partition follow one another in an export; the rate is limited.",
    item_bytes=_LARGEST_BYTES,
)
