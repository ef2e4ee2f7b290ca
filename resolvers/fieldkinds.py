"""The part of the schema that a plan looks at: the fields that read, and those that lead to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphql import GraphQLList, GraphQLObjectType, get_named_type, get_nullable_type, is_abstract_type, is_object_type

from resolvers.costs import COSTS, LISTS

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLSchema

    from resolvers.costs import Reading

__all__ = ["REFUSED", "FieldKind", "FieldKinds"]

REFUSED = "only where the mutation is refused"
_OF_PAGE = frozenset({"nodes", "edges"})


@dataclass(frozen=True, slots=True)
class FieldKind:
    """A field that reads, or below which something can be read."""

    name: str
    reading: Reading | None
    targets: tuple[str, ...]
    """The object types that it can give, as far as anything can be read below them."""
    of_page: bool = False
    """Gives the items of a page."""
    same: bool = False
    """Gives what its parent stands for."""
    most: int = 1
    when: str | None = None


class FieldKinds:
    """By type and field; what is not here costs nothing."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        objects = {name: type_ for name, type_ in schema.type_map.items() if isinstance(type_, GraphQLObjectType)}
        self.applies_to = {
            name: frozenset(self._objects_of(type_))
            for name, type_ in schema.type_map.items()
            if is_object_type(type_) or is_abstract_type(type_)
        }
        self._reading = self._reading_types(objects)
        self.of: dict[str, dict[str, FieldKind]] = {
            name: {
                field_name: kind
                for field_name, field in type_.fields.items()
                if (kind := self._kind(name, field_name, field)) is not None
            }
            for name, type_ in objects.items()
        }

    def _objects_of(self, type_: object) -> list[str]:
        if is_object_type(type_):
            return [type_.name]
        if is_abstract_type(type_):
            return [possible.name for possible in self._schema.get_possible_types(type_)]
        return []

    def _reading_types(self, objects: dict[str, GraphQLObjectType]) -> set[str]:
        """The types with a field that reads, or that leads to such a type."""
        found: set[str] = set()
        while True:
            more = {
                name
                for name, type_ in objects.items()
                if name not in found
                and any(
                    f"{name}.{field_name}" in COSTS
                    or not found.isdisjoint(self._objects_of(get_named_type(field.type)))
                    for field_name, field in type_.fields.items()
                )
            }
            if not more:
                return found
            found |= more

    def _kind(self, type_name: str, field_name: str, field: GraphQLField) -> FieldKind | None:
        name = f"{type_name}.{field_name}"
        targets = tuple(target for target in self._objects_of(get_named_type(field.type)) if target in self._reading)
        reading = COSTS.get(name)
        if reading is None and not targets:
            return None
        of_page = type_name.endswith("Connection") and field_name in _OF_PAGE
        if isinstance(get_nullable_type(field.type), GraphQLList) and not (
            reading or of_page or name in LISTS or field_name == "userErrors"
        ):
            raise ValueError(f"{name} is a list below which something is read: say how long it can be")
        return FieldKind(
            name=name,
            reading=reading,
            targets=targets,
            of_page=of_page,
            same=of_page or (type_name.endswith("Edge") and field_name == "node"),
            most=LISTS.get(name, 1),
            when=REFUSED if field_name == "userErrors" else None,
        )
