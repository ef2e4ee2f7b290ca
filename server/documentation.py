"""The documentation that is generated: the access patterns from the contracts, the settings from their class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loaders import keys
from loaders.contract import GetContract, QueryContract, WriteContract
from loaders.contracts import CONTRACTS
from server.measured import documents, measured

if TYPE_CHECKING:
    from loaders.contract import Contract

__all__ = ["access_patterns"]

_HEADER = """# Access patterns

Generated from the contracts in `loaders/contracts/` by `smartlocker contracts list --markdown`, and compared with them
in the tests. Units are the most that one call can take: read units eventually consistent (a strong read takes twice as
many), write units as a transaction counts them.

Below each contract stands a document that uses it, with all that it asked of the store on the demo data, as
`smartlocker contracts measure` found it.

There is never a Scan, never a filter after a query, and every read stays inside one partition or a fixed list of keys.
"""


def access_patterns() -> str:
    """The page `docs/access-patterns.md`."""
    rows = ["| id | what | operation | GraphQL |", "|---|---|---|---|"]
    rows += [
        f"| [{c.id}](#{c.id.lower()}) | {c.purpose} | {c.operation} | {', '.join(f'`{f}`' for f in c.fields)} |"
        for c in CONTRACTS.values()
    ]
    texts, operations = documents(), measured()
    sections = [
        _section(contract) + _measured(texts[contract.id], operations[contract.id]) for contract in CONTRACTS.values()
    ]
    return "\n".join([_HEADER, *rows, "", *sections])


def _section(contract: Contract) -> str:
    lines = [f"## {contract.id}", "", f"{contract.purpose}. {contract.note}".rstrip(), ""]
    match contract:
        case GetContract():
            if contract.claim is not None:
                lines.append(f"- First: GetItem {_spelled(contract.claim)}")
            lines.append(f"- {'Then: ' if contract.claim else ''}{contract.operation} {_spelled(contract.key)}")
            lines.append(f"- Consistency: {contract.consistency.value}")
            lines.append(f"- Cost: {contract.operations} operation(s), {contract.read_units:g} read units at most")
        case QueryContract():
            page = contract.page
            lines.append(f"- {contract.operation} {_spelled(contract.range)}")
            lines.append(f"- Order: {', or '.join(contract.orders)}")
            lines.append(
                f"- Page: {page.default} by default, {page.maximum} at most, Limit = size + {page.look_ahead}"
                if page.maximum > 1
                else "- Page: one item, Limit 1"
            )
            lines.append(f"- Consistency: {contract.consistency.value}")
            lines.append(f"- Cost: {contract.read_units:g} read units at most")
        case WriteContract():
            lines += [f"- Reads: {read}" for read in contract.reads]
            several = f"TransactWriteItems, at most {contract.most_steps} items"
            is_put = contract.operation == "PutItem"
            lines.append(f"- {f'PutItem of one item, or {several}' if is_put else several}:")
            lines += [
                f"    - {rule.action.value} {rule.name}: {_spelled(rule.key)}"
                + (f"; if `{rule.condition}`" if rule.condition else "; whatever is there")
                + ("" if rule.when == "always" else f"; when {rule.when}")
                for rule in contract.steps
            ]
            lines.append(f"- Cost: {contract.write_units} write units at most")
    errors = ", ".join(f"{error.code} {error.status}" for error in contract.errors) or "none of its own"
    lines += [f"- Errors: {errors}", f"- Used by: {', '.join(f'`{field}`' for field in contract.fields)}", ""]
    return "\n".join(lines)


def _measured(text: str, operations: list[dict[str, Any]]) -> str:
    rows = ["| contract | operation | key | returned | units | for |", "|---|---|---|---|---|---|"]
    rows += [
        f"| {asked['contract']} | {asked['operation']}{', strong' if asked['consistent'] else ''} | {_where(asked)} "
        f"| {_returned(asked)} | {_units(asked)} | {', '.join(f'`{path}`' for path in asked['paths'])} |"
        for asked in operations
    ]
    return "\n".join(["", "```graphql", text, "```", "", *rows, ""])


def _where(asked: dict[str, Any]) -> str:
    """The key condition of one partition, or the keys of all items."""
    if asked["keys"] is None:
        index = f"{asked['index']}: " if asked["index"] else ""
        condition = f", `{asked['sortKey']}`" if asked["sortKey"] else ""
        return f"{index}`{asked['partition']}`{condition}"
    return "<br>".join(
        (f"{key['step']}: " if "step" in key else "") + f"`{key['pk']}`, `{key['sk']}`" for key in asked["keys"]
    )


def _returned(asked: dict[str, Any]) -> str:
    return "" if asked["writeUnits"] else f"{asked['returned']} of {asked['asked']}"


def _units(asked: dict[str, Any]) -> str:
    return f"{asked['writeUnits']:g} write" if asked["writeUnits"] else f"{asked['readUnits']:g} read"


def _spelled(builder: object) -> str:
    partition, sort = keys.spelled(builder)  # type: ignore[arg-type]
    return f"`{partition}`, `{sort}`"
