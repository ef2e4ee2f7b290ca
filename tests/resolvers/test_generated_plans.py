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

from resolvers.relay import to_global_id
from tests import places

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from graphql import GraphQLField

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

SCHEMA = build_schema((Path(__file__).parent.parent.parent / "schema.graphql").read_text())
NODES = [
    to_global_id("Locker", "l0"),
    to_global_id("Locker", "l1"),
    to_global_id("Owner", "ada"),
    to_global_id("Location", places.ulid(0)),
    to_global_id("Booking", "b0"),
    to_global_id("Reservation", "l0", "2026-03-01T11:00:00.000Z", "r0"),
    to_global_id("Locker", "nowhere"),
    "nonsense",
]
VALUES: dict[str, list[str]] = {
    "lockerId": ['"l0"', '"l1"', '"l2"', '"nowhere"'],
    "ownerId": ['"ada"', '"root"', '"nobody"'],
    "locationId": [f'"{places.ulid(0)}"', f'"{places.ulid(1)}"'],
    "bookingId": ['"b0"', '"b1"', '"b2"'],
    "reservationId": ['"r0"', '"none"'],
    "email": ['"ada@example.com"', '"nobody@example.com"'],
    "keyId": ['"none"'],
    "code": ['"place-0"', '"place-1"', '"nowhere"'],
    "id": [f'"{node}"' for node in NODES],
    "consistent": ["true", "false"],
    "first": ["1", "2", "5"],
    "last": ["3"],
}
DOCUMENTS = 300
UNLIMITED = dict.fromkeys(("max_read_units", "max_operations", "max_tokens", "max_aliases", "max_depth"), 10**9)


def made(seed: int) -> str:
    """A valid query."""
    choice = random.Random(seed)
    root = SCHEMA.query_type
    assert root is not None
    return f"query {_selection(choice, root, choice.randint(2, 3))}"


def _selection(choice: random.Random, type_: GraphQLObjectType | GraphQLInterfaceType, depth: int) -> str:
    if isinstance(type_, GraphQLInterfaceType):
        kinds = choice.sample(SCHEMA.get_possible_types(type_), 3)
        parts = [f"... on {kind.name} {_selection(choice, kind, depth)}" for kind in kinds]
        return f"{{ __typename {' '.join(parts)} }}"
    names = choice.sample(sorted(type_.fields), min(len(type_.fields), choice.randint(1, 4)))
    if type_.name.endswith(("Connection", "Edge")):
        names += sorted({"nodes", "node"} & type_.fields.keys())
    parts = [_field(choice, name, type_.fields[name], depth) for name in names]
    return f"{{ __typename {' '.join(parts)} }}"


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
            chosen = choice.sample(VALUES["id"], choice.randint(0, len(NODES)))
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
    """A little of everything, with a pointer that has ended."""
    async with open_api(**UNLIMITED) as api:
        await api.owner("ada", email="ada@example.com")
        await api.owner("root", role="ADMIN")
        for number in range(2):
            await places.found_location(api, number)
        for number in range(6):
            at = {} if number == 2 else {"locationId": places.ulid(number % 2)}
            await api.locker(f"l{number}", "root" if number == 1 else "ada", **at)
        await api.reservation("r0", "l0", "ada", "2026-03-01T11:00:00Z", "2026-03-01T18:00:00Z")
        await api.reservation("r1", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T12:30:00Z")
        await api.reservation("r2", "l1", "root", "2026-03-01T13:00:00Z", "2026-03-01T18:00:00Z")
        for number in range(3):
            await api.event("l0", eventId=f"e{number}")
        for number in range(3):
            await places.book(api, f"b{number}", date=f"2026-03-1{number}")
        await places.approve(api, "b0")
        await api.mutate(places.REJECT, bookingId="b1", adminId="root", reason="No", expectedVersion=1)
        await api.mutate(places.PAY, bookingId="b0", amount=5, currency="EUR")
        clock.move(hours=2)
        wire.reset()
        yield api


def test_the_documents_differ_and_reach_most_of_the_schema() -> None:
    documents = [made(seed) for seed in range(DOCUMENTS)]
    assert len(set(documents)) > DOCUMENTS * 0.9
    reached = ("activeReservation", "payments", "notifications", "calendar", "nodes(ids", "latestEvent", "node(id")
    assert all(any(name in document for document in documents) for name in reached)


@pytest.mark.parametrize("part", range(6))
async def test_a_document_made_at_random_does_no_more_than_its_plan_says(world: Api, wire: Wire, part: int) -> None:
    ran = 0
    for seed in range(part, DOCUMENTS, 6):
        answer: dict[str, Any] = await world.send(made(seed))
        codes = {error["extensions"]["code"] for error in answer.get("errors", [])}
        assert codes <= {"NOT_FOUND"}, (made(seed), answer["errors"])
        ran += bool(wire.calls)
        wire.reset()
    assert ran > 30
