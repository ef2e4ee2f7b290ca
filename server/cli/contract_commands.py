"""The commands for what is asked of the store: `smartlocker contracts …` and `smartlocker explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from loaders.contracts.registry import CONTRACTS
from resolvers.plan.explain import explanation
from resolvers.schema import build_schema
from server.cli.command import CommandError, check_generated, load_settings, table_console
from server.cli.documentation import access_patterns, fields_by_contract
from server.cli.explain import plan_table, price_file, refusal

contracts_app = typer.Typer(help="The query contracts.", no_args_is_help=True, add_completion=False)
explain_app = typer.Typer(add_completion=False)

_PATH = Path("docs/access-patterns.md")


@explain_app.command()
def explain(
    file: Annotated[str, typer.Argument(help="A GraphQL document; - for the standard input.")],
    variables: Annotated[str, typer.Option(help="Its variables as JSON, or @ and the name of a file.")] = "{}",
    operation: Annotated[str | None, typer.Option(help="Which operation, where there are several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the format of extensions.explain.")] = False,
) -> None:
    """Print the plan of a document with its expected and maximum cost; nothing is run, and no store is needed."""
    settings = load_settings()
    price = price_file(settings, file, variables, operation)
    if as_json:
        typer.echo(json.dumps(explanation(price, settings.limit, None), indent=2))
    else:
        table_console().print(plan_table(price, settings.limit))
    why = refusal(price, settings.limit)
    if why is not None:
        raise CommandError(f"QUERY_TOO_COMPLEX: {why}")


@contracts_app.command("list")
def contracts_list(
    markdown: Annotated[bool, typer.Option("--markdown", help="As the page docs/access-patterns.md.")] = False,
) -> None:
    """List the contracts."""
    if markdown:
        typer.echo(_page(), nl=False)
        return
    used = fields_by_contract(build_schema().bound)
    listing = Table("id", "purpose", "operation", "used by")
    for contract in CONTRACTS.values():
        names = ", ".join(field.name for field in used[contract.id])
        listing.add_row(contract.id, contract.purpose, contract.operation, names)
    Console().print(listing)


@contracts_app.command("check")
def contracts_check(path: Annotated[Path, typer.Option(help="The page to check_generated with.")] = _PATH) -> None:
    """Fail where the page is not what the contracts say."""
    check_generated(path, _page(), f"smartlocker contracts list --markdown > {path}")


def _page() -> str:
    return access_patterns(build_schema().bound)
