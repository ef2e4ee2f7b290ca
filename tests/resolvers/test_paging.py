"""Lists as clients page through them: order, pages, windows, and arguments that are refused at their place.

The contracts' own suite covers every list at every boundary; here are the connection's fields and the errors.
"""

import json
from typing import Any

import pytest
import pytest_asyncio

from loaders.backend import Backend
from resolvers.schema import bound_schema
from tests import webhooks
from tests.api import Api, mutation
from tests.codes import CREATE as CREATE_CODE
from tests.codes import REPORT
from tests.conftest import Clock, Prepared
from tests.places import PAY, REJECT, approve, book, create_location, ulid
from tests.wire import Wire

CREATE_KEY = mutation("createApiKey", "secret")
SET_BUDGET = mutation("setCallerBudget", "callerBudget { burst }")
PAGING = "first: $first, after: $after, last: $last, before: $before"
PAGE = "nextCursor pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
LOCKERS = f"""query ($first: Int, $after: String, $last: Int, $before: String) {{ owner(ownerId: "acme") {{
  ownerId list: lockers({PAGING}) {{ edges {{ cursor node {{ key: lockerId }} }} nodes {{ key: lockerId }} {PAGE} }}
}} }}"""


def timed(parent: str, field: str, own: str, order: str) -> str:
    """The document of a list with a window, whose own order this is."""
    return f"""query (
      $window: TimeWindow, $orderBy: SortDirection! = {order}, $first: Int, $after: String, $last: Int, $before: String
    ) {{ {parent} {{ ownerId list: {field}(window: $window, orderBy: $orderBy, {PAGING}) {{
      edges {{ cursor node {{ key: {own} }} }} nodes {{ key: {own} }} {PAGE}
    }} }} }}"""


RESERVATIONS = timed('locker(lockerId: "l1")', "reservations", "reservationId", "ASC")
EVENTS = timed('locker(lockerId: "l1")', "accessEvents", "eventId", "DESC")
MINE = timed('owner(ownerId: "acme")', "reservations", "reservationId", "ASC")
KEYS = ["k0", "k1", "k2", "k3", "k4"]
LISTS = {"lockers": LOCKERS, "reservations": RESERVATIONS, "events": EVENTS, "mine": MINE}
EACH = pytest.mark.parametrize("query", LISTS.values(), ids=LISTS)


async def stock(api: Api) -> None:
    await api.owner("acme")
    await api.owner("acme2")
    await api.locker("l1", "acme2")
    for number, key in enumerate(KEYS):
        await api.locker(key, "acme")
        await api.reservation(key, "l1", "acme", f"2026-03-02T1{number}:00:00Z", f"2026-03-02T1{number}:30:00Z")
        await api.event("l1", eventId=key, timestamp=f"2026-02-02T1{number}:00:00Z")


@pytest_asyncio.fixture
async def five(api: Api, wire: Wire, prepared: Prepared) -> Api:
    """Five entries in each list, an hour apart where they have a time."""
    await prepared(stock, api)
    wire.reset()
    return api


async def read(api: Api, query: str, **arguments: Any) -> Any:
    (parent,) = (await api.run(query, **arguments)).values()
    page = parent["list"]
    assert page["nodes"] == [edge["node"] for edge in page["edges"]]
    cursors = [edge["cursor"] for edge in page["edges"]]
    assert page["pageInfo"]["startCursor"] == (cursors[0] if cursors else None)
    assert page["pageInfo"]["endCursor"] == (cursors[-1] if cursors else None)
    return page


def keys(page: Any) -> list[str]:
    return [node["key"] for node in page["nodes"]]


async def refused(api: Api, wire: Wire, query: str, **arguments: Any) -> tuple[str, str, list[str]]:
    """The error of a list that is refused; the rest of the answer is there, and the list was not read."""
    wire.reset()
    answer = await api.send(query, **arguments)
    ((parent, shown),) = answer["data"].items()
    assert (shown["ownerId"][:4], shown["list"]) == ("acme", None)
    (error,) = answer["errors"]
    assert error["path"] == [parent, "list"]
    assert error["extensions"]["status"] == 400
    assert wire.operations["Query"] == 0
    return error["extensions"]["code"], error["message"], error["extensions"]["inputPath"]


