"""No query sends more reads by key for more parents: every path of two or three fields, and aliases of every look-up.

With a hundred keys or fewer at each level, the number of GetItem and BatchGetItem operations depends on the selected
fields alone, not on how many objects they are selected for.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import pytest_asyncio
from graphql import GraphQLObjectType, get_named_type, is_leaf_type, is_required_argument

from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role, Scope
from domain.models import OwnerId
from loaders.backend import Backend
from resolvers.bindings.base import Reading
from resolvers.bindings.nodes import NODE_KINDS, from_global_id, to_global_id
from resolvers.schema import bound_schema
from tests import codes, places, webhooks
from tests.api import CREATE_RESERVATION, Api, mutation
from tests.conftest import OpenApi, Prepared
from tests.history import keep_history
from tests.reservations import overdue_item
from tests.tables import PlainClient, put
from tests.wire import Wire

FEW, MANY = 2, 12
SCHEMA = bound_schema()
TYPES = {name: type_ for name, type_ in SCHEMA.graphql_schema.type_map.items() if isinstance(type_, GraphQLObjectType)}
SPAN = '{from: "2026-03-02T00:00:00Z", to: "2026-03-09T00:00:00Z"}'
ARGUMENTS = {
    "Locker.busy": f"(window: {SPAN})",
    "Location.availableLockers": f"(window: {SPAN}, ownerIds: [])",
    "Location.calendar": '(window: {from: "2026-03-10", to: "2026-03-11"})',
    "Location.availability": '(window: {from: "2026-03-10", to: "2026-03-11"})',
    "Location.usage": '(window: {from: "2026-03-10", to: "2026-03-11"})',
}
"""Arguments that a field requires, and those that a search with many owners does."""
LOOK_UPS = {
    "locker": '(lockerId: "locker-{i}")',
    "owner": '(ownerId: "owner-{i}")',
    "ownerByEmail": '(email: "owner-{i}@example.com")',
    "reservation": '(lockerId: "locker-{i}", reservationId: "own")',
    "reservationByReference": '(ownerId: "owner-{i}", reference: "order-{i}")',
    "location": '(locationId: "01HX{i:022d}")',
    "locationByCode": '(code: "place-{i}")',
    "booking": '(bookingId: "booking-{i}")',
    "apiKey": '(keyId: "key-{i}")',
    "webhook": '(webhookId: "webhook-{i}")',
}
OTHER_LOOK_UPS = {
    "locker": '(lockerId: "locker-{i}", consistent: true)',
    "reservation": '(lockerId: "locker-{i}", reservationId: "guest")',
}
"""Look-ups that read strongly, or that someone else's record decides on."""
LISTS = {
    "locations": "",
    "pendingBookings": "",
    "apiKeys": "",
    "webhooks": "",
    "callerBudgets": "",
    "reservationsOfRecipient": 'email: "rita@example.com", ',
    "activity": "",
    "locationFigures": "",
    "locationUsage": 'date: "2026-03-10", ',
    "owners": "",
    "ownersByName": 'prefix: "owner", ',
    "lockers": "status: AVAILABLE, ",
    "overdueReservations": "",
}
"""Lists, and the arguments that they require."""
CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
PARTNER = Principal(
    subject="partner",
    role=Role.PARTNER,
    partner_of=frozenset(OwnerId(f"owner-{i}") for i in range(MANY)),
    scopes=frozenset(Scope),
)


