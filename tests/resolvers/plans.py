"""Plans of documents on a schema without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from resolvers.limits import DocumentLimits
from resolvers.planner import PageSizes
from resolvers.schema import build_schema

if TYPE_CHECKING:
    from resolvers.plan import Plan

__all__ = ["OWNER", "SCHEMA", "SIZES", "plan", "totals"]

SCHEMA = build_schema(DocumentLimits(tokens=10_000, aliases=1000, depth=100, root_fields=1000))
SIZES = PageSizes(25, 100)
OWNER = '{ owner(ownerId: "acme") { %s } }'


def plan(document: str, operation: str | None = None, **variables: Any) -> Plan:
    """The plan of a valid document."""
    valid = SCHEMA.document(document, operation, variables)
    return SCHEMA.plan(valid, operation, variables, SIZES)


def totals(document: str, **variables: Any) -> tuple[int, int, float]:
    """Operations, items and read units."""
    total = plan(document, **variables).total
    return total.operations, total.items, total.read_units
