"""The commands `smartlocker contracts …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from loaders.contracts.registry import CONTRACTS
from resolvers.schema import bound_schema
from server.cli.command import check_generated
from server.cli.documentation import access_patterns, fields_by_contract

contracts_app = typer.Typer(help="The query contracts.", no_args_is_help=True, add_completion=False)

_PATH = Path("docs/access-patterns.md")


@contracts_app.command("list")
def contracts_list(
    markdown: Annotated[bool, typer.Option("--markdown", help="As the page docs/access-patterns.md.")] = False,
) -> None:
    """List the contracts."""
    if markdown:
        typer.echo(_page(), nl=False)
        return
    used = fields_by_contract(bound_schema())
    listing = Table("id", "purpose", "operation", "used by")
    for contract in CONTRACTS.values():
        names = ", ".join(field.name for field in used[contract.id])
        listing.add_row(contract.id, contract.purpose, contract.operation, names)
    Console().print(listing)


@contracts_app.command("check")
def contracts_check(path: Annotated[Path, typer.Option(help="The page to compare with.")] = _PATH) -> None:
    """Fail where the page is not what the contracts say."""
    check_generated(path, _page(), f"smartlocker contracts list --markdown > {path}")


def _page() -> str:
    return access_patterns(bound_schema())
