"""The table: its keys and its index, how it is created, described and checked."""

import asyncio
import logging
from contextlib import suppress
from typing import Any

from domain.errors import UnavailableError
from loaders.reads.table_state import FIRST_STATE, refusal
from loaders.table.client import StoreConnection, open_store, open_transport
from loaders.table.errors import TransactionRefusedError
from loaders.table.transport import NoAnswerError, RefusedRequestError
from loaders.tools.table_state import CURRENT_STATE, TableProblemError, check_format, read_state, save_state

logger = logging.getLogger(__name__)

_WAIT_SECONDS = 60
_POLL_SECONDS = 0.2


def definition(table: str) -> dict[str, Any]:
    return {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")
        ],
        "KeySchema": _key_schema("PK", "SK"),
        "GlobalSecondaryIndexes": [
            {"IndexName": "GSI1", "KeySchema": _key_schema("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}
        ],
    }


async def describe_table(connection: StoreConnection) -> dict[str, Any] | None:
    try:
        answer = await _send(connection, "DescribeTable", {"TableName": connection.table})
        description: dict[str, Any] = answer["Table"]
    except KeyError as error:
        raise TableProblemError(f"{_place(connection)} does not answer by DynamoDB's protocol") from error
    except RefusedRequestError as error:
        if error.code == "ResourceNotFoundException":
            return None
        raise TableProblemError(f"{_place(connection)} refused: {error}") from error
    except NoAnswerError as error:
        raise TableProblemError(f"{_place(connection)} cannot be reached: {error}") from error
    return description


async def create_table(connection: StoreConnection) -> bool:
    """Creates the table where there is none, waits until it is ready, and checks it; returns whether it was created.

    In a local store, an empty table is one that an interrupted call has made: it is finished. (AWS counts items late.)
    """
    is_new = await describe_table(connection) is None
    if is_new:
        try:
            await _send(connection, "CreateTable", definition(connection.table))
        except (RefusedRequestError, NoAnswerError) as error:
            if not isinstance(error, RefusedRequestError) or error.code != "ResourceInUseException":
                raise TableProblemError(f"{_place(connection)} did not create the table: {error}") from error
            is_new = False
    for _ in range(int(_WAIT_SECONDS / _POLL_SECONDS)):
        found = await describe_table(connection) or {}
        if found.get("TableStatus") == "ACTIVE":
            break
        await asyncio.sleep(_POLL_SECONDS)
    else:
        raise TableProblemError(f"table {connection.table} was not ready after {_WAIT_SECONDS} seconds: try again")
    if is_new or (connection.local and found.get("ItemCount") == 0):  # a damaged database has no count
        await _set_time_to_live(connection)
        async with open_store(connection) as store:
            with suppress(TransactionRefusedError):  # another call was faster
                await save_state(store, FIRST_STATE, CURRENT_STATE)
    await check_table(connection)
    return is_new


async def delete_table(connection: StoreConnection) -> None:
    """Deletes the table with all its items, and waits until it is gone."""
    try:
        await _send(connection, "DeleteTable", {"TableName": connection.table})
    except (RefusedRequestError, NoAnswerError) as error:
        raise TableProblemError(f"{_place(connection)} did not delete the table: {error}") from error
    for _ in range(int(_WAIT_SECONDS / _POLL_SECONDS)):
        if await describe_table(connection) is None:
            return
        await asyncio.sleep(_POLL_SECONDS)
    raise TableProblemError(f"table {connection.table} was not deleted after {_WAIT_SECONDS} seconds: try again")


async def check_table(connection: StoreConnection) -> None:
    """Refuses a table that is missing, has other keys, or a newer format than this version supports."""
    found = await describe_table(connection)
    if found is None:
        raise TableProblemError(
            f"{_place(connection)} has no table {connection.table}: create it with `smartlocker table create`"
        )
    wanted = definition(connection.table)
    if _schema(found) != _schema(wanted):
        raise TableProblemError(
            f"table {connection.table} has the keys {_schema(found)}, where SmartLocker needs {_schema(wanted)}: "
            "name another with SMARTLOCKER_TABLE_NAME"
        )
    async with open_store(connection) as store:
        try:
            state = await read_state(store)
        except UnavailableError as error:
            raise TableProblemError(f"{_place(connection)} cannot be read: {error.__cause__}") from error
    check_format(connection.table, state)
    reason = refusal(state)
    if reason is not None:
        logger.warning("table %s cannot be served: %s", connection.table, reason)


async def _set_time_to_live(connection: StoreConnection) -> None:
    """Has the store delete items whose `expiresAt` has passed."""
    rule = {"Enabled": True, "AttributeName": "expiresAt"}
    try:
        await _send(connection, "UpdateTimeToLive", {"TableName": connection.table, "TimeToLiveSpecification": rule})
    except (RefusedRequestError, NoAnswerError) as error:
        raise TableProblemError(f"{_place(connection)} did not set the table's time to live: {error}") from error


async def _send(connection: StoreConnection, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    async with open_transport(connection) as transport:
        return (await transport.send(operation, request)).body


def _key_schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def _schema(table: dict[str, Any]) -> str:
    """The keys of the table and of our index, with their types, as one line."""
    attribute_types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
    indexes = {index["IndexName"]: index["KeySchema"] for index in table.get("GlobalSecondaryIndexes", [])}
    schemas = {"table": table["KeySchema"], "GSI1": indexes.get("GSI1", [])}
    return "; ".join(
        f"{name} "
        + (
            ", ".join(f"{k['AttributeName']} {k['KeyType']} {attribute_types[k['AttributeName']]}" for k in keys)
            or "none"
        )
        for name, keys in schemas.items()
    )


def _place(connection: StoreConnection) -> str:
    return f"DynamoDB at {connection.endpoint_url or f'AWS {connection.region}'}"
