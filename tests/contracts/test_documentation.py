"""The documentation is the contracts', the contracts are the design's, and the schema knows their fields."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import graphql
import pytest

from loaders.contracts import CONTRACTS
from resolvers.schema import build_schema
from server.documentation import access_patterns

if TYPE_CHECKING:
    from loaders.contract import Contract

ROOT = Path(__file__).parents[2]
SCHEMA = graphql.build_schema(build_schema().as_str())
DESIGNED = {f"QC-{number:02d}" for number in (*range(1, 16), 20, 21, 22)}
ADDED = {"QC-16"}


def test_every_contract_of_the_design_is_there() -> None:
    assert set(CONTRACTS) == DESIGNED | ADDED


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.id)
def test_every_field_that_a_contract_serves_is_in_the_schema(contract: Contract) -> None:
    assert len(set(contract.fields)) == len(contract.fields)
    for coordinate in contract.fields:
        type_name, field_name = coordinate.split(".")
        parent = SCHEMA.get_type(type_name)
        assert isinstance(parent, graphql.GraphQLObjectType), coordinate
        assert field_name in parent.fields, coordinate


def test_every_query_and_every_mutation_is_served_by_a_contract() -> None:
    assert SCHEMA.query_type is not None
    assert SCHEMA.mutation_type is not None
    roots = {f"Query.{name}" for name in SCHEMA.query_type.fields}
    roots |= {f"Mutation.{name}" for name in SCHEMA.mutation_type.fields}
    assert roots - {field for contract in CONTRACTS.values() for field in contract.fields} == set()


def test_every_list_of_the_schema_is_served_by_a_contract() -> None:
    served = {field for contract in CONTRACTS.values() for field in contract.fields}
    connections = {
        f"{parent.name}.{name}"
        for parent in SCHEMA.type_map.values()
        if isinstance(parent, graphql.GraphQLObjectType)
        for name, field in parent.fields.items()
        if graphql.get_named_type(field.type).name.endswith("Connection")
    }
    assert connections == {"Owner.lockers", "Owner.reservations", "Locker.reservations", "Locker.accessEvents"}
    assert connections <= served


def test_the_page_of_access_patterns_is_what_the_contracts_say() -> None:
    written = (ROOT / "docs" / "access-patterns.md").read_text(encoding="utf-8")
    assert written == access_patterns()


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.id)
def test_the_page_has_a_row_and_a_section_for_every_contract(contract: Contract) -> None:
    page = access_patterns()
    assert f"\n| [{contract.id}](#{contract.id.lower()}) | {contract.purpose} | {contract.operation} | " in page
    section = page.split(f"\n## {contract.id}\n")[1].split("\n## ")[0]
    assert contract.purpose in section
    assert all(f"{error.code} {error.status}" in section for error in contract.errors)
    assert all(f"`{field}`" in section for field in contract.fields)
    assert "<" in section