HERE = f'location(locationId: "{ulid(0)}") {{ '
DAY = "2026-05-01"
# Every list of the schema: where it stands, what its entries are called, and whether the newest come first.
EVERY = {
    "Query.locations": ("locations", "code", True),
    "Query.pendingBookings": ("pendingBookings", "bookingId", False),
    "Query.apiKeys": ("apiKeys", "keyId", True),
    "Query.callerBudgets": ("callerBudgets", "keyId", False),
    "Query.webhooks": ("webhooks", "webhookId", False),
    "Owner.webhooks": ('owner(ownerId: "ada") { webhooks', "webhookId", False),
    "Webhook.deliveries": ('webhook(webhookId: "k0") { deliveries', "activityId", True),
    "Location.lockers": (f"{HERE}lockers", "lockerId", False),
    "Location.accessEvents": (f"{HERE}accessEvents", "eventId", True),
    "Booking.payments": ('booking(bookingId: "k0") { payments', "paymentId", False),
    "Owner.lockers": ('owner(ownerId: "ada") { lockers', "lockerId", False),
    "Owner.reservations": ('owner(ownerId: "ada") { reservations', "reservationId", False),
    "Owner.bookings": ('owner(ownerId: "ada") { bookings', "bookingId", False),
    "Owner.notifications": ('owner(ownerId: "bob") { notifications', "bookingId", True),
    "Location.reservations": (f"{HERE}reservations", "reservationId", False),
    "Locker.reservations": ('locker(lockerId: "k0") { reservations', "reservationId", False),
    "Locker.accessEvents": ('locker(lockerId: "k0") { accessEvents', "eventId", True),
    "Locker.accessCodes": ('locker(lockerId: "k0") { accessCodes', "codeId", False),
    "Reservation.accessCodes": ('reservation(lockerId: "k0", reservationId: "k0") { accessCodes', "codeId", False),
    "Booking.accessCodes": ('booking(bookingId: "coded") { accessCodes', "codeId", False),
    "CalendarEvent.accessCodes": (
        f'{HERE}calendar(window: {{from: "{DAY}", to: "{DAY}"}}) {{ morning {{ accessCodes',
        "codeId",
        False,
    ),
}


def test_every_list_of_the_schema_is_tried() -> None:
    kinds: list[Any] = list(bound_schema().graphql_schema.type_map.values())
    # Those of figures, of history, of an export, of recipients and of the whole table have tests of their own.
    elsewhere = {"Query.locationFigures", "Query.locationUsage", "Owner.export", "Location.bookings"}
    elsewhere |= {
        "Query.owners",
        "Query.ownersByName",
        "Query.lockers",
        "Query.overdueReservations",
        "Query.reservationsOfRecipient",
    }
    elsewhere |= {f"{kind}.activity" for kind in ("Query", "Locker", "Location", "Owner")}
    assert EVERY.keys() | elsewhere == {
        f"{kind.name}.{name}"
        for kind in kinds
        for name, field in getattr(kind, "fields", {}).items()
        if str(getattr(field, "type", "")).rstrip("!").endswith("Connection")
    }


