"""Documents chosen for what is easily executed otherwise: each has the same answer and effect by both executors."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from graphql import get_introspection_query

from domain.authorization import DEVELOPMENT_ADMIN, Principal, Scope
from tests import places
from tests.equivalence.runner import Case, Runner
from tests.equivalence.world import Table
from tests.fuzz.documents import Document
from tests.principals import owner, partner


def asked(text: str, by: Principal = DEVELOPMENT_ADMIN, **variables: Any) -> Case:
    return Case(Document(0, text, variables), by)


QUERIES = {
    "an argument error names the place of the argument": asked(
        """query ($id: ID = "nina-1") { locker(lockerId: $id) { alias } }""", id=None
    ),
    "enum values have the names of the schema": asked("{ apiKeys(first: 3) { nodes { role scopes } } }"),
    "two pages name the same missing record": asked(
        """{ a: owner(ownerId: "nina") { lockers { nodes { version } } }
             owner(ownerId: "nina") { lockers { nodes { owner { lockers { nodes { createdAt } } } } } } }"""
    ),
    "the variable of a directive is null at the root": asked(
        """query ($no: Boolean = true) { locker(lockerId: "nina-1") @skip(if: $no) { alias } }""", no=None
    ),
    "the variable of a directive is null inside a list": asked(
        """query ($no: Boolean = true) {
             owner(ownerId: "nina") { name lockers { nodes { lockerId alias @include(if: $no) } nextCursor } } }""",
        no=None,
    ),
    "the variable of a directive is null below something that is left out": asked(
        """query ($no: Boolean = true) {
             locker(lockerId: "nina-1") { alias owner @skip(if: true) { name @include(if: $no) }
               ... @include(if: false) { status @skip(if: $no) } } }""",
        no=None,
    ),
    "a column is forbidden in each of several objects": asked(
        """{ a: owner(ownerId: "club") { ownerId name email lockers { nodes { alias } } }
             owner(ownerId: "guild") { name lockers { nodes { lockerId } } } }""",
        owner("nina", "club", "guild"),
    ),
    "a copy names another owner than its record": asked(
        """{ owner(ownerId: "anna") { lockers { nodes {
             lockerId ownerId version owner { name } activeReservation { startAt } latestEvent { eventId } } } } }"""
    ),
    "a copy names a record that is hidden": asked(
        """{ owner(ownerId: "anna") { a: lockers { nodes { lockerId } }
             lockers { nodes { lockerId version } edges { cursor } pageInfo { endCursor } } } }""",
        owner("anna"),
    ),
    "lists of an owner without its profile": asked(
        """{ owner(ownerId: "nina") { ownerId bookings(first: 2) { nodes { bookingId owner { name } } } name } }""",
        partner(Scope.BOOKINGS_READ, of="nina"),
    ),
    "the usual introspection": asked(get_introspection_query()),
    "introspection beside data": asked(
        """query ($name: String!) { __typename locker(lockerId: "nina-1") { __typename alias }
             a: __type(name: $name) { name fields { name } } nothing: __type(name: "Nothing") { name } }""",
        name="Locker",
    ),
    "introspection in fragments, merged, with directives": asked(
        """query ($no: Boolean = false) { ...Both __schema { mutationType { name } } locker(lockerId: "?") { alias } }
           fragment Both on Query { __schema { queryType { ...Name } directives @include(if: $no) { name } } }
           fragment Name on __Type { name kind __typename }"""
    ),
    "introspection with an argument that is null": asked(
        """query ($name: String = "Query") { __type(name: $name) { name } locker(lockerId: "nina-1") { alias } }""",
        name=None,
    ),
}


@pytest.mark.parametrize("name", QUERIES)
async def test_query_has_the_same_answer(runner: Runner, shared_table: Table, name: str) -> None:
    async def untouched() -> Table:
        return shared_table

    assert not await runner.differences(QUERIES[name], shared_table, shared_table, untouched)


async def test_no_mutation_runs_after_a_failed_one(runner: Runner, new_table: Callable[..., Awaitable[Table]]) -> None:
    planned, executed = await new_table(), await new_table()
    case = asked(f"""mutation {{
      a: renameLocker(input: {{lockerId: "nina-1", alias: "A", expectedVersion: 1}}) {{ locker {{ alias }} }}
      b: requestBooking(input: {{locationId: "{places.ulid(3)}", ownerId: "nina", date: "2026-03-20",
        duration: MORNING, description: "B", attendees: 1}}) {{ booking {{ bookingId }} }}
      c: renameLocker(input: {{lockerId: "nina-2", alias: "C", expectedVersion: 1}}) {{ locker {{ alias }} }} }}""")
    assert not await runner.differences(case, planned, executed, new_table)
    items = await planned.items()
    assert items == await executed.items()
    aliases = {item["PK"]["S"]: item["alias"]["S"] for item in items if item["SK"]["S"] == "META" and "alias" in item}
    assert aliases["LOCKER#nina-1"] == "A"
    assert aliases["LOCKER#nina-2"] != "C"
