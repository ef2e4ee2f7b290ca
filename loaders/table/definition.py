"""The table itself: its keys and its one index; how it is made, described and checked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from loaders.table.client import Connection

from loaders.table.client import open_client

__all__ = ["TableProblemError", "check_table", "create_table", "definition", "describe_table"]

_WAIT_SECONDS = 60
_POLL_SECONDS = 0.2


class TableProblemError(Exception):
    """The table is not there, not right or not to be reached; the message says what to do."""


def definition(table: str) -> dict[str, Any]:
    """The CreateTable request."""
    return {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")
        ],
        "KeySchema": _key_schema("PK", "SK"),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeySchema": _key_schema("GSI1PK", "GSI1SK"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    }


async def describe_table(connection: Connection) -> dict[str, Any] | None:
    """What the store says of the table, or None where there is none."""
    try:
        async with open_client(connection) as client:
            answer: dict[str, Any] = await client.describe_table(TableName=connection.table)
            description: dict[str, Any] = answer["Table"]
            return description
    except KeyError as error:
        raise TableProblemError(f"{_place(connection)} does not speak DynamoDB's protocol") from error
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            return None
        raise TableProblemError(f"{_place(connection)} refused: {error}") from error
    except BotoCoreError as error:
        raise TableProblemError(f"{_place(connection)} cannot be reached: {error}") from error


async def create_table(connection: Connection) -> bool:
    """Makes the table where there is none, waits until it is ready, and checks it; says whether it made it."""
    made = await describe_table(connection) is None
    if made:
        async with open_client(connection) as client:
            try:
                await client.create_table(**definition(connection.table))
            except client.exceptions.ResourceInUseException:
                made = False
            except (ClientError, BotoCoreError) as error:
                raise TableProblemError(f"{_place(connection)} did not make the table: {error}") from error
    for _ in range(int(_WAIT_SECONDS / _POLL_SECONDS)):
        if (await describe_table(connection) or {}).get("TableStatus") == "ACTIVE":
            break
        await asyncio.sleep(_POLL_SECONDS)
    else:
        raise TableProblemError(f"table {connection.table} was not ready after {_WAIT_SECONDS} seconds: try again")
    if made:
        await _clear_away(connection)
    await check_table(connection)
    return made


async def check_table(connection: Connection) -> None:
    """Refuses a table that is missing or has other keys than ours."""
    found = await describe_table(connection)
    if found is None:
        raise TableProblemError(
            f"{_place(connection)} has no table {connection.table}: make it with `smartlocker table create`"
        )
    wanted = definition(connection.table)
    if _schema(found) != _schema(wanted):
        raise TableProblemError(
            f"table {connection.table} has the keys {_schema(found)}, where SmartLocker needs {_schema(wanted)}: "
            "name another with SMARTLOCKER_TABLE_NAME"
        )


async def _clear_away(connection: Connection) -> None:
    """Has the store delete what says that its time is over."""
    rule = {"Enabled": True, "AttributeName": "expiresAt"}
    async with open_client(connection) as client:
        try:
            await client.update_time_to_live(TableName=connection.table, TimeToLiveSpecification=rule)
        except (ClientError, BotoCoreError) as error:
            raise TableProblemError(f"{_place(connection)} did not set the table's time to live: {error}") from error


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


def _place(connection: Connection) -> str:
    return f"DynamoDB at {connection.endpoint_url or f'AWS {connection.region}'}"
