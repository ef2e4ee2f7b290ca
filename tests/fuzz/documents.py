"""Documents made at random from the schema, with arguments that mostly name something that is there."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from graphql import (
    DocumentNode,
    FieldNode,
    InputObjectTypeDefinitionNode,
    InputValueDefinitionNode,
    NamedTypeNode,
    NameNode,
    OperationDefinitionNode,
    SelectionSetNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    build_schema,
    get_named_type,
    parse,
    print_ast,
    visit,
)
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis_graphql import from_schema, nodes

from tests.fuzz.tenants import CODES, IDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import GraphQLSchema, ValueNode

__all__ = ["COUNTS", "SCHEMA", "documents"]

SDL = (Path(__file__).parents[2] / "schema.graphql").read_text()
SCHEMA = build_schema(SDL)
# Where most can be reached it is asked most often; what only an admin may do says no at once.
_SHARES = {
    8: "locker owner location",
    4: "node nodes ownerByEmail reservation booking locationByCode updateOwner registerLocker renameLocker "
    "moveLocker updateLockerStatus transferLocker createReservation cancelReservation extendReservation requestBooking "
    "cancelBooking recordAccessEvent recordAccessEvents",
    1: "locations pendingBookings apiKey apiKeys createOwner createLocation updateLocation deactivateLocation "
    "reactivateLocation approveBooking rejectBooking recordPayment createCalendarEvent deleteCalendarEvent "
    "createApiKey revokeApiKey",
}
COUNTS = {name: 19 * share for share, names in _SHARES.items() for name in names.split()}

# What shows, of anything, whose it is: every document asks for it, so that nothing is shown without being noticed.
_TELLING = {
    "Locker": "alias",
    "Reservation": "createdAt ownerId",
    "AccessEvent": "actorId",
    "Booking": "description",
    "Payment": "method",
    "Notification": "createdAt notificationId",
    "ApiKey": "name",
    "CalendarDay": "morning { title bookingId }",
    "CalendarEvent": "title bookingId",
}
_ERRORS = """userErrors {
  message ... on ReservationOverlap { reservation { createdAt ownerId } } ... on SlotTaken { event { title bookingId } }
}"""
MONTHS = ("2026-02", "2026-03", "2026-04")
# Every second document asks also for what hangs below, whatever else its arguments come to.
_BELOW = {
    "Locker": """told1: latestEvent { actorId } told2: accessEvents(first: 3) { nodes { actorId } }
      told3: reservations(first: 3) { nodes { createdAt ownerId } } told4: owner { name }""",
    "Owner": """told5: lockers(first: 3) { nodes { alias } } told6: reservations(first: 3) { nodes { createdAt } }
      told7: bookings(first: 3) { nodes { description } } told8: notifications(first: 3) { nodes { createdAt } }""",
    "Booking": "told9: payments(first: 3) { nodes { method } } owner { name }",
    "CalendarDay": "morning { booking { description } }",
}
_OWNER_LISTS = {"lockers", "reservations", "bookings", "notifications"}


class _ByName(Visitor):
    """Gives each argument of a plain type a type of its own name, so that each has its own values."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_input_value_definition(
        self, node: InputValueDefinitionNode, _key: Any, _parent: Any, _path: Any, ancestors: list[Any]
    ) -> InputValueDefinitionNode:
        name = node.name.value
        # Whoever makes a reservation may call it what it likes, and is shown that again: not by a name of another's.
        if name == "reservationId" and any(_name_of(above) == "CreateReservationInput" for above in ancestors):
            name = "newReservationId"
        return InputValueDefinitionNode(
            name=node.name, type=self._renamed(node.type, name), default_value=node.default_value
        )

    def _renamed(self, kind: Any, name: str) -> Any:
        if not isinstance(kind, NamedTypeNode):
            return type(kind)(type=self._renamed(kind.type, name))
        if kind.name.value not in {"ID", "String", "Int"}:
            return kind
        self.names.add(name)
        return NamedTypeNode(name=NameNode(value=name))


def _name_of(node: Any) -> str | None:
    return node.name.value if isinstance(node, InputObjectTypeDefinitionNode) else None


@cache
def _schema_by_name() -> tuple[GraphQLSchema, frozenset[str]]:
    by_name = _ByName()
    sdl = print_ast(visit(parse(SDL), by_name))
    scalars = "".join(f"\nscalar {name}" for name in sorted(by_name.names))
    return build_schema(sdl + scalars), frozenset(by_name.names)


def _texts(*values: str) -> st.SearchStrategy[ValueNode]:
    return st.sampled_from(values).map(nodes.String)


def _numbers(*values: int) -> st.SearchStrategy[ValueNode]:
    return st.sampled_from(values).map(nodes.Int)


