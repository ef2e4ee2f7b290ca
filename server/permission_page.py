"""The page of who may use what, generated from the declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.principal import Scope
from resolvers.permissions import DECLARED, SEEN

if TYPE_CHECKING:
    from resolvers.permissions import Rule

__all__ = ["permission_page"]

_HEADER = """# Who may use what

Generated from the declarations in `resolvers/permissions.py` by `smartlocker permissions list`, and compared with
them in the tests. Another test asks for every field as every kind of caller, for two tenants, and compares what
comes back with this page, and 2,000 documents made at random, asked by one tenant, show and change nothing of
another's. A field without a declaration stops the server from starting: nothing is open because it was forgotten.

## Callers

- An **admin** may use everything. One that is an owner too decides bookings and fills calendars in its own name
  (`adminId`).
- An **owner** uses what is its own: its profile, lockers, reservations, bookings and notifications, and the events
  of its lockers. It may reserve, for itself, the lockers that are offered to it: its own, and those of the
  organisations that it belongs to. An organisation's lockers it sees; their reservations, events and the
  organisation's profile it does not.
- A **partner** does what its scopes name, for the owners that it is bound to and nobody else.
- A **device** records events for its own locker. It reads nothing.
- A **stranger**, who has shown no credentials, may use nothing.

## Refusals

- A look-up, an edge or a list that is refused is null by itself, with one error `FORBIDDEN` (status 403) at its
  path; the rest of the answer stands. So is a field of an owner's profile; one that the schema promises not to be
  null (`name`, `kind`, …) takes the owner with it, by GraphQL's own rule, and the error is at its own path. A
  mutation that is refused says so in its `userErrors`, and nothing was written.
- What does not exist and what is somebody else's are refused with the same words: only an admin gets `NOT_FOUND`
  where nothing but the record could have allowed the use. Where the arguments decide (`owner(ownerId:)`), nothing
  is read.
- A conflict shows the current entity only to who may change it, also where it has changed hands meanwhile. A
  reservation in the way (`RESERVATION_OVERLAP`) is shown to who made it; anybody else gets a `PlainError` with the
  window that is taken.
- A list is refused as a whole or shown as a whole; nothing is filtered out of a page, so no cursor counts what is
  hidden.
- A booking's calendar event says to all but admins that the half day is taken, and nothing more: its `title` is
  `Booked`, its `eventId` names the half day, `bookingId` and `createdAt` are null. `booking` finds one's own.
- What a request took of the store ([http.md](http.md#explanations)) is told to all but admins only of a query in which
  nothing failed, so that it does not count what is hidden. How long a refusal takes is not evened out: it may differ
  between what is missing and what is somebody else's.
- `ID_TAKEN`, `EMAIL_TAKEN` and `CODE_TAKEN` tell that an id, an address or a code is in use, and nothing of by
  whom. A promise of uniqueness cannot be kept in silence.

## Rules

What the cells say: *own*: for itself, or of its own things. *organisation's*: also the lockers of an organisation
that it belongs to. *bound*: for the owners that the partner is bound to, whatever its scopes; a scope: the same, if
it has that scope. `node` and `nodes` have the rule of what they find, each entry for itself.

- A reservation is *own* to who made it and to who owns the locker; only who made it may cancel or extend it.
- A locker is transferred by its owner to an organisation that it belongs to, by a partner between owners that it is
  bound to, and by an admin to anybody.
- `Query.owner` needs no more than its row says; the lists and the profile have rows of their own under `Owner`. For
  who may not see the profile it is not read: `ownerId`, beside other fields, is what was sent, whether or not there is
  such an owner, and by its id alone an owner is not looked up.
- `updateOwner` changes a `role` only for an admin.
"""


_FOOTER = """
## As the object

These fields have no rule of their own: whoever was given the object may read them.
"""


def permission_page() -> str:
    """The page `docs/permissions.md`."""
    rows = ["| field | admin | owner | partner | device | stranger |", "|---|---|---|---|---|---|"]
    rest = []
    for kind, rules in DECLARED.items():
        rows += [_row(f"{kind}.{name}", rule) for name, rule in rules.items() if rule is not SEEN]
        seen = [f"`{name}`" for name, rule in rules.items() if rule is SEEN]
        if seen:
            rest.append(f"- `{kind}`: {', '.join(seen)}")
    return "\n".join([_HEADER, *rows, _FOOTER, *rest]) + "\n"


def _row(field: str, rule: Rule) -> str:
    partner = f"`{rule.partner}`" if rule.partner in set(Scope) else rule.partner
    return f"| `{field}` | yes | {rule.owner} | {partner} | {rule.device} | no |"
