from typing import Any

import pytest
import pytest_asyncio

from domain.authorization import Principal, Scope
from resolvers.bindings.nodes import to_global_id
from tests import places
from tests.api import Api, mutation
from tests.conftest import Prepared
from tests.places import DAY, ulid
from tests.principals import device, owner, partner
from tests.wire import Wire

NODE = """query ($id: ID!) { node(id: $id) {
  __typename id
  ... on Payment { paymentId booking { bookingId } }
  ... on Notification { notificationId message }
  ... on CalendarEvent { eventId duration location { code } }
  ... on ApiKey { keyId owners { name } }
} }"""
KIND = "query ($id: ID!) { node(id: $id) { __typename } }"
CALENDAR = f"""
  location(locationId: "{ulid(0)}") {{ calendar(window: {{from: "{DAY}", to: "{DAY}"}}) {{ afternoon {{ id }} }} }}
"""
IDS = f"""{{
  booking(bookingId: "b1") {{ payments {{ nodes {{ id }} }} }}
  owner(ownerId: "ada") {{ notifications {{ nodes {{ id }} }} }}
  apiKey(keyId: "k1") {{ id }} {CALENDAR}
}}"""
CREATE_KEY = mutation("createApiKey", "apiKey { keyId }")
SHOWN: dict[str, dict[str, Any]] = {
    "Payment": {"paymentId": "p1", "booking": {"bookingId": "b1"}},
    "Notification": {"notificationId": "b1-approved", "message": f"Your booking for {DAY} was approved"},
    "CalendarEvent": {"eventId": "b1", "duration": "FULL_DAY", "location": {"code": "place-0"}},
    "ApiKey": {"keyId": "k1", "owners": [{"name": "bob"}, None, {"name": "ada"}]},
}


async def stock(api: Api) -> None:
    """One of each kind."""
    await places.prepare(api)
    await api.owner("bob")
    await places.book(api, "b1")
    await places.approve(api, "b1")
    await api.mutate(places.PAY, bookingId="b1", paymentId="p1", amount={"amount": 1, "currency": "EUR"})
    key = {"role": "PARTNER", "ownerIds": ["bob", "nobody", "ada"], "scopes": ["OWNERS_READ"]}
    await api.mutate(CREATE_KEY, keyId="k1", name="Key", **key)


@pytest_asyncio.fixture
async def stocked(api: Api, prepared: Prepared) -> Api:
    await prepared(stock, api)
    return api


async def ids_of(api: Api) -> dict[str, str]:
    data = await api.run(IDS)
    (payment,), (notification,) = data["booking"]["payments"]["nodes"], data["owner"]["notifications"]["nodes"]
    found = (payment, notification, data["location"]["calendar"][0]["afternoon"], data["apiKey"])
    return {kind: one["id"] for kind, one in zip(SHOWN, found, strict=True)}


@pytest.mark.parametrize("kind", SHOWN)
async def test_an_admin_finds_it_again_by_one_read(stocked: Api, wire: Wire, kind: str) -> None:
    global_id = (await ids_of(stocked))[kind]
    found = await stocked.run(NODE, id=global_id)
    assert found == {"node": {"__typename": kind, "id": global_id, **SHOWN[kind]}}
    wire.reset()
    await stocked.run(KIND, id=global_id)
    assert wire.operations == {"GetItem": 1}


@pytest.mark.parametrize(
    ("principal", "visible"),
    [
        (owner("ada"), {"Payment", "Notification"}),
        (owner("bob"), set()),
        (partner(Scope.BOOKINGS_READ), {"Payment"}),
        (partner(Scope.OWNERS_READ), set()),
        (partner(*Scope, of="bob"), set()),
        (device("l1"), set()),
    ],
)
async def test_others_find_what_they_may_see_and_no_more(stocked: Api, principal: Principal, visible: set[str]) -> None:
    for kind, global_id in (await ids_of(stocked)).items():
        if kind == "CalendarEvent":
            continue
        answer = await stocked.by(principal).send(KIND, id=global_id)
        assert answer["data"] == {"node": {"__typename": kind} if kind in visible else None}
        codes = [error["extensions"]["code"] for error in answer.get("errors", [])]
        assert codes == ([] if kind in visible else ["FORBIDDEN"])


async def test_the_event_of_a_booking_has_another_id_for_those_who_may_not_know_the_booking(stocked: Api) -> None:
    bob = stocked.by(owner("bob"))
    known = (await ids_of(stocked))["CalendarEvent"]
    assert await bob.run(NODE, id=known) == {"node": None}
    (day,) = (await bob.run(f"{{ {CALENDAR} }}"))["location"]["calendar"]
    booked = {"__typename": "CalendarEvent", **day["afternoon"], **SHOWN["CalendarEvent"]}
    node = (await bob.run(NODE, id=day["afternoon"]["id"]))["node"]
    assert node == booked | {"eventId": f"booked-{DAY}-FULL_DAY"}


async def test_an_event_that_took_the_place_of_another_is_not_found_by_its_id(stocked: Api) -> None:
    known = (await ids_of(stocked))["CalendarEvent"]
    await stocked.mutate(places.CANCEL, bookingId="b1")
    assert await stocked.run(NODE, id=known) == {"node": None}
    event = {"locationId": ulid(0), "date": DAY, "duration": "MORNING", "title": "Works", "eventId": "works"}
    await stocked.mutate(places.CREATE_EVENT, **event)
    assert await stocked.run(NODE, id=known) == {"node": None}
    works = to_global_id("CalendarEvent", ulid(0), DAY, "MORNING", "works")
    assert (await stocked.run(NODE, id=works))["node"]["duration"] == "MORNING"


@pytest.mark.parametrize(
    "parts",
    [
        ("CalendarEvent", ulid(0), DAY, "AFTERNOON", "b1"),
        ("CalendarEvent", ulid(0), DAY, "EVENING", "b1"),
        ("CalendarEvent", ulid(0), DAY, "MORNING"),
        ("CalendarEvent", ulid(0), "2026-02-30", "MORNING", "b1"),
        ("Payment", "b1", "p2"),
        ("Payment", "b1"),
        ("Notification", "ada", "2026-03-01T12:00:00.000Z", "b1"),
        ("Notification", "ada", "2026-03-01T12:00:00Z", "b1-approved"),
        ("ApiKey", "k2"),
    ],
)
async def test_an_id_of_nothing_finds_nothing(stocked: Api, parts: tuple[str, ...]) -> None:
    assert await stocked.run(NODE, id=to_global_id(*parts)) == {"node": None}
