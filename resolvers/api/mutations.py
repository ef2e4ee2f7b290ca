"""Mutations: each is bound to the write and the command of its name, from which its input and payload types come."""

import inspect
import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache, reduce
from operator import or_
from types import ModuleType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import strawberry
from pydantic import AfterValidator

from domain.commands.base import Command
from domain.ids import check_id, check_ulid
from loaders.contracts.writing import WriteContract
from resolvers.api.payloads import Payload, current_entity, written
from resolvers.api.scalars import JSON, ExactNumber
from resolvers.bindings.base import Argument, bound_field, column, embedded
from resolvers.bindings.rules import Rule
from resolvers.bindings.writes import Writing

T = TypeVar("T")

_IDS = (AfterValidator(check_id), AfterValidator(check_ulid))


def write(contract: WriteContract, rule: Rule, *, description: str, **binding: Any) -> Any:
    """A mutation with one input and one payload, in a class that is decorated with `mutations`."""
    return description, {"contract": contract, "rule": rule, **binding}


def mutations(*modules: ModuleType) -> Callable[[type[T]], type[T]]:
    """Declares mutations, each annotated with the entity that it changes, or with a payload of its own.

    In the modules, `rename_locker` finds its command `RenameLocker` and, unless it says what to `run`, its write
    `rename_locker`.
    """

    def named(name: str) -> Any:
        for module in modules:
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(f"{name} is in none of {', '.join(module.__name__ for module in modules)}")

    def declare(cls: type[T]) -> type[T]:
        types = get_type_hints(cls)
        for name, type_ in types.items():
            description, binding = getattr(cls, name)
            title = name.title().replace("_", "")
            command, run = named(title), binding.pop("run", None) or named(name)
            writing = binding.pop("kind", Writing)(command=command, run=run, **binding)
            argument = Argument("input", input_type(command), "Input of the mutation.")
            setattr(cls, name, bound_field(writing, description, [argument]))
            if not issubclass(type_, Payload):
                types[name] = _payload_type(title, type_, writing)
        cls.__annotations__ = types
        return strawberry.type(cls)

    return declare


def _payload_type(name: str, entity: type, writing: Writing) -> type:
    field = re.sub(r"(?<!^)(?=[A-Z])", "_", entity.__name__).lower()
    text = writing.returns or f"The {field.replace('_', ' ')} as it is now; after a conflict, its current state."
    types: dict[str, Any] = {field: entity | None}
    members = {"__annotations__": types, field: embedded(text, current_entity)}
    if writing.secret is not None:
        secret, description = writing.secret
        types[secret] = str | None
        members |= {field: embedded(text, written("record")), secret: column(description, written(secret))}
    description = f"Return type of `{name[0].lower()}{name[1:]}`."
    return strawberry.type(type(f"{name}Payload", (Payload,), members), description=description)


@cache
def input_type(command: type[Command]) -> type:
    """The GraphQL input type of a command; fields that the command inherits come last."""
    declared = [name for base in command.__mro__ for name in inspect.get_annotations(base)]
    hints = get_type_hints(command, include_extras=True)
    types: dict[str, Any] = {}
    members: dict[str, Any] = {"__annotations__": types}
    for name in filter(command.model_fields.__contains__, declared):
        field, types[name] = command.model_fields[name], _graphql_type(hints[name])
        default: dict[str, Any] = {}
        if field.default_factory is not None:
            default = {"default_factory": field.default_factory}
        elif field.default is None:
            default, types[name] = {"default": strawberry.UNSET}, types[name] | None
        elif not field.is_required():
            default = {"default": field.default}
        members[name] = strawberry.field(description=field.description, **default)
    name = command.__name__
    description = command.__doc__ or f"Input of `{name[0].lower()}{name[1:]}`."
    return strawberry.input(type(f"{name}Input", (), members), description=description)


def _graphql_type(type_: Any) -> Any:
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return strawberry.ID if any(check in _IDS for check in arguments[1:]) else _graphql_type(arguments[0])
    if origin in {Union, UnionType}:
        return reduce(or_, map(_graphql_type, arguments))
    if origin is list:
        return list[_graphql_type(arguments[0])]  # type: ignore[misc]
    if origin is dict:
        return JSON
    if type_ is Decimal:
        return ExactNumber
    return input_type(type_) if inspect.isclass(type_) and issubclass(type_, Command) else type_
