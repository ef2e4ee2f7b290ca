"""The schema as clients see it: the committed file is what is served, described throughout, with one set of shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    build_schema,
)

from resolvers.schema import build_schema as build_our_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLNamedType

SDL = build_our_schema().sdl()
SCHEMA = build_schema(SDL)
BUILT_IN = {"ID", "Int", "String", "Boolean", "Float"}
OWN_TYPES = {name: kind for name, kind in SCHEMA.type_map.items() if not name.startswith("__") and name not in BUILT_IN}
CONNECTIONS = [name.removesuffix("Connection") for name in OWN_TYPES if name.endswith("Connection")]


def described_parts(kind: GraphQLNamedType) -> Iterator[tuple[str, str | None]]:
    """A type and everything in it, each with its description."""
    yield kind.name, kind.description
    match kind:
        case GraphQLObjectType() | GraphQLInterfaceType():
            for name, field in kind.fields.items():
                yield f"{kind.name}.{name}", field.description
                for argument, value in field.args.items():
                    yield f"{kind.name}.{name}({argument})", value.description
        case GraphQLInputObjectType():
            for name, field in kind.fields.items():
                yield f"{kind.name}.{name}", field.description
        case GraphQLEnumType():
            for name, value in kind.values.items():
                yield f"{kind.name}.{name}", value.description


PARTS = [part for kind in OWN_TYPES.values() for part in described_parts(kind)]


def fields_of(name: str) -> dict[str, str]:
    """The fields of a type with their types."""
    kind = OWN_TYPES[name]
    assert isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
    return {field: str(value.type) for field, value in kind.fields.items()}


def test_everything_in_the_schema_has_a_description() -> None:
    assert [name for name, description in PARTS if not (description or "").strip()] == []


def test_a_description_is_a_sentence() -> None:
    assert [name for name, text in PARTS if text and (not text.endswith(".") or text[0].islower())] == []


def test_a_custom_scalar_names_its_specification() -> None:
    scalars = [kind for kind in OWN_TYPES.values() if isinstance(kind, GraphQLScalarType)]
    assert scalars
    bodies = ("https://www.rfc-editor.org/rfc/", "https://www.w3.org/TR/")
    assert all((kind.specified_by_url or "").startswith(bodies) for kind in scalars)


@pytest.mark.parametrize("entity", CONNECTIONS)
def test_a_connection_has_edges_nodes_page_info_and_the_next_cursor(entity: str) -> None:
    assert fields_of(f"{entity}Connection") == {
        "edges": f"[{entity}Edge!]!",
        "nodes": f"[{entity}!]!",
        "pageInfo": "PageInfo!",
        "nextCursor": "String",
    }
    assert fields_of(f"{entity}Edge") == {"cursor": "String!", "node": f"{entity}!"}


def test_every_list_takes_the_four_paging_arguments() -> None:
    for name, kind in OWN_TYPES.items():
        for field, value in getattr(kind, "fields", {}).items():
            if str(value.type).endswith("Connection"):
                paging = [f"{argument}: {given.type}" for argument, given in value.args.items()][-4:]
                assert paging == ["first: Int", "after: String", "last: Int", "before: String"], f"{name}.{field}"


def test_every_mutation_takes_one_input_and_returns_a_payload_with_user_errors() -> None:
    assert SCHEMA.mutation_type is not None
    for name, field in SCHEMA.mutation_type.fields.items():
        title = name[0].upper() + name[1:]
        assert {argument: str(given.type) for argument, given in field.args.items()} == {"input": f"{title}Input!"}
        assert str(field.type) == f"{title}Payload!"
        payload = fields_of(f"{title}Payload")
        assert payload.pop("userErrors") == "[UserError!]!"
        assert payload
        assert not any(kind.endswith("!") for kind in payload.values())


def test_every_error_type_has_its_details() -> None:
    common = fields_of("UserError")
    found = {
        name: {field: kind for field, kind in fields_of(name).items() if field not in common}
        for name, kind in OWN_TYPES.items()
        if isinstance(kind, GraphQLObjectType) and [each.name for each in kind.interfaces] == ["UserError"]
    }
    assert found == {
        "PlainError": {},
        "VersionConflictError": {"currentVersion": "Int!"},
        "InvalidTransitionError": {"currentStatus": "LockerStatus!", "allowedStatuses": "[LockerStatus!]!"},
        "ReservationOverlapError": {"reservation": "Reservation!"},
        "SlotTakenError": {"event": "CalendarEvent!"},
    }
    assert all(name.endswith("Error") for name in found)
