"""What the page of access patterns shows of each contract is what its document does on the demo data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loaders.contract import GetContract, QueryContract, WriteContract
from loaders.contracts import CONTRACTS
from loaders.table.client import Connection
from server import measured
from server.documentation import access_patterns
from server.measured import MeasurementError, documents, measure

if TYPE_CHECKING:
    from pathlib import Path

    from loaders.contract import Contract
    from tests.wire import Wire

KEPT = measured.measured()


def own(contract: Contract) -> list[dict[str, Any]]:
    """The operations of a contract's document that are the contract's."""
    return [operation for operation in KEPT[contract.id] if operation["contract"] == contract.id]


async def test_every_document_does_on_fresh_demo_data_what_was_measured(wire: Wire, table: str) -> None:
    found = await measure(Connection(table, "eu-central-1", wire.url, local=True))
    assert found == KEPT
    units = sum(operation["readUnits"] + operation["writeUnits"] for part in KEPT.values() for operation in part)
    told = [call.units for call in wire.calls if "ReturnConsumedCapacity" in call.request]
    assert (len(told), sum(told)) == (sum(map(len, KEPT.values())), units)


def test_every_contract_has_a_document_and_every_document_a_contract() -> None:
    assert set(KEPT) == set(CONTRACTS)
    assert set(documents()) == set(CONTRACTS) - {"QC-50"}  # it serves a request, whatever its document


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.id)
def test_a_contracts_document_uses_it_within_what_it_declares(contract: Contract) -> None:
    operations = own(contract)
    assert contract.operation in {operation["operation"] for operation in operations}
    assert {operation["outcome"] for operation in operations} == {"ok"}
    match contract:
        case GetContract() | QueryContract():
            assert sum(operation["readUnits"] for operation in operations) <= contract.read_units
        case WriteContract():
            assert 0 < sum(operation["writeUnits"] for operation in operations) <= contract.write_units


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.id)
def test_the_page_shows_a_contracts_document_and_all_that_it_asked(contract: Contract) -> None:
    section = access_patterns().split(f"\n## {contract.id}\n")[1].split("\n## ")[0]
    if contract.id in documents():
        assert f"```graphql\n{documents()[contract.id]}\n```" in section
    rows = section.split("\n|---|---|---|---|---|---|\n")[1].splitlines()
    assert [row.split(" | ")[0] for row in rows if row] == [f"| {asked['contract']}" for asked in KEPT[contract.id]]
    assert all(f"`{key['sk']}`" in section for asked in KEPT[contract.id] for key in asked["keys"] or ())


async def test_a_contract_without_a_document_is_not_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wire: Wire, table: str
) -> None:
    path = tmp_path / "measured.graphql"
    path.write_text('query QC_01 { locker(lockerId: "nowhere") { alias } }')
    monkeypatch.setattr(measured, "_DOCUMENTS", path)
    with pytest.raises(MeasurementError, match=r"^measured\.graphql has no document for QC-02, QC-03, "):
        await measure(Connection(table, "eu-central-1", wire.url, local=True))
    monkeypatch.setattr(measured, "CONTRACTS", {"QC-01": CONTRACTS["QC-01"]})
    with pytest.raises(MeasurementError, match="There is no locker nowhere"):
        await measure(Connection(table, "eu-central-1", wire.url, local=True))
