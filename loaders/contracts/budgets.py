"""The access patterns of rate limits: budgets that servers share, and those that admins set for callers."""

from domain.activity import ActivityKind
from domain.errors import BadInputError, NotFoundError, TooManyChangesError
from loaders import keys
from loaders.codecs import API_KEY, CALLER_BUDGET
from loaders.contracts.reading import ReadPage
from loaders.contracts.write_parts import IS_NEW, ItemRead, delete, put, update
from loaders.contracts.writing import WriteContract

SPEND_BUDGET = WriteContract(
    id="QC-50",
    purpose="Charge a caller's budget",
    operation="UpdateItem",
    steps=(
        update("spent", keys.rate, "#fullAt BETWEEN :now AND :latest", when="part of the budget is spent"),
        update("whole", keys.rate, "attribute_not_exists(#PK) OR #fullAt < :now", when="the whole budget is available"),
    ),
    most_steps=2,
    silent="A budget is the caller's own, and each answer tells it.",
    note="Only where SMARTLOCKER_RATE_LIMIT_STORE is `table`, once for every request, again where its plan costs more "
    "than one unit, and once more where it took more or less than that. The store adds the charge to what is owed, so "
    "concurrent servers never grant more than the budget; where a response is lost, a charge, or what is given back, "
    "may count twice. The steps are tried in this order, one at a time. The time-to-live attribute `expiresAt` removes "
    "the record of a budget that is whole again.",
    cardinality="One item for each caller.",
    hot_partition="Each caller has its own partition, which takes the caller's own requests; the budget bounds their "
    "rate.",
    item_bytes=300,
)

_AS_READ = "#unitsPerMinute = :readUnits AND #burst = :readBurst"

SET_CALLER_BUDGET = WriteContract(
    id="QC-64",
    purpose="Set the budget of a caller",
    reads=(
        ItemRead("key", API_KEY, when="an API key gets a budget of its own"),
        ItemRead("budget", CALLER_BUDGET),
    ),
    steps=(
        put("new", CALLER_BUDGET, IS_NEW, when="the caller has the usual budget"),
        update("changed", CALLER_BUDGET, _AS_READ, when="it has another one of its own"),
        delete("removed", CALLER_BUDGET, _AS_READ, when="it has the usual one again"),
    ),
    most_steps=1,
    rounds=4,
    emits=(ActivityKind.CALLER_BUDGET_CHANGED,),
    errors=(BadInputError, NotFoundError, TooManyChangesError),
    note="A budget that the caller has already stays as it is. Of two at once, the later one stays, and both are "
    "logged. Servers with a rate limit know it within five seconds.",
    cardinality="One item.",
    hot_partition="None: an admin sets it by hand.",
)

CALLER_BUDGETS = ReadPage(
    id="QC-65",
    purpose="All callers with a budget of their own",
    range=keys.caller_budgets,
    codec=CALLER_BUDGET,
    note="API keys by id, then subjects by their hash. Each process of a server with a rate limit reads all of them "
    "whenever it reads the state of the table (QC-70), and no request does.",
    cardinality="A few callers.",
    hot_partition="One partition for all servers: each process reads it every two to five seconds.",
)
