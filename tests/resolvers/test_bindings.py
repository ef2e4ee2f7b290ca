"""Bindings: every field has one, and the compiled tree reads exactly what they say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import strawberry

from loaders.contracts.owners import OWNER_BY_ID
from resolvers.bindings.base import Embedded, bound_field, column, embedded
from resolvers.bindings.references import look_up, one
from resolvers.bindings.rules import PROFILE
from resolvers.plan.schema import BoundSchema, FieldDeclarationError
from tests.resolvers.plans import SCHEMA, request_state

if TYPE_CHECKING:
    from resolvers.plan.compile import Place


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


def tree(document: str, **variables: Any) -> Place:
    (operation,) = SCHEMA.documents.get(document).operations
    return operation.tree(variables)


def test_a_schema_whose_fields_are_all_bound_is_built() -> None:
    assert set(bound(Bound).types) == {"Bound", "Part"}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (Unbound, "Unbound.other"),
        (Unbounded, "Unbounded.parts"),
        (Refused, "Refused.name"),
        (Unread, "Unread.part"),
    ],
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


def test_columns_of_many_objects_are_read_at_once_in_document_order() -> None:
    root = tree('{ owner(ownerId: "a") { kind: name __typename lockers { nextCursor } id name ownerId } }')
    place = root.steps["owner"].places["Owner"]
    rows = [SimpleNamespace(owner_id=name, name=name.upper()) for name in ("ada", "bob")]
    outputs = place.outputs(rows, request_state())
    assert [list(output) for output in outputs] == [["kind", "__typename", "lockers", "id", "name", "ownerId"]] * 2
    assert outputs[1] == {
        "kind": "BOB",
        "__typename": "Owner",
        "lockers": None,
        "id": "T3duZXIvYm9i",
        "name": "BOB",
        "ownerId": "bob",
    }


@pytest.mark.parametrize(
    ("selection", "uses"),
    [
        ("nodes { alias }", {"alias"}),
        ("edges { cursor node { version } } nodes { alias }", {"alias", "version", "owner_id", "locker_id"}),
        (
            "a: nodes { alias } b: nodes { ... on Node { ... on Locker { status } } }",
            {"alias", "status", "owner_id", "locker_id"},
        ),
        ("nodes { id }", {"locker_id"}),
        ("nodes { owner { version } }", {"owner_id", "*steps"}),
        ("nodes { activeReservation { endAt } }", {"locker_id", "owner_id", "*steps"}),
        ("nextCursor pageInfo { endCursor }", set()),
        ("nodes { ... on Node { ... on Owner { name } } __typename }", set()),
    ],
)
def test_a_list_knows_which_attributes_of_its_items_are_used(selection: str, uses: set[str]) -> None:
    root = tree(f'{{ owner(ownerId: "a") {{ lockers {{ {selection} }} }} }}')
    assert root.steps["owner"].places["Owner"].steps["lockers"].uses == uses


def test_a_field_of_several_types_has_a_place_for_each_of_them() -> None:
    root = tree("""{ node(id: "x") { id __typename
      ... on Locker { alias owner { name } } ... on Owner { name } ... on Booking { date }
    } }""")
    places = root.steps["node"].places
    assert places.keys() == SCHEMA.bound.possible["Node"]
    assert [places[name].keys for name in ("Locker", "Owner", "Location")] == [
        ["id", "__typename", "alias", "owner"],
        ["id", "__typename", "name"],
        ["id", "__typename"],
    ]