async def test_every_list_is_paged_in_its_order_in_both_directions(api: Api, clock: Clock, backend: Backend) -> None:
    for owner in ("ada", "bob", "cleo"):
        await api.owner(owner)
    await api.owner("root", role="ADMIN")
    for number, key in enumerate(KEYS):
        await create_location(api, number, code=f"code-{key}")
        if not number:
            await book(api, "coded", ownerId="cleo", date=DAY)
            await approve(api, "coded")
        await api.locker(key, "ada", locationId=ulid(0))
        await api.reservation(key, "k0", "ada", f"2026-03-02T1{number}:00:00Z", f"2026-03-02T1{number}:30:00Z")
        await api.event("k0", eventId=key, timestamp=f"2026-02-02T1{number}:00:00Z")
        use = {"locationId": ulid(0), "codeId": "k0", "eventId": key, "usedAt": f"2026-02-0{number + 1}T10:00:00Z"}
        for document, values in (
            (CREATE_CODE, {"codeId": key, "kind": "BOOKING", "bookingId": "coded"}),
            (CREATE_CODE, {"codeId": key, "kind": "RESERVATION", "lockerId": "k0", "reservationId": "k0"}),
            (REPORT, use),
        ):
            assert not (await api.mutate(document, **values))["userErrors"]
        await book(api, key, date=f"2026-04-0{number + 1}")
        await book(api, f"bob-{key}", ownerId="bob", date=f"2026-04-0{number + 1}")
        await api.mutate(REJECT, bookingId=f"bob-{key}", reason="No", expectedVersion=1)
        await api.mutate(PAY, bookingId="k0", paymentId=key, amount={"amount": 1, "currency": "EUR"})
        await api.mutate(CREATE_KEY, keyId=key, name="Door", role="DEVICE", lockerId="k0")
        await api.mutate(SET_BUDGET, keyId=key, unitsPerMinute=1)
        await webhooks.create(api, key)
        await webhooks.deliver(backend, "k0", key)
        clock.move(milliseconds=number % 2)  # some are of the same millisecond
    for where, own, newest_first in EVERY.values():
        expected = KEYS[::-1] if newest_first else KEYS
        for size in (1, 2, 5, 6):
            pages = await pages_of(api, where, own, size, "first", "after")
            assert pages == [expected[start : start + size] for start in range(0, 5, size)], where
            pages = await pages_of(api, where, own, size, "last", "before")
            assert [key for page in reversed(pages) for key in page] == expected, where


async def pages_of(api: Api, where: str, own: str, size: int, first: str, after: str) -> list[list[str]]:
    """All pages of a list by their cursors."""
    pages: list[list[str]] = []
    cursor = None
    while cursor is not None or not pages:
        shown = f"({first}: {size}, {after}: {json.dumps(cursor)}) {{ nodes {{ key: {own} }} {PAGE} }}"
        found: Any = await api.run(f"{{ {where}{shown} {'} ' * (1 + where.count('{') - where.count('}'))}")
        while "nextCursor" not in found:
            (found,) = found if isinstance(found, list) else found.values()
        info, behind = found["pageInfo"], cursor is not None
        cursor = found["nextCursor"]
        around = (cursor is not None, behind) if first == "last" else (behind, cursor is not None)
        assert (info["hasPreviousPage"], info["hasNextPage"]) == around, where
        assert cursor in {None, info["startCursor" if first == "last" else "endCursor"]}, where
        pages.append([node["key"][-2:] for node in found["nodes"]])
    return pages


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (None, KEYS),
        ({"from": None, "to": None}, KEYS),
        ({"from": "%sT11:00:00Z"}, KEYS[1:]),
        ({"to": "%sT11:00:00Z"}, KEYS[:2]),
        ({"from": "%sT11:00:00.001Z", "to": "%sT12:59:59.999Z"}, KEYS[2:3]),
        ({"from": "%sT14:00:00+02:00", "to": "%sT11:00:00-01:00"}, KEYS[2:3]),
        ({"from": "%sT12:00:00.001Z", "to": "%sT12:00:00.001Z"}, []),
    ],
)
async def test_a_window_includes_both_its_bounds_in_either_order(
    five: Api, window: dict[str, str | None] | None, expected: list[str]
) -> None:
    for query, day in ((RESERVATIONS, "2026-03-02"), (EVENTS, "2026-02-02"), (MINE, "2026-03-02")):
        bounds = window and {name: time and time.replace("%s", day) for name, time in window.items()}
        assert keys(await read(five, query, window=bounds, orderBy="ASC")) == expected
        assert keys(await read(five, query, window=bounds, orderBy="DESC")) == expected[::-1]
        assert keys(await read(five, query, window=bounds, orderBy="DESC", last=2)) == expected[:2][::-1]


