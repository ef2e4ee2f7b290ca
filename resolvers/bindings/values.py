"""From coerced arguments with GraphQL's names to plain values with Python's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from strawberry.types import get_object_definition
from strawberry.types.base import StrawberryContainer, StrawberryList, StrawberryOptional

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strawberry.types.arguments import StrawberryArgument


class ArgumentNames:
    """The arguments of one field: their names in both languages, and which hold input objects."""

    def __init__(self, arguments: Iterable[StrawberryArgument]) -> None:
        self._fields = {
            argument.graphql_name or camel_case(argument.python_name): (argument.python_name, argument.type)
            for argument in arguments
        }

    def plain(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values by their Python names; an input object is a dict of what the client gave."""
        return {
            self._fields[name][0]: _plain(self._fields[name][1], value) if _holds_objects(value) else value
            for name, value in values.items()
        }


def _holds_objects(value: Any) -> bool:
    return isinstance(value, dict | list)


def _plain(type_: Any, value: Any) -> Any:
    while isinstance(type_, StrawberryOptional):
        type_ = type_.of_type
    if isinstance(type_, StrawberryList) and isinstance(value, list):
        return [_plain(type_.of_type, item) for item in value] if _has_fields(type_) else value
    if isinstance(value, dict) and get_object_definition(type_) is not None:
        fields = _input_fields(type_)
        return {fields[name][0]: _plain(fields[name][1], given) for name, given in value.items()}
    return value


def _has_fields(type_: Any) -> bool:
    """Whether a type is an input object, or a list of them."""
    while isinstance(type_, StrawberryContainer):
        type_ = type_.of_type
    return get_object_definition(type_) is not None


@cache
def _input_fields(input_type: Any) -> dict[str, tuple[str, Any]]:
    definition = get_object_definition(input_type, strict=True)
    return {
        field.graphql_name or camel_case(field.python_name): (field.python_name, field.type)
        for field in definition.fields
    }


@cache
def camel_case(name: str) -> str:
    """GraphQL's spelling of a Python name."""
    first, *rest = name.strip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)
