import asyncio
import json
from collections import Counter
from typing import Any
from unittest.mock import ANY

import pytest_asyncio

from tests import places
from tests.api import CREATE_OWNER, UPDATE_STATUS, Api
from tests.conftest import Clock
from tests.explained import brief, explain, explained, get, query, timeless, walk
from tests.wire import Answer, Wire

EVENTS = "BETWEEN EVT#0001-01-01T00:00:00.000Z AND EVT#9999-12-31T23:59:59.999Z~"
NESTED = """{ owner(ownerId: "acme") { name lockers(first: 2) { nodes {
  lockerId version owner { name } latestEvent { eventId } activeReservation { owner { name } }
} } } }"""


@pytest_asyncio.fixture
async def stocked(api: Api, wire: Wire) -> Api:
    """Two owners, three lockers, a reservation now and an event."""
    await api.owner("acme", email="acme@example.com")
    await api.owner("ada")
    for number in (1, 2, 3):
        await api.locker(f"l{number}", "acme")
    await api.reservation("r1", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    await api.event("l1")
    wire.reset()
    return api


async def test_reads_of_many_parents_are_merged_at_the_path_of_their_field(stocked: Api, wire: Wire) -> None:
    operations = await explain(stocked, NESTED)
    assert sorted(brief(operations, "contract", "operation", "asked", "returned", "merged", "path")) == [
        ("QC-01", "BatchGetItem", 2, 2, 2, "owner.lockers"),
        ("QC-02", "Query", 3, 3, 1, "owner.lockers"),
        ("QC-07", "BatchGetItem", 2, 1, 2, "owner.lockers.nodes.activeReservation"),
        ("QC-10", "Query", 1, 0, 1, "owner.lockers.nodes.latestEvent"),
        ("QC-10", "Query", 1, 1, 1, "owner.lockers.nodes.latestEvent"),
        ("QC-20", "GetItem", 1, 1, 1, "owner"),
        ("QC-20", "GetItem", 1, 1, 1, "owner.lockers.nodes.activeReservation.owner"),
    ]
    asked = {operation["contract"]: (operation["partition"], operation["sortKey"]) for operation in operations}
    assert asked["QC-10"] == ("LOCKER#l2", EVENTS)
    (batch,) = (operation for operation in operations if operation["contract"] == "QC-01")
    assert batch["keys"] == [{"pk": "LOCKER#l1", "sk": "META"}, {"pk": "LOCKER#l2", "sk": "META"}]
    assert Counter(operation["operation"] for operation in operations) == wire.operations


async def test_measured_figures_stand_at_the_steps_of_the_same_tree(stocked: Api) -> None:
    explanation = await explained(stocked, NESTED)
    steps = {step["path"]: step for step in walk(explanation["tree"])}
    assert {path: (step["field"], step["parents"]) for path, step in steps.items()} == {
        "owner": ("Query.owner", 1),
        "owner.lockers": ("Owner.lockers", 1),
        "owner.lockers.nodes.owner": ("Locker.owner", 2),
        "owner.lockers.nodes.latestEvent": ("Locker.latestEvent", 2),
        "owner.lockers.nodes.activeReservation": ("Locker.activeReservation", 2),
        "owner.lockers.nodes.activeReservation.owner": ("Reservation.owner", 2),
    }
    # The cost of a contract is shown once for each step, at its first read.
    reads = [read for step in steps.values() for read in step["reads"] if read["measured"]]
    for name in ("operations", "items", "readUnits", "writeUnits"):
        assert sum(read["measured"][name] for read in reads) == explanation["totals"]["measured"][name]
        assert all(read["measured"][name] <= read["maximum"][name] for read in reads if not read["condition"])
    assert steps["owner.lockers"]["reads"][0] == {
        "contract": "QC-02",
        "operation": "Query",
        "condition": None,
        "expected": {"operations": 1, "items": 3, "readUnits": 0.5, "writeUnits": 0},
        "maximum": {"operations": 1, "items": 3, "readUnits": 1, "writeUnits": 0},
        "measured": {"operations": 1, "items": 3, "readUnits": 0.5, "writeUnits": 0},
    }


async def test_introspection_has_the_names_of_its_fields(api: Api) -> None:
    explanation = await explained(api, '{ __schema { description } __type(name: "Locker") { name } }')
    assert [step["field"] for step in explanation["tree"]] == ["Query.__schema", "Query.__type"]


async def test_what_fields_of_several_types_read_at_one_path_is_shown_once(stocked: Api) -> None:
    locker = (await stocked.run('{ locker(lockerId: "l1") { id reservations { nodes { id } } } }'))["locker"]
    ids = [locker["id"], locker["reservations"]["nodes"][0]["id"]]
    nodes = "nodes(ids: $ids) { ... on Locker { owner { name } } ... on Reservation { owner { name } } }"
    explanation = await explained(stocked, f"query ($ids: [ID!]!) {{ {nodes} }}", ids=ids)
    reads = [read for step in walk(explanation["tree"]) for read in step["reads"] if read["measured"]]
    assert sum(read["measured"]["operations"] for read in reads) == explanation["totals"]["measured"]["operations"]


async def test_a_plan_alone_has_the_same_tree_without_measures_and_reads(stocked: Api, wire: Wire) -> None:
    plan = await explained(stocked, NESTED, mode="plan")
    assert not wire.calls
    assert "operations" not in plan
    assert plan["totals"]["measured"] is None
    run = await explained(stocked, NESTED)
    for step in [*walk(run["tree"]), *walk(plan["tree"])]:
        for read in step["reads"]:
            read.pop("measured")
    assert plan["tree"] == run["tree"]
    assert {name: plan["totals"][name] for name in ("expected", "maximum", "limit")} == {
        name: run["totals"][name] for name in ("expected", "maximum", "limit")
    }


async def test_units_are_those_that_the_store_reports(stocked: Api, wire: Wire) -> None:
    operations = await explain(stocked, NESTED)
    reported = Counter((operation["operation"], operation["readUnits"]) for operation in operations)
    assert reported == Counter((call.operation, call.units) for call in wire.calls)
    wire.reset()
    operations = await explain(stocked, CREATE_OWNER, input={"kind": "USER", "name": "New", "email": "n@example.com"})
    (call,) = wire.calls
    assert brief(operations, "readUnits", "writeUnits") == [(0, call.units)]
    assert call.units == 10


async def test_a_field_asked_twice_by_aliases_is_one_read_for_both(stocked: Api) -> None:
    document = '{ a: locker(lockerId: "l1") { alias } b: locker(lockerId: "l1") { alias } }'
    assert await explain(stocked, document) == [get("QC-01", "LOCKER#l1", merged=2, path="a")]


async def test_what_aliases_share_is_shown_once_at_the_first_of_them(stocked: Api) -> None:
    owners = [f'a{i}: reservation(lockerId: "l{i}", reservationId: "r{i}") {{ owner {{ name }} }}' for i in (1, 2, 3)]
    for i in (2, 3):
        await stocked.reservation(f"r{i}", f"l{i}", "acme", f"2026-04-0{i}T11:00:00Z", "2026-04-05T13:00:00Z")
    explanation = await explained(stocked, f"{{ {' '.join(owners)} }}")
    operations = timeless(explanation)
    assert brief(operations, "operation", "asked", "merged", "path") == [
        ("BatchGetItem", 3, 3, "a1"),
        ("BatchGetItem", 3, 3, "a1"),
        ("BatchGetItem", 2, 3, "a1.owner"),
    ]
    measured = {
        step["path"]: sum(read["measured"]["operations"] for read in step["reads"] if read["measured"])
        for step in walk(explanation["tree"])
    }
    assert measured == {"a1": 2, "a1.owner": 1, "a2": 0, "a2.owner": 0, "a3": 0, "a3.owner": 0}


async def test_a_strong_read_is_marked_as_consistent(stocked: Api) -> None:
    document = '{ locker(lockerId: "l1", consistent: true) { alias } }'
    assert await explain(stocked, document) == [get("QC-01", "LOCKER#l1", consistent=True, readUnits=1, path="locker")]


async def test_an_e_mail_address_in_a_key_is_hidden(stocked: Api) -> None:
    document = '{ ownerByEmail(email: "acme@example.com") { ownerId } }'
    assert await explain(stocked, document) == [
        get("QC-21", "EMAIL#…", path="ownerByEmail"),
        get("QC-20", "OWNER#acme", path="ownerByEmail"),
    ]


async def test_a_locations_code_in_a_key_is_hidden_and_an_index_named(stocked: Api) -> None:
    await places.create_location(stocked, 0, code="rome")
    document = '{ locationByCode(code: "rome") { name } }'
    assert brief(await explain(stocked, document), "contract", "partition", "keys") == [
        ("QC-36", "LOCATION_CODE#…", [{"pk": "LOCATION_CODE#…", "sk": "META"}]),
        ("QC-31", f"LOCATION#{places.ulid(0)}", [{"pk": f"LOCATION#{places.ulid(0)}", "sk": "META"}]),
    ]
    assert await explain(stocked, "{ locations(status: ACTIVE) { nodes { name } } }") == [
        query("QC-32", "LOCATION#ACTIVE", None, index="GSI1", asked=26, path="locations")
    ]


async def test_an_explanation_shows_no_content_of_items(stocked: Api) -> None:
    values = {
        "ownerId": "eve",
        "kind": "USER",
        "name": "Secret Name",
        "email": "secret@example.com",
        "phone": "+391234",
    }
    operations = await explain(stocked, CREATE_OWNER, input=values)
    assert brief(operations, "partition", "keys", "asked") == [
        (
            None,
            [
                {"pk": "OWNER#eve", "sk": "META", "step": "new owner"},
                {"pk": "OWNER#eve", "sk": "NAME", "step": "name"},
                {"pk": "EMAIL#…", "sk": "META", "step": "claim"},
                {"pk": "PHONE#…", "sk": "OWNER#eve", "step": "phone"},
                {"pk": ANY, "sk": ANY, "step": "log"},
            ],
            5,
        )
    ]
    shown = json.dumps(operations)
    assert not any(text in shown for text in ("Secret", "secret", "391234"))


async def test_a_change_is_a_strong_read_and_a_transaction_whose_steps_have_names(stocked: Api) -> None:
    values = {"lockerId": "l2", "newStatus": "OCCUPIED", "expectedVersion": 1}
    read, write = await explain(stocked, UPDATE_STATUS, input=values)
    assert read == get("QC-03", "LOCKER#l2", consistent=True, readUnits=1, path="updateLockerStatus")
    assert write["keys"] == [
        {"pk": "LOCKER#l2", "sk": "META", "step": "locker"},
        {"pk": "OWNER#acme", "sk": "LOCKER#l2", "step": "copy"},
        {"pk": ANY, "sk": ANY, "step": "log"},
    ]
    assert brief([write], "contract", "operation", "partition", "asked", "returned", "writeUnits", "path") == [
        ("QC-03", "TransactWriteItems", None, 3, 0, 10, "updateLockerStatus")
    ]


async def test_a_search_behind_an_ended_pointer_is_explained_at_its_field(stocked: Api, clock: Clock) -> None:
    await stocked.reservation("later", "l1", "ada", "2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z")
    clock.move(hours=2)
    fields = (
        f'{name}: locker(lockerId: "{locker}") {{ activeReservation {{ status }} }}'
        for name, locker in (("a", "l1"), ("b", "l2"))
    )
    operations = await explain(stocked, f"{{ {' '.join(fields)} }}")
    assert brief(operations, "contract", "operation", "asked", "path") == [
        ("QC-01", "BatchGetItem", 2, "a"),
        ("QC-07", "BatchGetItem", 2, "a.activeReservation"),
        ("QC-19", "Query", 1, "a.activeReservation"),
    ]


async def test_what_is_read_again_after_a_mutation_is_another_operation(stocked: Api) -> None:
    document = """mutation ($input: UpdateLockerStatusInput!) {
      a: updateLockerStatus(input: $input) { locker { owner { name } } }
      b: updateLockerStatus(input: $input) { locker { owner { name } } }
    }"""
    values = {"lockerId": "l2", "newStatus": "OCCUPIED", "expectedVersion": 1}
    operations = await explain(stocked, document, input=values)
    assert brief(operations, "contract", "operation", "outcome", "path") == [
        ("QC-03", "GetItem", "ok", "a"),
        ("QC-03", "TransactWriteItems", "ok", "a"),
        ("QC-20", "GetItem", "ok", "a.locker.owner"),
        ("QC-03", "GetItem", "ok", "b"),
        ("QC-20", "GetItem", "ok", "b.locker.owner"),
    ]


# How attempts, pages and outcomes are recorded is tested with the clients of the store.
async def test_a_conflict_that_is_sent_again_is_one_operation_of_several_attempts(stocked: Api, wire: Wire) -> None:
    conflicts = iter([Answer.canceled("TransactionConflict", "None")] * 2)
    wire.fault = lambda call: next(conflicts, None) if call.operation == "TransactWriteItems" else None
    values = {"lockerId": "l2", "newStatus": "OCCUPIED", "expectedVersion": 1}
    _, write = await explain(stocked, UPDATE_STATUS, input=values)
    assert (write["attempts"], write["outcome"], write["writeUnits"]) == (3, "ok", 10)
    assert len(wire.of("TransactWriteItems")) == 3
    assert {call.request["ReturnConsumedCapacity"] for call in wire.calls} == {"TOTAL"}


async def test_a_request_that_fails_midway_still_has_its_explanation(stocked: Api) -> None:
    content = {
        "query": '{ a: locker(lockerId: "l1") { alias } b: owner(ownerId: "nobody") { name } }',
        "extensions": {"explain": True},
    }
    answer = (await stocked.client.post("/graphql", json=content)).json()
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]
    assert brief(answer["extensions"]["explain"]["operations"], "contract", "returned", "path") == [
        ("QC-01", 1, "a"),
        ("QC-20", 0, "b"),
    ]


async def test_an_explanation_sends_no_further_requests_to_the_store(stocked: Api, wire: Wire, open_api: Any) -> None:
    assert stocked
    async with open_api(observer=None) as unobserved:
        wire.reset()
        plain = await unobserved.run(NESTED)
        asked = [call.request for call in wire.calls]
        wire.reset()
        content = {"query": NESTED, "extensions": {"explain": True}}
        assert (await unobserved.client.post("/graphql", json=content)).json()["data"] == plain
    assert not any("ReturnConsumedCapacity" in request for request in asked)
    # What is asked at the same time may arrive in any order.
    wanted = [request | {"ReturnConsumedCapacity": "TOTAL"} for request in asked]
    assert sorted(map(str, wanted)) == sorted(str(call.request) for call in wire.calls)


async def test_requests_that_run_at_the_same_time_are_explained_apart(stocked: Api) -> None:
    documents = [f'{{ locker(lockerId: "l{number}") {{ alias }} }}' for number in (1, 2, 3)]
    found = await asyncio.gather(*(explain(stocked, document) for document in documents))
    assert found == [[get("QC-01", f"LOCKER#l{number}", path="locker")] for number in (1, 2, 3)]
