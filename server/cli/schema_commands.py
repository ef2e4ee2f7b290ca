"""The commands `smartlocker schema …`, `contracts …`, `permissions …` and `events …`: what the API offers, and how."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from domain.webhook_bodies import body_schemas
from loaders.contracts.registry import CONTRACTS
from resolvers.schema import bound_schema, sdl
from server.cli.command import check_generated, load_settings
from server.cli.documentation import access_patterns, events, fields_by_contract, permissions
from server.cli.policy import policy

schema_app = typer.Typer(help="Export and check the GraphQL schema.", no_args_is_help=True, add_completion=False)
contracts_app = typer.Typer(help="The query contracts.", no_args_is_help=True, add_completion=False)
permissions_app = typer.Typer(help="List and check permissions.", no_args_is_help=True, add_completion=False)
events_app = typer.Typer(help="The catalogue of events.", no_args_is_help=True, add_completion=False)

File = Annotated[Path, typer.Option(help="The file to compare with.")]
Page = Annotated[Path, typer.Option(help="The page to compare with.")]

_SCHEMA = Path("schema.graphql")
_CONTRACTS = Path("docs/access-patterns.md")
_PERMISSIONS = Path("docs/permissions.md")
_EVENTS = Path("docs/events.md")


@schema_app.command("export")
def schema_export(path: Annotated[Path, typer.Option(help="The file to write.")] = _SCHEMA) -> None:
    """Write the schema to a file."""
    path.write_text(sdl() + "\n")


@schema_app.command("check")
def schema_check(path: File = _SCHEMA) -> None:
    """Fail if the file differs from the schema."""
    check_generated(path, sdl() + "\n", "smartlocker schema export")


@contracts_app.command("list")
def contracts_list(
    markdown: Annotated[bool, typer.Option("--markdown", help="As the page docs/access-patterns.md.")] = False,
) -> None:
    """List the contracts."""
    schema = bound_schema()
    if markdown:
        typer.echo(access_patterns(schema), nl=False)
        return
    used = fields_by_contract(schema)
    listing = Table("id", "purpose", "operation", "used by")
    for contract in CONTRACTS.values():
        names = ", ".join(field.name for field in used[contract.id])
        listing.add_row(contract.id, contract.purpose, contract.operation, names)
    Console().print(listing)


@contracts_app.command("check")
def contracts_check(path: Page = _CONTRACTS) -> None:
    """Fail where the page is not what the contracts say."""
    check_generated(path, access_patterns(bound_schema()), f"smartlocker contracts list --markdown > {path}")


@contracts_app.command("policy")
def contracts_policy(
    operators: Annotated[bool, typer.Option("--operators", help="For commands too, which may scan the table.")] = False,
) -> None:
    """Print the AWS policy of a server: exactly the operations that the contracts send."""
    typer.echo(json.dumps(policy(load_settings().table_name, operators=operators), indent=2))


@permissions_app.command("list")
def permissions_list() -> None:
    """Print the page docs/permissions.md."""
    typer.echo(permissions(bound_schema()), nl=False)


@permissions_app.command("check")
def permissions_check(path: Page = _PERMISSIONS) -> None:
    """Fail if the page differs from the permissions of the schema."""
    check_generated(path, permissions(bound_schema()), f"smartlocker permissions list > {path}")


@events_app.command("list")
def events_list() -> None:
    """Print the page docs/events.md."""
    typer.echo(events(), nl=False)


@events_app.command("schemas")
def events_schemas() -> None:
    """Print a JSON Schema of the bodies of webhooks, with a definition for each type."""
    typer.echo(json.dumps(body_schemas(), indent=2))


@events_app.command("check")
def events_check(path: Page = _EVENTS) -> None:
    """Fail if the page differs from what the contracts emit."""
    check_generated(path, events(), f"smartlocker events list > {path}")
