"""The state of the table as commands use it: created with the table, required by what writes, changed by a migration.

A migration marks the table, waits until no server serves it, and then converts its items. An interrupted one leaves
the mark, so that no server serves a table of which only a part is converted; the next one goes on.
"""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from domain.errors import OperatorError
from domain.times import Instant
from loaders.codecs import TABLE_STATE, TableState
from loaders.contracts.table_state import CHANGE_TABLE_STATE, FORMAT_VERSION, SAVE_TABLE_STATE
from loaders.reads.table_state import FIRST_STATE, VALID_SECONDS, refusal
from loaders.table.client import DynamoStore, Store
from loaders.table.errors import TransactionRefusedError
from loaders.writes.optimistic import Decision, optimistic_write

CURRENT_STATE = TableState(format_version=FORMAT_VERSION, revision=1)
"""The state of a new table."""

_FIRST_WATCHED_FORMAT = 5
"""Servers of earlier formats do not look at the state while they run: they are stopped by hand."""
_LATE_WRITE_SECONDS = 5
"""For how long the store may still apply a write whose request has ended."""


class Mark(NamedTuple):
    """A migration that runs."""

    began: Instant
    """When it began: of several that were interrupted, the first."""
    revision: int
    """Of the table's state; that of another run is higher."""


class TableProblemError(OperatorError):
    """The table is missing, has another layout or cannot be reached; the message says what to do."""


async def read_state(store: Store) -> TableState:
    found: TableState | None = await SAVE_TABLE_STATE.read(store, "state")
    return FIRST_STATE if found is None else found


async def require_current(store: Store) -> None:
    """Refuses a table that is not of this version's format, or is being migrated."""
    reason = refusal(await read_state(store))
    if reason is not None:
        raise TableProblemError(reason)


def check_format(table: str, found: TableState) -> None:
    """Refuses a table that a newer version of SmartLocker has migrated, or is migrating."""
    version = max(found.format_version, found.migrating_to or 0)
    if version > FORMAT_VERSION:
        raise TableProblemError(
            f"table {table} has format {version}, and this version of SmartLocker supports formats up to "
            f"{FORMAT_VERSION}: install the version that migrated the table, or a newer one"
        )


async def save_state(store: Store, read: TableState, becomes: TableState) -> TableState:
    """Replaces the state that was read, unless another command has replaced it; returns it as it is written."""
    written = replace(becomes, revision=read.revision + 1)
    if read.revision == FIRST_STATE.revision:
        step = SAVE_TABLE_STATE.step("new state", (), TABLE_STATE.encode(written))
    else:
        step = SAVE_TABLE_STATE.step("state", (), TABLE_STATE.encode(written), readRevision=read.revision)
    await store.transact(SAVE_TABLE_STATE.transact(step))
    return written


async def record_code_keys(store: Store, change: Callable[[tuple[str, ...]], Iterable[str]]) -> tuple[str, ...]:
    """Changes the recorded ids of keys that codes may need, and returns them; an unusable table stays as it is."""
    changed = await _change_state(store, lambda state: replace(state, code_keys=tuple(change(state.code_keys))))
    return changed.code_keys


async def set_read_only(store: Store, *, is_read_only: bool) -> None:
    """Tells servers to refuse all changes, or to accept them again; see `drain_seconds`."""
    await _change_state(store, lambda state: replace(state, is_read_only=is_read_only))


async def _change_state(store: Store, change: Callable[[TableState], TableState]) -> TableState:
    async def decide(_: Counter[str]) -> Decision[TableState]:
        state: TableState = await CHANGE_TABLE_STATE.read(store, "state") or FIRST_STATE
        becomes = change(state)
        if becomes == state or refusal(state) is not None:
            return Decision(becomes)
        # The revision stays: a migration that has read it may go on.
        step = CHANGE_TABLE_STATE.step(
            "state",
            (),
            TABLE_STATE.encode(becomes),
            readRevision=state.revision,
            readKeys=list(state.code_keys),
            readMode=state.is_read_only,
        )
        return Decision(becomes, [step])

    return await optimistic_write(store, CHANGE_TABLE_STATE, decide, changed=("table",))


def drain_seconds(request_seconds: float) -> float:
    """How long after the mark a server may still write, if its requests have this deadline."""
    return VALID_SECONDS + request_seconds + _LATE_WRITE_SECONDS


@asynccontextmanager
async def being_migrated(
    store: DynamoStore, now: Instant, drained: Callable[[], Awaitable[None]]
) -> AsyncIterator[Mark]:
    """Marks the table as being migrated while the block runs; it has the current format if the block succeeds.

    If it fails, or the process is killed, the mark stays. Of two migrations at once, the one that began last ends.
    `drained` is called if a server may serve the table, and returns when none can any more (see `drain_seconds`).
    """
    found = await read_state(store)
    check_format(store.table, found)
    is_drained = found.is_drained or found.format_version < _FIRST_WATCHED_FORMAT
    began = found.migrating_since or now
    mark = replace(found, migrating_to=FORMAT_VERSION, migrating_since=began, is_drained=is_drained)
    marked = await _save(store, found, mark)
    if not is_drained:
        await drained()
        marked = await _save(store, marked, replace(marked, is_drained=True))
    yield Mark(began, marked.revision)
    await _save(store, marked, replace(CURRENT_STATE, code_keys=marked.code_keys, is_read_only=marked.is_read_only))


async def _save(store: DynamoStore, read: TableState, becomes: TableState) -> TableState:
    try:
        return await save_state(store, read, becomes)
    except TransactionRefusedError:
        raise overtaken(store) from None


def overtaken(store: DynamoStore) -> TableProblemError:
    """The refusal of a migration after which another one has begun."""
    return TableProblemError(f"another migration of table {store.table} is running: let it finish")
