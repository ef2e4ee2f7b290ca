import pytest
from graphql import OperationDefinitionNode, parse

from resolvers.documents.selection import SelectionPart, Walker
from tests.api import Api
from tests.wire import Wire

LOCKERS = '{ owner(ownerId: "ada") { lockers { %s } } }'
READ = [("LOCKER#l1", "META"), ("LOCKER#l2", "META")]


# What fragments, aliases and directives select is compared with graphql-core.
@pytest.mark.parametrize(
    ("selection", "reads_records"),
    [
        ("nodes { lockerId alias status updatedAt ownerId id __typename }", False),
        ("nodes { lockerId version @skip(if: true) ... @include(if: false) { createdAt } }", False),
        ("nodes @skip(if: true) { version } nextCursor", False),
        ("version: nextCursor nodes { version: alias ownerId: status }", False),
        ("nodes { lockerId activeReservation { owner { version } locker { version } } }", False),
        ("nodes { alias ... on Node { ... on Reservation { ownerId } ... on Location { version } } }", False),
        ("nodes { version }", True),
        ("edges { node { lockerId } } nodes { createdAt }", True),
        ("some: nodes { lockerId } others: nodes { renamed: version }", True),
        ("nodes { lockerId } ... on LockerConnection { nodes { ... on Node { ... on Locker { version } } } }", True),
    ],
)
async def test_a_list_reads_records_in_one_batch_only_where_a_selected_field_needs_them(
    two: Api, wire: Wire, selection: str, *, reads_records: bool
) -> None:
    await two.run(LOCKERS % selection)
    assert wire.operations["Query"] == 1
    records = [call.keys for call in wire.of("BatchGetItem") if ("LOCKER#l1", "META") in call.keys]
    assert records == ([READ] if reads_records else [])


@pytest.mark.parametrize(
    "document",
    [
        '{ locker(lockerId: "%s") { lockerId ... on Node { ... on Owner { reservations { nextCursor } } } } }',
        """{ locker(lockerId: "%s") { lockerId ...A } }
        fragment A on Node { ...B } fragment B on Owner { reservations { nextCursor } }""",
        '{ owner(ownerId: "%s") { ownerId ... on Node { ... on Location { lockers { nextCursor } } } } }',
    ],
)
async def test_a_fragment_that_does_not_apply_changes_nothing(two: Api, wire: Wire, document: str) -> None:
    answer = await two.send(document % "nowhere")
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]
    assert len(wire.calls) == 1


@pytest.mark.parametrize(
    ("selection", "operations"),
    [
        ("name", {"GetItem": 1}),
        ("ownerId", {"GetItem": 1}),
        ("name lockers { nextCursor }", {"GetItem": 1, "Query": 1}),
        ("name @skip(if: true) lockers { nextCursor }", {"Query": 1}),
        ("name lockers @skip(if: true) { nextCursor }", {"GetItem": 1}),
        ("... @skip(if: true) { name version } lockers { nextCursor } reservations { nextCursor }", {"Query": 2}),
        ("... on Owner { ... on Node { id } } lockers { nextCursor }", {"Query": 1}),
        ("reservations { nextCursor }", {"GetItem": 1, "Query": 1}),  # it is empty
        ("name: ownerId lockers { nextCursor }", {"Query": 1}),
    ],
)
async def test_an_owners_profile_is_read_only_where_a_field_needs_it(
    two: Api, wire: Wire, selection: str, operations: dict[str, int]
) -> None:
    await two.run(f'{{ owner(ownerId: "ada") {{ {selection} }} }}')
    assert wire.operations == operations


def test_a_fragment_spread_twice_at_one_place_counts_once_where_it_is_executed() -> None:
    parsed = parse("{ ...F ...F ... { ...F } } fragment F on Query { a }")
    (operation, _) = parsed.definitions
    assert isinstance(operation, OperationDefinitionNode)
    for once, count in ((True, 1), (False, 3)):
        found = Walker(parsed, once=once).select([SelectionPart(operation.selection_set)])
        assert len(found.fields["a"]) == count


SHOWN = "locker { alias owner { name lockers { nodes { alias version } } } }"
SEVERAL = f"""mutation {{
  a: renameLocker(input: {{ lockerId: "l1", alias: "A", expectedVersion: 1 }}) {{ {SHOWN} }}
  b: updateOwner(input: {{ ownerId: "ada", expectedVersion: 1, name: "Renamed" }}) {{ owner {{ name }} }}
  c: renameLocker(input: {{ lockerId: "l1", alias: "B", expectedVersion: 2 }}) {{ {SHOWN} }}
  d: createReservation(input: {{
    lockerId: "l1", reservationId: "r1", ownerId: "ada",
    startAt: "2026-03-01T11:00:00Z", endAt: "2026-03-01T13:00:00Z"
  }}) {{ reservation {{ locker {{ version activeReservation {{ reservationId }} }} owner {{ version }} }} }}
  e: releaseReservation(input: {{ lockerId: "l1", reservationId: "r1" }}) {{
    reservation {{ status locker {{ activeReservation {{ reservationId }} }} }}
  }}
  f: recordAccessEvent(input: {{ lockerId: "l1", eventId: "e1", action: OPEN, actorId: "ada", result: SUCCESS }}) {{
    accessEvent {{ locker {{ latestEvent {{ eventId }} }} }}
  }}
  g: recordAccessEvent(input: {{ lockerId: "l1", eventId: "e2", action: OPEN, actorId: "ada", result: SUCCESS }}) {{
    accessEvent {{ locker {{ latestEvent {{ eventId }} }} }}
  }}
}}"""


async def test_a_later_mutation_of_a_request_shows_what_earlier_ones_changed(two: Api) -> None:
    data = await two.run(SEVERAL)
    for key, alias, version, name in (("a", "A", 2, "ada"), ("c", "B", 3, "Renamed")):
        nodes = [{"alias": alias, "version": version}, {"alias": None, "version": 1}]
        assert data[key]["locker"] == {"alias": alias, "owner": {"name": name, "lockers": {"nodes": nodes}}}
    reserved = {"version": 3, "activeReservation": {"reservationId": "r1"}}
    assert data["d"]["reservation"] == {"locker": reserved, "owner": {"version": 2}}
    assert data["e"]["reservation"] == {"status": "COMPLETED", "locker": {"activeReservation": None}}
    for key, event in (("f", "e1"), ("g", "e2")):
        assert data[key]["accessEvent"]["locker"]["latestEvent"] == {"eventId": event}


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
        "a": {"locker": {"version": 1}, "userErrors": [{"code": "VERSION_CONFLICT"}]},
        "b": {"locker": {"version": 2}, "userErrors": []},
    }
