"""The lists of access codes for the devices of doors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from domain.models import door_of
from loaders.contracts.access_codes import AT_LOCATION, AT_LOCKER
from loaders.contracts.cost import MET_OTHERS
from loaders.contracts.writing import WriteContract
from loaders.reads.code_lists import read_code_lists
from loaders.table.recording import asking
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, Reading, rows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeListOf(Reading):
    """The lists for the devices of doors, read together, as an acknowledgement reads its own: strongly consistent."""

    contract: WriteContract
    key: str

    def price(self, step: FieldStep, parents: int, bound: Any) -> list[Charge]:
        elsewhere = AT_LOCATION if self.key == "locker_id" else AT_LOCKER
        charges = [
            Charge(self.contract, request.operation, request.expected, request.maximum)
            for request in self.contract.read_costs(parents)
            if request.when != elsewhere
        ]
        rounds = self.contract.rounds - 1
        again = [
            Charge(self.contract, charge.operation, maximum=charge.maximum * rounds, condition=MET_OTHERS)
            for charge in charges
        ]
        return charges + again

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        request, is_locker = execution.request, self.key == "locker_id"
        keys = self.row_keys(rows_of(calls))
        doors = [door_of(key if is_locker else None, None if is_locker else key) for key in keys]
        with asking(calls[0].step.path):
            found = await read_code_lists(request.backend, doors, request.queries)
        return [found[door] for door in doors]
