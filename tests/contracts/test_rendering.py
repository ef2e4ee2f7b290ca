"""Every contract's requests, offline and to the letter: nothing reaches the store that is not written down here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from loaders.contract import QueryContract, WriteContract
from loaders.contracts import CONTRACTS
from loaders.table.operations import Action, Put, Query, Transact
from loaders.table.updates import Update
from tests.contracts import (
    rendered_bookings,
    rendered_calendar,
    rendered_cancellations,
    rendered_changes,
    rendered_events,
    rendered_keys,
    rendered_locations,
    rendered_locker_changes,
    rendered_lockers,
    rendered_moves,
    rendered_owners,
    rendered_placed_lockers,
    rendered_places,
    rendered_rates,
    rendered_reads,
    rendered_repairs,
    rendered_reservations,
)

if TYPE_CHECKING:
    from loaders.table.operations import Operation

MODULES = (
    rendered_reads,
    rendered_lockers,
    rendered_locker_changes,
    rendered_owners,
    rendered_reservations,
    rendered_changes,
    rendered_repairs,
    rendered_events,
    rendered_places,
    rendered_locations,
    rendered_placed_lockers,
    rendered_moves,
    rendered_bookings,
    rendered_cancellations,
    rendered_calendar,
    rendered_keys,
    rendered_rates,
)
CASES: dict[str, tuple[Operation | Update, dict[str, Any]]] = {
    name: case for module in MODULES for name, case in module.CASES.items()
}
WRITES = [contract for contract in CONTRACTS.values() if isinstance(contract, WriteContract)]


@pytest.mark.parametrize("name", CASES)
def test_an_operation_renders_to_exactly_this_request(name: str) -> None:
    operation, request = CASES[name]
    if isinstance(operation, Transact):
        operation = replace(operation, token="token")  # noqa: S106  # no secret, a name for a request
    rendered = operation.render("T")
    assert rendered == request
    assert operation.contract == name[:5]


def test_every_contract_is_rendered() -> None:
    assert {operation.contract for operation, _ in CASES.values()} == set(CONTRACTS)
    assert len(CASES) == sum(len(module.CASES) for module in MODULES)


@pytest.mark.parametrize("contract", WRITES, ids=lambda contract: contract.id)
def test_every_step_that_a_write_names_is_rendered_as_its_rule_says(contract: WriteContract) -> None:
    rules = {rule.name: rule for rule in contract.steps}
    rendered = set()
    for operation, _ in CASES.values():
        if isinstance(operation, Transact) and operation.contract == contract.id:
            assert 1 <= len(operation.steps) <= contract.most_steps
            for step in operation.steps:
                assert (step.action, step.condition) == (rules[step.name].action, rules[step.name].condition)
                rendered.add(step.name)
        if isinstance(operation, Update) and operation.contract == contract.id:
            (rule,) = [rule for rule in contract.steps if rule.condition == operation.condition]
            assert rule.action is Action.UPDATE
            rendered.add(rule.name)
    assert rendered == set(rules)


@pytest.mark.parametrize("name", CASES)
def test_no_request_filters_scans_or_reads_without_a_bound(name: str) -> None:
    operation, request = CASES[name]
    assert "FilterExpression" not in str(request)
    if not isinstance(operation, Query):
        assert "IndexName" not in str(request)
        return
    contract = CONTRACTS[operation.contract]
    if isinstance(contract, QueryContract):
        assert request.get("IndexName") == contract.index
        assert 1 <= request["Limit"] <= contract.page.maximum + contract.page.look_ahead
    else:
        assert "IndexName" not in request
        assert request["Limit"] in {200, 1000}
        assert request["ConsistentRead"] is True
    assert "GSI1" not in request["KeyConditionExpression"] or request["ConsistentRead"] is False


@pytest.mark.parametrize("name", CASES)
def test_every_write_says_what_it_assumes_or_may_do_so_whatever_is_there(name: str) -> None:
    operation, request = CASES[name]
    if isinstance(operation, Put):
        assert request["ConditionExpression"] == "attribute_not_exists(#PK)"
    if isinstance(operation, Transact):
        bare = [step.name for step in operation.steps if step.condition is None]
        allowed = {
            "QC-06": {"old copy", "new copy"},
            "QC-12": {"old location copy", "new location copy"},
            "QC-13": {"copy"},
            "QC-43": {"copy", "notification"},
        }
        assert set(bare) <= allowed.get(operation.contract, set())
