"""The search for support: what a text finds, in how many requests, and who may search."""

from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import Scope
from loaders.backend import Backend
from tests import principals, webhooks
from tests.api import CREATE_RESERVATION, Api, unchanged
from tests.conftest import Dump
from tests.full_table import CREATE_KEY
from tests.history import keep_history
from tests.places import book, create_location, ulid
from tests.tables import put
from tests.wire import Wire

NODE = """id __typename
  ... on Owner { key: ownerId name }
  ... on Locker { key: lockerId owner { ownerId } }
  ... on Location { key: locationId }
  ... on Reservation { key: reservationId lockerId owner { ownerId } }
  ... on Booking { key: bookingId }
  ... on Webhook { key: webhookId }
  ... on ApiKey { key: keyId }"""
SEARCH = f"""query ($text: String!, $first: Int) {{
  search(text: $text, first: $first) {{ matchedBy node {{ {NODE} }} }} }}"""
TEXT = "4711000"
"""An id of almost everything, a phone number, a code, a reference and the beginning of a name."""


async def reserve(api: Api, key: str, locker: str, owner: str, day: int, **values: Any) -> None:
    times = {"startAt": f"2026-03-0{day}T10:00:00Z", "endAt": f"2026-03-0{day}T11:00:00Z"}
    await api.done(CREATE_RESERVATION, reservationId=key, lockerId=locker, ownerId=owner, **times, **values)


@pytest_asyncio.fixture
async def world(api: Api) -> Api:
    await api.owner("ada", name="Ada", email="Ada@example.com", phone="+47 11 000")
    await api.owner("bob", name=f"{TEXT} Ltd")
    await api.owner(TEXT, name="Eve", phone="0047 11-000")
    await create_location(api, code=TEXT)
    for locker in (TEXT, "l2"):
        await api.locker(locker, "ada")
    await reserve(api, TEXT, TEXT, "ada", day=2)
    await reserve(api, TEXT, "l2", "ada", day=3, reference=TEXT)
    await reserve(api, "r2", "l2", "bob", day=4, reference=TEXT)
    await book(api, TEXT)
    await webhooks.create(api, TEXT)
    await api.done(CREATE_KEY, keyId=TEXT, name="Door", role="DEVICE", lockerId=TEXT)
    return api


async def found(api: Api, text: str, **arguments: Any) -> list[tuple[str, str, str]]:
    hits = (await api.run(SEARCH, text=text, **arguments))["search"]
    return [(hit["node"]["__typename"], hit["node"]["key"], " ".join(hit["matchedBy"])) for hit in hits]


ALL = [
    ("Owner", TEXT, "ID PHONE"),
    ("Locker", TEXT, "ID"),
    ("Booking", TEXT, "ID"),
    ("Webhook", TEXT, "ID"),
    ("ApiKey", TEXT, "ID"),
    ("Reservation", TEXT, "ID"),
    ("Reservation", TEXT, "ID REFERENCE"),
    ("Owner", "ada", "PHONE"),
    ("Location", ulid(0), "LOCATION_CODE"),
    ("Reservation", "r2", "REFERENCE"),
    ("Owner", "bob", "NAME"),
]


async def test_everything_that_a_text_may_mean_is_found_once_in_few_requests_exact_matches_first(
    world: Api, wire: Wire
) -> None:
    wire.reset()
    assert await found(world, TEXT, first=25) == ALL
    # All keys and four lists; then owners, reservations and the location of the claims; and bob, who is below a hit.
    assert wire.operations == {"BatchGetItem": 3, "Query": 4, "GetItem": 2}
    assert all("FilterExpression" not in call.request for call in wire.calls)
    assert await found(world, f" {TEXT} ", first=3) == ALL[:3]


TEXTS: list[tuple[str, list[tuple[str, str, str]], int]] = [
    ("ADA@Example.com", [("Owner", "ada", "EMAIL")], 5),
    ("ada", [("Owner", "ada", "ID NAME")], 5),
    ("ÀD", [("Owner", "ada", "NAME")], 5),
    ("tel:(+47)\u00a011\u2013000", [("Owner", TEXT, "PHONE"), ("Owner", "ada", "PHONE")], 5),
    ("0047 (11) 000", [("Owner", TEXT, "PHONE"), ("Owner", "ada", "PHONE")], 5),
    (ulid(0), [("Location", ulid(0), "ID")], 5),
    ("r2", [("Reservation", "r2", "ID")], 6),
    ("nobody", [], 5),
    ("*", [], 3),
    ("ada%", [], 3),
    ("' OR 1=1 --", [], 3),
    ("OWNER#ada", [], 3),
    ("😀", [], 1),
    ("x" * 200, [], 1),
]


