"""What only commands ask of the store; no request of the API sends it."""

from __future__ import annotations

from loaders.codecs import BOOKING, GUARD, LOCKER, OLD_BOOKING, OWNER_LOCKER, RESERVATION_SLOT, STORED_RESERVATION
from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.reservations import GUARD_RULES, SLOTS_READ, UPGRADE_READS, UPGRADE_RULES
from loaders.contracts.scanning import ReadTable
from loaders.contracts.write_parts import EXISTS, IS_NEW, ItemRead, delete, put, update
from loaders.contracts.writing import WriteContract
from loaders.table.positions import Key

_LARGEST_BYTES = 25_600

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
        *UPGRADE_READS,
        SLOTS_READ,
    ),
    rounds=24,
    steps=(
        *GUARD_RULES,
        *UPGRADE_RULES,
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
