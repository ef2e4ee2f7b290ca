"""How long `smartlocker migrate` takes: `python -m bench.migration`.

The table is in the embedded store and holds items as other programs wrote them: of each locker its record, its owner's
copy, five reservations, one of them to come, the active pointer and two access events. Owners have no record.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bench.data import write
from loaders.table.client import StoreConnection
from loaders.table.clock import utc_now
from loaders.table.embedded import find_binary, run_embedded
from loaders.table.positions import Key
from loaders.tools.definition import create_table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["main"]

_TABLE, _REGION = "SmartLocker", "eu-central-1"
_ITEMS_OF_A_LOCKER = 10
_LOCKERS_OF_AN_OWNER = 10


def main(
    items: Annotated[int, typer.Option(help="Number of items of the table.")] = 100_000,
    rate: Annotated[int, typer.Option(help="The most items to read in a second.")] = 1_000_000,
) -> None:
    """Writes the table and migrates it."""
    asyncio.run(_measure(items // _ITEMS_OF_A_LOCKER, rate))


async def _measure(lockers: int, rate: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with run_embedded(find_binary(None), Path(folder)) as endpoint:
            connection = StoreConnection(_TABLE, _REGION, endpoint, local=True)
            await create_table(connection)
            written = await write(connection, _items(lockers))
            for run in ("first run", "second run"):
                began = time.monotonic()
                summary = await asyncio.to_thread(_migrate, endpoint, rate)
                typer.echo(f"{run}: {written:,} items, {time.monotonic() - began:.0f} s ({summary})")


def _migrate(endpoint: str, rate: int) -> str:
    """Runs the command on a table of the first format, and returns the last line that it prints."""
    command = [sys.executable, "-m", "server.cli.main", "migrate", "--yes", "--rate", str(rate)]
    settings = {"SMARTLOCKER_ENDPOINT_URL": endpoint, "SMARTLOCKER_TABLE_NAME": _TABLE, "SMARTLOCKER_REGION": _REGION}
    environment = os.environ | settings
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603  # our own
    return result.stdout.splitlines()[-1]


def _items(lockers: int) -> Iterator[tuple[Key, dict[str, Any]]]:
    yield Key("TABLE", "FORMAT"), {"entityType": "TABLE_FORMAT", "formatVersion": 1, "revision": 1}
    today = utc_now()[:10]
    to_come = f"{int(today[:4]) + 1}{today[4:]}"
    for number in range(lockers):
        locker, owner = f"locker-{number:06d}", f"owner-{number // _LOCKERS_OF_AN_OWNER:05d}"
        partition, named = f"LOCKER#{locker}", {"lockerId": locker, "ownerId": owner, "status": "AVAILABLE"}
        changed = {"updatedAt": "2026-02-25T10:00:00Z"}
        yield Key(partition, "META"), {"entityType": "LOCKER", "version": 4, **named, **changed}
        copy = {"entityType": "OWNER_LOCKER", "lockerAlias": f"Gate {number}", **named, **changed}
        yield Key(f"OWNER#{owner}", f"LOCKER#{locker}"), copy
        for day, status in (
            ("2026-01-10", "EXPIRED"),
            ("2026-01-11", "EXPIRED"),
            ("2026-01-12", "EXPIRED"),
            ("2026-01-13", "CANCELLED"),
            (to_come, "ACTIVE"),
        ):
            name = f"r-{number}-{day}"
            window = {"startAt": f"{day}T09:00:00Z", "endAt": f"{day}T10:00:00Z", "ownerId": owner}
            reserved = {"entityType": "RESERVATION", "reservationId": name, "status": status, **window}
            yield Key(partition, f"RES#{window['startAt']}#{name}"), reserved
        pointer = {"entityType": "RESERVATION_ACTIVE", "reservationId": name, **window, **changed}
        yield Key(partition, "RES#ACTIVE"), pointer
        for minute in ("05", "06"):
            seen = {"eventId": f"e-{number}-{minute}", "timestamp": f"2026-01-10T09:{minute}:00Z"}
            event = {"entityType": "ACCESS_EVENT", "action": "OPEN", "actorId": owner, "result": "SUCCESS", **seen}
            yield Key(partition, f"EVT#{seen['timestamp']}#{seen['eventId']}"), event


if __name__ == "__main__":
    typer.run(main)
