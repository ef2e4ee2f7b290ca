"""The schema as clients see it is described throughout.

Its shapes are declared once, and the committed file shows every change of them.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    build_schema,
)

from resolvers.bindings.base import NULL_WITH_ERROR, Column
from resolvers.bindings.rules import AS_OBJECT
from resolvers.entities.base import RECORD_TYPES
from resolvers.schema import bound_schema, sdl

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


def test_the_documented_mapping_for_generated_types_has_every_custom_scalar() -> None:
    root = Path(__file__).parents[2]
    section = (root / "docs" / "http.md").read_text().split("## Types for clients")[1]
    documented = json.loads(section.split("```json")[1].split("```")[0])
    page = (root / "docs" / "web-clients.md").read_text()
    tested = json.loads(page.split("```json")[1].split("```")[0])["generates"]["src/gql/"]["config"]
    assert documented.items() <= tested.items()
    scalars = {name for name, kind in OWN_TYPES.items() if isinstance(kind, GraphQLScalarType)}
    assert (
        documented["scalars"].keys() == scalars == set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) & scalars
    )


def test_a_field_that_only_a_rule_makes_null_says_so() -> None:
    records = {name: record for record, name in reversed(RECORD_TYPES.items())}
    hidden, lists = set(), set()
    for type_name, fields in bound_schema().types.items():
        for field in fields.values():
            text, binding = field.definition.description or "", field.binding
            if isinstance(binding, Column) and binding.rule is not AS_OBJECT:
                (attribute,) = binding.needs
                optional = type(None) in get_args(get_type_hints(records[type_name])[attribute])
                assert text.endswith(f" Null {'also' if optional else 'only'} for callers who may not see it."), (
                    field.name
                )
                hidden.add(field.name)
            elif (
                field.nullable
                and binding.rule is not AS_OBJECT
                and (field.is_list or field.targets[0].endswith("Connection"))
            ):
                assert text.endswith(NULL_WITH_ERROR) or "null " in text, field.name
                lists.add(field.name)
    assert {"Locker.version", "Owner.name", "Location.managerId"} < hidden
    assert {"Owner.lockers", "Locker.busy", "CalendarEvent.accessCodes"} < lists


def test_pages_of_things_with_names_of_several_words_are_described_in_words() -> None:
    for name, text in PARTS:
        item = name.removesuffix("Connection")
        if item != name and not item.istitle():
            assert f"{item}s".lower() not in str(text), name
