from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import Principal
from resolvers.bindings.rules import ADMINS
from resolvers.schema import bound_schema
from tests.api import Api, unchanged
from tests.conftest import NOW, Clock, Dump
from tests.inputs import CHOSEN_IDS, GOOD, MUTATIONS, document
from tests.places import DEACTIVATE, book, create_location, prepare, refusal, ulid
from tests.principals import device, owner
from tests.wire import Wire, unlogged

Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Creation:
    """A mutation that creates something."""

    more: Values = field(default_factory=dict)
    """Beyond the good input."""
    others: list[Values]
    """Each makes it other content."""
    same: Values = field(default_factory=dict)
    """Other spellings of the same content."""
    second: Values = field(default_factory=dict)
    """Lets a second one exist beside the first."""
    missing: Values = field(default_factory=dict)
    """References to what does not exist."""
    changes: dict[str, Values] = field(default_factory=dict)
    """Mutations that change what was created."""


RESERVATION = {"lockerId": "l1", "reservationId": "r9"}
NEXT_DAY = {"startAt": "2026-03-03T10:00:00Z", "endAt": "2026-03-03T12:00:00Z"}
CREATIONS = {
    "createOwner": Creation(
        same={"role": "USER", "phone": None},
        others=[
            *({"name": "Eve"}, {"kind": "ORGANIZATION"}, {"email": None}, {"email": "other@example.com"}),
            *({"role": "ADMIN"}, {"phone": "+39 123 456"}),
        ],
        second={"email": None},
        changes={"updateOwner": {"ownerId": "bob", "name": "B", "email": "b@example.com", "expectedVersion": 1}},
    ),
    "registerLocker": Creation(
        others=[{"alias": "Back"}, {"alias": None}, {"ownerId": "eve"}, {"ownerId": "nobody"}, {"locationId": ulid(1)}],
        missing={"ownerId": "nobody", "locationId": ulid(7)},
        changes={
            "renameLocker": {"lockerId": "l9", "alias": "Back", "expectedVersion": 1},
            "transferLocker": {"lockerId": "l9", "newOwnerId": "eve", "expectedVersion": 2},
        },
    ),
    "createReservation": Creation(
        same={"startAt": "2026-03-02T12:00:00+02:00", "endAt": "2026-03-02t12:00:00z"},
        others=[
            *({"ownerId": "eve"}, {"startAt": "2026-03-02T09:00:00Z"}, {"endAt": "2026-03-02T13:00:00Z"}),
            *({"reference": "order 4712"}, {"recipient": {"name": "Rita", "email": "other@example.com"}}),
            *({"recipient": None}, {"metadata": {"parcels": 3}}),
        ],
        second=NEXT_DAY | {"reference": None},
        missing={"lockerId": "nope", "ownerId": "nobody"},
        changes={
            "extendReservation": {**RESERVATION, "newEndAt": "2026-03-02T13:00:00Z"},
            "cancelReservation": RESERVATION,
        },
    ),
    "recordAccessEvent": Creation(
        same={"metadata": None},
        others=[
            *({"action": "CLOSE"}, {"actorId": "eve"}, {"result": "FAIL"}, {"metadata": {}}, {"metadata": {"a": 1}}),
            *({"timestamp": NOW}, {"timestamp": "2026-03-01T11:00:00Z"}),
        ],
        missing={"lockerId": "nope"},
    ),
    "createLocation": Creation(
        more={"address": {"lat": 1.50}},
        same={"address": {"lat": "15e-1", "lng": None, "city": None}},
        others=[{"code": "milan"}, {"name": "Other"}, {"address": {"lat": 1.51}}],
        second={"code": "other"},
        changes={
            "updateLocation": {"locationId": ulid(9), "name": "Newer", "expectedVersion": 1},
            "deactivateLocation": {"locationId": ulid(9), "expectedVersion": 2},
        },
    ),
    "requestBooking": Creation(
        others=[
            *({"date": "2026-03-11"}, {"duration": "MORNING"}, {"description": "Else"}, {"attendees": 6}),
            *({"ownerId": "root"}, {"locationId": ulid(1)}),
        ],
        missing={"locationId": ulid(7), "ownerId": "nobody"},
        changes={"approveBooking": {"bookingId": "b9", "expectedVersion": 1}},
    ),
    "recordPayment": Creation(
        same={"amount": {"amount": "1.00", "currency": "EUR"}, "method": None},
        others=[
            *({"amount": {"amount": "1.01", "currency": "EUR"}}, {"amount": {"amount": "1", "currency": "USD"}}),
            *({"method": "Card"}, {"paidAt": NOW}),
        ],
        missing={"bookingId": "b7"},
    ),
    "createCalendarEvent": Creation(
        others=[{"title": "Else"}, {"duration": "FULL_DAY"}, {"date": "2026-03-11"}],
        second={"date": "2026-03-11"},
        missing={"locationId": ulid(7)},
    ),
}
EACH = pytest.mark.parametrize("name", CREATIONS)


@pytest_asyncio.fixture
async def stocked(api: Api) -> Api:
    """Owners, an admin, two locations, a locker and a booking."""
    await prepare(api)
    await api.owner("eve")
    await create_location(api, 1)
    await api.locker("l1", "ada")
    await book(api, "b1")
    return api


