"""The API's own scalars."""

import re
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, NewType

import strawberry
from graphql import (
    BooleanValueNode,
    EnumValueNode,
    FloatValueNode,
    GraphQLError,
    IntValueNode,
    ListValueNode,
    ObjectValueNode,
    StringValueNode,
    ValueNode,
    VariableNode,
    value_from_ast_untyped,
)
from strawberry.schema.config import StrawberryConfig

from domain.times import Day, Instant, parse_day, parse_instant

JSON = NewType("JSON", object)
ExactNumber = NewType("ExactNumber", Decimal)

_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?")

_NO_NUMBER = 'Decimal must be a string of digits such as "49.90", or a number.'
_EXACT = Context(prec=38)  # the most digits that a stored number has
_ENCODABLE = range(-(2**63), 2**64)


def _from_text(name: str, description: str, example: str, parse: Callable[[str], Any]) -> Any:
    def parse_value(value: object) -> Any:
        if not isinstance(value, str):
            raise GraphQLError(f'{name} must be a string such as "{example}".')
        try:
            return parse(value)
        except ValueError as error:
            raise GraphQLError(f"{name} value {error}.") from error

    def parse_literal(node: ValueNode, variables: dict[str, Any] | None = None) -> Any:
        try:
            return parse_value(value_from_ast_untyped(node, variables))
        except GraphQLError as error:
            raise GraphQLError(error.message, node) from error  # it knows its place

    return strawberry.scalar(
        name=name,
        description=description,
        specified_by_url="https://www.rfc-editor.org/rfc/rfc3339",
        serialize=str,
        parse_value=parse_value,
        parse_literal=parse_literal,
    )


def _parse_number(value: object) -> Decimal:
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    text = str(value)
    if not (is_number or isinstance(value, str)) or _NUMBER.fullmatch(text) is None:
        raise GraphQLError(_NO_NUMBER)
    return Decimal(text)


def _parse_number_literal(node: ValueNode, _variables: dict[str, Any] | None = None) -> Decimal:
    if not isinstance(node, IntValueNode | FloatValueNode | StringValueNode):
        raise GraphQLError(_NO_NUMBER, node)
    return _parse_number(node.value)


def _exact_number(node: IntValueNode | FloatValueNode) -> int | Decimal:
    try:
        return int(node.value) if isinstance(node, IntValueNode) else Decimal(node.value)
    except ArithmeticError:
        raise GraphQLError("Number is out of range.", node) from None


def _parse_json_literal(node: ValueNode, variables: dict[str, Any] | None = None) -> Any:
    """A JSON value written inside the document; numbers stay exact."""
    value: Any = None
    match node:
        case StringValueNode() | BooleanValueNode():
            value = node.value
        case IntValueNode() | FloatValueNode():
            value = _exact_number(node)
        case ListValueNode():
            value = [_parse_json_literal(child, variables) for child in node.values]
        case ObjectValueNode():
            value = {field.name.value: _parse_json_literal(field.value, variables) for field in node.fields}
        case VariableNode():
            value = (variables or {}).get(node.name.value)
        case EnumValueNode():
            raise GraphQLError("JSON has no enum values: write text in quotes.", node)
    return value


def show_number(value: Decimal) -> str:
    """The number in plain digits, however it was written when it was stored."""
    return f"{_EXACT.plus(_EXACT.normalize(value)):f}"


def show_json(value: Any) -> Any:
    """The value as the answer's encoder takes it: an integer of more than 64 bits as a Decimal, which stays exact."""
    match value:
        case dict():
            return {name: show_json(child) for name, child in value.items()}
        case list():
            return [show_json(child) for child in value]
        case int() if value not in _ENCODABLE:
            return Decimal(value)
    return value


def schema_config() -> StrawberryConfig:
    return StrawberryConfig(
        scalar_map={
            Instant: _from_text(
                "DateTime",
                "Date and time. Input: RFC 3339 with a time zone. Output: UTC with milliseconds and `Z`.",
                "2026-03-01T12:00:00Z",
                parse_instant,
            ),
            Day: _from_text(
                "Date", "Calendar day as YYYY-MM-DD, in the time zone of its location.", "2026-03-01", parse_day
            ),
            ExactNumber: strawberry.scalar(
                name="Decimal",
                description='Exact decimal number. Output: a string of digits, such as "49.9", since many JSON parsers '
                "round numbers. Input: such a string, or a number.",
                specified_by_url="https://www.w3.org/TR/xmlschema-2/#decimal",
                serialize=str,
                parse_value=_parse_number,
                parse_literal=_parse_number_literal,
            ),
            JSON: strawberry.scalar(
                name="JSON",
                description="Any JSON value. Numbers stay exact.",
                specified_by_url="https://www.rfc-editor.org/rfc/rfc8259",
                serialize=show_json,
                parse_value=lambda value: value,
                parse_literal=_parse_json_literal,
            ),
        }
    )