async def test_a_page_has_twenty_five_items_unless_asked_and_a_hundred_at_most(api: Api, wire: Wire) -> None:
    await api.owner("acme")
    await api.locker("l1", "acme")
    for number in range(27):
        await api.event("l1", eventId=f"e{number:02d}")
    wire.reset()
    assert len((await read(api, EVENTS))["nodes"]) == 25
    assert len((await read(api, EVENTS, last=100))["nodes"]) == 27
    # One item more than the page is read, to know whether there is one.
    assert [call.request["Limit"] for call in wire.of("Query")] == [26, 101]


async def test_the_page_sizes_are_settings(open_api: Any, five: Api) -> None:
    assert five
    async with open_api(page_size=2, page_size_max=3) as small:
        assert keys(await read(small, LOCKERS)) == KEYS[:2]
        assert keys(await read(small, LOCKERS, first=3)) == KEYS[:3]
        answer = await small.send(LOCKERS, first=4)
        assert answer["errors"][0]["message"] == "first must be from 1 to 3, not 4."


@EACH
async def test_a_page_of_a_wrong_size_or_in_both_directions_is_refused(five: Api, wire: Wire, query: str) -> None:
    for name in ("first", "last"):
        for size in (0, -1, 101, 2147483647, -2147483648):
            message = f"{name} must be from 1 to 100, not {size}."
            assert await refused(five, wire, query, **{name: size}) == ("BAD_USER_INPUT", message, [name])
    both = "Use first and after, or last and before, but not both."
    for pair in (
        {"first": 1, "last": 1},
        {"after": "c", "last": 1},
        {"first": 1, "before": "c"},
        {"after": "", "before": ""},
    ):
        assert await refused(five, wire, query, **pair) == ("BAD_USER_INPUT", both, ["last"])


@pytest.mark.parametrize("size", [2147483648, 1.5, "1", True])
async def test_a_page_size_that_is_no_int_is_refused_with_its_variable(api: Api, wire: Wire, size: object) -> None:
    (error,) = (await api.send(LOCKERS, first=size))["errors"]
    assert (error["extensions"]["code"], error["extensions"]["inputPath"]) == ("BAD_USER_INPUT", ["first"])
    assert not wire.calls


@EACH
async def test_a_cursor_is_good_for_its_own_list_alone(five: Api, wire: Wire, query: str) -> None:
    for name in ("after", "before"):
        for junk in ("", "!!!", "Ä" * 8, "W10", "x" * 10_000):
            found = await refused(five, wire, query, **{name: junk})
            assert found == ("INVALID_CURSOR", "This is not a cursor of this API.", [name])
        for other in LISTS.values():
            if other is not query:
                cursor = (await read(five, other))["edges"][0]["cursor"]
                found = await refused(five, wire, query, **{name: cursor})
                assert found == ("INVALID_CURSOR", "This cursor belongs to another list.", [name])


@pytest.mark.parametrize("query", [RESERVATIONS, EVENTS, MINE])
async def test_a_window_that_ends_before_it_begins_is_refused(five: Api, wire: Wire, query: str) -> None:
    window = {"from": "2026-03-02T10:00:00.001Z", "to": "2026-03-02T10:00:00Z"}
    message = "window.from must not be after window.to."
    assert await refused(five, wire, query, window=window) == ("BAD_USER_INPUT", message, ["window", "from"])


async def test_a_bad_page_leaves_its_siblings_alone(five: Api) -> None:
    answer = await five.send("""{ locker(lockerId: "l1") {
      good: reservations(first: 1) { nodes { reservationId } } bad: accessEvents(first: 0) { nodes { id } } version
    } }""")
    assert answer["data"]["locker"] == {"good": {"nodes": [{"reservationId": "k0"}]}, "bad": None, "version": 1}
    assert [error["path"] for error in answer["errors"]] == [["locker", "bad"]]
