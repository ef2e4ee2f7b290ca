"""What entity modules share: registering a type's records, global ids and the usual arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import strawberry
from typing_extensions import dataclass_transform

from resolvers.bindings.base import Argument
from resolvers.bindings.nodes import NODE_KINDS, NodeKind
from resolvers.bindings.writes import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from domain.commands.base import Command

__all__ = [
    "CHANGED",
    "CHOSEN_ID",
    "EXPECTED_VERSION",
    "RECORD_TYPES",
    "VERSION",
    "command_input",
    "entity",
    "id_argument",
    "optional",
    "without_principal",
]

T = TypeVar("T")

RECORD_TYPES: dict[type, str] = {}
"""The GraphQL type of each class of records."""

VERSION = "Incremented on every change. Send it as `expectedVersion` to change the object."
EXPECTED_VERSION = "Version of the object that the change is based on."
CHANGED = "Time of the last change."
CHOSEN_ID = "Id of your choice: a repeated request with the same id and content returns the first result."


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


@dataclass_transform(kw_only_default=True)
def command_input(command: type[Command]) -> Callable[[type[T]], type[T]]:
    """Declares the input type of a command; the docstring of the class is its description in the schema."""

    def declare(cls: type[T]) -> type[T]:
        COMMANDS[cls] = command
        return strawberry.input(cls, description=cls.__doc__)

    return declare


def id_argument(name: str, description: str) -> Argument:
    """An argument that takes an object's own id."""
    return Argument(name, strawberry.ID, description)


def optional(description: str) -> Any:
    """A field of an input that may be left out."""
    return strawberry.field(default=strawberry.UNSET, description=description)


def without_principal(write: Callable[[Any, Any], Awaitable[T]]) -> Callable[[Any, Any, Any], Awaitable[T]]:
    """A write that only admins use, so it need not know who asks."""

    def run(backend: Any, command: Any, _principal: Any) -> Awaitable[T]:
        return write(backend, command)

    return run
