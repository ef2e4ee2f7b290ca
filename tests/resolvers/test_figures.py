"""Figures and usage as a client sees them, and what an overview of many locations takes."""

import json
from datetime import date, timedelta
from typing import Any

import pytest

from domain.times import Instant
from loaders.backend import Backend
from loaders.contracts.following import HOLD_LEASE
from loaders.keys import log_shard
from loaders.table.clock import utc_now
from tests import figures, places
from tests.api import UPDATE_STATUS, Api
from tests.principals import owner
from tests.reservations import CANCEL
from tests.wire import Wire

FIGURES = "lockers { status size count } liveReservations overdue asOf"
USAGE = "date reservations checkIns opens denials noShows"
OVERVIEW = f"""query ($day: Date!) {{
  locationFigures(first: 500) {{ nodes {{ locationId location {{ name }} {FIGURES} }} nextCursor }}
  locationUsage(date: $day, first: 500) {{ nodes {{ locationId {USAGE} }} nextCursor }}
}}"""


async def used(api: Api, backend: Backend) -> None:
    """A location with three lockers of ada, one of them in use and one reserved by bob, all of it counted."""
    await api.owner("bob")
    for name, size in (("l1", "S"), ("l2", "S"), ("l3", "XL")):
        await api.locker(name, "ada", locationId=places.ulid(0), size=size, reservableBy="EVERYONE")
    await api.done(UPDATE_STATUS, lockerId="l2", newStatus="OCCUPIED", expectedVersion=1)
    for name in ("r1", "r2"):
        day = name[1]
        await api.reservation(name, "l1", "bob", f"2026-03-0{day}T13:00:00Z", f"2026-03-0{day}T14:00:00Z")
    await api.done(CANCEL, lockerId="l1", reservationId="r1")
    await api.event("l1", action="OPEN")
    await api.event("l1", action="DENIED", result="FAIL")
    await figures.follow(backend)


async def test_a_location_and_an_owner_show_their_figures_as_of_a_time(room: Api, backend: Backend) -> None:
    await used(room, backend)
    document = f"""{{
      location(locationId: "{places.ulid(0)}") {{ figures {{ locationId {FIGURES} location {{ name }} }} }}
      ada: owner(ownerId: "ada") {{ figures {{ {FIGURES} }} }}
      bob: owner(ownerId: "bob") {{ figures {{ {FIGURES} }} }}
    }}"""
    shown = await room.run(document)
    lockers = [
        {"status": "AVAILABLE", "size": "S", "count": 1},
        {"status": "AVAILABLE", "size": "XL", "count": 1},
        {"status": "OCCUPIED", "size": "S", "count": 1},
    ]
    at_location = shown["location"]["figures"]
    as_of = at_location.pop("asOf")
    assert at_location == {
        "locationId": places.ulid(0),
        "lockers": lockers,
        "liveReservations": 1,
        "overdue": 0,
        "location": {"name": "Room of place-0"},
    }
    assert "2026" < as_of <= utc_now()
    assert [
        (shown[one]["figures"]["lockers"], shown[one]["figures"]["liveReservations"]) for one in ("ada", "bob")
    ] == [
        (lockers, 0),
        ([], 1),
    ]


async def test_what_was_never_counted_is_zero_as_of_no_time(room: Api) -> None:
    document = f"""{{
      location(locationId: "{places.ulid(0)}") {{ figures {{ {FIGURES} }} }}
      owner(ownerId: "ada") {{ figures {{ {FIGURES} }} }}
    }}"""
    nothing = {"lockers": [], "liveReservations": 0, "overdue": 0, "asOf": None}
    assert await room.run(document) == {"location": {"figures": nothing}, "owner": {"figures": nothing}}


async def test_figures_of_a_quiet_location_are_as_of_what_was_followed(room: Api, backend: Backend) -> None:
    await used(room, backend)
    shard, later = log_shard(places.ulid(0)), Instant("2999-01-01T00:00:00.000Z")
    lease = figures.lease(shard, later)
    await backend.store.put(HOLD_LEASE.put(HOLD_LEASE.record_step("held lease", lease, number=1, holder="test")))
    location = f'location(locationId: "{places.ulid(0)}") {{ figures {{ asOf }} }}'
    shown = await room.run(f"{{ {location} locationFigures {{ nodes {{ asOf }} }} }}")
    assert [shown["location"]["figures"], *shown["locationFigures"]["nodes"]] == [{"asOf": later}] * 2


