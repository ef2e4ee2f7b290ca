"""The page of access patterns comes from the contracts and from the bindings that use them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from loaders import keys
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.writing import WriteContract
from resolvers.bindings.base import Reading
from resolvers.schema import build_schema
from server.cli.documentation import access_patterns, fields_by_contract

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.contracts.base import Contract
    from loaders.table.keys import Key, KeyRange

ROOT = Path(__file__).parents[2]
SCHEMA = build_schema().bound
PAGE = access_patterns(SCHEMA)
USED = fields_by_contract(SCHEMA)


def test_the_committed_page_is_what_the_contracts_say() -> None:
    assert (ROOT / "docs" / "access-patterns.md").read_text(encoding="utf-8") == PAGE


def test_every_contract_is_used_by_a_field_except_those_of_budgets_and_commands() -> None:
    unused = [contract_id for contract_id, fields in USED.items() if not fields]
    assert unused == ["QC-50", "QC-71", "QC-72", "QC-73", "QC-74"]


def test_every_field_that_reads_or_writes_uses_a_registered_contract() -> None:
    for fields in SCHEMA.types.values():
        for field in fields.values():
            if isinstance(field.binding, Reading):
                assert field.binding.contracts, field.name
                assert all(CONTRACTS[contract.id] is contract for contract in field.binding.contracts), field.name


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.id)
def test_the_page_has_a_row_and_a_section_for_every_contract(contract: Contract) -> None:
    assert f"\n| [{contract.id}](#{contract.id.lower()}) | {contract.purpose} | {contract.operation} | " in PAGE
    section = PAGE.split(f"\n## {contract.id}\n")[1].split("\n## ")[0]
    assert f"\n{contract.purpose}. {contract.note}".rstrip() in section
    assert f"\n- Expected cardinality: {contract.cardinality}\n" in section
    assert f"\n- Hot-partition risk: {contract.hot_partition}\n" in section
    assert all(f"{error.code} {error.status}" in section for error in contract.errors)
    assert all(f"`{field.name}`" in section for field in USED[contract.id])
    assert all(f"`{partition}`, `{sort}`" in section for partition, sort in map(keys.spelled, builders(contract)))


def test_a_claim_names_the_contract_that_reads_what_it_claims() -> None:
    claims = [contract for contract in CONTRACTS.values() if isinstance(contract, ReadOne) and contract.then]
    assert claims
    for claim in claims:
        assert claim.then is not None
        section = PAGE.split(f"\n## {claim.id}\n")[1].split("\n## ")[0]
        assert f"\n- Then: [{claim.then.id}]" in section


def builders(contract: Contract) -> list[Callable[..., Key | KeyRange]]:
    """What makes the keys that a contract reads or writes."""
    match contract:
        case ReadOne():
            return [contract.key]
        case ReadPage():
            return [contract.range]
        case WriteContract():
            return [rule.key for rule in contract.steps]
    raise AssertionError(contract)
