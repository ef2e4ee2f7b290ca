"""Shared by entity modules: registering a type's records, global ids and the usual arguments."""

from collections.abc import Callable
from typing import Any, TypeVar

import strawberry
from typing_extensions import dataclass_transform

from domain.ids import require_id
from resolvers.api.scalars import show_json, show_number
from resolvers.bindings.base import Argument, column, described
from resolvers.bindings.nodes import NODE_KINDS, NodeKind
from resolvers.request_state import RequestState

T = TypeVar("T")

RECORD_TYPES: dict[type, str] = {}
"""The GraphQL type of each class of records."""

VERSION = "Incremented on every change. Send it as `expectedVersion` to change the object."
CHANGED = "Time of the last change."


@dataclass_transform(kw_only_default=True)
def entity(*records: type, node: dict[str, Any] | None = None) -> Callable[[type[T]], type[T]]:
    """Declares the GraphQL type of records, and how its objects are found by global id.

    The docstring of the class is its description in the schema.
    """

    def declare(cls: type[T]) -> type[T]:
        for record in records:
            RECORD_TYPES[record] = cls.__name__
        if node is not None:
            NODE_KINDS[cls.__name__] = NodeKind(type_name=cls.__name__, **node)
        return described(cls)

    return declare


def decimal(description: str, attribute: str) -> Any:
    def shown(row: Any, _request: RequestState) -> str | None:
        number = getattr(row, attribute)
        return None if number is None else show_number(number)

    return column(description, shown, reads=(attribute,))


def json(description: str, attribute: str) -> Any:
    return column(description, lambda row, _: show_json(getattr(row, attribute)), reads=(attribute,))


def id_argument(name: str, description: str) -> Argument:
    return Argument(name, strawberry.ID, description, parse=require_id)
