"""The access pattern of rate limits that are shared between servers."""

from loaders import keys
from loaders.contracts.write_parts import update
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
