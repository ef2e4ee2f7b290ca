"""The search for support: its type and its query."""

from __future__ import annotations

import strawberry

from domain.search import MOST_HITS, SearchMatch
from resolvers.api.relay import Node
from resolvers.bindings.base import Argument, bound_field, column, embedded
from resolvers.bindings.rules import STAFF
from resolvers.entities.base import entity
from resolvers.entities.bindings.search import DEFAULT, Hit, Search


@entity(Hit)
class SearchHit:
    """An object that a searched text has found."""

    matched_by: list[SearchMatch] = column("Parts of the object that the text is, the most certain first.")
    node: Node = embedded("The object.")


@strawberry.type
class SearchQueries:
    search: list[SearchHit] | None = bound_field(
        Search(rule=STAFF),
        "Find objects by a text: the id of an owner, locker, location, reservation, booking, webhook or API key, any "
        "global id, an email address, a phone number, a reference, the code of a location, or the beginning of an "
        "owner's name. Each object is shown once, and exact matches are first. Requires an admin or support.",
        [
            Argument("text", str, "Text of 1 to 200 characters. Upper and lower case matter in ids and references."),
            Argument("first", int | None, f"Number of objects, {MOST_HITS} at most; {DEFAULT} if left out."),
        ],
    )