async def test_a_text_is_looked_for_as_what_it_can_be_and_as_nothing_else(world: Api, wire: Wire) -> None:
    for text, expected, most in TEXTS:
        wire.reset()
        assert await found(world, text) == expected
        assert sum(wire.operations.values()) <= most, text


async def test_global_ids_of_every_kind_find_their_objects(world: Api, wire: Wire) -> None:
    hits = (await world.run(SEARCH, text=TEXT, first=25))["search"]
    for hit in hits:
        wire.reset()
        (again,) = (await world.run(SEARCH, text=hit["node"]["id"]))["search"]
        assert again == {"matchedBy": ["ID"], "node": hit["node"]}
        assert sum(wire.operations.values()) <= 8


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        *(({"text": text}, "text") for text in ("", " \t ", "a\x00b", "x" * 201)),
        *(({"text": "ada", "first": first}, "first") for first in (0, -1, 26)),
    ],
)
async def test_a_search_that_makes_no_sense_is_refused_before_anything_is_read(
    api: Api, wire: Wire, arguments: dict[str, Any], path: str
) -> None:
    wire.reset()
    answer = await api.send(SEARCH, **arguments)
    (error,) = answer["errors"]
    assert (answer["data"], error["path"]) == ({"search": None}, ["search"])
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", [path])
    assert not wire.operations


async def test_only_staff_may_search_and_support_finds_no_api_keys(world: Api, wire: Wire, dump: Dump) -> None:
    async with unchanged(dump):
        for caller in (principals.owner(TEXT), principals.partner(*Scope), principals.device(TEXT)):
            wire.reset()
            (error,) = (await world.by(caller).send(SEARCH, text=TEXT))["errors"]
            assert error["extensions"]["code"] == "FORBIDDEN"
            assert not wire.operations
        wire.reset()
        shown = await found(world.by(principals.SUPPORT), TEXT, first=25)
    assert shown == [hit for hit in ALL if hit[0] != "ApiKey"]
    # It is not read, since the cost of the request would tell whether it exists.
    assert not [key for call in wire.calls for key in call.keys if key[0].startswith("APIKEY#")]


async def test_the_cost_of_a_search_does_not_tell_support_what_happened_to_api_keys(
    world: Api, backend: Backend
) -> None:
    await keep_history(backend.store)
    log = await world.run("{ activity(first: 100) { nodes { id kind } } }")
    ids = {entry["kind"]: entry["id"] for entry in log["activity"]["nodes"]}
    headers = {**world.by(principals.SUPPORT).headers, "SmartLocker-Cost": "1"}
    for kind, is_seen in (("OWNER_CREATED", True), ("API_KEY_CREATED", False)):
        body = {
            "query": "query ($text: String!) { search(text: $text) { node { id } } }",
            "variables": {"text": ids[kind]},
        }
        answer = (await world.client.post("/graphql", json=body, headers=headers)).json()
        assert answer["data"]["search"] == ([{"node": {"id": ids[kind]}}] if is_seen else [])
        assert (answer["extensions"]["cost"]["actual"] is not None) == is_seen


async def test_an_address_and_a_number_that_moved_on_between_two_reads_are_not_found(
    world: Api, plain_client: Any, table: str
) -> None:
    claim = {"PK": "EMAIL#old@example.com", "SK": "META", "entityType": "EMAIL_CLAIM", "ownerId": "ada"}
    entry = {"PK": "PHONE#12345", "SK": "OWNER#ada", "entityType": "OWNER_PHONE", "ownerId": "ada", "digits": "12345"}
    await put(plain_client, table, claim)
    await put(plain_client, table, entry)
    assert await found(world, "old@example.com") == []
    assert await found(world, "12345") == []


async def test_a_damaged_item_does_not_hide_the_others(world: Api, plain_client: Any, table: str) -> None:
    await put(plain_client, table, {"PK": f"BOOKING#{TEXT}", "SK": "META", "entityType": "BOOKING"})
    answer = await world.send(SEARCH, text=TEXT, first=25)
    kinds = [hit["node"]["__typename"] for hit in answer["data"]["search"]]
    assert kinds == [kind for kind, *_ in ALL if kind != "Booking"]
    assert [(error["path"], error["extensions"]["code"]) for error in answer["errors"]] == [
        (["search"], "INTERNAL_SERVER_ERROR")
    ]
