"""States of a table: those in which it cannot be used, and how a test sets them."""

from dataclasses import replace
from typing import Any

from loaders.codecs import TABLE_STATE, TableState
from loaders.contracts.table_state import FORMAT_VERSION
from loaders.tools.table_state import CURRENT_STATE
from tests.tables import put

KEY = {"PK": "TABLE", "SK": "FORMAT"}
OLDER = replace(CURRENT_STATE, format_version=FORMAT_VERSION - 1)
MARKED = replace(CURRENT_STATE, migrating_to=FORMAT_VERSION)

_RUN = "is not migrated yet: run `smartlocker migrate`"
_WAIT = "is being migrated: wait until `smartlocker migrate` has ended"
_NEWER = "a newer version of SmartLocker is needed"
UNUSABLE: dict[str, tuple[TableState | None, str]] = {
    "missing": (None, _RUN),
    "older": (OLDER, _RUN),
    "newer": (replace(CURRENT_STATE, format_version=FORMAT_VERSION + 1), _NEWER),
    "being migrated": (MARKED, _WAIT),
    "older and being migrated": (replace(MARKED, format_version=1), _WAIT),
    "being migrated to a newer format": (replace(CURRENT_STATE, migrating_to=FORMAT_VERSION + 1), _NEWER),
}
"""With what a refusal says."""


async def set_state(plain_client: Any, table: str, state: TableState | None) -> None:
    if state is None:
        await plain_client.delete_item(TableName=table, Key={name: {"S": value} for name, value in KEY.items()})
    else:
        await put(plain_client, table, KEY | TABLE_STATE.encode(state))