def _values(known: dict[str, list[str]], names: frozenset[str]) -> dict[str, st.SearchStrategy[ValueNode]]:
    odd = ["", "nothing", "x" * 65, "bert#META", "bert~", *known["node"][:2], *known["cursor"][:2]]
    text = st.one_of(_texts("", "nothing", "x" * 300), st.text(max_size=6).map(nodes.String))

    def some(kind: str) -> st.SearchStrategy[ValueNode]:
        return _texts(*IDS[kind] * (40 // len(IDS[kind])), *odd)

    # Of the arguments of a page most pairs contradict each other, so they are mostly null.
    cursors = [nodes.String(cursor) for cursor in [*known["cursor"], "nonsense"]]
    pages = {
        "first": _numbers(1, 2, 3, 100, 0),
        "after": st.sampled_from([*[nodes.Null] * 4 * len(cursors), *cursors]),
        "last": st.sampled_from([*[nodes.Null] * 20, nodes.Int(1), nodes.Int(101)]),
        "before": st.sampled_from([*[nodes.Null] * 20 * len(cursors), *cursors]),
    }
    ids = {f"{kind}Id": some(kind) for kind in IDS if kind != "email"}
    node = _texts(*known["node"], "nonsense")
    hours = [f"{month}-0{day}T{hour}:00:00Z" for month in MONTHS for day in (1, 2) for hour in ("00", "12", "20")]
    return (
        dict.fromkeys(names, text)
        | ids
        | pages
        | {
            "adminId": _texts("root", "anna"),
            "newOwnerId": some("owner"),
            "newLocationId": some("location"),
            "ownerIds": some("owner"),
            "actorId": _texts("anna", "guild", "?"),
            "eventId": _texts("opened-anna", "new-1", "new-2", "?"),
            "newReservationId": _texts("now-anna", "at-guild-anna", "new-1", "new-2", "?"),
            "id": node,
            "ids": node,
            "email": _texts(*IDS["email"], "new@example.com", "nonsense"),
            "code": _texts(*CODES, "room", "?"),
            "timeZone": _texts("Europe/Rome", "Nowhere"),
            "currency": _texts("EUR"),
            "expectedVersion": _numbers(1, 1, 2, 3, 4),
            "attendees": _numbers(1, 5),
            "description": _texts("One", "Two"),
            "DateTime": _texts(*hours),
            "Date": _texts("2026-03-01", "2026-03-10", "2026-03-11", "2026-03-20", "2026-05-20"),
            "Decimal": _numbers(1, 90),
            "JSON": st.sampled_from([nodes.Object([]), nodes.Null, nodes.Int(1)]),
        }
    )


class _Telling(Visitor):
    """Adds to every selection what shows whose its object is."""

    def __init__(self, info: TypeInfo, below: dict[str, str]) -> None:
        super().__init__()
        self.info = info
        self.below = below

    def leave_selection_set(self, node: SelectionSetNode, *_: Any) -> SelectionSetNode:
        kind: Any = self.info.get_parent_type()
        selected = {field.name.value for field in node.selections if isinstance(field, FieldNode)}
        below = self.below.get(kind.name, "")
        wanted = f"{_telling_fields(kind, selected | ({'lockers'} if below else set()))} {below}".strip()
        return SelectionSetNode(selections=(*node.selections, *_parsed(wanted))) if wanted else node


def _telling_fields(kind: Any, selected: set[str]) -> str:
    if kind.name.endswith("Connection"):
        return "edges { cursor }"
    if kind.name.endswith("Payload"):
        entities = ((name, _telling_fields(get_named_type(field.type), set())) for name, field in kind.fields.items())
        return " ".join([_ERRORS, *(f"{name} {{ {told} }}" for name, told in entities if told)])
    if kind.name == "Owner":
        return "" if selected & _OWNER_LISTS else "name"  # a list is told by its cursors, without the profile
    return _TELLING.get(kind.name, "")


@cache
def _parsed(fields: str) -> tuple[Any, ...]:
    (operation,) = parse(f"{{ {fields} }}", no_location=True).definitions
    assert isinstance(operation, OperationDefinitionNode)
    return tuple(operation.selection_set.selections)


def _told(document: DocumentNode, below: dict[str, str]) -> str:
    info = TypeInfo(SCHEMA)
    return print_ast(visit(document, TypeInfoVisitor(info, _Telling(info, below))))


def _as_it_is(document: DocumentNode) -> DocumentNode:
    return document


def documents(known: dict[str, list[str]], names: Sequence[str]) -> list[str]:
    """The documents of some fields of the operations, in no order; each time the same ones."""
    schema, arguments = _schema_by_name()
    values = _values(known, arguments)
    made: list[str] = []
    for name in names:
        strategy = from_schema(schema, fields=[name], custom_scalars=values, print_ast=_as_it_is)
        made += _made(strategy, COUNTS[name])
    Random(0).shuffle(made)
    return made


def _made(strategy: st.SearchStrategy[DocumentNode], count: int) -> list[str]:
    found: list[str] = []

    @seed(0)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        # Documents are only made here: how long that takes, and how large they are, says nothing of the product.
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(document: DocumentNode) -> None:
        found.append(_told(document, _BELOW if len(found) % 2 else {}))

    collect()
    return found
