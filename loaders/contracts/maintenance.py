"""The writes of the command line; no request of the API sends them."""

from __future__ import annotations

from loaders import keys
from loaders.codecs import ACTIVE_POINTER, GUARD, STORED_RESERVATION
from loaders.contracts.base import MAX_ITEMS
from loaders.contracts.writing import BatchRead, ItemRead, RangeRead, StepRule, WriteContract
from loaders.table.keys import Key
from loaders.table.operations import Action

__all__ = ["INDEX_LOCKER_COPY", "LOAD_DEMO_DATA", "SET_LATEST_END"]

_RESERVATION_BYTES = 800

LOAD_DEMO_DATA = WriteContract(
    id="QC-72",
    purpose="Load demo data",
    operation="TransactWriteItems",
    steps=(StepRule(name="item", action=Action.PUT, key=Key, condition="attribute_not_exists(#PK)", most=MAX_ITEMS),),
    most_steps=MAX_ITEMS,
    note="Only `smartlocker demo load` and the first start of the embedded store use it.",
    cardinality=f"Up to {MAX_ITEMS} new items in a transaction.",
    hot_partition="None: the items belong to many owners, locations and lockers.",
    item_bytes=2000,
)

INDEX_LOCKER_COPY = WriteContract(
    id="QC-73",
    purpose="Add a copy of a locker to the index by status",
    operation="UpdateItem",
    steps=tuple(
        StepRule(
            name=name,
            action=Action.UPDATE,
            key=key,
            condition="#status = :readStatus AND attribute_not_exists(#GSI1PK)",
            when="an older version wrote the copy",
            index_writes=1,
        )
        for name, key in (("owner copy", keys.owner_locker), ("location copy", keys.location_locker))
    ),
    most_steps=1,
    note="Only `smartlocker table migrate` uses it. A copy that a server changed in between already has its index "
    "attributes.",
    cardinality="One copy.",
    hot_partition="The copies of one owner or location share a partition; the migration limits its rate.",
    item_bytes=1500,
)

SET_LATEST_END = WriteContract(
    id="QC-74",
    purpose="Store the latest end of a locker's reservations in its active pointer",
    operation="TransactWriteItems",
    reads=(
        BatchRead(
            items=(
                ItemRead(name="guard", key=keys.reservation_guard, codec=GUARD, item_bytes=_RESERVATION_BYTES),
                ItemRead(name="pointer", key=keys.active_pointer, codec=ACTIVE_POINTER, item_bytes=_RESERVATION_BYTES),
            )
        ),
        RangeRead(
            name="latest",
            range=keys.locker_reservations,
            codec=STORED_RESERVATION,
            item_bytes=_RESERVATION_BYTES,
            limit=25,
            forward=False,
        ),
    ),
    rounds=24,
    steps=(
        StepRule(
            name="guard",
            action=Action.CHECK,
            key=keys.reservation_guard,
            condition="#revision = :readRevision",
            when="the locker has one",
        ),
        StepRule(
            name="no guard",
            action=Action.CHECK,
            key=keys.reservation_guard,
            condition="attribute_not_exists(#PK)",
            when="older data has none",
        ),
        StepRule(
            name="pointer",
            action=Action.UPDATE,
            key=keys.active_pointer,
            condition="#reservationId = :pointed AND #endAt = :pointedEnd AND attribute_not_exists(#lastEndAt)",
        ),
    ),
    most_steps=2,
    note="Only `smartlocker table migrate` uses it.",
    cardinality="One pointer; the guard is checked.",
    hot_partition="None: each locker has its own partition.",
    item_bytes=_RESERVATION_BYTES,
)