async def stock(api: Api, backend: Backend) -> None:
    """One of everything for each number: an owner with a locker at a location, and all that can happen to them."""
    await api.owner("guest")
    await api.owner("root", role="ADMIN")
    for i in range(MANY):
        owner, locker, place = f"owner-{i}", f"locker-{i}", places.ulid(i)
        await api.owner(owner, email=f"{owner}@example.com")
        await places.create_location(api, i)
        await api.locker(locker, owner, locationId=place, reservableBy="EVERYONE")
        named = {"lockerId": locker, "ownerId": owner, "reservationId": "own", "reference": f"order-{i}"}
        now = {"startAt": f"2026-03-01T11:{i:02d}:00Z", "endAt": "2026-03-01T13:00:00Z"}
        await api.done(CREATE_RESERVATION, **named, **now, metadata={"number": i})
        await api.reservation(
            "guest", locker, "guest", f"2026-04-0{i % 9 + 1}T0{i // 9}:00:00Z", "2026-05-01T00:00:00Z"
        )
        await api.event(locker, eventId="opened")
        await api.done(codes.PROVISION, lockerId=locker, generation=1)
        await codes.create(api, "code", lockerId=locker, reservationId="own")
        await places.book(api, f"booking-{i}", locationId=place, ownerId=owner)
        await places.book(api, f"pending-{i}", locationId=place, ownerId=owner, date="2026-03-11")
        await places.approve(api, f"booking-{i}")
        await codes.create(api, "code", "BOOKING", lockerId=None, bookingId=f"booking-{i}")
        paid = {"amount": {"amount": "1", "currency": "EUR"}}
        await api.done(places.PAY, bookingId=f"booking-{i}", paymentId="paid", **paid)
        await api.done(
            CREATE_KEY, keyId=f"key-{i}", name="Key", role="PARTNER", ownerIds=[owner], scopes=["CODES_READ"]
        )
        await webhooks.create(api, f"webhook-{i}", ownerId=owner)
        await webhooks.deliver(backend, f"webhook-{i}")
    for i in range(MANY):  # the latest activities concern one of everything
        actor = Principal(subject=f"owner-{i}", role=Role.OWNER, owner_id=OwnerId(f"owner-{i}"))
        await api.by(actor).done(codes.ROTATE, lockerId=f"locker-{i}", codeId="code", expectedRotation=1)
    await keep_history(backend.store)


NODES = """{
  locations(first: 50) { nodes {
    id calendar(window: {from: "2026-03-10", to: "2026-03-10"}) { morning { id } }
    lockers(first: 1) { nodes {
      id
      owner {
        id notifications(first: 1) { nodes { id } } bookings(first: 1) { nodes { id payments { nodes { id } } } }
      }
      reservations(last: 1) { nodes { id } } accessEvents { nodes { id } } accessCodes { nodes { id } }
      activity(first: 1) { nodes { id } }
    } }
  } }
  apiKeys(first: 50) { nodes { id } } webhooks(first: 50) { nodes { id } }
}"""


def _ids(found: Any) -> Iterator[str]:
    for key, value in found.items() if isinstance(found, dict) else enumerate(found if isinstance(found, list) else ()):
        if key == "id":
            yield value
        else:
            yield from _ids(value)


@pytest_asyncio.fixture
async def crowd(
    open_api: OpenApi, wire: Wire, prepared: Prepared, backend: Backend, plain_client: PlainClient, table: str
) -> Any:
    async with open_api(max_root_fields=100, max_aliases=100, max_tokens=10_000, max_depth=20) as api:
        await prepared(stock, api, backend)
        late = (overdue_item(f"locker-{i}", "own", f"owner-{i}", f"2026-03-01T11:{i:02d}:00.000Z") for i in range(MANY))
        await put(plain_client, table, *late)
        wire.reset()
        yield api


def steps(type_name: str) -> list[str]:
    """The fields of a type that ask the store, whatever they find."""
    fields = SCHEMA.types[type_name]
    return [name for name, field in fields.items() if isinstance(field.binding, Reading)]


def held(type_name: str) -> list[tuple[str, str]]:
    """The objects that an object of a type holds: the field of each, and its type."""
    return [
        (name, target)
        for name, field in SCHEMA.types[type_name].items()
        if not isinstance(field.binding, Reading) and name not in {"edges", "pageInfo"}
        for target in field.targets
    ]


def columns(type_name: str) -> str:
    """All that needs no field that asks the store: what an object is, and what it holds."""
    leaves = [name for name, field in TYPES[type_name].fields.items() if is_leaf_type(get_named_type(field.type))]
    return " ".join([*leaves, *(f"{name} {{ {columns(target)} }}" for name, target in held(type_name))])


