"""What holds in all of the product's code: nothing scans, nothing filters, and an event is never changed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from loaders import keys
from loaders.contract import WriteContract
from loaders.contracts import CONTRACTS
from loaders.table.operations import Action

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for name in ("domain", "loaders", "resolvers", "server") for path in (ROOT / name).rglob("*.py"))
SEAM = ROOT / "loaders" / "table" / "client.py"
FORBIDDEN_WORDS = ("FilterExpression", "ScanFilter", "QueryFilter", "ExecuteStatement", "TotalSegments")
FORBIDDEN_CALLS = frozenset(
    {
        "scan",
        "get_paginator",
        "execute_statement",
        "batch_execute_statement",
        "batch_write_item",
        "update_item",
        "delete_item",
    }
)


def test_the_sources_are_found() -> None:
    assert len(SOURCES) > 40


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_source_scans_or_filters(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    assert [word for word in FORBIDDEN_WORDS if word in text] == []
    assert ".scan(" not in text
    names = {
        node.attr if isinstance(node, ast.Attribute) else node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute | ast.Constant)
    }
    allowed = {"update_item"} if source == SEAM else set()
    assert FORBIDDEN_CALLS & {name for name in names if isinstance(name, str)} == allowed


def test_only_a_budget_is_changed_without_a_transaction() -> None:
    assert [contract.id for contract in CONTRACTS.values() if contract.operation == "UpdateItem"] == ["QC-50"]


def test_no_contract_changes_or_deletes_an_event() -> None:
    rules = [
        (contract.id, rule.action, rule.condition)
        for contract in CONTRACTS.values()
        if isinstance(contract, WriteContract)
        for rule in contract.steps
        if rule.key in {keys.event, keys.event_claim}
    ]
    assert rules == [("QC-08", Action.PUT, "attribute_not_exists(#PK)")] * 2
