"""Every contract's requests, as the files in `requests/` have them.

`make snapshots` writes the files anew; review what changed.
"""

import pytest

from loaders import keys
from loaders.contracts.reading import ReadPage, ReadTail
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.write_parts import AS_READ
from loaders.contracts.writing import WriteContract
from loaders.table.operations import Operation, Query, Transact
from tests.contracts.conftest import Runner
from tests.contracts.samples import SHORT
from tests.contracts.scenarios.every import SCENARIOS
from tests.contracts.snapshots import contracts_of, keep, kept, shown, steps_of

# What may be written whatever is there: what is derived from a record, on which the transaction has its condition. The
# contracts of the tools write such items of any kind, and a pointer, all writes of which the guard orders.
DERIVED = {
    *("OWNER_LOCKER", "LOCATION_LOCKER", "LOCKER_OFFER", "OWNER_RESERVATION", "LIVE_RESERVATION", "OWNER_BOOKING"),
    *("NOTIFICATION", "LOG_ENTRY", "WEBHOOK_REVISION", "OVERDUE_STAY", "OWNER_NAME", "OWNER_PHONE"),
}
TOOLS = {"QC-78"}


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_contract_sends_exactly_the_requests_of_the_snapshot(
    name: str, run_scenario: Runner, request: pytest.FixtureRequest
) -> None:
    records = await run_scenario(name, SHORT)
    for record in records:
        check_request(record.operation)
    if request.config.getoption("--update-snapshots", default=False):
        keep(name, records)
    assert shown(records) == kept()[name]


def check_request(operation: Operation) -> None:
    """A write has the steps of its contract, with their conditions; a read has a bound, and none filters."""
    contract = CONTRACTS[operation.contract]
    request = operation.render("T")
    assert "FilterExpression" not in str(request)
    if isinstance(operation, Query):
        is_indexed, most = False, 1000
        if isinstance(contract, ReadPage | ReadTail):
            is_indexed = keys.spelled(contract.range)[0] == "index GSI1"
        if isinstance(contract, ReadPage):
            most = contract.page_rule.maximum + contract.page_rule.look_ahead
        assert 1 <= operation.limit <= most
        assert ("IndexName" in request) is is_indexed
        assert operation.consistent is not isinstance(contract, ReadPage) or isinstance(contract, ReadTail)
        return
    assert "IndexName" not in str(request)
    if isinstance(operation, Transact):
        assert isinstance(contract, WriteContract)
        assert len(operation.steps) <= contract.most_items
        rules = {rule.name: rule for rule in contract.rules}
        for step in operation.steps:
            rule = rules[step.name]
            assert (step.action, rule.condition) in {(rule.action, step.condition), (rule.action, AS_READ)}
            assert step.condition or contract.id in TOOLS or rule.codec.entity_type in DERIVED


def test_every_contract_has_an_example_and_every_snapshot_a_scenario() -> None:
    assert {contract for content in kept().values() for contract in contracts_of(content)} == CONTRACTS.keys()
    assert kept().keys() == SCENARIOS.keys()


@pytest.mark.parametrize(
    "contract", [one for one in CONTRACTS.values() if isinstance(one, WriteContract)], ids=lambda one: one.id
)
def test_every_step_of_a_write_is_in_a_snapshot(contract: WriteContract) -> None:
    assert steps_of(contract.id) == {rule.name for rule in contract.rules}
