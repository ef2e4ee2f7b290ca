"""The commands that save the data and bring it back."""

from pathlib import Path
from typing import Annotated

import typer

from loaders.tools.backup import back_up, restore
from loaders.tools.definition import describe_table
from loaders.tools.transfer import check_export, export_cost, export_table, import_cost, import_table
from server.cli.command import CommandError, asynchronous, load_settings
from server.cli.table import ReadRate, Yes, confirm, open_table
from server.settings import Settings

NewFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]


def backup_command(file: NewFile) -> None:
    """Copy the embedded store's database to a file, while it serves."""
    settings = _embedded_settings("backup")
    back_up(settings.data_dir, file)
    typer.echo(f"{settings.data_dir} is backed up to {file} ({file.stat().st_size:,} bytes, checked)")


def restore_command(file: File) -> None:
    """Copy a backup into an empty data directory."""
    settings = _embedded_settings("restore")
    restore(file, settings.data_dir)
    typer.echo(f"{file} is restored to {settings.data_dir}")


@asynchronous
async def export_command(file: NewFile, yes: Yes = False, rate: ReadRate = 1000) -> None:
    """Write all items of the table to a file of JSON lines; run it again to go on after an interruption."""
    settings = load_settings()
    async with open_table(settings) as (connection, store, _):
        cost = export_cost(await describe_table(connection) or {})
        typer.echo(f"Exporting table {settings.table_name} {cost}.")
        confirm("Export the table?", yes=yes)
        try:
            tally = await export_table(
                store, file, items_per_second=rate, progress=lambda items: _show(f"{items:,} items exported")
            )
        except OSError as error:
            raise CommandError(f"{file} cannot be written ({error.strerror})") from error
    typer.echo(f"table {settings.table_name} is exported to {file}: {tally.items:,} items")


@asynchronous
async def import_command(
    file: File,
    yes: Yes = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace items that differ from the file.")] = False,
    rate: Annotated[float, typer.Option(min=1, help="The most items to write in a second.")] = 1000,
) -> None:
    """Write the items of an exported file to an empty or matching table, and compare both."""
    settings = load_settings()
    export = check_export(file)
    async with open_table(settings, creates=True) as (_, store, _):
        typer.echo(f"Importing {file} {import_cost(export)}.")
        confirm("Import the file?", yes=yes)
        written = await import_table(
            store,
            file,
            overwrite=overwrite,
            items_per_second=rate,
            progress=lambda items: _show(f"{items:,} of {export.items:,} items imported"),
        )
    typer.echo(
        f"{file} is imported to table {settings.table_name}: {written:,} of {export.items:,} items written, "
        "the table matches the file"
    )


def _embedded_settings(command: str) -> Settings:
    settings = load_settings()
    if not settings.is_embedded:
        raise CommandError(
            f"`smartlocker {command}` is for the embedded store: use point-in-time recovery or the backups of AWS, or "
            "`smartlocker export`"
        )
    return settings


def _show(text: str) -> None:
    typer.echo(text, err=True)
