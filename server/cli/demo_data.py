"""Demo data: loaded at the first start in development, by command, and again when it is reset."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from domain.models import Owner
from domain.times import Instant
from loaders.backend import Backend
from loaders.contracts.owners import OWNER_BY_ID
from loaders.table.client import StoreConnection, open_store
from loaders.tools.definition import create_table, delete_table, describe_table
from loaders.tools.demo import DemoShape, load_demo, owner_email, owner_id
from loaders.tools.demo_codes import load_demo_codes
from loaders.tools.demo_places import LOCATIONS
from server.auth.code_keys import read_ring
from server.cli.command import CommandError
from server.cli.table import open_timed
from server.http.movable_clock import ahead_file
from server.new_ids import new_id
from server.process.store import is_local
from server.settings import Settings


async def prepare(settings: Settings, connection: StoreConnection) -> None:
    """Creates the table of the embedded store and, in development, demo data, at the first start; checks it."""
    is_missing = await describe_table(connection) is None
    if _unfinished(settings).exists() or (is_missing and not settings.is_production):
        await make_demo_table(settings, connection)
    else:
        await create_table(connection)


def require_demo_store(settings: Settings) -> None:
    """Demo data is never written where real data may be."""
    if settings.is_production:
        raise CommandError("demo data is for the development profile only")
    if not is_local(settings):
        raise CommandError("demo data is for the embedded store or a local endpoint only")


async def make_demo_table(settings: Settings, connection: StoreConnection, *, replaces: bool = False) -> None:
    """Creates the table with demo data, if asked in place of the present one; an interrupted load is continued."""
    with _marked(settings):
        if replaces:
            await delete_table(connection)
        ahead_file(settings.data_dir).unlink(missing_ok=True)
        await create_table(connection)
        await load(settings, connection, DemoShape())


async def load(
    settings: Settings, connection: StoreConnection, shape: DemoShape, clock: Callable[[], Instant] | None = None
) -> int:
    """Loads demo data and shows the progress; returns the number of items written, without access codes."""
    from rich.console import Console  # noqa: PLC0415  # of all starts of a server, only the first needs them
    from rich.progress import Progress  # noqa: PLC0415  # as above

    async with open_timed(connection) as (store, store_clock):
        clock = clock or store_clock
        with Progress(console=Console(stderr=True)) as progress:
            total = shape.owners + LOCATIONS + shape.lockers + shape.events
            task = progress.add_task("Loading demo data", total=total)
            try:
                advance = partial(progress.advance, task)
                written = await load_demo(store, shape, clock(), advance, read_ring(settings))
            except ExceptionGroup as group:
                reason = group.exceptions[0]
                raise CommandError(
                    f"the demo data is incomplete, continue with `smartlocker demo load`: {reason}"
                ) from group
        await load_demo_codes(
            Backend(
                store,
                clock,
                new_id,
                store_clock.stamp,
                settings.longest_reservation,
                code_ring=lambda: read_ring(settings),
                retention=settings.retention,
            )
        )
    return written


async def has_demo_data(connection: StoreConnection) -> bool:
    """Whether the table has an owner of the demo data, with the email address that it was loaded with."""
    keys = [(owner_id(number),) for number in range(DemoShape().owners)]
    async with open_store(connection) as store:
        owners = await OWNER_BY_ID.read_many(store, keys)
    return any(isinstance(owner, Owner) and owner.email == owner_email(owner.owner_id) for owner in owners)


@contextmanager
def _marked(settings: Settings) -> Iterator[None]:
    """Marks a load that is not finished by a file in the data directory of the embedded store."""
    if settings.is_embedded:
        _unfinished(settings).touch(mode=0o600)
    yield
    if settings.is_embedded:
        _unfinished(settings).unlink()


def _unfinished(settings: Settings) -> Path:
    return settings.data_dir / "demo-unfinished"