async def create(api: Api, name: str, /, **changes: Any) -> dict[str, Any]:
    return await api.mutate(document(name), **GOOD[name] | CREATIONS[name].more | changes)


def entity(payload: dict[str, Any]) -> Any:
    """The object of a payload."""
    (shown,) = [shown for name, shown in payload.items() if name != "userErrors"]
    return shown


def test_every_creation_is_tried() -> None:
    made = {name for name in MUTATIONS if name.startswith(("create", "register", "record", "request"))}
    # The secrets of keys and webhooks, the digits of a code and several objects at once have tests of their own.
    several = {"recordAccessEvents", "registerLockers"}
    assert made - several - {"createAccessCode", "createApiKey", "createWebhook"} == CREATIONS.keys()


@EACH
async def test_the_same_creation_again_gives_the_first_result_forever_and_writes_nothing(
    stocked: Api, clock: Clock, dump: Dump, name: str
) -> None:
    first = await create(stocked, name)
    assert first["userErrors"] == []
    await stocked.mutate(DEACTIVATE, locationId=ulid(0), expectedVersion=1)
    clock.move(days=400)
    if name == "createReservation":
        first["reservation"]["status"] = "EXPIRED"
    async with unchanged(dump):
        assert await create(stocked, name) == first
        assert await create(stocked, name, **CREATIONS[name].same) == first


@pytest.mark.parametrize("name", [name for name, creation in CREATIONS.items() if creation.changes])
async def test_the_same_creation_after_changes_gives_the_current_state(stocked: Api, dump: Dump, name: str) -> None:
    await create(stocked, name)
    for change, values in CREATIONS[name].changes.items():
        current = await stocked.mutate(document(change), **values)
        assert current["userErrors"] == []
        async with unchanged(dump):
            assert await create(stocked, name) == current


@EACH
async def test_an_id_used_for_other_content_is_taken(stocked: Api, dump: Dump, name: str) -> None:
    await create(stocked, name)
    creation = CREATIONS[name]
    async with unchanged(dump):
        for other in creation.others:
            payload = await create(stocked, name, **other)
            assert refusal(payload) == ("ID_TAKEN", 409, ["input", CHOSEN_IDS[name]]), other
            message = f"The id {GOOD[name][CHOSEN_IDS[name]]} was used before, for another "
            assert payload["userErrors"][0]["message"].startswith(message)
            assert entity(payload) is None


EVE: Values = {"ownerId": "eve"}
BARE = NEXT_DAY | dict.fromkeys(("reference", "recipient", "metadata"))
STRANGERS: dict[str, tuple[Principal, Values, Values]] = {
    "registerLocker": (owner("eve"), EVE | {"locationId": None}, {"alias": "Other"}),
    "createReservation": (owner("eve"), EVE | BARE, {"endAt": "2026-03-03T13:00:00Z"}),
    "recordAccessEvent": (device("l1"), {}, {"action": "CLOSE"}),
    "requestBooking": (owner("eve"), EVE, {"attendees": 6}),
}
"""Callers who do not see what others create, with content of their own and what makes it other content."""


@pytest.mark.parametrize("name", STRANGERS)
async def test_an_id_taken_by_something_hidden_is_refused_like_one_of_the_callers_own(
    stocked: Api, wire: Wire, dump: Dump, name: str
) -> None:
    caller, content, other = STRANGERS[name]
    id_name, api = CHOSEN_IDS[name], stocked.by(caller)
    await stocked.mutate(document("configureLocker"), lockerId="l1", reservableBy="EVERYONE", expectedVersion=1)
    await create(stocked, name, **{id_name: "hers"})
    assert (await create(api, name, **content | {id_name: "mine"}))["userErrors"] == []
    answers = []
    async with unchanged(dump):
        for taken in ("mine", "hers"):
            wire.reset()
            payload = await create(api, name, **content | other | {id_name: taken})
            assert refusal(payload) == ("ID_TAKEN", 409, ["input", id_name])
            calls = [(call.operation, unlogged(call.keys), call.units) for call in wire.calls]
            answers.append(str((payload, calls)).replace(taken, "@"))
    assert answers[0] == answers[1]


def test_every_creation_that_is_not_for_admins_alone_is_tried_by_a_stranger() -> None:
    mutations = bound_schema().types["Mutation"]
    assert STRANGERS.keys() == {name for name in CREATIONS if mutations[name].binding.rule != ADMINS}


@EACH
async def test_without_an_id_each_creation_gets_a_new_one(stocked: Api, name: str) -> None:
    creation = CREATIONS[name]
    without = {CHOSEN_IDS[name]: None}
    made = [entity(await create(stocked, name, **without | more)) for more in ({}, creation.second)]
    ids = [one[CHOSEN_IDS[name]] for one in made]
    assert [len(own_id) for own_id in ids] == [26, 26]
    assert ids == sorted(set(ids))


@EACH
async def test_a_creation_that_names_something_missing_is_not_found(stocked: Api, dump: Dump, name: str) -> None:
    for argument, value in CREATIONS[name].missing.items():
        async with unchanged(dump):
            payload = await create(stocked, name, **{argument: value})
        assert refusal(payload) == ("NOT_FOUND", 404, ["input", argument])
        assert entity(payload) is None
