"""The items that are stored under an owner, for those who ask what is known of them."""

from typing import Any

from domain.authorization import is_admin
from loaders.contracts.privacy import StoredItem as Record
from resolvers.api.scalars import JSON, show_json
from resolvers.bindings.base import column, embedded
from resolvers.entities.base import entity
from resolvers.entities.bookings import Booking
from resolvers.entities.reservations import Reservation
from resolvers.request_state import RequestState

_OF_ACTORS = ("actorSubject", "actorKeyId", "actorOwnerId", "decidedBySubject")
_OTHERS = ("ownerId", "lockerOwnerId", "formerOwnerId", "reserverId")
_CHANGE = 3
"""A change of a field is three texts: its name, and the values before and after it."""


def _content(row: Record, request: RequestState) -> Any:
    """For the owner itself, without what tells who others are: owners, and callers who did something."""
    shown = dict(row.content)
    if not is_admin(request.principal):
        if shown.get("actorOwnerId") != row.owner_id:
            shown = {name: value for name, value in shown.items() if name not in _OF_ACTORS}
        shown = {name: value for name, value in shown.items() if name not in _OTHERS or value == row.owner_id}
        changes: Any = shown.get("changes", ())
        triples = [changes[first : first + _CHANGE] for first in range(0, len(changes), _CHANGE)]
        if any(triple[0] == "ownerId" for triple in triples):
            shown["changes"] = [text for triple in triples if triple[0] != "ownerId" for text in triple]
    return show_json(shown)


@entity(Record)
class StoredItem:
    """An item of the table that is stored under an owner."""

    kind: str = column("Kind of the item, such as `OWNER_RESERVATION`. Kinds may be added in any version.")
    content: JSON = column(
        "The attributes of the item. Without the ids of other owners and the subjects of other callers, unless the "
        "caller is an admin.",
        _content,
    )
    reservation: Reservation | None = embedded(
        "The reservation, if the item is one: its details and access codes are stored elsewhere.", "reservation"
    )
    booking: Booking | None = embedded(
        "The booking, if the item is one: its payments and access codes are stored elsewhere.", "booking"
    )
