"""Documents made at random, run on a small world: none does more than its plan says, as for every other test here."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from graphql import (
    GraphQLInterfaceType,
    GraphQLObjectType,
    build_schema,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

from domain.principal import Scope
from resolvers.relay import to_global_id
from tests import places, principals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from graphql import GraphQLField

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

SCHEMA = build_schema((Path(__file__).parent.parent.parent / "schema.graphql").read_text())
NODE: Any = SCHEMA.type_map["Node"]
LOCKERS = [f"l{number}" for number in range(5)]
OWNERS = ["ada", "eve", "root"]
BOOKINGS = [f"b{number}" for number in range(6)]
RESERVED = [("11:00", "13:30"), ("15:00", "16:00"), ("17:00", "18:00")]
NODES = [
    *(to_global_id("Locker", name) for name in LOCKERS),
    *(to_global_id("Owner", name) for name in OWNERS),
    *(to_global_id("Location", places.ulid(number)) for number in range(2)),
    *(to_global_id("Booking", name) for name in BOOKINGS),
    *(
        to_global_id("Reservation", name, f"2026-03-01T{start}:00.000Z", f"{name}-{start[:2]}")
        for name in LOCKERS
        for start, _ in RESERVED
    ),
    to_global_id("Locker", "nowhere"),
    "nonsense",
]
VALUES: dict[str, list[str]] = {
    "lockerId": [f'"{name}"' for name in (*LOCKERS, "nowhere")],
    "ownerId": [f'"{name}"' for name in (*OWNERS, "nobody")],
    "locationId": [f'"{places.ulid(number)}"' for number in range(2)],
    "bookingId": [f'"{name}"' for name in BOOKINGS],
    "reservationId": ['"l0-11"', '"l1-15"', '"none"'],
    "email": ['"ada@example.com"', '"nobody@example.com"'],
    "keyId": ['"none"'],
    "code": ['"place-0"', '"place-1"', '"nowhere"'],
    "id": [f'"{node}"' for node in NODES],
    "consistent": ["true", "false"],
    "first": ["1", "2", "3", "10"],
    "last": ["3"],
}
DOCUMENTS = 480
UNLIMITED = dict.fromkeys(
    ("max_read_units", "max_operations", "max_items", "max_tokens", "max_aliases", "max_depth"), 10**9
)


def made(seed: int) -> str:
    """A valid query."""
    choice = random.Random(seed)
    root = SCHEMA.query_type
    assert root is not None
    fields = [choice.choice(sorted(root.fields)) for _ in range(choice.randint(1, 6))]
    parts = [_field(choice, name, root.fields[name], choice.randint(1, 4)) for name in fields]
    return f"query {{ __typename {' '.join(parts)} }}"


def _selection(choice: random.Random, type_: GraphQLObjectType | GraphQLInterfaceType, depth: int) -> str:
    if isinstance(type_, GraphQLInterfaceType):
        kinds = choice.sample(SCHEMA.get_possible_types(type_), choice.randint(2, 5))
        parts = [f"... on {kind.name} {_selection(choice, kind, depth)}" for kind in kinds]
        return f"{{ __typename {' '.join(parts)} }}"
    leaves = [name for name, field in type_.fields.items() if is_leaf_type(get_named_type(field.type))]
    names = choice.sample(leaves, min(len(leaves), choice.randint(0, 2)))
    leading = sorted(type_.fields.keys() - leaves)
    if type_.name.endswith(("Connection", "Edge")):
        names += choice.choice([["nodes"], ["edges"], ["nodes", "edges"]]) if "nodes" in leading else ["node"]
    else:
        names += choice.sample(leading, min(len(leading), choice.randint(1, 3)))
    parts = [_field(choice, name, type_.fields[name], depth) for name in names]
    if choice.random() < 0.2 and any(interface.name == "Node" for interface in type_.interfaces):
        parts.append(_inapplicable(choice))
    return f"{{ __typename {' '.join(parts)} }}"


def _inapplicable(choice: random.Random) -> str:
    """A fragment on the interface, in which is one that may be on another type: valid, and mostly about nothing."""
    kind = choice.choice(SCHEMA.get_possible_types(NODE))
    leaves = [name for name, field in kind.fields.items() if is_leaf_type(get_named_type(field.type))]
    return f"... on Node {{ ... on {kind.name} {{ a{choice.getrandbits(48):x}: {choice.choice(leaves)} }} }}"


def _field(choice: random.Random, name: str, field: GraphQLField, depth: int) -> str:
    inner = get_named_type(field.type)
    # No two are alike: what has the same key in two fragments must be of the same type.
    shown = f"a{choice.getrandbits(48):x}: {name}{_arguments(choice, name, field)}"
    if is_leaf_type(inner):
        return shown
    if depth == 0:
        return ""
    assert isinstance(inner, GraphQLObjectType | GraphQLInterfaceType)
    return f"{shown} {_selection(choice, inner, depth - (not inner.name.endswith(('Connection', 'Edge'))))}"


def _arguments(choice: random.Random, name: str, field: GraphQLField) -> str:
    given = {}
    for argument, definition in field.args.items():
        if argument == "ids":
            chosen = choice.choices(VALUES["id"], k=choice.randint(0, 6))
            given[argument] = f"[{', '.join(chosen)}]"
        elif argument == "window" and name in {"calendar", "availability"}:
            given[argument] = f'{{from: "2026-03-{choice.randint(1, 10):02d}", to: "2026-03-{choice.randint(10, 20)}"}}'
        elif argument in VALUES and (is_required_argument(definition) or choice.random() < 0.5):
            given[argument] = choice.choice(VALUES[argument])
    if "first" in given:
        given.pop("last", None)
    return f"({', '.join(f'{key}: {value}' for key, value in given.items())})" if given else ""


@pytest_asyncio.fixture
async def world(
    open_api: Callable[..., AbstractAsyncContextManager[Api]], clock: Clock, wire: Wire
) -> AsyncIterator[Api]:
    """A little of everything, each thing reached by many ways, with pointers that have ended."""
    async with open_api(**UNLIMITED) as api:
        await api.owner("ada", email="ada@example.com")
        await api.owner("eve")
        await api.owner("root", role="ADMIN")
        for number in range(2):
            await places.found_location(api, number)
        for number, name in enumerate(LOCKERS):
            at = {} if number == 2 else {"locationId": places.ulid(number % 2)}
            await api.locker(name, OWNERS[number % 2], **at)
            for owner, (start, end) in enumerate(RESERVED, number):
                window = f"2026-03-01T{start}:00Z", f"2026-03-01T{end}:00Z"
                await api.reservation(f"{name}-{start[:2]}", name, OWNERS[owner % 3], *window)
            await api.event(name, eventId=f"e{number}")
        for number, name in enumerate(BOOKINGS):
            at = {"locationId": places.ulid(number % 2), "ownerId": OWNERS[number % 3]}
            await places.book(api, name, **at, date=f"2026-03-1{number // 2}")
        for name in BOOKINGS[:4]:
            await places.approve(api, name)
        await api.mutate(places.REJECT, bookingId="b4", adminId="root", reason="No", expectedVersion=1)
        await api.mutate(places.PAY, bookingId="b0", amount=5, currency="EUR")
        clock.move(hours=2)
        wire.reset()
        yield api


def test_the_documents_differ_and_reach_most_of_the_schema() -> None:
    documents = [made(seed) for seed in range(DOCUMENTS)]
    assert len(set(documents)) > DOCUMENTS * 0.9
    reached = ("activeReservation", "payments", "notifications", "calendar", "nodes(ids", "latestEvent", "node(id")
    assert all(any(name in document for document in documents) for name in reached)


@pytest.mark.parametrize("part", range(8))
async def test_a_document_made_at_random_does_no_more_than_its_plan_says(world: Api, wire: Wire, part: int) -> None:
    ran = 0
    partner = world.by(principals.partner(*Scope, of=("ada", "eve")))
    for seed in range(part, DOCUMENTS, 8):
        answer: dict[str, Any] = await world.send(made(seed))
        codes = {error["extensions"]["code"] for error in answer.get("errors", [])}
        assert codes <= {"NOT_FOUND"}, (made(seed), answer["errors"])
        ran += bool(wire.calls)
        await partner.send(made(seed))
        wire.reset()
    assert ran > 40