def paths(type_name: str, depth: int) -> Iterator[str]:
    """The selections of every path of so many fields that ask the store, from a type on.

    An activity leads to everything, so a path ends with what an activity names.
    """
    depth = min(depth, 1) if type_name == "Activity" else depth
    for name in steps(type_name):
        definition = TYPES[type_name].fields[name]
        given = ARGUMENTS.get(f"{type_name}.{name}", "(first: 3)" if "first" in definition.args else "")
        required = any(map(is_required_argument, definition.args.values()))
        assert given or not required, f"{type_name}.{name} needs arguments"
        target = get_named_type(definition.type).name
        for selection in [columns(target), *(paths(target, depth - 1) if depth > 1 else ())]:
            yield f"{columns(type_name)} {name}{given} {{ {selection} }}"
    for name, target in held(type_name):
        for selection in paths(target, depth):
            yield f"{name} {{ {selection} }}"


async def global_ids(api: Api) -> dict[str, list[str]]:
    """The global ids of one object for each number, by their types."""
    found: dict[str, list[str]] = {}
    for global_id in sorted(set(_ids(await api.run(NODES)))):
        found.setdefault(from_global_id(global_id)[0], []).append(global_id)
    assert {name: len(some) for name, some in found.items()} == dict.fromkeys(NODE_KINDS, MANY)
    return found


async def reads(api: Api, wire: Wire, document: str, **variables: Any) -> int:
    """How many reads by key a document takes; what a caller may not see is no matter here."""
    wire.reset()
    answer = await api.send(document, **variables)
    assert answer.get("data"), (document, answer)
    return wire.operations["GetItem"] + wire.operations["BatchGetItem"]


async def growing(api: Api, wire: Wire, document: str, few: Any, many: Any) -> list[str]:
    """The problem of a document that takes more reads for more parents, if it does."""
    less, more = await reads(api, wire, document, **few), await reads(api, wire, document, **many)
    return [] if more <= less else [f"{less} reads for {FEW} parents, {more} for {MANY}: {document}"]


def aliased(name: str, target: str, arguments: list[str], selection: str) -> str:
    """A document with an alias of a look-up for each of its arguments."""
    fields = " ".join(f"a{i}: {name}{given} {{ ...F }}" for i, given in enumerate(arguments))
    return f"{{ {fields} }} fragment F on {target} {{ {selection} }}"


def look_ups(ids: dict[str, list[str]]) -> Iterator[tuple[str, str, list[str]]]:
    """Every look-up: its field, what it finds, and its arguments for each of the many."""
    for name, arguments in [*LOOK_UPS.items(), *OTHER_LOOK_UPS.items()]:
        target = get_named_type(TYPES["Query"].fields[name].type).name
        yield name, target, [arguments.format(i=i) for i in range(MANY)]
    for target, some in ids.items():
        yield "node", target, [f'(id: "{global_id}")' for global_id in some]


CALLERS = pytest.mark.parametrize("caller", [DEVELOPMENT_ADMIN, PARTNER], ids=["admin", "partner"])
"""An admin, who may see everything, and a partner, for whom rules and other records decide."""


@CALLERS
async def test_objects_by_global_id_and_what_is_below_them(crowd: Api, wire: Wire, caller: Principal) -> None:
    found = []
    for name, some in (await global_ids(crowd)).items():
        for selection in [columns(name), *paths(name, 2)]:
            document = f"query ($ids: [ID!]!) {{ nodes(ids: $ids) {{ ... on {name} {{ {selection} }} }} }}"
            found += await growing(crowd.by(caller), wire, document, {"ids": some[:FEW]}, {"ids": some})
    assert not found, f"{len(found)} documents:\n" + "\n".join(found)


