"""What entity modules share: registering a type's records, global ids and the usual arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import strawberry
from typing_extensions import dataclass_transform

from loaders.contracts.lockers import LOCKER_BY_ID
from resolvers.api.scalars import show_number
from resolvers.bindings.base import Argument, Charge, column, look_up_charge
from resolvers.bindings.nodes import NODE_KINDS, NodeKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from domain.models import Locker
    from resolvers.request import RequestState

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
        return strawberry.type(cls, description=cls.__doc__)

    return declare


def decimal(description: str, attribute: str) -> Any:
    """A column with an exact number."""

    def shown(row: Any, _request: RequestState) -> str | None:
        number = getattr(row, attribute)
        return None if number is None else show_number(number)

    return column(description, shown, reads=(attribute,))


def id_argument(name: str, description: str) -> Argument:
    """An argument that takes an object's own id."""
    return Argument(name, strawberry.ID, description)


def without_principal(write: Callable[[Any, Any], Awaitable[T]]) -> Callable[[Any, Any, Any], Awaitable[T]]:
    """A write that only admins use, so it need not know who asks."""

    def run(backend: Any, command: Any, _principal: Any) -> Awaitable[T]:
        return write(backend, command)

    return run


async def locker_of(record: Any, request: RequestState, path: str) -> Locker | None:
    """The locker that a record names; its owner decides who may see the record."""
    (locker,) = await request.loaders.of(LOCKER_BY_ID).load_bulk([(record.locker_id,)], path)
    if isinstance(locker, Exception):
        raise locker
    return locker


def locker_owner_charges(count: int) -> list[Charge]:
    """What it costs to read whose the lockers are."""
    return [look_up_charge(LOCKER_BY_ID, count, condition="only where the owner of the locker decides who may see it")]
