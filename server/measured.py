"""What each contract asks of the store, measured: one document for each, run on the demo data.

The documents are in `measured.graphql`, what they came to in `measured.json`, from which the page of access patterns
shows it.
"""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from graphql import OperationDefinitionNode, OperationType, parse

from domain.api_keys import ApiKeyId, ApiKeyRole, CreateApiKey
from domain.models import LockerId
from domain.principal import DEVELOPMENT_ADMIN
from domain.rates import Budget
from domain.times import Instant
from loaders.backend import Backend
from loaders.batch import open_loaders
from loaders.contracts import CONTRACTS, QC_50
from loaders.demo import DemoShape, load_demo
from loaders.rates import TableRates
from loaders.table.client import open_store
from loaders.table.recording import RecordedStore
from loaders.trace import Trace
from loaders.writes.api_keys import create_api_key
from resolvers.admission import Admission
from resolvers.context import Context
from resolvers.plan import Maximum
from resolvers.schema import build_schema

if TYPE_CHECKING:
    from loaders.table.client import Connection, DynamoStore
    from resolvers.schema import SmartLockerSchema

__all__ = ["MEASURED", "MeasurementError", "documents", "measure", "measured", "written"]

MEASURED = Path(__file__).with_name("measured.json")

_DOCUMENTS = Path(__file__).with_name("measured.graphql")
_NOW = Instant("2026-03-01T12:00:00.000Z")
_MAXIMUM = Maximum(read_units=25_000, operations=1500, items=20_000)
_TIMES = frozenset({"startMs", "durationMs"})


class MeasurementError(Exception):
    """A contract has no document, or its document did not do what it is there to show."""


def documents() -> dict[str, str]:
    """The documents by the id of their contract, the queries first: what a mutation changes none of them sees."""
    found = [node for node in parse(_DOCUMENTS.read_text()).definitions if isinstance(node, OperationDefinitionNode)]
    found.sort(key=lambda node: node.operation is OperationType.MUTATION)
    return {str(node.name and node.name.value).replace("_", "-"): _text(node) for node in found}


def measured() -> dict[str, list[dict[str, Any]]]:
    """The operations of each contract's document, as they were last measured."""
    content: dict[str, list[dict[str, Any]]] = orjson.loads(MEASURED.read_bytes())
    return content


def written(found: dict[str, list[dict[str, Any]]]) -> str:
    """The file of what was measured, an operation a line, so that a change shows where it is."""
    contracts = []
    for contract, operations in found.items():
        lines = ",\n".join(f"    {orjson.dumps(operation).decode()}" for operation in operations)
        contracts.append(f'  "{contract}": [\n{lines}\n  ]')
    return "{\n" + ",\n".join(contracts) + "\n}\n"


async def measure(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    """Loads the demo data into an empty table and runs every document on it; clock and ids stand still."""
    if missing := CONTRACTS.keys() - documents().keys() - {QC_50.id}:
        raise MeasurementError(f"{_DOCUMENTS.name} has no document for {', '.join(sorted(missing))}")
    async with open_store(connection) as store:
        await load_demo(store, DemoShape(), _NOW, lambda _: None)
        await _make_key(store)
        schema = build_schema()
        found = {contract: await _explained(store, schema, text) for contract, text in documents().items()}
        return dict(sorted((found | {QC_50.id: await _charged(store)}).items()))


async def _make_key(store: DynamoStore) -> None:
    """The one thing that the demo data lacks: keys are made, and seen, by whoever runs a server."""
    backend = Backend(store, lambda: _NOW, str, timedelta(days=30))
    command = CreateApiKey(
        key_id=ApiKeyId("key-1"), name="Door 7", role=ApiKeyRole.DEVICE, locker_id=LockerId("locker-000007")
    )
    await create_api_key(backend, command, created_by="measured")


async def _explained(store: DynamoStore, schema: SmartLockerSchema, document: str) -> list[dict[str, Any]]:
    """The operations of one document, without their times."""
    trace = Trace()
    ids = itertools.count(1)
    backend = Backend(RecordedStore(store, trace), lambda: _NOW, lambda: f"made-here-{next(ids)}", timedelta(days=30))
    loaders = open_loaders(backend, trace)
    context = Context(backend, loaders, DEVELOPMENT_ADMIN, 25, 100, Admission(_MAXIMUM), trace)
    result = await schema.execute(document, context_value=context)
    if result.errors or any((payload or {}).get("userErrors") for payload in (result.data or {}).values()):
        raise MeasurementError(f"{document}\n{result}")
    return _timeless(trace)


async def _charged(store: DynamoStore) -> list[dict[str, Any]]:
    """What charging a caller's second request asks: no document does. The first finds no budget to take it from."""
    trace = Trace()
    recorded = RecordedStore(store, trace)
    budget = Budget(600, 600)
    await TableRates(lambda: store, budget, lambda: 0).take("owner-0001", 1)
    await TableRates(lambda: recorded, budget, lambda: 0).take("owner-0001", 1)
    return _timeless(trace)


def _timeless(trace: Trace) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in operation.items() if name not in _TIMES}
        for operation in trace.explanation()["operations"]
    ]


def _text(node: OperationDefinitionNode) -> str:
    """A document as it is written, without the name that only says whose it is."""
    assert node.loc is not None  # noqa: S101  # the parser was not told to leave it out
    text = node.loc.source.body[node.loc.start : node.loc.end]
    kind, _, rest = text.partition("{")
    keyword = "" if kind.startswith("query") else "mutation "
    return f"{keyword}{{{rest}"
