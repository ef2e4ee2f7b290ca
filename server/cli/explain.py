"""`smartlocker explain`: the plan of a document in the terminal, without a store."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from graphql import GraphQLError
from rich.box import SIMPLE_HEAD
from rich.table import Table

from domain.errors import QueryTooComplexError, SmartLockerError
from resolvers.documents.cache import InvalidDocumentError
from resolvers.execution import Executor
from resolvers.limits import Limit
from resolvers.plan.explain import explanation
from resolvers.plan.price import Price, cost_json
from resolvers.request_state import PageSizes
from server.cli.command import CommandError, load_settings, table_console
from server.http.request import parse_json
from server.http_errors import HttpError
from server.settings import Settings

_INDENT = "  "
_TIMES = "\N{MULTIPLICATION SIGN}"
_QUANTITIES = {"operations": "ops", "items": "items", "readUnits": "read units", "writeUnits": "write units"}


def explain(
    file: Annotated[str, typer.Argument(help="A GraphQL document; - for the standard input.")],
    variables: Annotated[str, typer.Option(help="Its variables as JSON, or @ and the name of a file.")] = "{}",
    operation: Annotated[str | None, typer.Option(help="Which operation, where there are several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the format of extensions.explain.")] = False,
) -> None:
    """Print the plan of a document with its expected and maximum cost; nothing is run, and no store is needed."""
    settings = load_settings()
    price = _price(settings, file, variables, operation)
    if as_json:
        typer.echo(json.dumps(explanation(price, settings.limit, None), indent=2))
    else:
        table_console().print(_plan_table(price, settings.limit))
    try:
        price.check(settings.limit)
    except QueryTooComplexError as error:
        raise CommandError(f"QUERY_TOO_COMPLEX: {error.message}") from None


def _price(settings: Settings, file: str, variables: str, operation: str | None) -> Price:
    """Raises a CommandError where a server with these settings would reject the document or its variables."""
    executor = Executor(settings.document_limits)
    values = _variables(variables)
    try:
        document = executor.documents.get(_read(file))
        selected = document.operation(operation)
        if selected is None:
            raise CommandError("The document has no operation of that name, or no name was given.")
        return executor.price(selected, values, PageSizes(settings.page_size, settings.page_size_max))
    except InvalidDocumentError as invalid:
        raise CommandError(_located(invalid.errors[0])) from invalid
    except GraphQLError as error:
        raise CommandError(_located(error)) from error
    except SmartLockerError as error:
        raise CommandError(f"{error.code}: {error.message}") from error


def _plan_table(price: Price, limit: Limit) -> Table:
    explained = explanation(price, limit, None)
    totals = explained["totals"]
    quantities = [name for name in _QUANTITIES if name != "writeUnits" or totals["maximum"][name]]
    table = Table(box=SIMPLE_HEAD)
    for name in ("field", "contract", "operation"):
        table.add_column(f"\n{name}", no_wrap=True)
    for figure in ("expected", "maximum"):
        for position, name in enumerate(quantities):
            header = f"{figure if position == 0 else ''}\n{_QUANTITIES[name]}"
            table.add_column(header, justify="right", no_wrap=True)
    table.add_column("\ncondition")
    for node in explained["tree"]:
        for row in _rows(node, 0, quantities):
            table.add_row(*row)
    table.add_section()
    table.add_row("total", "", "", *_figures(totals, quantities))
    admitted = cost_json(price.admitted)
    if admitted != totals["expected"]:
        table.add_row("with allowance for fallbacks", "", "", *_amounts(admitted, quantities))
    table.add_row("limit", "", "", *_amounts(totals["limit"], quantities))
    return table


def _rows(node: dict[str, Any], depth: int, quantities: list[str]) -> Iterator[list[str]]:
    times = f" {_TIMES}{node['parents']:,}" if node["parents"] > 1 else ""
    name = _INDENT * depth + node["path"].rsplit(".", 1)[-1] + times
    if not node["reads"]:
        yield [name]
    for read in node["reads"]:
        figures = _figures(read, quantities)
        yield [name, read["contract"], read["operation"], *figures, read["condition"] or ""]
        name = ""
    for child in node["children"]:
        yield from _rows(child, depth + 1, quantities)


def _figures(figures: Mapping[str, Any], quantities: list[str]) -> list[str]:
    return [amount for figure in ("expected", "maximum") for amount in _amounts(figures[figure], quantities)]


def _amounts(cost: Mapping[str, Any], quantities: list[str]) -> list[str]:
    return [f"{cost[name]:,}" if name in cost else "" for name in quantities]


def _located(error: GraphQLError) -> str:
    place = "".join(f"{spot.line}:{spot.column}: " for spot in (error.locations or [])[:1])
    return f"{place}{error.message}"


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}") from error


def _variables(text: str) -> dict[str, Any]:
    try:
        values = parse_json((_read(text[1:]) if text.startswith("@") else text).encode(errors="replace"))
    except HttpError as error:
        raise CommandError(f"--variables is not valid JSON: {error.__cause__ or error.message}") from error
    if not isinstance(values, dict):
        raise CommandError("--variables must be a JSON object")
    return values
