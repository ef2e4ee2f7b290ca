"""Examples of every contract: calls of the product, of which the last is the one that is looked at.

Each can be run with short names, for requests that can be read, and with the longest, for what they cost at most.
"""

from __future__ import annotations

from tests.contracts.scenarios import bookings, codes, lockers, reads, tools
from tests.contracts.scenarios.actions import Call
from tests.contracts.scenarios.bookings import BOOKED, api_key, approve
from tests.contracts.scenarios.lockers import PLACED, RENAME, record_events

__all__ = ["BOOKED", "PLACED", "RENAME", "SCENARIOS", "Call", "api_key", "approve", "record_events"]

SCENARIOS = {name: calls for part in (reads, lockers, bookings, codes, tools) for name, calls in part.SCENARIOS.items()}
