"""A location whose lockers are offered to different callers, and what each of them finds."""

from typing import Any

from tests.api import Api
from tests.places import create_location, ulid

LIST = """query (
  $first: Int, $after: String, $last: Int, $before: String, $owners: [ID!], $place: ID! = "01HX0000000000000000000000"
) {
  location(locationId: $place) {
    lockers(first: $first, after: $after, last: $last, before: $before, ownerIds: $owners) {
      nodes { lockerId } nextCursor
    }
  }
}"""

FREE = """query ($window: TimeSpan!, $size: LockerSize, $first: Int = 25, $owners: [ID!]) {
  location(locationId: "01HX0000000000000000000000") {
    availableLockers(window: $window, size: $size, first: $first, ownerIds: $owners) {
      lockers { lockerId } isComplete
    }
  }
}"""

DAY = {"from": "2026-03-02T00:00:00Z", "to": "2026-03-03T00:00:00Z"}


async def stock(api: Api) -> None:
    """A location with lockers of an organization and of bob, for every audience."""
    await create_location(api)
    for name in ("acme", "bob", "mia", "eve"):
        await api.owner(name)
    for locker, whose, audience in (
        ("mine", "acme", "OWNER"),
        ("ours", "acme", "MEMBERS"),
        ("all", "acme", "EVERYONE"),
        ("bob-ours", "bob", "MEMBERS"),
        ("bob-all", "bob", "EVERYONE"),
    ):
        await api.locker(locker, whose, locationId=ulid(0), reservableBy=audience, alias=locker)


async def free(api: Api, **arguments: Any) -> list[str]:
    found = (await api.run(FREE, **{"window": DAY, **arguments}))["location"]["availableLockers"]
    return [locker["lockerId"] for locker in found["lockers"]]
