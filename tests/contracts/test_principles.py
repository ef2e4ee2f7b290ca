"""Principles of all of the product's code: only commands scan, nothing filters, and an event is never changed."""

import ast
import re
from pathlib import Path

import pytest

from loaders import keys
from loaders.contracts.api_keys import STORE_KEY_USE
from loaders.contracts.budgets import SPEND_BUDGET
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.scanning import ReadTable
from loaders.contracts.write_parts import IS_NEW, IS_NEW_OR_EXPIRED
from loaders.contracts.writing import WriteContract
from loaders.table.operations import Action

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for name in ("domain", "loaders", "resolvers", "server") for path in (ROOT / name).rglob("*.py"))
TABLE = ROOT / "loaders" / "table"
ALLOWED = {
    ROOT / "loaders" / "contracts" / "scanning.py": {"Scan", "scan"},
    TABLE / "operations.py": {"Scan"},
    TABLE / "health.py": {"Scan"},
    TABLE / "recording.py": {"scan"},
}
FORBIDDEN_WORDS = ("FilterExpression", "ScanFilter", "QueryFilter", "ExecuteStatement", "TotalSegments")
FORBIDDEN_CALLS = frozenset(
    {
        "Scan",
        "scan",
        "get_paginator",
        "DeleteItem",
        "BatchWriteItem",
        "execute_statement",
        "batch_execute_statement",
        "batch_write_item",
        "update_item",
        "delete_item",
    }
)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_source_scans_or_filters(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    assert [word for word in FORBIDDEN_WORDS if word in text] == []
    names = {
        node.attr if isinstance(node, ast.Attribute) else node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute | ast.Constant)
    }
    assert FORBIDDEN_CALLS & {name for name in names if isinstance(name, str)} == ALLOWED.get(source, set())


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_a_contract_creates_an_operation(source: Path) -> None:
    if source.parent in {ROOT / "loaders" / "contracts", TABLE}:
        return
    called = {
        node.func.id
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert called & {"Get", "BatchGet", "Query", "Scan", "Put", "Step", "Transact", "Update"} == set()


def test_only_commands_scan() -> None:
    assert [contract.id for contract in CONTRACTS.values() if isinstance(contract, ReadTable)] == [
        "QC-75",
        "QC-76",
        "QC-80",
        "QC-113",
        "QC-115",
    ]
    users = {
        str(source.relative_to(ROOT))
        for source in SOURCES
        if source.parent.name != "contracts"
        and re.search("MIGRATION_SCAN|TRANSFER_SCAN|DOCTOR_SCAN|CODE_KEYS_SCAN|EXPIRY_SCAN", source.read_text())
    }
    assert users == {
        "loaders/reads/code_keys.py",
        "loaders/tools/expiry.py",
        "server/cli/table_commands.py",
        "loaders/tools/doctor.py",
        "loaders/tools/migration.py",
        "loaders/tools/transfer.py",
        "server/cli/code_commands.py",  # says what the scan costs
    }


def test_only_budgets_and_the_use_of_keys_are_stored_without_a_transaction() -> None:
    plain = [contract for contract in CONTRACTS.values() if contract.operation == "UpdateItem"]
    assert plain == [SPEND_BUDGET, STORE_KEY_USE]


def test_no_contract_changes_or_deletes_an_event() -> None:
    rules = [
        (contract.id, rule.action, rule.condition)
        for contract in CONTRACTS.values()
        if isinstance(contract, WriteContract)
        for rule in contract.rules
        if rule.key in {keys.event, keys.event_claim, keys.door_event, keys.door_event_claim}
        and rule.action is not Action.CHECK
    ]
    contracts = ["QC-08", "QC-08", "QC-87", *["QC-107"] * 3, "QC-112", "QC-112"]
    assert [(contract, action) for contract, action, _ in rules] == [(contract, Action.PUT) for contract in contracts]
    expired_claims = {("QC-08", IS_NEW_OR_EXPIRED), ("QC-112", IS_NEW_OR_EXPIRED)}
    assert {(contract, condition) for contract, _, condition in rules if condition != IS_NEW} == expired_claims
