"""The commands for access codes."""

import typer

from loaders.contracts.access_codes import CODE_KEYS_SCAN
from loaders.reads.code_keys import KeyUse, key_uses
from loaders.tools.definition import describe_table
from loaders.tools.table_state import record_code_keys
from server.auth.code_keys import read_ring
from server.cli.command import CommandError, asynchronous, load_settings
from server.cli.table import open_table

codes_app = typer.Typer(help="Manage access codes.", no_args_is_help=True, add_completion=False)


@codes_app.callback()
def _codes() -> None:
    """Manage access codes."""


@codes_app.command("keys")
@asynchronous
async def codes_keys() -> None:
    """List the keys of the ring and what needs them. Reads the whole table. Fails if a key is needed and missing."""
    settings = load_settings()
    ring = read_ring(settings)
    async with open_table(settings) as (connection, store, clock):
        cost = CODE_KEYS_SCAN.cost_text(await describe_table(connection) or {})
        typer.echo(f"Listing the uses of keys {cost}, and half a unit for each access code.", err=True)
        uses = await key_uses(store, clock())
        needed_ids = {key_id for key_id, use in uses.items() if use.is_needed}
        await record_code_keys(store, lambda _: sorted(needed_ids | {ring.current.key_id}))
    for number, key in enumerate(ring.keys):
        use = uses.get(key.key_id, KeyUse())
        needed = f"{use.codes} live codes, {use.devices} devices, {use.webhooks} webhooks, {use.recipients} recipients"
        advice = "current" if number == 0 else "in use" if use.is_needed else "can be removed"
        typer.echo(f"{key.key_id}: {needed} ({advice})")
    missing = sorted(needed_ids - {key.key_id for key in ring.keys})
    if missing:
        raise CommandError(
            f"live codes, devices, webhooks or recipients need keys that are not in SMARTLOCKER_CODE_KEYS: "
            f"{', '.join(missing)}"
        )
