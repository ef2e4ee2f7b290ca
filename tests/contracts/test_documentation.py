"""The documentation is the contracts', the contracts are the design's, and the schema knows their fields."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import graphql
import pytest

from loaders import keys
from loaders.contract import GetContract, QueryContract, WriteContract
from loaders.contracts import CONTRACTS
from resolvers.schema import build_schema
from server.documentation import access_patterns

if TYPE_CHECKING:
    from collections.abc import Callable

    from loaders.contract import Contract
    from loaders.table.operations import Key, KeyRange

ROOT = Path(__file__).parents[2]
SCHEMA = graphql.build_schema(build_schema().as_str())
DESIGNED = {f"QC-{number:02d}" for number in (*range(1, 16), *range(20, 23), *range(30, 35), *range(40, 45))}
ADDED = {"QC-16", "QC-45", "QC-46", "QC-47", "QC-48", "QC-49", "QC-50"} | {"QC-60", "QC-61", "QC-62", "QC-63"}


def test_every_contract_of_the_design_is_there() -> None:
    assert set(CONTRACTS) == DESIGNED | ADDED


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.id)
def test_every_field_that_a_contract_serves_is_in_the_schema(contract: Contract) -> None:
    assert len(set(contract.fields)) == len(contract.fields)
    for coordinate in contract.fields:
        if coordinate == "/graphql":  # every request, whatever it asks for
            continue
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
    assert connections == {
        "Query.apiKeys",
        "Query.locations",
        "Query.pendingBookings",
        "Owner.lockers",
        "Owner.reservations",
        "Owner.bookings",
        "Owner.notifications",
        "Locker.reservations",
        "Locker.accessEvents",
        "Location.lockers",
        "Booking.payments",
    }
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
    assert all(f"`{partition}`, `{sort}`" in section for partition, sort in map(keys.spelled, builders(contract)))


def builders(contract: Contract) -> list[Callable[..., Key | KeyRange]]:
    """What makes the keys that a contract reads or writes."""
    match contract:
        case GetContract():
            return [contract.key] if contract.claim is None else [contract.key, contract.claim]
        case QueryContract():
            return [contract.range]
        case WriteContract():
            return [rule.key for rule in contract.steps]
    raise AssertionError(contract)
