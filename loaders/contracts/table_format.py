"""The access patterns of the table's format version."""

from __future__ import annotations

from domain.errors import UnavailableError
from loaders.codecs import TABLE_FORMAT
from loaders.contracts.base import Consistency
from loaders.contracts.reading import ReadOne
from loaders.contracts.write_parts import IS_NEW, ItemRead, put
from loaders.contracts.writing import WriteContract

FORMAT_VERSION = 4
"""The format that this version writes.

1: a table without a format item. 2: the copies of lockers are in the index by status, and the active pointers store the
latest end of the locker's reservations. 3: no item has a form in which other programs wrote it. 4: every locker says
who may reserve it and has its offers, and live reservations have live copies.
"""

STORED_FORMAT = ReadOne(
    id="QC-70",
    purpose="The format version of the table",
    codec=TABLE_FORMAT,
    consistency=Consistency.EVENTUAL,
    errors=(UnavailableError,),
    note="A list that depends on a later format than the table has answers UNAVAILABLE until the table is migrated. A "
    "server that has read nothing else for two seconds reads it to see whether the store works.",
    cardinality="One item in the table.",
    hot_partition="One partition for all servers: each reads it once for its lists, and while it is idle at most every "
    "two seconds.",
)

SAVE_TABLE_FORMAT = WriteContract(
    id="QC-71",
    purpose="Record the format version of the table and the progress of a migration",
    reads=(ItemRead("format", TABLE_FORMAT),),
    steps=(
        put("new format", TABLE_FORMAT, IS_NEW, when="the table has none"),
        put("format", TABLE_FORMAT, "#revision = :readRevision", when="the table has one"),
    ),
    most_steps=1,
    note="Only `smartlocker table create` and `smartlocker migrate` write it; a server reads it when it starts.",
    cardinality="One item in the table.",
    hot_partition="None: a migration writes it a few times a second at most.",
)
