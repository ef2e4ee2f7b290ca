"""What a resolver is given, and what it can see of the request's selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import strawberry
from graphql import (
    FieldNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    is_abstract_type,
)

from domain.principal import Principal
from loaders.backend import Backend
from loaders.batch import Loaders
from loaders.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from graphql import GraphQLObjectType, GraphQLResolveInfo, NamedTypeNode, SelectionNode

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

    Every field counts that no directive leaves out, in each fragment that applies to the object type there.
    """
    raw = info._raw_info  # noqa: SLF001  # Strawberry's own selection converts every argument of the whole subtree
    type_: Any = get_named_type(raw.return_type)
    sets = [node.selection_set for node in raw.field_nodes]
    for name in path:
        sets = [node.selection_set for node in _fields(sets, type_, raw) if node.name.value == name]
        type_ = get_named_type(type_.fields[name].type)
    return {node.name.value for node in _fields(sets, type_, raw)}


def _fields(
    sets: Iterable[SelectionSetNode | None], type_: GraphQLObjectType, raw: GraphQLResolveInfo[Any]
) -> Iterator[FieldNode]:
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
                case InlineFragmentNode() if _applies(node.type_condition, type_, raw):
                    left.append(node.selection_set)
                case FragmentSpreadNode() if node.name.value not in spread:
                    spread.add(node.name.value)
                    fragment = raw.fragments[node.name.value]
                    if _applies(fragment.type_condition, type_, raw):
                        left.append(fragment.selection_set)


def _applies(condition: NamedTypeNode | None, type_: GraphQLObjectType, raw: GraphQLResolveInfo[Any]) -> bool:
    """Whether a fragment is for objects of this type: inside one on an interface there may be one on another type."""
    if condition is None or condition.name.value == type_.name:
        return True
    named = raw.schema.get_type(condition.name.value)
    return is_abstract_type(named) and raw.schema.is_sub_type(named, type_)


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
