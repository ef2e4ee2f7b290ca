"""The one client of the process: runs operations on the table through aioboto3."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import aioboto3
from aiobotocore.config import AioConfig
from botocore.exceptions import BotoCoreError, ClientError

from domain.errors import UnavailableError
from loaders.table.errors import BusyError, translated
from loaders.table.keys import Key, Position
from loaders.table.retry import attempts
from loaders.table.values import Item, item_from_wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from loaders.table.operations import BatchGet, Get, Operation, Put, Query, Transact
    from loaders.table.updates import Update

__all__ = ["Connection", "DynamoStore", "QueryPage", "Store", "open_client", "open_store"]

SDK_ATTEMPTS = 3
_CONFLICT_ATTEMPTS = 12
_UNPROCESSED_ATTEMPTS = 8
_CONFIG = AioConfig(
    retries={"mode": "standard", "total_max_attempts": SDK_ATTEMPTS},
    connect_timeout=1,
    read_timeout=2,
    max_pool_connections=64,
    connector_args={"keepalive_timeout": 60},
    # Requests come from frozen operations whose renderings are tested to the letter.
    parameter_validation=False,
)


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the table is; a `local` store is asked without credentials."""

    table: str
    region: str
    endpoint_url: str | None = None
    local: bool = False


@dataclass(frozen=True, slots=True)
class QueryPage:
    """What a Query returned, and where it stopped, if it did."""

    items: list[tuple[Position, Item]]
    last: Position | None


class Store(Protocol):
    """All that may be asked of the store."""

    async def get(self, operation: Get) -> Item | None:
        """The item, if it is there."""

    async def batch_get(self, operation: BatchGet) -> dict[Key, Item]:
        """The items that are there; every key was read, or this raises."""

    async def query(self, operation: Query) -> QueryPage:
        """The next items of a range: as many as the operation's limit, or all that there are."""

    async def put(self, operation: Put) -> None:
        """Writes one item, or raises ConditionFailedError."""

    async def transact(self, operation: Transact) -> None:
        """Writes all steps, or raises TransactionRefusedError."""


class DynamoStore:
    """The store behind DynamoDB's protocol."""

    def __init__(self, client: Any, table: str) -> None:
        self.client = client
        self.table = table

    async def get(self, operation: Get) -> Item | None:
        """See Store."""
        answer = await self._send("get_item", operation, operation.render(self.table))
        item = answer.get("Item")
        return item_from_wire(item) if item else None

    async def batch_get(self, operation: BatchGet) -> dict[Key, Item]:
        """See Store. What the store left unprocessed is asked for again."""
        found: dict[Key, Item] = {}
        request = operation.render(self.table)
        async for _ in attempts(_UNPROCESSED_ATTEMPTS):
            answer = await self._send("batch_get_item", operation, request)
            items = map(item_from_wire, answer["Responses"].get(self.table, []))
            found |= {_key_of(item): item for item in items}
            if not answer.get("UnprocessedKeys"):
                return found
            request = {"RequestItems": answer["UnprocessedKeys"]}
        raise UnavailableError("The store left keys unread: try again in a moment.")

    async def query(self, operation: Query) -> QueryPage:
        """See Store. The store cuts an answer off at 1 MB, whatever the limit: what is left is asked for again."""
        position_of = operation.within.position
        found: list[tuple[Position, Item]] = []
        rest = operation
        while True:
            answer = await self._send("query", operation, rest.render(self.table))
            found += [(position_of(item), item) for item in map(item_from_wire, answer["Items"])]
            last = answer.get("LastEvaluatedKey")
            if not last or len(found) >= operation.limit:
                return QueryPage(found, position_of(item_from_wire(last)) if last else None)
            rest = replace(operation, limit=operation.limit - len(found), start=position_of(item_from_wire(last)))

    async def put(self, operation: Put) -> None:
        """See Store."""
        await self._write("put_item", operation)

    async def transact(self, operation: Transact) -> None:
        """See Store. One token for all attempts: what was applied is never applied again."""
        await self._write("transact_write_items", operation)

    async def update(self, operation: Update) -> Item:
        """The item as it is after the change, or raises ConditionFailedError."""
        answer = await self._send("update_item", operation, operation.render(self.table))
        return item_from_wire(answer["Attributes"])

    async def _write(self, method: str, operation: Put | Transact) -> None:
        request = operation.render(self.table)
        async for _ in attempts(_CONFLICT_ATTEMPTS):
            try:
                await self._send(method, operation, request)
            except BusyError:
                continue  # the SDK does not retry a conflict between transactions
            return
        raise UnavailableError("Too many changes met at one item: try again in a moment.")

    async def _send(self, method: str, operation: Operation | Update, request: dict[str, Any]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await getattr(self.client, method)(**request)
        except ClientError as error:
            raise translated(error, operation) from error
        except BotoCoreError as error:
            raise UnavailableError("The store did not answer: try again in a moment.") from error
        return answer


@asynccontextmanager
async def open_client(connection: Connection) -> AsyncIterator[Any]:
    """The low-level client, its pool kept alive until the block ends."""
    # A store of one's own checks no signature, but the SDK wants to make one.
    placeholders = {"aws_access_key_id": "local", "aws_secret_access_key": "local"} if connection.local else {}
    async with aioboto3.Session().client(
        "dynamodb",
        region_name=connection.region,
        endpoint_url=connection.endpoint_url,
        config=_CONFIG,
        **placeholders,
    ) as client:
        yield client


@asynccontextmanager
async def open_store(connection: Connection) -> AsyncIterator[DynamoStore]:
    """The store of a connection."""
    async with open_client(connection) as client:
        yield DynamoStore(client, connection.table)


def _key_of(item: Item) -> Key:
    return Key(str(item["PK"]), str(item["SK"]))
