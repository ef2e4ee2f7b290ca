"""The commands for what the API offers and to whom: `smartlocker schema …` and `smartlocker permissions …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resolvers.schema import bound_schema, sdl
from server.cli.command import check_generated
from server.cli.documentation import permissions

schema_app = typer.Typer(help="Export and check the GraphQL schema.", no_args_is_help=True, add_completion=False)
permissions_app = typer.Typer(help="List and check permissions.", no_args_is_help=True, add_completion=False)

_SCHEMA_PATH = Path("schema.graphql")
_PERMISSIONS_PATH = Path("docs/permissions.md")


@schema_app.command("export")
def schema_export(path: Annotated[Path, typer.Option(help="The file to write.")] = _SCHEMA_PATH) -> None:
    """Write the schema to a file."""
    path.write_text(_schema_text())


@schema_app.command("check")
def schema_check(path: Annotated[Path, typer.Option(help="The file to compare with.")] = _SCHEMA_PATH) -> None:
    """Fail if the file differs from the schema."""
    check_generated(path, _schema_text(), "smartlocker schema export")


@permissions_app.command("list")
def permissions_list() -> None:
    """Print the page docs/permissions.md."""
    typer.echo(_permission_text(), nl=False)


@permissions_app.command("check")
def permissions_check(
    path: Annotated[Path, typer.Option(help="The page to compare with.")] = _PERMISSIONS_PATH,
) -> None:
    """Fail if the page differs from the permissions of the schema."""
    check_generated(path, _permission_text(), f"smartlocker permissions list > {path}")


def _schema_text() -> str:
    return sdl() + "\n"


def _permission_text() -> str:
    return permissions(bound_schema())
