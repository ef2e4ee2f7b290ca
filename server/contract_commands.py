"""The commands for what is asked of the store: `smartlocker contracts …` and `smartlocker explain`."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from loaders.contracts import CONTRACTS
from loaders.table.definition import create_table
from server.command import CommandError, compare, load_settings, wide_console
from server.documentation import access_patterns
from server.measured import MEASURED, measure, written
from server.planning import plan_file, plan_table, refusal
from server.store import connect

__all__ = ["contracts_app", "explain"]

contracts_app = typer.Typer(help="The query contracts.", no_args_is_help=True)

_PATH = Path("docs/access-patterns.md")


def explain(
    file: Annotated[str, typer.Argument(help="A GraphQL document; - for the standard input.")],
    variables: Annotated[str, typer.Option(help="Its variables as JSON, or @ and the name of a file.")] = "{}",
    operation: Annotated[str | None, typer.Option(help="Which operation, where there are several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As clients get it.")] = False,
) -> None:
    """Say what a document would ask of the store at most; it is not run, and no store is needed."""
    settings = load_settings()
    plan = plan_file(settings, file, variables, operation)
    if as_json:
        typer.echo(json.dumps(plan.json(settings.maximum), indent=2))
    else:
        wide_console().print(plan_table(settings, plan))
    why = refusal(settings, plan)
    if why is not None:
        raise CommandError(f"QUERY_TOO_COMPLEX: {why}")


@contracts_app.command("list")
def contracts_list(
    markdown: Annotated[bool, typer.Option("--markdown", help="As the page docs/access-patterns.md.")] = False,
) -> None:
    """List the contracts."""
    if markdown:
        typer.echo(access_patterns(), nl=False)
        return
    listing = Table("id", "what", "operation", "GraphQL")
    for contract in CONTRACTS.values():
        listing.add_row(contract.id, contract.purpose, contract.operation, ", ".join(contract.fields))
    Console().print(listing)


@contracts_app.command("measure")
def contracts_measure(path: Annotated[Path, typer.Option(help="Where to write it.")] = MEASURED) -> None:
    """Run a document for each contract on demo data of its own, and write down what it asked of the store."""

    async def work() -> None:
        with tempfile.TemporaryDirectory() as directory:
            own = load_settings().model_copy(update={"endpoint_url": None, "data_dir": Path(directory)})
            async with connect(own) as connection:
                await create_table(connection)
                path.write_text(written(await measure(connection)))

    asyncio.run(work())


@contracts_app.command("check")
def contracts_check(path: Annotated[Path, typer.Option(help="The page to compare with.")] = _PATH) -> None:
    """Fail where the page is not what the contracts say."""
    compare(path, access_patterns(), f"smartlocker contracts list --markdown > {path}")
