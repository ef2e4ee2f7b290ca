"""Everything that can be asked, once for each tenant, so that every field of the schema stands in some document."""

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from graphql import get_named_type, is_leaf_type

from resolvers.schema import bound_schema
from tests.mutations import MUTATIONS, OWN, THERE

SCHEMA = bound_schema().graphql_schema
PAGE = "edges { cursor node { __typename } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nextCursor"
DAYS = '(window: {from: "@day", to: "@day"})'
ARGUMENTS = {
    "busy": '(window: {from: "2026-03-01T12:00:00Z", to: "2026-03-02T12:00:00Z"})',
    "availableLockers": '(window: {from: "2026-03-02T12:00:00Z", to: "2026-03-03T12:00:00Z"})',
    "calendar": DAYS,
    "availability": DAYS,
    "usage": DAYS,
}


def everything(kind: str, *whole: str) -> str:
    """Every field of a type; of the entities below it only the ids, except at the fields that are wanted as a whole."""
    fields: dict[str, Any] = SCHEMA.type_map[kind].fields  # type: ignore[attr-defined]
    return " ".join(_selected(name, get_named_type(part.type), whole) for name, part in fields.items())


def _selected(name: str, kind: Any, whole: tuple[str, ...]) -> str:
    if is_leaf_type(kind):
        return name
    if kind.name == "UserError":
        errors = SCHEMA.get_possible_types(kind)
        return f"{name} {{ code status {' '.join(f'... on {one} {{ {everything(one.name)} }}' for one in errors)} }}"
    if kind.name.endswith("Connection"):
        entity = everything(kind.name.removesuffix("Connection"), *whole) if name in whole else "__typename"
        return f"{name}(first: 1) {{ {PAGE} nodes {{ {entity} }} }}"
    is_entity = "Node" in {interface.name for interface in kind.interfaces}
    inside = "id" if is_entity and name not in whole else everything(kind.name, *whole)
    return f"{name}{ARGUMENTS.get(name, '')} {{ {inside} }}"


@dataclass(frozen=True)
class Case:
    """A document; `rules` names the declaration that decides at a path, where that is not the field's own.

    At the paths of `optional` some callers have nothing. The owner guest may use the paths of `reserved`.
    """

    document: str
    rules: dict[tuple[str, ...], str] = field(default_factory=dict)
    optional: tuple[tuple[str, ...], ...] = ()
    reserved: tuple[tuple[str, ...], ...] = ()


def _mutations() -> list[Case]:
    fields = (
        f"{name}(input: {{{given.refused}}}) {{ {everything(f'{name[0].upper()}{name[1:]}Payload')} }}"
        for name, given in MUTATIONS.items()
    )
    return [Case(f"mutation {{ {' '.join(some)} }}") for some in iter(lambda: tuple(islice(fields, 8)), ())]


RESERVATION = everything("Reservation")
_ACTIVITY = ("locker", "activity", "nodes")
_NAMED = ("reservation", "booking", "accessCode")
"""Objects that the latest activity of a locker does not name."""
CASES = [
    Case(
        f"{{ viewer {{ {everything('Viewer')} }} }}",
        optional=(("viewer", "owner"), ("viewer", "locker"), ("viewer", "rateLimit")),
    ),
    Case(f'{{ owner(ownerId: "@tenant") {{ {everything("Owner", "notifications")} }} }}'),
    Case(
        f'{{ owner(ownerId: "@tenant") {{ export(first: 1) {{ nodes {{ {everything("StoredItem")} }} }} }} }}',
        optional=(("owner", "export", "nodes", "reservation"), ("owner", "export", "nodes", "booking")),
    ),
    Case('{ ownerByEmail(email: "@tenant@example.com") { ownerId } }'),
    Case(f"{{ locker({OWN}) {{ {everything('Locker', 'accessCodes')} }} }}"),
    Case(
        f'{{ reservation({OWN}, reservationId: "guest-@tenant") {{ id locker {{ {everything("Locker")} }} }} }}',
        reserved=(("reservation",),),
    ),
    Case(f'{{ reservation({OWN}, reservationId: "current-@tenant") {{ {RESERVATION} }} }}'),
    Case(f'{{ reservationByReference(ownerId: "@tenant", reference: "order-@tenant") {{ {RESERVATION} }} }}'),
    Case(
        f'{{ node(id: "@event") {{ id ... on AccessEvent {{ {everything("AccessEvent")} }} }} }}',
        {("node",): "Locker.accessEvents"},
    ),
    Case('{ nodes(ids: ["@locker"]) { id } }', {("nodes",): "Query.locker"}),
    Case(f"{{ location({THERE}) {{ {everything('Location')} }} }}"),
    Case(f'{{ locationByCode(code: "rome") {{ calendar{DAYS} {{ {everything("CalendarDay", "morning")} }} }} }}'),
    Case(
        f"{{ locations(first: 1) {{ {PAGE} nodes {{ id }} }} pendingBookings(first: 1) {{ {PAGE} nodes {{ id }} }} }}"
    ),
    Case(
        f"{{ locationFigures(first: 1) {{ {PAGE} nodes {{ {everything('LocationFigures')} }} }}"
        f' locationUsage(date: "@day", first: 1) {{ {PAGE} nodes {{ {everything("LocationUsage")} }} }} }}'
    ),
    Case(
        f'{{ search(text: "@tenant") {{ matchedBy node {{ id }} }}'
        f' ownersByName(prefix: "@tenant", first: 1) {{ {PAGE} nodes {{ id }} }}'
        f" owners(first: 1) {{ {PAGE} nodes {{ id }} }}"
        f" lockers(status: AVAILABLE, first: 1) {{ {PAGE} nodes {{ id }} }}"
        f" overdueReservations(first: 1) {{ {PAGE} nodes {{ {everything('OverdueReservation')} }} }} }}"
    ),
    Case(f'{{ booking(bookingId: "booking-@tenant") {{ {everything("Booking", "payments")} }} }}'),
    Case(
        f'{{ reservationsOfRecipient(email: "rita@example.com", first: 1) {{'
        f" {PAGE} nodes {{ {everything('RecipientReservation')} }} }} }}"
    ),
    Case(f'{{ apiKey(keyId: "key-1") {{ {everything("ApiKey")} }} apiKeys(first: 1) {{ {PAGE} nodes {{ id }} }} }}'),
    Case(f"{{ callerBudgets(first: 1) {{ {PAGE} nodes {{ {everything('CallerBudget')} }} }} }}"),
    Case(
        f'{{ webhook(webhookId: "webhook-@tenant") {{ {everything("Webhook", "deliveries")} }} }}',
        optional=(("webhook", "location"),),
    ),
    Case(f"{{ webhooks(first: 1) {{ {PAGE} nodes {{ id }} }} }}"),
    Case(
        f"{{ locker({OWN}) {{ activity(first: 1) {{ {PAGE} nodes {{ {everything('Activity')} }} }} }} }}",
        optional=tuple((*_ACTIVITY, *path) for path in (("actor", "owner"), *((name,) for name in _NAMED))),
    ),
    Case(f"{{ activity(first: 1) {{ {PAGE} nodes {{ id }} }} }}"),
    *_mutations(),
]
