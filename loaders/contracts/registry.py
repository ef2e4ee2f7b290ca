"""Every contract by its id."""

from __future__ import annotations

from loaders.contracts import (
    access_codes,
    api_keys,
    bookings,
    budgets,
    doctor,
    events,
    locations,
    lockers,
    maintenance,
    owners,
    reservations,
    table_format,
)
from loaders.contracts.base import Contract, registry

_MODULES = (
    access_codes,
    api_keys,
    bookings,
    budgets,
    doctor,
    events,
    locations,
    lockers,
    maintenance,
    owners,
    reservations,
    table_format,
)

CONTRACTS = registry(
    {id(value): value for module in _MODULES for value in vars(module).values() if isinstance(value, Contract)}.values()
)
