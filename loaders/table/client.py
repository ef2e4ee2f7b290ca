"""The store of the process: runs operations on the table through a transport."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from domain.errors import UnavailableError
from loaders.table.errors import BusyError, UnreadKeysError, translated
from loaders.table.http_client import ConnectionPool, Timeouts
from loaders.table.operations import BatchGet, Get, Operation, Put, Query, Read, Scan, Transact, Update
from loaders.table.positions import Key, Position
from loaders.table.raw_transport import RawTransport
from loaders.table.retry import pause
from loaders.table.signing import Credentials, Signer
from loaders.table.stamps import stamped
from loaders.table.transport import MAX_CONNECTIONS, Answer, NoAnswerError, RefusedRequestError, Transport
from loaders.table.values import FoundItem, Item, WireItem, item_from_wire

_CONFLICT_ATTEMPTS = 12
_UNPROCESSED_ATTEMPTS = 8
_TIMEOUTS = Timeouts()
_LOCAL = Credentials("local", "local", None)


@dataclass(frozen=True, slots=True)
class StoreConnection:
    """Where the table is. A `local` store is asked with placeholder credentials; `client` chooses the transport."""

    table: str
    region: str
    endpoint_url: str | None = None
    local: bool = False
    client: Literal["raw", "sdk"] = "raw"
    timeouts: Timeouts = _TIMEOUTS


@dataclass(frozen=True, slots=True)
class QueryPage:
    """Items of a Query, and the position at which it stopped, if it did."""

    items: list[FoundItem]
    last: Position | None
    position_of: Callable[[FoundItem], Position]

    @property
    def placed(self) -> list[tuple[Position, FoundItem]]:
        """The items, each with its position: to make these takes longer than to read most pages."""
        return [(self.position_of(item), item) for item in self.items]


@dataclass(frozen=True, slots=True)
class ScanPage:
    """Items of a Scan, and the key after which to continue, if there may be more."""

    items: list[WireItem]
    last: Key | None


class Store(Protocol):
    """All that may be asked of the store. What is read comes as the store's typed JSON, or in the operation's shape."""

    async def get(self, operation: Get) -> FoundItem | None:
        """Returns the item, if it exists."""

    async def batch_get(self, operation: BatchGet) -> Mapping[tuple[str, str], FoundItem]:
        """Returns the items that exist; every key was read, or this raises UnreadKeysError with those that were."""

    async def query(self, operation: Query) -> QueryPage:
        """Returns the next items of a range: as many as the operation's limit, or all that there are."""

    async def put(self, operation: Put) -> None:
        """Writes one item, or raises ConditionFailedError."""

    async def transact(self, operation: Transact) -> None:
        """Writes all steps, or raises TransactionRefusedError."""


