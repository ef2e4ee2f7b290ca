"""Two tenants with one of everything, where everything of the second one is recognized by its text.

What a client can only know by being shown it holds `zebra`, a time or an amount that nothing else has. Ids, which a
client may guess and send, hold `bert`.
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.authorization import Scope
from domain.times import Instant
from loaders.backend import Backend
from resolvers.bindings.nodes import to_global_id
from tests import places, webhooks
from tests.api import RENAME, Api, mutation
from tests.conftest import Clock
from tests.history import keep_history
from tests.principals import owner, partner
from tests.reservations import CANCEL

LOCATION = places.ulid(0)
NAMES = {"anna": "apple", "bert": "zebra"}
LISTS = {
    "owner": ["lockers", "reservations", "bookings", "notifications", "activity", "webhooks"],
    "locker": ["reservations", "accessEvents", "activity"],
    "booking": ["payments"],
    "location": ["lockers", "activity"],
}
CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")

WINDOWS = {
    "anna": ("2026-03-01T11:00:00.000Z", "2026-03-01T14:00:00.000Z"),
    "bert": ("2026-03-01T11:11:11.111Z", "2026-03-01T13:13:13.131Z"),
}
MADE = {"anna": Instant("2026-02-01T00:00:00.000Z"), "bert": Instant("2026-02-03T04:05:06.789Z")}
PHONES = {"anna": "+39 123 456 7890", "bert": "+39 7771717000"}
AMOUNTS = {"anna": "12.5", "bert": "7771717.17"}
DAYS = {"anna": ("2026-03-10", "2026-03-12"), "bert": ("2026-03-11", "2031-07-13")}

_WORD = r"[\w@.:-]*"
FOREIGN = re.compile(rf"{_WORD}(?:zebra|bert|11:11:11\.111|13:13:13\.131|04:05:06\.789|7771717|2031-){_WORD}")
_ENCODED = re.compile(r"[A-Za-z0-9_-]{12,}")


def _ids(*kinds: str) -> list[str]:
    return [kind.replace("@", tenant) for kind in kinds for tenant in NAMES]


IDS: dict[str, list[str]] = {
    "owner": [*NAMES, "guild", "root"],
    "locker": [*_ids("@-1", "@-2"), "guild-1"],
    "reservation": _ids("now-@", "over-@", "given-up-@", "at-guild-@"),
    "event": _ids("opened-@", "shut-@"),
    "booking": _ids("taken-@", "refused-@", "asked-@"),
    "payment": _ids("paid-@"),
    "key": _ids("key-@"),
    "webhook": _ids("webhook-@"),
    "location": [LOCATION],
    "email": [f"{tenant}@example.com" for tenant in NAMES],
}
CODES = ["hall"]


async def stock(api: Api, clock: Clock, backend: Backend) -> dict[str, list[str]]:
    """Fills a table; returns the global ids and the cursors that an admin sees."""
    now, cursors = clock.now, set[str]()
    await api.owner("root", role="ADMIN")
    # Its members see an organization's lockers, but neither its profile nor what happens at them.
    await api.owner("guild", kind="ORGANIZATION", name="zebra guild")
    await places.create_location(api, 0, code=CODES[0])
    await api.locker("guild-1", "guild", locationId=LOCATION)
    await api.event("guild-1", actorId="zebra-actor")
    # They see that it changed, but not which of its partners did it.
    agent = replace(partner(*Scope, of="guild"), subject="zebra-agent")
    await api.by(agent).done(RENAME, lockerId="guild-1", expectedVersion=1, alias="Hall")
    for number, tenant in enumerate(NAMES):
        clock.now = MADE[tenant]
        await _owned(api, tenant)
        await _bookings(api, tenant)
        # Two members know of each other only when their organization's locker is taken.
        start, end = f"2026-04-0{number + 1}T08:00:00Z", f"2026-04-0{number + 1}T18:00:00Z"
        await api.by(owner(tenant, "guild")).reservation(f"at-guild-{tenant}", "guild-1", tenant, start, end)
        await keep_history(backend.store)
        named = {"owner": tenant, "locker": f"{tenant}-1", "booking": f"taken-{tenant}", "location": LOCATION}
        cursors.update(*(await cursors_of(api, {kind: [own_id] for kind, own_id in named.items()})).values())
    clock.now = now
    shown = await api.run("{ activity(first: 100) { nodes { id } } }")
    # That a half day is taken, and since when, is no tenant's secret: the calendar is the location's.
    for tenant in NAMES:
        await api.done(places.APPROVE, bookingId=f"taken-{tenant}", expectedVersion=1)
    activities = [node["id"] for node in shown["activity"]["nodes"]]
    return {"cursor": sorted(cursors), "node": _global_ids() + activities}


async def cursors_of(api: Api, ids: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], list[str]]:
    """The cursors that an admin sees, by list and the id of the object whose list it is."""
    found: dict[tuple[str, str], list[str]] = {}
    for kind, own_id in ((kind, own_id) for kind, some in ids.items() for own_id in some):
        selected = " ".join(f"{name} {{ edges {{ cursor }} }}" for name in LISTS[kind])
        data = await api.run(f"query ($id: ID!) {{ {kind}({kind}Id: $id) {{ {selected} }} }}", id=own_id)
        for name, connection in data[kind].items():
            found[f"{kind.title()}.{name}", own_id] = [edge["cursor"] for edge in connection["edges"]]
    for name in ("locations", "pendingBookings", "apiKeys", "activity", "webhooks"):
        data = await api.run(f"{{ {name} {{ edges {{ cursor }} }} }}")
        found[f"Query.{name}", ""] = [edge["cursor"] for edge in data[name]["edges"]]
    return found


async def _owned(api: Api, tenant: str) -> None:
    secret = NAMES[tenant]
    await api.owner(tenant, name=f"{secret} name", email=f"{tenant}@example.com", phone=PHONES[tenant])
    for number in (1, 2):
        await api.locker(f"{tenant}-{number}", tenant, alias=f"{secret} alias {number}", locationId=LOCATION)
    await api.reservation(f"now-{tenant}", f"{tenant}-1", tenant, *WINDOWS[tenant])
    # The pointer of the second locker has ended.
    ended = ("2026-02-10T00:00:00Z", "2026-02-11T00:00:00Z")
    await api.reservation(f"over-{tenant}", f"{tenant}-2", tenant, *ended)
    await api.reservation(f"given-up-{tenant}", f"{tenant}-1", tenant, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")
    await api.done(CANCEL, lockerId=f"{tenant}-1", reservationId=f"given-up-{tenant}")
    for event in ("opened", "shut"):
        reported = {"actorId": f"{secret}-actor", "metadata": {secret: [f"{secret} said"]}}
        await api.event(f"{tenant}-1", eventId=f"{event}-{tenant}", **reported)
    key = {"name": f"{secret} key", "role": "PARTNER", "ownerIds": [tenant], "scopes": ["LOCKERS_READ"]}
    await api.done(CREATE_KEY, keyId=f"key-{tenant}", **key)
    hook = {"url": f"https://example.com/{secret}", "description": f"{secret} hook"}
    await webhooks.create(api, f"webhook-{tenant}", ownerId=tenant, **hook)


async def _bookings(api: Api, tenant: str) -> None:
    secret, (day, far) = NAMES[tenant], DAYS[tenant]
    for booking, date in (("taken", day), ("refused", far), ("asked", far)):
        about = {"date": date, "duration": "MORNING", "description": f"{secret} {booking}"}
        await places.book(api, f"{booking}-{tenant}", ownerId=tenant, **about)
    refusal = {"reason": f"{secret} reason", "expectedVersion": 1}
    await api.done(places.REJECT, bookingId=f"refused-{tenant}", **refusal)
    paid = {"amount": {"amount": AMOUNTS[tenant], "currency": "EUR"}, "method": f"{secret} bank"}
    await api.done(places.PAY, bookingId=f"taken-{tenant}", paymentId=f"paid-{tenant}", **paid)


def _global_ids() -> list[str]:
    found: list[tuple[str, ...]] = [("Location", LOCATION)]
    found += [(kind.title(), own_id) for kind in ("owner", "locker", "booking") for own_id in IDS[kind]]
    for tenant in NAMES:
        found.append(("Reservation", f"{tenant}-1", WINDOWS[tenant][0], f"now-{tenant}"))
        found.append(("Payment", f"taken-{tenant}", f"paid-{tenant}"))
        found.append(("CalendarEvent", LOCATION, DAYS[tenant][0], "MORNING", f"taken-{tenant}"))
        found.append(("AccessEvent", f"locker:{tenant}-1", MADE[tenant], f"opened-{tenant}"))
    return [to_global_id(*parts) for parts in found]


def words_of(text: str) -> set[str]:
    """All of the second tenant's words in a text, also where they stand in a cursor or a global id."""
    plain = " ".join([text, *map(_decoded, _ENCODED.findall(text))])
    return {word.rstrip(".:") for word in FOREIGN.findall(plain)}


def _decoded(text: str) -> str:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (ValueError, binascii.Error):
        return ""


def is_foreign(key: tuple[str, str], item: dict[str, Any]) -> bool:
    """Whether an item is the second tenant's: it lies in a partition of its, or is a list's or a calendar's entry."""
    partition, sort = key
    belongs = "bert" in partition or (partition == f"LOCATION#{LOCATION}" and "bert" in str(item.get("eventId", sort)))
    return belongs or (partition == "LOCKER#guild-1" and "at-guild-bert" in sort)
