"""The plan of a document: what it counts, what it counts once, and what it refuses to look at."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Any

import pytest
from graphql import parse

from domain.errors import TooComplexError
from loaders.contracts import CONTRACTS
from resolvers.costs import COSTS
from resolvers.plan import Maximum
from resolvers.relay import to_global_id
from tests.resolvers.plans import OWNER, SCHEMA, SIZES, plan, totals

if TYPE_CHECKING:
    from collections.abc import Iterator

MAXIMUM = Maximum(25_000, 1500, 20_000)
ID = to_global_id("Locker", "l1")


def resolved() -> Iterator[tuple[str, bool]]:
    """Every field with a resolver of its own, and whether that may wait for something."""
    for name, type_ in SCHEMA.schema_converter.type_map.items():
        for field in getattr(type_.definition, "fields", []):
            if (resolver := getattr(field, "base_resolver", None)) is not None:
                graphql_name = SCHEMA.config.name_converter.get_graphql_name(field)
                yield f"{name}.{graphql_name}", inspect.iscoroutinefunction(resolver.wrapped_func)


def test_every_field_that_waits_for_something_has_a_cost_and_no_other_has() -> None:
    assert {name for name, waits in resolved() if waits} == set(COSTS)


def test_every_field_that_a_contract_names_has_a_cost() -> None:
    named = {field for contract in CONTRACTS.values() for field in contract.fields}
    assert named == set(COSTS) | {"/graphql"}  # charging a request is no part of it


@pytest.mark.parametrize(
    ("document", "operations", "items", "units"),
    [
        ('{ locker(lockerId: "l1") { alias } }', 1, 1, 0.5),
        ('{ locker(lockerId: "l1", consistent: true) { alias } }', 1, 1, 1),
        ('{ a: locker(lockerId: "l1") { alias } b: locker(lockerId: "l1") { version } }', 1, 1, 0.5),
        ('{ a: locker(lockerId: "l1") { alias } b: locker(lockerId: "l2") { version } }', 1, 2, 1),
        ('{ locker(lockerId: "l1") { owner { name } location { name } } }', 3, 3, 2),
        ('{ locker(lockerId: "l1") { latestEvent { action } } }', 2, 2, 4),
        (OWNER % "name", 1, 1, 0.5),
        (OWNER % "ownerId lockers(first: 3) { nodes { alias } }", 1, 4, 1),
        (OWNER % "name lockers(first: 3) { nodes { alias } }", 2, 5, 1.5),
        ('{ ownerByEmail(email: "a@b.c") { name } }', 2, 2, 1),
        ('{ locationByCode(code: "rome") { name } }', 2, 2, 1.5),
        ('{ reservation(lockerId: "l1", reservationId: "r") { status } }', 4, 4, 2.5),
        ('{ booking(bookingId: "b") { owner { name } location { name } } }', 3, 3, 4),
        ("{ pendingBookings(first: 10) { nodes { date } } }", 1, 11, 12.5),
        (f'{{ node(id: "{ID}") {{ id }} }}', 1, 1, 0.5),
        ('{ node(id: "nonsense") { id } }', 0, 0, 0),
        ("{ __schema { types { name } } __typename }", 0, 0, 0),
    ],
)
def test_what_a_document_takes(document: str, operations: int, items: int, units: float) -> None:
    assert totals(document) == (operations, items, units)


def test_three_lockers_with_their_owners_are_two_operations() -> None:
    lockers = " ".join(f'l{n}: locker(lockerId: "{n}") {{ owner {{ name }} }}' for n in range(3))
    made = plan(f"{{ {lockers} }}")
    assert (made.total.operations, made.total.items, made.has_pages) == (2, 6, False)
    assert {charge.operation for charge in made.charges} == {"BatchGetItem"}


def test_a_write_of_several_things_or_with_a_claim_is_a_transaction() -> None:
    document = "mutation ($input: RecordAccessEventInput!) { recordAccessEvent(input: $input) { userErrors { code } } }"
    event = {"lockerId": "l", "action": "OPEN", "actorId": "a", "result": "SUCCESS"}
    several = document.replace("RecordAccessEventInput", "RecordAccessEventsInput").replace("Event(", "Events(")

    def writes(query: str, **values: Any) -> list[str]:
        always = [charge for charge in plan(query, input=values).charges if charge.when == "always"]
        return [charge.operation for charge in always if charge.cost.write_units]

    assert writes(document, **event) == ["PutItem"]
    assert writes(document, **event, eventId="e") == ["TransactWriteItems"]
    assert writes(several, events=[event]) == ["PutItem"]
    assert writes(several, events=[event, event]) == ["TransactWriteItems"]


def test_more_than_a_hundred_keys_are_two_batches() -> None:
    lockers = " ".join(f'l{n}: locker(lockerId: "{n}") {{ alias }}' for n in range(101))
    assert totals(f"{{ {lockers} }}") == (2, 101, 50.5)


def test_the_lockers_of_a_list_are_read_only_where_a_field_needs_more_than_the_copy() -> None:
    page = OWNER % "lockers(first: 10) { %s }"
    assert totals(page % "nodes { alias status }") == (1, 11, 2.5)
    for asked in ("nodes { version }", "edges { node { version } }", "nodes { alias } edges { node { ownerId } }"):
        # The page, its lockers, and perhaps once more those that a plain read does not find yet.
        assert totals(page % asked) == (3, 31, 2.5 + 5 + 10)


def test_a_connection_asked_through_edges_and_nodes_counts_once() -> None:
    both = "lockers(first: 10) { nodes { owner { name } } edges { node { owner { name } } } }"
    one = "lockers(first: 10) { nodes { owner { name } } }"
    assert totals(OWNER % both) == totals(OWNER % one)


def test_pages_multiply() -> None:
    made = plan(OWNER % "lockers(first: 4) { nodes { reservations(first: 9) { nodes { owner { name } } } } }")
    lockers = made.tree[0].children[0].children[0]
    reservations = lockers.children[0]
    owner = reservations.children[0].children[0]
    assert (reservations.path, reservations.times) == ("owner.lockers.nodes.reservations", 4)
    assert (reservations.cost.operations, reservations.cost.items, reservations.cost.read_units) == (4, 40, 4)
    # The owners of each page are asked for when that page arrives.
    assert (owner.times, owner.cost.operations, owner.cost.items) == (36, 4, 36)
    assert made.has_pages


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ("", 25),
        ("(first: 7)", 7),
        ("(last: 7)", 7),
        ("(first: null)", 25),
        ("(first: 0)", 100),
        ("(first: 101)", 100),
        ("(first: -1)", 100),
        ("(first: 3, last: 4)", 100),
        ("(first: $given)", 9),
        ("(first: $default)", 11),
        ("(first: $absent)", 25),
    ],
)
def test_the_size_of_a_page_is_what_is_asked_for_or_else_the_largest(arguments: str, size: int) -> None:
    # Every variable is used, so that the document is valid whichever is asked.
    document = """query ($given: Int, $default: Int = 11, $absent: Int, $on: Boolean = false) {
      locations%s { nextCursor }
      used: locations(first: $given) @include(if: $on) { nextCursor }
      too: locations(first: $default) @include(if: $on) { nextCursor }
      three: locations(first: $absent) @include(if: $on) { nextCursor }
    }"""
    assert totals(document % arguments, given=9)[1] == size + 1


def test_directives_leave_out_what_the_variables_say() -> None:
    document = """query ($on: Boolean!) {
      a: owner(ownerId: "a") @include(if: $on) { name }
      b: owner(ownerId: "b") @skip(if: $on) { name lockers { nextCursor } }
      ... @include(if: $on) { c: owner(ownerId: "c") { name } }
      ...F @skip(if: $on)
    } fragment F on Query { d: owner(ownerId: "d") { name } }"""
    assert totals(document, on=True)[:2] == (1, 2)
    assert totals(document, on=False)[:2] == (2, 28)


def test_fragments_and_fields_of_the_same_key_merge() -> None:
    document = """{
      owner(ownerId: "a") { lockers(first: 2) { nodes { lockerId } } }
      ...A ...A ... on Query { ...A }
    }
    fragment A on Query { owner(ownerId: "a") { lockers(first: 2) { nodes { ...L } } } }
    fragment L on Locker { owner { name } ... on Node { id } }"""
    merged = '{ owner(ownerId: "a") { lockers(first: 2) { nodes { lockerId owner { name } } } } }'
    assert totals(document) == totals(merged)


def test_nodes_count_by_their_kinds_and_below_each_only_what_applies_to_it() -> None:
    ids = [to_global_id("Locker", "l1"), to_global_id("Locker", "l2"), to_global_id("Owner", "o"), "nonsense"]
    document = """query ($ids: [ID!]!) { nodes(ids: $ids) {
      ... on Locker { owner { name } }
      ... on Owner { lockers(first: 1) { nextCursor } }
      ... on Booking { owner { name } }
    } }"""
    made = plan(document, ids=ids)
    assert {(node.path, node.field, node.times) for node in made.tree[0].children} == {
        ("nodes.owner", "Locker.owner", 2),
        ("nodes.lockers", "Owner.lockers", 1),
    }
    assert made.total.items == 3 + 2 + 2


def test_a_calendar_counts_the_days_of_its_window() -> None:
    document = """query ($to: Date!) {
      location(locationId: "x") { calendar(window: {from: "2026-03-01", to: $to}) { morning { booking { date } } } }
    }"""
    assert totals(document, to="2026-03-10")[1] == 1 + 20 + 10
    assert totals(document, to="2027-03-10")[1] == 1 + 184 + 92


def test_a_mutation_counts_its_reads_its_write_and_its_rounds() -> None:
    document = "mutation ($input: CreateReservationInput!) { createReservation(input: $input) { userErrors { code } } }"
    values = {"lockerId": "l", "ownerId": "o", "startAt": "2026-03-01T12:00:00Z", "endAt": "2026-03-01T13:00:00Z"}
    made = plan(document, input=values)
    assert made.expected_operations == 3
    assert made.total.operations == 24 * 3 + 5
    assert made.total.write_units == 24 * 16


def test_mutations_run_one_after_another_and_forget_what_was_read() -> None:
    entry = 'recordAccessEvent(input: {lockerId: "l", action: OPEN, actorId: "a", result: SUCCESS})'
    shown = "{ accessEvent { locker { alias } } }"
    made = plan(f"mutation {{ a: {entry} {shown} b: {entry} {shown} }}")
    assert made.expected_operations == 2 * 3
    assert not made.has_pages


def test_events_of_one_input_count_by_their_number() -> None:
    document = (
        "mutation ($input: RecordAccessEventsInput!) { recordAccessEvents(input: $input) { userErrors { code } } }"
    )
    event = {"lockerId": "l", "action": "OPEN", "actorId": "a", "result": "SUCCESS"}
    few, many = (plan(document, input={"events": [event] * number}) for number in (2, 25))
    assert (few.expected_operations, many.expected_operations) == (2, 2)
    assert (few.total.write_units < many.total.write_units, few.total.items < many.total.items) == (True, True)


def test_what_hangs_below_a_refusal_counts_only_where_there_is_one() -> None:
    document = """mutation ($input: CancelReservationInput!) { cancelReservation(input: $input) {
      reservation { locker { alias } } userErrors { ... on ReservationOverlap { reservation { owner { name } } } }
    } }"""
    made = plan(document, input={"lockerId": "l", "reservationId": "r"})
    whens = {(charge.contract, charge.when) for charge in made.charges if charge.contract in {"QC-01", "QC-20"}}
    assert whens == {("QC-01", "always"), ("QC-20", "only where the mutation is refused")}


def test_the_plan_as_clients_read_it() -> None:
    made = plan('{ mine: locker(lockerId: "l1") { owner { name } } }')
    contract = {
        "operation": "GetItem",
        "operations": 1,
        "items": 1,
        "readUnits": 0.5,
        "writeUnits": 0,
        "when": "always",
    }
    assert made.json(MAXIMUM) == {
        "tree": [
            {
                "path": "mine",
                "field": "Query.locker",
                "times": 1,
                "contracts": [{"id": "QC-01"} | contract],
                "children": [
                    {
                        "path": "mine.owner",
                        "field": "Locker.owner",
                        "times": 1,
                        "contracts": [{"id": "QC-20"} | contract],
                        "children": [],
                    }
                ],
            }
        ],
        "totals": {
            "operations": 2,
            "expectedOperations": 2,
            "expectedItems": 2,
            "items": 2,
            "readUnits": 1,
            "writeUnits": 0,
        },
        "maximum": {"readUnits": 25_000, "operations": 1500, "items": 20_000},
        "heaviest": {"path": "mine", "readUnits": 0.5, "operations": 1, "expectedItems": 1},
        "allowed": True,
    }


def test_a_document_that_reads_nothing_has_an_empty_plan() -> None:
    made = plan("{ __typename }").json(MAXIMUM)
    assert (made["tree"], made["heaviest"], made["allowed"]) == ([], None, True)


WINDOW = '(window: {from: "2026-03-01", to: "2026-05-31"}) { date }'
CALENDARS = f"a: availability{WINDOW} b: calendar{WINDOW}"
SINGLE = "owner { name } location { name } activeReservation { endAt } latestEvent { action }"


@pytest.mark.parametrize(
    ("below", "is_allowed"),
    [
        (f"lockers(first: 100) {{ nodes {{ version {SINGLE} }} }}", True),
        ("lockers(first: 25) { nodes { reservations(first: 25) { nodes { startAt owner { name } } } } }", True),
        ("lockers(first: 100) { nodes { accessEvents(first: 10) { nodes { action } } } }", True),
        ("lockers(first: 100) { nodes { accessEvents(first: 100) { nodes { action } } } }", False),
        ("lockers(first: 100) { nodes { location { " + CALENDARS + " } } }", False),
        ("lockers(first: 100) { nodes { owner { lockers(first: 100) { nodes { latestEvent { action } } } } } }", False),
    ],
)
def test_the_defaults_let_dashboards_pass_and_not_everything_of_everything(below: str, *, is_allowed: bool) -> None:
    assert plan(OWNER % below).fits(MAXIMUM) is is_allowed


def doubling(levels: int) -> str:
    """Fragments that each spread the next twice, under fields that differ."""
    inner = "a: owner {{ lockers {{ nodes {{ ...F{0} }} }} }} b: owner {{ lockers {{ nodes {{ ...F{0} }} }} }}"
    fragments = [f"fragment F{n} on Locker {{ {inner.format(n + 1)} }}" for n in range(levels)]
    return " ".join(['{ locker(lockerId: "l") { ...F0 } }', *fragments, f"fragment F{levels} on Locker {{ alias }}"])


@pytest.mark.parametrize(
    "document",
    [
        doubling(12),
        "".join(["{ ", *(f'a{n}: locker(lockerId: "{n}") {{ alias }} ' for n in range(3000)), "}"]),
        "{ " + "__typename " * 10_000 + "}",
        '{ locker(lockerId: "l") ' + "{ owner { lockers { nodes " * 20 + "{ alias }" + " } } }" * 20 + " }",
    ],
)
def test_a_document_without_end_is_refused_soon(document: str) -> None:
    parsed = parse(document)
    started = time.process_time()
    with pytest.raises(TooComplexError, match="more than"):
        SCHEMA.plan(parsed, None, {}, SIZES)
    assert time.process_time() - started < 0.5  # the slowest took 23 ms; the rest is for a busy machine


@pytest.mark.parametrize(
    "document",
    [
        "{ " + '... on Query { owner(ownerId: "a") { name } } ' * 600 + "}",
        "".join(
            [
                "{ ...F0 } ",
                *(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }} " for n in range(60)),
                'fragment F60 on Query { owner(ownerId: "a") { name } }',
            ]
        ),
    ],
)
def test_fragments_that_say_the_same_thing_are_looked_at_once(document: str) -> None:
    made = SCHEMA.plan(parse(document), None, {}, SIZES)
    assert (made.total.operations, made.total.items) == (1, 1)
