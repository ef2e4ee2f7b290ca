"""What a resolver is given, and what it can see of the request's selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import strawberry
from graphql import FieldNode, FragmentSpreadNode, InlineFragmentNode, SelectionSetNode, VariableNode

from domain.principal import Principal
from loaders.backend import Backend
from loaders.batch import Loaders
from loaders.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from graphql import GraphQLResolveInfo, SelectionNode

    from resolvers.admission import Admission

__all__ = ["Context", "Info", "is_included", "selected_fields"]


@dataclass(frozen=True, slots=True)
class Context:
    """Lives for one request."""

    backend: Backend
    loaders: Loaders
    principal: Principal
    page_size: int
    page_size_max: int
    admission: Admission
    trace: Trace | None = None
    """Where the request's operations are written down, if it is to be explained or observed."""


Info: TypeAlias = strawberry.Info[Context, None]


def selected_fields(info: Info, *path: str) -> set[str]:
    """The names of the fields that the request asks for at a path below this field.

    Every field that a directive does not leave out counts, whichever fragment it stands in: for the object types here,
    a fragment that could not apply is refused by validation.
    """
    raw = info._raw_info  # noqa: SLF001  # Strawberry's own selection converts every argument of the whole subtree
    sets = [node.selection_set for node in raw.field_nodes]
    for name in path:
        sets = [node.selection_set for node in _fields(sets, raw) if node.name.value == name]
    return {node.name.value for node in _fields(sets, raw)}


def _fields(sets: Iterable[SelectionSetNode | None], raw: GraphQLResolveInfo[Any]) -> Iterator[FieldNode]:
    """Every field of these sets, into each fragment once: fragments that spread each other would multiply."""
    spread: set[str] = set()
    left = list(sets)
    while left:
        selection_set = left.pop()
        for node in selection_set.selections if selection_set else ():
            if not is_included(node, raw.variable_values):
                continue
            match node:
                case FieldNode():
                    yield node
                case InlineFragmentNode():
                    left.append(node.selection_set)
                case FragmentSpreadNode() if node.name.value not in spread:
                    spread.add(node.name.value)
                    left.append(raw.fragments[node.name.value].selection_set)


def is_included(node: SelectionNode, variables: Any) -> bool:
    """Whether no directive leaves a selection out."""
    for directive in node.directives or ():
        name = directive.name.value
        if name not in {"skip", "include"}:
            continue
        condition: Any = directive.arguments[0].value if directive.arguments else None
        is_met = variables.get(condition.name.value) if isinstance(condition, VariableNode) else condition.value
        if is_met is (name == "skip"):
            return False
    return True
