"""Every contract's requests, to the letter, as `requests.json` has them.

`pytest tests/contracts/test_requests.py --update-snapshots` writes the file anew; review what changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from loaders import keys
from loaders.contracts.reading import ReadPage
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.writing import WriteContract
from loaders.table.operations import Transact
from loaders.trace import operation_name
from tests.contracts.samples import SHORT
from tests.contracts.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loaders.table.recording import Record
    from tests.contracts.conftest import Runner

SNAPSHOTS = Path(__file__).parent / "requests.json"
LINE = 200
RANDOM = {"ClientRequestToken", "digest"}
# What may be written whatever is there: copies that are written as a whole, and items that are deleted or new.
# The guard orders all writes of a pointer.
OFFERS = {"offer", "gone offer"}
_UPGRADES = {"new live copy", "new pointer", "dropped pointer"}
_CHANGES = {"reservation copy", "notification", "live copy", "no live copy", *_UPGRADES}
UNCONDITIONAL = {
    "QC-03": OFFERS,
    "QC-04": _UPGRADES,
    "QC-06": {"old copy", "new copy"} | OFFERS,
    "QC-11": OFFERS,
    "QC-12": {"old location copy", "new location copy"} | OFFERS,
    "QC-13": _CHANGES,
    "QC-43": {"copy", "notification"},
    "QC-74": _UPGRADES,
    "QC-78": {"copy", "old copy"},
    "QC-84": {"live copy"},
    "QC-87": _CHANGES,
    "QC-107": {"reservation copy", "live copy"},
}


def shown(record: Record) -> dict[str, Any]:
    """An operation as the file has it, with its contract and the names of its steps."""
    operation = record.operation
    found: dict[str, Any] = {"contract": record.contract, "operation": operation_name(operation)}
    if isinstance(operation, Transact):
        found["steps"] = [step.name for step in operation.steps]
    content: dict[str, Any] = json.loads(json.dumps(operation.render("T"), default=str))
    return found | {"request": masked(content)}


def masked(value: Any) -> Any:
    """The value without what is random."""
    if isinstance(value, list):
        return [masked(part) for part in value]
    if isinstance(value, dict):
        return {name: "random" if name in RANDOM else masked(part) for name, part in value.items()}
    return value


def written(value: Any, indent: str = "") -> str:
    """JSON that takes a line for whatever fits into one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= LINE or not isinstance(value, dict | list):
        return line
    deeper = indent + " "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {written(part, deeper)}" for name, part in value.items()]
        return "{\n" + ",\n".join(deeper + part for part in parts) + "\n" + indent + "}"
    return "[\n" + ",\n".join(deeper + written(part, deeper) for part in value) + "\n" + indent + "]"


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_contract_sends_exactly_the_requests_of_the_snapshot(
    name: str, run_scenario: Runner, request: pytest.FixtureRequest
) -> None:
    sent = [shown(record) for record in await run_scenario(name, SHORT)]
    if request.config.getoption("--update-snapshots", default=False):
        kept = json.loads(SNAPSHOTS.read_text()) if SNAPSHOTS.exists() else {}
        kept[name] = sent
        SNAPSHOTS.write_text(written({known: kept[known] for known in kept if known in SCENARIOS}) + "\n")
    assert sent == kept_requests()[name]


def kept_requests() -> dict[str, list[dict[str, Any]]]:
    kept: dict[str, list[dict[str, Any]]] = json.loads(SNAPSHOTS.read_text())
    return kept


def operations() -> Iterator[dict[str, Any]]:
    for sent in kept_requests().values():
        yield from sent


def test_every_contract_has_an_example_and_every_snapshot_a_scenario() -> None:
    assert {operation["contract"] for operation in operations()} == CONTRACTS.keys()
    assert kept_requests().keys() == SCENARIOS.keys()


@pytest.mark.parametrize(
    "contract", [one for one in CONTRACTS.values() if isinstance(one, WriteContract)], ids=lambda one: one.id
)
def test_every_step_of_a_write_is_in_a_snapshot_as_its_rule_says(contract: WriteContract) -> None:
    rules = {rule.name: rule for rule in contract.steps}
    found = set()
    for operation in operations():
        if operation["contract"] != contract.id:
            continue
        request = operation["request"]
        if operation["operation"] == "TransactWriteItems":
            steps = zip(operation["steps"], request["TransactItems"], strict=True)
            assert len(operation["steps"]) <= contract.most_steps
            for name, entry in steps:
                ((action, step),) = entry.items()
                assert (action, step.get("ConditionExpression")) == (rules[name].action, rules[name].condition)
                assert rules[name].condition or name in UNCONDITIONAL[contract.id]
                found.add(name)
        elif operation["operation"] in {"PutItem", "UpdateItem"}:
            found |= {rule.name for rule in rules.values() if rule.condition == request["ConditionExpression"]}
    assert found == rules.keys()


def test_no_request_filters_or_reads_without_a_bound() -> None:
    for operation in operations():
        request, contract = operation["request"], CONTRACTS[operation["contract"]]
        assert "FilterExpression" not in str(request)
        if operation["operation"] != "Query":
            assert "IndexName" not in request
        elif isinstance(contract, ReadPage):
            rule = contract.page_rule
            assert ("IndexName" in request) is (keys.spelled(contract.range)[0] == "index GSI1")
            assert 1 <= request["Limit"] <= rule.maximum + rule.look_ahead
            assert request["ConsistentRead"] is False
        else:
            assert ("IndexName" in request, request["ConsistentRead"]) == (False, True)
            assert 1 <= request["Limit"] <= 1000