async def test_usage_is_shown_for_every_day_of_the_location(room: Api, backend: Backend) -> None:
    await used(room, backend)
    today = utc_now()[:10]
    document = f"""query ($window: DateWindow!) {{
      location(locationId: "{places.ulid(0)}") {{ usage(window: $window) {{ {USAGE} }} }}
    }}"""
    days = (await room.run(document, window={"from": "2026-01-01", "to": "2026-01-02"}))["location"]["usage"]
    assert [(day.pop("date"), set(day.values())) for day in days] == [("2026-01-01", {0}), ("2026-01-02", {0})]
    window = {"from": _shifted(today, -1), "to": _shifted(today, 1)}
    found = (await room.run(document, window=window))["location"]["usage"]
    counted = {name: sum(day[name] for day in found) for name in found[0] if name != "date"}
    assert counted == {"reservations": 2, "checkIns": 0, "opens": 1, "denials": 1, "noShows": 0}


async def test_members_of_an_organization_see_its_lockers_but_not_its_reservations(room: Api, backend: Backend) -> None:
    await used(room, backend)
    document = '{ owner(ownerId: "ada") { figures { lockers { count } liveReservations } } }'
    member, stranger = [await room.by(one).send(document) for one in (owner("bob", "ada"), owner("bob"))]
    assert member["data"]["owner"]["figures"] == {"lockers": [{"count": 1}] * 3, "liveReservations": None}
    assert [(error["path"], error["extensions"]["code"]) for error in (*member["errors"], *stranger["errors"])] == [
        (["owner", "figures", "liveReservations"], "FORBIDDEN"),
        (["owner"], "FORBIDDEN"),
    ]


async def test_an_overview_of_500_locations_takes_10_operations_and_300_read_units(
    room: Api, backend: Backend, plain_client: Any, table: str, wire: Wire
) -> None:
    await used(room, backend)
    items = json.dumps([item for item in await plain_client.items(table) if _is_of_place(item)])
    for number in range(1, 500):
        copies = json.loads(items.replace(places.ulid(0), places.ulid(number)))
        await plain_client.fill(table, copies)
    day = json.loads(items)[-1]["SK"]["S"].partition("#")[0]
    wire.reset()

    shown = await room.run(OVERVIEW, day=day)

    names = [node["location"]["name"] for node in shown["locationFigures"]["nodes"]]
    assert (len(names), len(shown["locationUsage"]["nodes"])) == (500, 500)
    assert {node["reservations"] for node in shown["locationUsage"]["nodes"]} == {2}
    assert shown["locationFigures"]["nextCursor"] is shown["locationUsage"]["nextCursor"] is None
    assert wire.operations == {"Query": 2, "BatchGetItem": 6}
    assert sum(call.units for call in wire.calls) <= 300


async def test_figures_and_usage_of_all_locations_are_paged_in_both_directions(
    room: Api, backend: Backend, plain_client: Any, table: str
) -> None:
    await used(room, backend)
    items = json.dumps([item for item in await plain_client.items(table) if _is_of_place(item)])
    for number in (1, 2):
        await plain_client.fill(table, json.loads(items.replace(places.ulid(0), places.ulid(number))))
    day = json.loads(items)[-1]["SK"]["S"].partition("#")[0]
    for name, required in (("locationFigures", ""), ("locationUsage", f'date: "{day}", ')):
        for way, order in ((("first", "after"), [0, 1, 2]), (("last", "before"), [2, 1, 0])):
            shown: list[str] = []
            cursor = None
            while cursor is not None or not shown:
                paging = f"{required}{way[0]}: 1, {way[1]}: {json.dumps(cursor)}"
                page = (await room.run(f"{{ {name}({paging}) {{ nodes {{ locationId }} nextCursor }} }}"))[name]
                shown += [node["locationId"] for node in page["nodes"]]
                cursor = page["nextCursor"]
            assert shown == [places.ulid(number) for number in order]


@pytest.mark.parametrize(("size", "error"), [(500, None), (501, "BAD_USER_INPUT")])
async def test_a_page_of_small_items_may_have_five_times_as_many(room: Api, size: int, error: str | None) -> None:
    answer = await room.send(f"{{ locationFigures(first: {size}) {{ nextCursor }} }}")
    assert [one["extensions"]["code"] for one in answer.get("errors", ())] == ([] if error is None else [error])


def _is_of_place(item: dict[str, Any]) -> bool:
    key = item["PK"]["S"], item["SK"]["S"]
    return key == (f"LOCATION#{places.ulid(0)}", "META") or (
        key[0] in {"FIGURES", "USAGE"} and places.ulid(0) in key[1]
    )


def _shifted(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
