"""The access patterns of the table's state: its format, whether it is being migrated, and what servers obey."""

from loaders.codecs import TABLE_STATE
from loaders.contracts.base import Consistency
from loaders.contracts.reading import ReadOne
from loaders.contracts.write_parts import IS_NEW, ItemRead, put
from loaders.contracts.writing import WriteContract

FORMAT_VERSION = 7
"""The format that this version reads and writes.

1: a table without a state item. 2: the copies of lockers are in the index by status, and the active pointers store the
latest end of the locker's reservations. 3: no item has a form in which other programs wrote it. 4: every locker says
who may reserve it and has its offers, and live reservations have live copies. 5: every item has today's form; its
servers are the first that look at the state while they run. 6: live reservations are in the index until their end is
logged and store where they were made, and locations and owners have figures. 7: owners, lockers, reservations, claims
and the owners' copies of bookings are in the index, and reservations that are overdue, names and phone numbers have
lists of their own.
"""

STATE_OF_TABLE = ReadOne(
    id="QC-70",
    purpose="The state of the table: its format version, and whether it is being migrated",
    codec=TABLE_STATE,
    consistency=Consistency.STRONG,
    note="No request reads it. A server reads it when it starts and every five seconds, and refuses all requests "
    "unless the table has its format and is not being migrated. A server that has read nothing else for two seconds "
    "reads it to see whether the store works.",
    cardinality="One item in the table.",
    hot_partition="One partition for all servers: each reads it every five seconds, while it is idle every two.",
)

SAVE_TABLE_STATE = WriteContract(
    id="QC-71",
    purpose="Record the format version of the table, and that it is being migrated",
    reads=(ItemRead("state", TABLE_STATE),),
    steps=(
        put("new state", TABLE_STATE, IS_NEW, when="the table has none"),
        put("state", TABLE_STATE, "#revision = :readRevision", when="the table has one"),
    ),
    most_steps=1,
    silent="The state of the table is for servers.",
    note="Only `smartlocker table create` and `smartlocker migrate` write it.",
    cardinality="One item in the table.",
    hot_partition="None: a migration writes it three times.",
)

CHANGE_TABLE_STATE = WriteContract(
    id="QC-79",
    purpose="Record which keys codes and devices may need, or the mode",
    reads=(ItemRead("state", TABLE_STATE),),
    rounds=12,
    steps=(
        put(
            "state",
            TABLE_STATE,
            "#revision = :readRevision AND (attribute_not_exists(#codeKeys) OR #codeKeys = :readKeys) AND "
            "(attribute_not_exists(#isReadOnly) OR #isReadOnly = :readMode)",
        ),
    ),
    most_steps=1,
    silent="Which keys are in use and whether the table is read-only is for operators.",
    note="A server adds the key of new codes when it starts, and logs which of the recorded keys it lacks. "
    "`smartlocker codes keys` removes those that nothing needs. `smartlocker table read-only` sets the mode. A table "
    "that is being migrated is not changed.",
    cardinality="One item in the table.",
    hot_partition="None: it is written when a key is first used or no longer needed, and by an operator.",
)
