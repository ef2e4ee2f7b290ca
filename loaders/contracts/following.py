"""The access patterns of those who follow the log: its tail, and the leases of its parts."""

from loaders import keys
from loaders.codecs import LOG_ENTRY, LOG_LEASE
from loaders.contracts.base import Consistency
from loaders.contracts.reading import ReadOne, ReadTail
from loaders.contracts.write_parts import IS_NEW, put
from loaders.contracts.writing import WriteContract

LOG_LEASES = ReadOne(
    id="QC-120",
    purpose="Who follows a part of the log, and how far its followers have got",
    codec=LOG_LEASE,
    consistency=Consistency.EVENTUAL_OR_STRONG,
    note="Requests read it for the time as of which figures are right, and for how far history goes: where the cursor "
    "of an activity is selected, and where a subscription is resumed. Every process that may follow reads, once a "
    "second, those leases that others hold, and takes one that has not changed for ten seconds by its own timer.",
    cardinality="One item for each of the four parts of the log.",
    hot_partition="Each is read once a second by every process that may follow.",
)

LOG_TAIL = ReadTail(
    id="QC-121",
    purpose="What was logged since a time, in one part of the log",
    codec=LOG_ENTRY,
    range=keys.log_entries,
    most=1000,
    note="Followers of the log read it, once a second for each of its parts; a process with subscribers does twice a "
    "second, for all of them together, and a subscription that is resumed once. Reads that move a position are "
    "strongly consistent.",
    cardinality="As a rule the entries of the last seconds; after a pause, 1,000 at a time.",
    hot_partition="One process follows a part of the log, once a second; each process with subscribers reads it "
    "twice a second.",
)

HOLD_LEASE = WriteContract(
    id="QC-122",
    purpose="Take, renew or give back the lease of a part of the log",
    operation="PutItem",
    steps=(
        put("first lease", LOG_LEASE, IS_NEW, when="nobody has ever followed this part"),
        put("taken lease", LOG_LEASE, "#number = :seenNumber AND #counter = :seenCounter", when="it is taken"),
        put("held lease", LOG_LEASE, "#number = :number AND #holder = :holder", when="it is renewed or given back"),
    ),
    most_steps=1,
    silent="Who follows the log is nothing that users see.",
    note="A process renews its leases every three seconds, with the positions of the followers. Who takes one over "
    "increases its number, so what the former holder sends afterwards is refused.",
    cardinality="One item for each of the four parts of the log.",
    hot_partition="Each is written every three seconds.",
)
