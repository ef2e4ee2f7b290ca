"""`smartlocker explain`: the plan of a document in the terminal, without a store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError
from rich.box import SIMPLE_HEAD
from rich.table import Table

from domain.errors import TooComplexError
from resolvers.planner import PageSizes
from resolvers.schema import build_schema
from server.incoming import RefusedError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from resolvers.plan import Plan
    from server.settings import Settings

__all__ = ["ExplainError", "plan_file", "plan_table", "refusal"]

_INDENT = "  "


class ExplainError(Exception):
    """There is no plan; the message says why."""


def plan_file(settings: Settings, file: str, variables: str, operation: str | None) -> Plan:
    """The plan of a document in a file, or of the standard input where that is `-`.

    Raises:
        ExplainError: where a server with these settings would not run the document or its variables.
    """
    schema = build_schema(settings.document_limits)
    values = _variables(variables)
    try:
        document = schema.document(_read(file), operation, values)
        return schema.plan(document, operation, values, PageSizes(settings.page_size, settings.page_size_max))
    except GraphQLError as error:
        place = "".join(f"{spot.line}:{spot.column}: " for spot in (error.locations or [])[:1])
        raise ExplainError(f"{place}{error.message}") from error
    except TooComplexError as error:
        raise ExplainError(f"{error.code}: {error.message}") from error


def refusal(settings: Settings, plan: Plan) -> str | None:
    """Why a server with these settings would not run it, if it would not."""
    try:
        plan.check(settings.maximum)
    except TooComplexError as error:
        return error.message
    return None


def plan_table(settings: Settings, plan: Plan) -> Table:
    """The plan as a table: a line for each contract of each field, the fields indented as in the document."""
    content = plan.json(settings.maximum)
    table = Table("field", "contract", "operation", *_AMOUNTS.values(), "when", show_footer=True, box=SIMPLE_HEAD)
    for row in (row for node in content["tree"] for row in _rows(node, 0)):
        table.add_row(*row)
    totals = content["totals"]
    footers = ["worst case", "", "", *(f"{totals[name]:,}" for name in _AMOUNTS)]
    footers.append(f"always: {totals['expectedOperations']:,} operations")
    for column, footer in zip(table.columns, footers, strict=True):
        column.footer = footer
    for column in table.columns[3:-1]:
        column.justify = "right"
    return table


_AMOUNTS = {"operations": "ops", "items": "items", "readUnits": "read units", "writeUnits": "write units"}


def _rows(node: dict[str, Any], depth: int) -> Iterator[list[str]]:
    name = _INDENT * depth + node["path"].rsplit(".", 1)[-1] + (f" x {node['times']}" if node["times"] > 1 else "")
    for contract in node["contracts"] or [None]:
        if contract is None:
            yield [name, *[""] * (len(_AMOUNTS) + 3)]
        else:
            amounts = [f"{contract[amount]:,}" for amount in _AMOUNTS]
            yield [name, contract["id"], contract["operation"], *amounts, contract["when"]]
        name = ""
    for child in node["children"]:
        yield from _rows(child, depth + 1)


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ExplainError(f"{file} cannot be read: {error}") from error


def _variables(text: str) -> dict[str, Any]:
    try:
        values = parse_json((_read(text[1:]) if text.startswith("@") else text).encode(errors="replace"))
    except RefusedError as error:
        raise ExplainError(f"--variables is no JSON as requests have it: {error.__cause__ or error.message}") from error
    if not isinstance(values, dict):
        raise ExplainError("--variables must be a JSON object")
    return values
