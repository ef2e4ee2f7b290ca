"""Documents chosen for what is easily executed otherwise: each has the same answer and effect by both executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from graphql import get_introspection_query

from domain.authorization import DEVELOPMENT_ADMIN
from tests import places
from tests.equivalence.runner import Case
from tests.fuzz.documents import Document
from tests.principals import owner, partner

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from domain.authorization import Principal
    from tests.equivalence.runner import Runner
    from tests.equivalence.world import Table

NULL_DIRECTIVE = {"no": None}
QUERIES: dict[str, tuple[str, dict[str, Any], Principal]] = {
    "an argument error names the place of the argument": (
        """query ($id: ID = "nina-1") { locker(lockerId: $id) { alias } }""",
        {"id": None},
        DEVELOPMENT_ADMIN,
    ),
    "enum values have the names of the schema": (
        "{ apiKeys(first: 3) { nodes { role scopes } } }",
        {},
        DEVELOPMENT_ADMIN,
    ),
    "two pages name the same missing record": (
        """{ a: owner(ownerId: "nina") { lockers { nodes { version } } }
             owner(ownerId: "nina") { lockers { nodes { owner { lockers { nodes { createdAt } } } } } } }""",
        {},
        DEVELOPMENT_ADMIN,
    ),
    "the variable of a directive is null at the root": (
        """query ($no: Boolean = true) { locker(lockerId: "nina-1") @skip(if: $no) { alias } }""",
        NULL_DIRECTIVE,
        DEVELOPMENT_ADMIN,
    ),
    "the variable of a directive is null inside a list": (
        """query ($no: Boolean = true) {
             owner(ownerId: "nina") { name lockers { nodes { lockerId alias @include(if: $no) } nextCursor } } }""",
        NULL_DIRECTIVE,
        DEVELOPMENT_ADMIN,
    ),
    "the variable of a directive is null below something that is left out": (
        """query ($no: Boolean = true) {
             locker(lockerId: "nina-1") { alias owner @skip(if: true) { name @include(if: $no) }
               ... @include(if: false) { status @skip(if: $no) } } }""",
        NULL_DIRECTIVE,
        DEVELOPMENT_ADMIN,
    ),
    "a column is forbidden in each of several objects": (
        """{ a: owner(ownerId: "club") { ownerId name email lockers { nodes { alias } } }
             owner(ownerId: "guild") { name lockers { nodes { lockerId } } } }""",
        {},
        owner("nina", "club", "guild"),
    ),
    "a copy names another owner than its record": (
        """{ owner(ownerId: "anna") { lockers { nodes {
             lockerId ownerId version owner { name } activeReservation { startAt } latestEvent { eventId } } } } }""",
        {},
        DEVELOPMENT_ADMIN,
    ),
    "a copy names a record that is hidden": (
        """{ owner(ownerId: "anna") { a: lockers { nodes { lockerId } }
             lockers { nodes { lockerId version } edges { cursor } pageInfo { endCursor } } } }""",
        {},
        owner("anna"),
    ),
    "lists of an owner without its profile": (
        """{ owner(ownerId: "nina") { ownerId bookings(first: 2) { nodes { bookingId owner { name } } }
             name } }""",
        {},
        partner("bookings:read", of="nina"),  # type: ignore[arg-type]
    ),
}
INTROSPECTION: dict[str, tuple[str, dict[str, Any]]] = {
    "the usual introspection": (get_introspection_query(), {}),
    "beside data": (
        """query ($name: String!) { __typename locker(lockerId: "nina-1") { __typename alias }
             a: __type(name: $name) { name fields { name } } nothing: __type(name: "Nothing") { name } }""",
        {"name": "Locker"},
    ),
    "in fragments, merged, with directives": (
        """query ($no: Boolean = false) { ...Both __schema { mutationType { name } } locker(lockerId: "?") { alias } }
           fragment Both on Query { __schema { queryType { ...Name } directives @include(if: $no) { name } } }
           fragment Name on __Type { name kind __typename }""",
        {},
    ),
    "with an argument that is null": (
        """query ($name: String = "Query") { __type(name: $name) { name } locker(lockerId: "nina-1") { alias } }""",
        {"name": None},
    ),
}


@pytest.mark.parametrize("name", QUERIES)
async def test_query_has_the_same_answer(runner: Runner, shared_table: Table, name: str) -> None:
    text, variables, principal = QUERIES[name]
    assert not await _differences(runner, shared_table, text, variables, principal)


@pytest.mark.parametrize("name", INTROSPECTION)
async def test_introspection_has_the_same_answer(runner: Runner, shared_table: Table, name: str) -> None:
    text, variables = INTROSPECTION[name]
    assert not await _differences(runner, shared_table, text, variables, DEVELOPMENT_ADMIN)


async def test_no_mutation_runs_after_one_that_failed(
    runner: Runner, new_table: Callable[..., Awaitable[Table]]
) -> None:
    planned, executed = await new_table(), await new_table()
    text = f"""mutation {{
      a: renameLocker(input: {{lockerId: "nina-1", alias: "A", expectedVersion: 1}}) {{ locker {{ alias }} }}
      b: requestBooking(input: {{locationId: "{places.ulid(3)}", ownerId: "nina", date: "2026-03-20",
        duration: MORNING, description: "B", attendees: 1}}) {{ booking {{ bookingId }} }}
      c: renameLocker(input: {{lockerId: "nina-2", alias: "C", expectedVersion: 1}}) {{ locker {{ alias }} }} }}"""
    case = Case(Document(0, text, {}), DEVELOPMENT_ADMIN)
    assert not await runner.differences(case, planned, executed, new_table)
    items = await planned.items()
    assert items == await executed.items()
    aliases = {item["PK"]["S"]: item["alias"]["S"] for item in items if item["SK"]["S"] == "META" and "alias" in item}
    assert aliases["LOCKER#nina-1"] == "A"
    assert aliases["LOCKER#nina-2"] != "C"


async def _differences(
    runner: Runner, table: Table, text: str, variables: dict[str, Any], principal: Principal
) -> list[str]:
    async def untouched() -> Table:
        return table

    return await runner.differences(Case(Document(0, text, variables), principal), table, table, untouched)
