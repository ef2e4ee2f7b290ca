"""Documents with which one tenant looks for anything of the other's, by every field of the operations."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    OperationDefinitionNode,
    SelectionSetNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    parse,
    print_ast,
    visit,
)

from tests.fuzz.documents import SCHEMA, Document, Values, Vocabulary, make_document
from tests.fuzz.tenants import CODES, IDS
from tests.generated import FACTOR
from tests.mutations import MUTATIONS

# Where most can be reached it is asked most often.
_SHARES = {
    8: "locker owner location",
    4: "node nodes ownerByEmail reservation booking locationByCode reservationByReference",
    1: "viewer locations pendingBookings apiKey apiKeys activity locationFigures locationUsage webhook webhooks "
    "callerBudgets owners ownersByName search lockers overdueReservations reservationsOfRecipient",
}
_TIMES = 4 * FACTOR
COUNTS = {name: _TIMES * share for share, names in _SHARES.items() for name in names.split()} | {
    name: _TIMES * mutation.share for name, mutation in MUTATIONS.items()
}

# What shows, of anything, whose it is: every document asks for it, so that nothing is shown without being noticed.
# Under a name of its own where it may be null in other types: below `node` one name cannot be both.
_ACTIVITY = "told13: actor { subject ownerId } changes { field from to }"
_TELLING = {
    "Locker": "alias",
    "Reservation": "told0: createdAt told11: ownerId",
    "AccessEvent": "actorId",
    "OverdueReservation": "told26: ownerId",
    "Booking": "told23: description",
    "Payment": "method",
    "Notification": "notificationId message",
    "ApiKey": "told10: name",
    "Webhook": "told21: url told22: description",
    "CalendarDay": "morning { title bookingId }",
    "CalendarEvent": "title told20: eventId",
    "Activity": f"{_ACTIVITY} told14: ownerId told15: reservationId told16: bookingId",
}
_ERRORS = """userErrors {
  message ... on ReservationOverlapError { reservation { createdAt ownerId } }
  ... on SlotTakenError { event { title bookingId } }
}"""
MONTHS = ("2026-02", "2026-03", "2026-04")
# Every second document also selects nested fields.
_BELOW = {
    "Locker": """told1: latestEvent { actorId } told2: accessEvents(first: 3) { nodes { actorId } }
      told3: reservations(first: 3) { nodes { createdAt ownerId } } told4: owner { name }
      told17: activity { nodes { actor { subject ownerId owner { name } } reservation { createdAt } } }""",
    "Owner": """told5: lockers(first: 3) { nodes { alias } } told6: reservations(first: 3) { nodes { createdAt } }
      told7: bookings(first: 3) { nodes { description } } told8: notifications(first: 3) { nodes { createdAt } }
      told18: activity { nodes { actor { subject ownerId owner { name } } locker { alias } owner { name } } }""",
    "Location": """told19: activity { nodes { actor { subject ownerId } lockerId reservationId bookingId ownerId } }
      told24: reservations(first: 3) { nodes { ownerId } } told25: bookings(first: 3) { nodes { description } }""",
    "Booking": "told9: payments(first: 3) { nodes { method } } owner { name }",
    "CalendarDay": "morning { booking { description } }",
}
_OWNER_LISTS = {"lockers", "reservations", "bookings", "notifications", "activity", "webhooks"}


def tenant_documents(known: dict[str, list[str]], names: Sequence[str]) -> list[Document]:
    """The documents of some fields of the operations, in no order; each time the same ones."""
    vocabulary = _vocabulary(known)
    made = [_document(name, number, vocabulary) for name in names for number in range(COUNTS[name])]
    Random(0).shuffle(made)
    return made


def _document(name: str, number: int, vocabulary: Vocabulary) -> Document:
    assert SCHEMA.query_type is not None
    operation = "query" if name in SCHEMA.query_type.fields else "mutation"
    document = make_document(number, vocabulary, operation=operation, root_fields=[name])
    return document._replace(text=_told(parse(document.text, no_location=True), _BELOW if number % 2 else {}))


def _vocabulary(known: dict[str, list[str]]) -> Vocabulary:
    odd = ["", "nothing", "x" * 65, "bert#META", "bert~", *known["node"][:2], *known["cursor"][:2]]
    hours = [f"{month}-0{day}T{hour}:00:00Z" for month in MONTHS for day in (1, 2) for hour in ("00", "12", "20")]
    # The id of a new reservation is chosen by its caller and shown again, so it must not be that of the other tenant.
    own_reservations = Values(["now-anna", "at-guild-anna", "new-1", "new-2"], ["?"])
    return Vocabulary(
        {
            **{f"{kind}Id": Values(ids, odd) for kind, ids in IDS.items() if kind != "email"},
            "first": Values([1, 2, 3, 100], [0]),
            "after": Values(known["cursor"], ["nonsense"]),
            "last": Values([1, 2], [101]),
            "before": Values(known["cursor"], ["nonsense"]),
            "newOwnerId": Values(IDS["owner"], odd),
            "newLocationId": Values(IDS["location"], odd),
            "ownerIds": Values(IDS["owner"], odd),
            "actorId": Values(["anna", "guild"], ["?"]),
            "eventId": Values(["opened-anna", "new-1", "new-2"], ["?"]),
            "CreateReservationInput.reservationId": own_reservations,
            "ReserveAnyLockerInput.reservationId": own_reservations,
            "id": Values(known["node"], ["nonsense"]),
            "ids": Values(known["node"], ["nonsense"]),
            "email": Values([*IDS["email"], "new@example.com"], ["nonsense"]),
            "text": Values([name for ids in IDS.values() for name in ids], odd),
            "prefix": Values([name[:3] for name in IDS["owner"]], odd),
            "code": Values([*CODES, "room"], ["?"]),
            "timeZone": Values(["Europe/Rome"], ["Nowhere"]),
            "currency": Values(["EUR"]),
            "expectedVersion": Values([1, 1, 2, 3, 4]),
            "attendees": Values([1, 5]),
            "description": Values(["One", "Two"]),
            "String": Values(["One", "Two"], ["", "nothing", "x" * 300, "\u2028", "\N{SNOWMAN}"]),
            "ID": Values(["one"], odd),
            "Int": Values([1, 2]),
            "DateTime": Values(hours),
            "Date": Values(["2026-03-01", "2026-03-10", "2026-03-11", "2026-03-20", "2026-05-20"]),
            "Decimal": Values([1, 90]),
            "JSON": Values([{}, None, 1]),
        },
        {},
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
    if kind.name.endswith(("Payload", "Result")):
        entities = ((name, _telling_fields(get_named_type(field.type), set())) for name, field in kind.fields.items())
        return " ".join([_ERRORS, *(f"{name} {{ {reported} }}" for name, reported in entities if reported)])
    if kind.name == "Owner":
        return "" if selected & _OWNER_LISTS else "told12: name"  # a list is recognized by its cursors alone
    return _TELLING.get(kind.name, "")


@cache
def _parsed(fields: str) -> tuple[Any, ...]:
    (operation,) = parse(f"{{ {fields} }}", no_location=True).definitions
    assert isinstance(operation, OperationDefinitionNode)
    return tuple(operation.selection_set.selections)


def _told(document: DocumentNode, below: dict[str, str]) -> str:
    info = TypeInfo(SCHEMA)
    return print_ast(visit(document, TypeInfoVisitor(info, _Telling(info, below))))
