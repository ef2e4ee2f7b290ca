"""The schema as clients see it is described throughout.

Its shapes are declared once, and the committed file shows every change of them.
"""

from collections.abc import Iterator

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    build_schema,
)

from resolvers.schema import sdl

SDL = sdl()
SCHEMA = build_schema(SDL)
BUILT_IN = {"ID", "Int", "String", "Boolean", "Float"}
OWN_TYPES = {name: kind for name, kind in SCHEMA.type_map.items() if not name.startswith("__") and name not in BUILT_IN}


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


def test_everything_in_the_schema_has_a_description() -> None:
    assert [name for name, description in PARTS if not (description or "").strip()] == []


def test_a_description_is_a_sentence() -> None:
    assert [name for name, text in PARTS if text and (not text.endswith(".") or text[0].islower())] == []


def test_a_custom_scalar_names_its_specification() -> None:
    scalars = [kind for kind in OWN_TYPES.values() if isinstance(kind, GraphQLScalarType)]
    assert scalars
    bodies = ("https://www.rfc-editor.org/rfc/", "https://www.w3.org/TR/")
    assert all((kind.specified_by_url or "").startswith(bodies) for kind in scalars)