@CALLERS
async def test_lists_and_what_is_below_them(crowd: Api, wire: Wire, caller: Principal) -> None:
    found = []
    for name, required in LISTS.items():
        item = get_named_type(TYPES["Query"].fields[name].type).name.removesuffix("Connection")
        depth = 1 if item in NODE_KINDS else 2  # objects by global id go further
        for selection in [columns(item), *paths(item, depth)]:
            document = f"query ($first: Int!) {{ {name}({required}first: $first) {{ nodes {{ {selection} }} }} }}"
            found += await growing(crowd.by(caller), wire, document, {"first": FEW}, {"first": MANY})
    assert not found, f"{len(found)} documents:\n" + "\n".join(found)


@CALLERS
async def test_aliases_of_look_ups_and_what_is_below_them(crowd: Api, wire: Wire, caller: Principal) -> None:
    assert set(steps("Query")) == {*LOOK_UPS, *LISTS, "node", "nodes", "search"}
    api, found = crowd.by(caller), []
    for name, target, arguments in look_ups(await global_ids(crowd)):
        for selection in [columns(target), *paths(target, 1)]:
            some, all_ = (aliased(name, target, given, selection) for given in (arguments[:FEW], arguments))
            few, many = await reads(api, wire, some), await reads(api, wire, all_)
            if many > few:
                found.append(f"{few} reads for {FEW} aliases, {many} for {MANY}: {some}")
    assert not found, f"{len(found)} documents:\n" + "\n".join(found)


async def test_a_level_with_more_than_a_hundred_keys_is_one_read_for_each_hundred(crowd: Api, wire: Wire) -> None:
    ids = [to_global_id("Locker", f"locker-{number}") for number in range(60)]
    parts = " ".join(f"a{part}: nodes(ids: $a{part}) {{ __typename }}" for part in range(5))
    given = {f"a{part}": ids[part * 10 :] for part in range(4)} | {"a4": [to_global_id("Locker", "more"), *ids]}
    declared = ", ".join(f"${name}: [ID!]!" for name in given)
    assert await reads(crowd, wire, f"query ({declared}) {{ {parts} }}", **given) == 1
    (call,) = wire.calls
    assert len(call.keys) == 61
    many = [to_global_id("Locker", f"other-{number}") for number in range(230)]
    given = {f"a{part}": many[part * 46 : part * 46 + 46] for part in range(5)}
    assert await reads(crowd, wire, f"query ({declared}) {{ {parts} }}", **given) == 3
    assert sorted(len(call.keys) for call in wire.calls) == [30, 100, 100]


async def test_a_search_in_many_locations_takes_one_query_for_each_and_two_reads_in_all(crowd: Api, wire: Wire) -> None:
    found = f"availableLockers(window: {SPAN}, ownerIds: []) {{ lockers {{ lockerId }} isComplete }}"
    assert await reads(crowd.by(PARTNER), wire, f"{{ locations(first: {MANY}) {{ nodes {{ {found} }} }} }}") == 2
    assert sorted(len(call.keys) for call in wire.of("BatchGetItem")) == [MANY, MANY]
    queries = [call.request["ExpressionAttributeValues"].get(":prefix", {}).get("S", "") for call in wire.of("Query")]
    assert sum(prefix.startswith("OFFER#") for prefix in queries) == MANY


async def test_a_search_reads_all_that_it_finds_together(crowd: Api, wire: Wire) -> None:
    for text, of_hit in (
        ("own", "... on Reservation { locker { location { name } } owner { name } }"),
        ("owner", "id"),
    ):
        document = f'query ($first: Int!) {{ search(text: "{text}", first: $first) {{ node {{ {of_hit} }} }} }}'
        assert await growing(crowd, wire, document, {"first": 2}, {"first": 25}) == []


async def test_claims_and_what_they_name_are_two_reads_however_many_are_asked(crowd: Api, wire: Wire) -> None:
    arguments = [LOOK_UPS["ownerByEmail"].format(i=i) for i in range(MANY)]
    assert await reads(crowd, wire, aliased("ownerByEmail", "Owner", arguments, "name")) == 2
    assert [min(call.keys)[0] for call in wire.calls] == ["EMAIL#owner-0@example.com", "OWNER#owner-0"]
    assert [len(call.keys) for call in wire.calls] == [MANY, MANY]
