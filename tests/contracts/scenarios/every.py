"""The scenarios of all contracts: those of the registry of mutations, and those that need more."""

from tests.contracts.scenarios import bookings, codes, following, lockers, reads, tools, webhooks
from tests.mutations import MUTATIONS

_PARTS = [
    reads.SCENARIOS,
    *(mutation.scenarios for mutation in MUTATIONS.values()),
    *(part.SCENARIOS for part in (lockers, bookings, codes, following, tools, webhooks)),
]
SCENARIOS = {name: calls for part in _PARTS for name, calls in part.items()}
assert len(SCENARIOS) == sum(map(len, _PARTS))
