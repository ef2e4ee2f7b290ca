import pytest
import strawberry

from loaders.contracts.owners import OWNER_BY_ID
from resolvers.bindings.base import Embedded, bound_field, column, embedded
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import PROFILE
from resolvers.plan.bound_schema import BoundSchema, FieldDeclarationError


@strawberry.type
class Part:
    """An object inside another."""

    name: str = column("Name.")


@strawberry.type
class Bound:
    """Every field has a binding."""

    name: str = column("Name.")
    part: Part = embedded("Part.")


@strawberry.type
class Unbound:
    """One field has none."""

    name: str = column("Name.")
    other: str


@strawberry.type
class Unbounded:
    """A list of objects that does not say how long it can be."""

    parts: list[Part] = bound_field(Embedded(source="parts", most=0), "Parts.")


@strawberry.type
class Refused:
    """A column with a rule of its own that promises a value."""

    name: str = column("Name.", rule=PROFILE)


@strawberry.type
class Unread:
    """A field that reads and promises a value."""

    part: Part = one(OWNER_BY_ID, key="owner_id", rule=PROFILE, description="Part.")


def bound(query: type) -> BoundSchema:
    return BoundSchema(strawberry.Schema(query)._schema)  # noqa: SLF001  # Strawberry has no other way to it


def test_a_schema_whose_fields_are_all_bound_is_built() -> None:
    assert set(bound(Bound).types) == {"Bound", "Part"}


@pytest.mark.parametrize(
    ("query", "field"),
    [(Unbound, "Unbound.other"), (Unbounded, "Unbounded.parts"), (Refused, "Refused.name"), (Unread, "Unread.part")],
)
def test_a_field_without_a_binding_a_bound_or_the_null_that_it_can_be_fails_the_build(query: type, field: str) -> None:
    with pytest.raises(FieldDeclarationError, match=rf"^{field} "):
        bound(query)


def test_a_field_that_reads_and_does_not_say_who_may_use_it_is_not_declared() -> None:
    with pytest.raises(TypeError, match="'rule'"):
        look_up(OWNER_BY_ID, message="", description="Part.", arguments=())


def test_a_field_that_reads_what_no_class_of_records_has_fails_the_build() -> None:
    schema = bound(Bound)
    copy, record = type("Copy", (), {"name": ""}), type("Record", (), {"name": "", "part": Part})
    schema.require_attributes({copy: "Bound", record: "Bound"})
    with pytest.raises(FieldDeclarationError, match=r"^Bound.part reads part, "):
        schema.require_attributes({copy: "Bound"})
