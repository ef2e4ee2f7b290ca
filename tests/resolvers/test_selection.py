"""What a request selects decides what is read: directives, fragments and aliases are looked through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.api import mutation

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

LOCKERS = '{ owner(ownerId: "acme") { lockers { %s } } }'
READ = [("LOCKER#l1", "META"), ("LOCKER#l2", "META")]


@pytest_asyncio.fixture
async def two(api: Api, wire: Wire) -> Api:
    """An owner with two lockers."""
    await api.owner("acme")
    await api.locker("l1", "acme")
    await api.locker("l2", "acme")
    wire.reset()
    return api


@pytest.mark.parametrize(
    "selection",
    [
        "nodes { lockerId alias status updatedAt id __typename }",
        "nodes { lockerId version @skip(if: true) }",
        "nodes { lockerId version @include(if: false) owner @skip(if: true) { name } }",
        "nodes { lockerId version @skip(if: true) @include(if: true) }",
        "nodes { lockerId version @skip(if: false) @include(if: false) }",
        "nodes { lockerId ... @skip(if: true) { version } }",
        "nodes { lockerId ... on Locker @include(if: false) { createdAt } }",
        "nodes @skip(if: true) { version } nextCursor",
        "edges { cursor node { lockerId ownerId @skip(if: true) } }",
        "version: nextCursor nodes { version: alias ownerId: status }",
        "nodes { lockerId activeReservation { owner { version } locker { version } } }",
        "nextCursor pageInfo { hasNextPage }",
    ],
)
async def test_a_list_that_selects_nothing_of_the_records_reads_none(two: Api, wire: Wire, selection: str) -> None:
    data = await two.run(LOCKERS % selection)
    assert data["owner"]["lockers"]
    assert ("LOCKER#l1", "META") not in [key for call in wire.calls for key in call.keys]
    assert wire.operations["Query"] == 1


@pytest.mark.parametrize(
    "selection",
    [
        "nodes { version }",
        "nodes { createdAt }",
        "nodes { ownerId }",
        "edges { node { version } }",
        "edges { node { lockerId } } nodes { version }",
        "nodes { renamed: version }",
        "some: nodes { lockerId } others: nodes { version }",
        "nodes { lockerId } nodes { version }",
        "nodes { version @skip(if: false) }",
        "nodes { version @include(if: true) @skip(if: false) }",
        "nodes { ... { version } }",
        "nodes { ... on Locker { version } }",
        "nodes { ... on Node { ... on Locker { version } } }",
        "nodes { ... on Node { id } ... on Locker @include(if: true) { ... { createdAt } } }",
        "... { ... on LockerConnection { nodes { version } } }",
    ],
)
async def test_a_list_that_selects_something_of_the_records_reads_them_in_one_batch(
    two: Api, wire: Wire, selection: str
) -> None:
    await two.run(LOCKERS % selection)
    assert wire.operations == {"Query": 1, "BatchGetItem": 1}
    assert wire.of("BatchGetItem")[0].keys == READ


FRAGMENTS = """
query ($whole: Boolean!) { owner(ownerId: "acme") { lockers { nodes { ...OnNode } } } }
fragment OnNode on Node { id ...OnLocker }
fragment OnLocker on Locker { lockerId ...Record @include(if: $whole) }
fragment Record on Locker { version createdAt }
"""


@pytest.mark.parametrize("whole", [True, False])
async def test_fields_inside_named_fragments_count_unless_their_spread_is_left_out(
    two: Api, wire: Wire, *, whole: bool
) -> None:
    data = await two.run(FRAGMENTS, whole=whole)
    assert set(data["owner"]["lockers"]["nodes"][0]) == {"id", "lockerId"} | (
        {"version", "createdAt"} if whole else set()
    )
    assert wire.operations == {"Query": 1} | ({"BatchGetItem": 1} if whole else {})


@pytest.mark.parametrize(
    ("definition", "directive", "variables", "is_read"),
    [
        ("$v: Boolean!", "@skip(if: $v)", {"v": True}, False),
        ("$v: Boolean!", "@skip(if: $v)", {"v": False}, True),
        ("$v: Boolean! = true", "@skip(if: $v)", {}, False),
        ("$v: Boolean! = false", "@include(if: $v)", {}, False),
        ("$v: Boolean! = false", "@include(if: $v)", {"v": True}, True),
        ("$v: Boolean = true", "@skip(if: $v)", {}, False),
    ],
)
async def test_a_variable_decides_what_is_read(
    two: Api, wire: Wire, definition: str, directive: str, variables: dict[str, bool], *, is_read: bool
) -> None:
    query = f"query ({definition}) {LOCKERS % f'nodes {{ lockerId version {directive} }}'}"
    data = await two.run(query, **variables)
    assert ("version" in data["owner"]["lockers"]["nodes"][0]) is is_read
    assert wire.operations == {"Query": 1} | ({"BatchGetItem": 1} if is_read else {})


@pytest.mark.parametrize(
    ("selection", "operations"),
    [
        ("name", {"GetItem": 1}),
        ("ownerId", {"GetItem": 1}),
        ("name lockers { nextCursor }", {"GetItem": 1, "Query": 1}),
        ("name @skip(if: true) lockers { nextCursor }", {"Query": 1}),
        ("name lockers @skip(if: true) { nextCursor }", {"GetItem": 1}),
        ("... @skip(if: true) { name version } lockers { nextCursor } reservations { nextCursor }", {"Query": 2}),
        ("... on Owner { ... on Node { id } } reservations { nextCursor }", {"Query": 1}),
        ("name: ownerId lockers { nextCursor }", {"Query": 1}),
    ],
)
async def test_an_owners_profile_is_read_only_where_a_field_needs_it(
    two: Api, wire: Wire, selection: str, operations: dict[str, int]
) -> None:
    await two.run(f'{{ owner(ownerId: "acme") {{ {selection} }} }}')
    assert wire.operations == operations


CREATE_TWO = """mutation {
  a: renameLocker(input: { lockerId: "l1", alias: "A", expectedVersion: 1 }) {
    locker { alias owner { name lockers { nodes { lockerId alias version } } } }
  }
  b: updateOwner(input: { ownerId: "acme", expectedVersion: 1, name: "Renamed" }) { owner { name } }
  c: renameLocker(input: { lockerId: "l1", alias: "B", expectedVersion: 2 }) {
    locker { alias owner { name lockers { nodes { lockerId alias version } } } }
  }
  d: createReservation(input: {
    lockerId: "l1", reservationId: "r1", ownerId: "acme",
    startAt: "2026-03-01T11:00:00Z", endAt: "2026-03-01T13:00:00Z"
  }) { reservation { locker { version activeReservation { reservationId } } owner { version } } }
  e: cancelReservation(input: { lockerId: "l1", reservationId: "r1" }) {
    reservation { status locker { activeReservation { reservationId } } }
  }
  f: recordAccessEvent(input: { lockerId: "l1", eventId: "e1", action: OPEN, actorId: "ada", result: SUCCESS }) {
    accessEvent { locker { latestEvent { eventId } } }
  }
  g: recordAccessEvent(input: { lockerId: "l1", eventId: "e2", action: OPEN, actorId: "ada", result: SUCCESS }) {
    accessEvent { locker { latestEvent { eventId } } }
  }
}"""


async def test_a_later_mutation_of_a_request_shows_what_earlier_ones_changed(two: Api) -> None:
    data = await two.run(CREATE_TWO)
    other = {"lockerId": "l2", "alias": None, "version": 1}
    assert data == {
        "a": {
            "locker": {
                "alias": "A",
                "owner": {
                    "name": "acme",
                    "lockers": {"nodes": [{"lockerId": "l1", "alias": "A", "version": 2}, other]},
                },
            }
        },
        "b": {"owner": {"name": "Renamed"}},
        "c": {
            "locker": {
                "alias": "B",
                "owner": {
                    "name": "Renamed",
                    "lockers": {"nodes": [{"lockerId": "l1", "alias": "B", "version": 3}, other]},
                },
            }
        },
        "d": {
            "reservation": {
                "locker": {"version": 3, "activeReservation": {"reservationId": "r1"}},
                "owner": {"version": 2},
            }
        },
        "e": {"reservation": {"status": "CANCELLED", "locker": {"activeReservation": None}}},
        "f": {"accessEvent": {"locker": {"latestEvent": {"eventId": "e1"}}}},
        "g": {"accessEvent": {"locker": {"latestEvent": {"eventId": "e2"}}}},
    }


async def test_a_refused_mutation_of_a_request_does_not_keep_the_others_from_running(two: Api) -> None:
    data = await two.run("""mutation {
      a: renameLocker(input: { lockerId: "l1", alias: "A", expectedVersion: 9 }) {
        locker { version } userErrors { code }
      }
      b: renameLocker(input: { lockerId: "l1", alias: "B", expectedVersion: 1 }) {
        locker { version } userErrors { code }
      }
    }""")
    assert data == {
        "a": {"locker": {"version": 1}, "userErrors": [{"code": "CONFLICT"}]},
        "b": {"locker": {"version": 2}, "userErrors": []},
    }


async def test_a_mutations_answer_comes_from_what_was_written(two: Api, wire: Wire) -> None:
    query = mutation("renameLocker", "locker { lockerId alias status version createdAt updatedAt ownerId }")
    payload = await two.mutate(query, lockerId="l1", alias="A", expectedVersion=1)
    assert payload["locker"]["alias"] == "A"
    assert [call.operation for call in wire.calls] == ["GetItem", "TransactWriteItems"]


async def test_fragments_that_spread_each_other_twice_are_looked_at_once_each_or_refused(api: Api) -> None:
    await api.owner("ada")

    def doubling(times: int) -> str:
        chain = "".join(f" fragment F{n} on Owner {{ ...F{n + 1} ...F{n + 1} }}" for n in range(times))
        return f'{{ owner(ownerId: "ada") {{ ...F0 }} }}{chain} fragment F{times} on Owner {{ name }}'

    assert await api.run(doubling(3)) == {"owner": {"name": "ada"}}
    (error,) = (await api.send(doubling(40)))["errors"]
    assert error["extensions"]["code"] == "QUERY_TOO_COMPLEX"
