"""The format version of the table, which says what a server may rely on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.errors import UnavailableError
from loaders.codecs import TABLE_FORMAT, TableFormat
from loaders.contracts.table_format import FORMAT_VERSION, SAVE_TABLE_FORMAT, STORED_FORMAT

if TYPE_CHECKING:
    from loaders.backend import Backend
    from loaders.table.client import Store
    from loaders.table.operations import Transact

FIRST_FORMAT = TableFormat(format_version=1, revision=0)
"""The format of a table without a format item."""

CURRENT_FORMAT = TableFormat(format_version=FORMAT_VERSION, revision=1)
"""The format of a new table."""


async def require_format(backend: Backend, version: int) -> None:
    """Refuses a read that relies on a format to which the table is not migrated yet (QC-70).

    A table never goes back to an earlier format, so a server does not ask again once this has succeeded.
    """
    if version in backend.known_formats:
        return
    found = await STORED_FORMAT.read(backend.store) or FIRST_FORMAT
    if found.format_version < version:
        raise UnavailableError("The table is not migrated yet: run `smartlocker migrate`.")
    backend.known_formats.add(version)


async def read_format(store: Store) -> TableFormat:
    """The format of the table, strongly consistent."""
    found: TableFormat | None = await SAVE_TABLE_FORMAT.read(store, "format")
    return FIRST_FORMAT if found is None else found


def saving(read: TableFormat, becomes: TableFormat) -> tuple[Transact, TableFormat]:
    """The request that replaces the format that was read, and the format as it is written."""
    written = replace(becomes, revision=read.revision + 1)
    if read.revision == FIRST_FORMAT.revision:
        step = SAVE_TABLE_FORMAT.step("new format", (), TABLE_FORMAT.encode(written))
    else:
        step = SAVE_TABLE_FORMAT.step("format", (), TABLE_FORMAT.encode(written), readRevision=read.revision)
    return SAVE_TABLE_FORMAT.transact(step), written