class DynamoStore:
    def __init__(self, transport: Transport, table: str) -> None:
        self.transport = transport
        self.table = table

    async def get(self, operation: Get) -> FoundItem | None:
        answer = await self.answer(operation, operation.render(self.table))
        return answer.body.get("Item") or None

    async def batch_get(self, operation: BatchGet) -> Mapping[tuple[str, str], FoundItem]:
        """See Store. What the store left unprocessed is asked for again."""
        found: dict[tuple[str, str], FoundItem] = {}  # a plain tuple equals a key, and takes less time to make
        request = operation.render(self.table)
        for attempt in range(_UNPROCESSED_ATTEMPTS):
            if attempt:
                await pause(attempt)
            answer = (await self.answer(operation, request)).body
            for item in answer["Responses"].get(self.table, ()):
                if isinstance(item, dict):
                    found[item["PK"]["S"], item["SK"]["S"]] = item
                else:
                    found[item.PK.S, item.SK.S] = item
            if not answer.get("UnprocessedKeys"):
                return found
            request = {"RequestItems": answer["UnprocessedKeys"]}
        unread = request["RequestItems"][self.table]["Keys"]
        raise UnreadKeysError(frozenset((key["PK"]["S"], key["SK"]["S"]) for key in unread), found)

    async def query(self, operation: Query) -> QueryPage:
        """See Store. The store cuts an answer off at 1 MB, whatever the limit: what is left is asked for again."""
        position_of = operation.within.position
        found: list[FoundItem] = []
        rest = operation
        while True:
            answer = (await self.answer(operation, rest.render(self.table))).body
            found += answer["Items"]
            last = answer.get("LastEvaluatedKey")
            if not last or len(found) >= operation.limit:
                return QueryPage(found, position_of(last) if last else None, position_of)
            rest = replace(operation, limit=operation.limit - len(found), start=position_of(last))

    async def put(self, operation: Put) -> None:
        await self._write(operation)

    async def transact(self, operation: Transact) -> None:
        """See Store. One token for all attempts: what was applied is never applied again."""
        with stamped(operation.stamp):
            await self._write(operation)

    async def update(self, operation: Update) -> Item:
        """Returns the item after the change, or raises ConditionFailedError."""
        answer = await self.answer(operation, operation.render(self.table))
        return item_from_wire(answer.body["Attributes"])

    async def scan(self, operation: Scan) -> ScanPage:
        """Returns the next items of the table. Only commands scan, so this is no part of Store."""
        answer = (await self.answer(operation, operation.render(self.table))).body
        last = answer.get("LastEvaluatedKey")
        return ScanPage(answer["Items"], Key(last["PK"]["S"], last["SK"]["S"]) if last else None)

    async def _write(self, operation: Put | Transact) -> None:
        request = operation.render(self.table)
        for attempt in range(_CONFLICT_ATTEMPTS):
            if attempt:
                await pause(attempt)
            try:
                await self.answer(operation, request)
            except BusyError:
                continue  # no transport retries a conflict between transactions
            return
        raise UnavailableError("Too many concurrent changes to the same item: try again in a moment.")

    async def answer(self, operation: Operation, request: dict[str, Any]) -> Answer:
        """Sends one request; an error of the store is translated to an exception of ours."""
        try:
            shape = operation.shape if isinstance(operation, Read) else None
            return await self.transport.send(operation.name, request, shape)
        except RefusedRequestError as error:
            raise translated(error, operation) from error
        except NoAnswerError as error:
            raise UnavailableError("The store did not answer: try again in a moment.") from error


@asynccontextmanager
async def open_store(connection: StoreConnection) -> AsyncIterator[DynamoStore]:
    async with open_transport(connection) as transport:
        yield DynamoStore(transport, connection.table)


@asynccontextmanager
async def open_transport(connection: StoreConnection) -> AsyncIterator[Transport]:
    """The transport of a connection. The SDK is loaded for its own client, and for AWS's endpoints and credentials."""
    url = connection.endpoint_url or ""
    if connection.client == "raw" and connection.local and url.startswith("http:"):
        async with _raw_transport(connection, url, connection.region, _local_credentials, None) as transport:
            yield transport
        return
    from loaders.table.sdk import SdkTransport, credentials_of, open_client, tls_of  # noqa: PLC0415  # slow to load

    async with open_client(connection) as client:
        if connection.client == "sdk":
            yield SdkTransport(client)
            return
        url, region = client.meta.endpoint_url, client.meta.region_name
        async with _raw_transport(connection, url, region, credentials_of(client), tls_of(client)) as transport:
            yield transport


@asynccontextmanager
async def _raw_transport(
    connection: StoreConnection,
    url: str,
    region: str,
    credentials: Callable[[], Awaitable[Credentials]],
    tls: ssl.SSLContext | None,
) -> AsyncIterator[RawTransport]:
    pool = ConnectionPool(url, MAX_CONNECTIONS, connection.timeouts, tls)
    try:
        yield RawTransport(pool, Signer(region, pool.host_header, pool.path), credentials)
    finally:
        await pool.close()


async def _local_credentials() -> Credentials:
    """A local store checks no signature."""
    return _LOCAL
