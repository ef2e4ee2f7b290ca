"""Backups of the embedded store: copies of its database, made while it serves, and restored into a new directory."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from loaders.table.embedded import DATABASE, LOCK, EmbeddedStoreError, hold_directory, mark_in_use, open_private

_WAIT_SECONDS = 60
_PARTIAL = ".partial"


def back_up(data_directory: Path, target: Path) -> None:
    """Copies the database to a new file as it is at one moment; the store goes on reading and writing meanwhile."""
    if not (data_directory / DATABASE).exists():
        raise EmbeddedStoreError(f"the data directory {data_directory} has no database {DATABASE}")
    if target.exists():
        raise EmbeddedStoreError(f"{target} exists: name a new file")
    _copy(data_directory / DATABASE, target)


def restore(source: Path, data_directory: Path) -> None:
    """Copies a backup into a data directory that is empty or does not exist."""
    if not source.is_file():
        raise EmbeddedStoreError(f"there is no backup {source}")
    _check_empty(data_directory)
    with hold_directory(data_directory):
        _check_empty(data_directory)  # another may have filled it meanwhile
        _copy(source, data_directory / DATABASE)
        mark_in_use(data_directory)


def _check_empty(data_directory: Path) -> None:
    # An interrupted run may have left these.
    leftovers = {LOCK, DATABASE + _PARTIAL}
    if data_directory.is_dir() and {path.name for path in data_directory.iterdir()} - leftovers:
        raise EmbeddedStoreError(
            f"the data directory {data_directory} is not empty: set SMARTLOCKER_DATA_DIR to a new directory"
        )


def _copy(source: Path, target: Path) -> None:
    """Copies a database in one transaction and checks the copy, which appears whole or not at all."""
    partial = target.with_name(target.name + _PARTIAL)
    try:
        open_private(partial, "wb").close()
        with _opened(source) as original, _opened(partial) as copy:
            original.backup(copy)  # all pages in one step: in several, every write would begin it anew
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
            problems = [str(problem) for (problem,) in copy.execute("PRAGMA integrity_check")]
            if problems != ["ok"]:
                raise EmbeddedStoreError(f"{source} is damaged: {problems[0]}")
            if not copy.execute("SELECT 1 FROM sqlite_master WHERE name = '_tables'").fetchone():
                raise EmbeddedStoreError(f"{source} is not a database of the embedded store")
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.rename(target)
    except sqlite3.Error as error:
        raise EmbeddedStoreError(f"{source} cannot be copied: {error}") from error
    except OSError as error:
        raise EmbeddedStoreError(f"{target} cannot be written ({error.strerror})") from error
    finally:
        partial.unlink(missing_ok=True)


def _opened(path: Path) -> closing[sqlite3.Connection]:
    # Read-only is not enough: after a crash, who opens the database first has to recover its log.
    return closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=_WAIT_SECONDS))
