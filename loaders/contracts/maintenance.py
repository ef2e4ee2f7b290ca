"""Contracts that only commands use; no request of the API does."""

from loaders.codecs import RESERVATION_CLAIM, RESERVATION_DETAILS, TABLE_STATE
from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.scanning import ReadItems, ReadTable
from loaders.contracts.write_parts import AS_READ, IS_NEW, check, delete, put, update
from loaders.contracts.writing import WriteContract
from loaders.table.positions import Key

_LARGEST_BYTES = 25_600

LOAD_DEMO_DATA = WriteContract(
    id="QC-72",
    purpose="Load demo data",
    steps=(put("item", Key, IS_NEW, most=MAX_ITEMS),),
    most_steps=MAX_ITEMS,
    silent="Demo data has a history of its own.",
    note="Only `smartlocker demo load` and the first start of the embedded store use it.",
    cardinality=f"Up to {MAX_ITEMS} new items in a transaction.",
    hot_partition="None: the items belong to many owners, locations and lockers.",
    item_bytes=2000,
)

CONVERT_ITEMS = WriteContract(
    id="QC-78",
    purpose="Bring items of other programs or earlier versions to today's form",
    steps=(
        put("item", Key, None, most=MAX_ITEMS, index_writes=2),
        delete("old item", Key, None, when="its key changes", most=MAX_ITEMS, index_writes=1),
        check("mark", TABLE_STATE, "#revision = :markedRevision"),
    ),
    most_steps=MAX_ITEMS,
    silent="What is converted stays what it was.",
    note="Only `smartlocker migrate` uses it, while no server serves the table: each transaction checks the mark of "
    "this very run, so that one that was overtaken by another writes nothing more. A record, its copies and its claims "
    "are in one transaction; one that was converted before is not written again.",
    cardinality="Up to 100 items: several records, each with its copies and claims.",
    hot_partition="The items of one partition follow one another; the rate is limited.",
    item_bytes=_LARGEST_BYTES,
)

CONVERTED_BEFORE = ReadItems(
    id="QC-74",
    purpose="Read what the access events of a page become, if it is there already",
    note="Only `smartlocker migrate` uses it, for events of another form, the claims on their ids, and the location "
    "that the operator names.",
    cardinality="Up to 100 keys in a request.",
    hot_partition="One partition at a time; the rate is limited.",
)

MIGRATION_SCAN = ReadTable(
    id="QC-75",
    purpose="Read the table for a migration",
    page_size=200,
    consistent=True,
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
    silent="An export contains the log of its table.",
    note="Only `smartlocker import` uses it; it states the cost first and limits its rate.",
    cardinality="One item.",
    hot_partition="The items of one partition follow one another in an export; the rate is limited.",
    item_bytes=_LARGEST_BYTES,
)

EXPIRY_SCAN = ReadTable(
    id="QC-115",
    purpose="Read the table to find expired items",
    page_size=200,
    note="Only `smartlocker table expire` uses it; it states the cost first and limits its rate.",
    cardinality="All items of the table, once.",
    hot_partition="One partition at a time; the rate is limited.",
)

EXPIRE_ITEM = WriteContract(
    id="QC-116",
    purpose="Delete an expired item",
    steps=(
        delete("expired item", Key, AS_READ),
        update("claim", RESERVATION_CLAIM, "attribute_exists(#PK)", when="these are details of a reservation"),
    ),
    most_steps=2,
    silent="What expires is no longer shown.",
    note="Only `smartlocker table expire` uses it, for stores that do not delete items by their time to live, and for "
    "what was to be kept longer when it was written. An item that was renewed since it was read stays.",
    cardinality="One item; of details, the claim of the reservation knows that they are gone.",
    hot_partition="The items of one partition follow one another; the rate is limited.",
    item_bytes=RESERVATION_DETAILS.largest,
)
