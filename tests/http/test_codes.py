import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests import codes, places, webhooks
from tests.api import (
    CREATE_OWNER,
    CREATE_RESERVATION,
    REGISTER_LOCKER,
    RENAME,
    RETIRE_LOCKER,
    UPDATE_STATUS,
    Api,
    mutation,
)
from tests.over_http import GRAPHQL, JSON, only_error
from tests.over_http import post as sent
from tests.principals import owner
from tests.reservations import CANCEL, EXTEND
from tests.wire import Answer, Wire

PAGE = (Path(__file__).parent.parent.parent / "docs" / "errors.md").read_text()

OWNER = "query ($id: ID!) { owner(ownerId: $id) { name } }"
LOCKERS = 'query ($after: String) { owner(ownerId: "ada") { lockers(after: $after) { nextCursor } } }'
ALL_EVENTS = """{ locations(first: 100) { nodes {
  lockers(first: 100) { nodes { accessEvents(first: 100) { nextCursor } } }
} } }"""
RELEASE = mutation("releaseReservation", "reservation { endAt }")
RESERVE_ANY = mutation("reserveAnyLocker", "reservation { endAt }")
NOW = {"startAt": "2026-03-01T11:00:00Z", "endAt": "2026-03-01T13:00:00Z"}
LATER = {"startAt": "2026-07-01T00:00:00Z", "endAt": "2026-07-02T00:00:00Z"}
UNKNOWN_HASH = {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}}

# The request did not run: no data, and a failing status where the media type has it.
NEVER_RAN: list[tuple[str, int, dict[str, Any]]] = [
    ("GRAPHQL_PARSE_FAILED", 400, {"query": "{"}),
    ("GRAPHQL_VALIDATION_FAILED", 400, {"query": "{ unknown }"}),
    ("QUERY_TOO_COMPLEX", 400, {"query": "{ " + "__typename " * 11 + "}"}),
    ("BAD_USER_INPUT", 400, {"query": OWNER, "variables": {"id": None}}),
    ("BAD_USER_INPUT", 400, {"query": OWNER, "variables": {"id": "ada"}, "operationName": "Unknown"}),
    ("QUERY_TOO_COMPLEX", 400, {"query": ALL_EVENTS}),
    ("PERSISTED_QUERY_NOT_FOUND", 404, {"extensions": UNKNOWN_HASH}),
    ("PERSISTED_QUERY_NOT_FOUND", 404, {"documentId": "unknown"}),
]
# It ran and a field failed: its data, and success.
FAILED: list[tuple[str, int, dict[str, Any]]] = [
    ("BAD_USER_INPUT", 400, {"query": '{ owner(ownerId: "ada") { lockers(first: 0) { nextCursor } } }'}),
    ("INVALID_CURSOR", 400, {"query": LOCKERS, "variables": {"after": "nonsense"}}),
    ("NOT_FOUND", 404, {"query": OWNER, "variables": {"id": "nobody"}}),
    ("FORBIDDEN", 403, {"query": OWNER, "variables": {"id": "ada"}}),
    ("UNAVAILABLE", 503, {"query": OWNER, "variables": {"id": "stalled"}}),
    ("INTERNAL_SERVER_ERROR", 500, {"query": OWNER, "variables": {"id": "damaged"}}),
]
ERASE_OWNER = mutation("eraseOwner", "owner { ownerId }")
WINDOW = {"startAt": "2026-04-01T00:00:00Z", "endAt": "2026-04-02T00:00:00Z"}
REVERSED = {"startAt": WINDOW["endAt"], "endAt": WINDOW["startAt"]}
OF_L1 = {"lockerId": "l1", "ownerId": "ada"}
OVER = {"lockerId": "l1", "reservationId": "over"}
CHESS = {"date": places.DAY, "duration": "MORNING", "description": "Chess", "attendees": 2}
ENDPOINT = {"ownerId": "busy", "url": "https://example.com/hooks", "kinds": ["DOOR_OPENED"]}
# A mutation was refused: its payload says why.
REFUSED: list[tuple[str, int, str, dict[str, Any]]] = [
    ("BAD_USER_INPUT", 400, CREATE_RESERVATION, OF_L1 | REVERSED),
    ("NOT_FOUND", 404, REGISTER_LOCKER, {"ownerId": "nobody"}),
    ("VERSION_CONFLICT", 409, UPDATE_STATUS, {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 9}),
    ("INVALID_TRANSITION", 409, UPDATE_STATUS, {"lockerId": "l2", "newStatus": "OCCUPIED", "expectedVersion": 2}),
    ("ID_TAKEN", 409, CREATE_OWNER, {"ownerId": "ada", "kind": "USER", "name": "Another"}),
    ("EMAIL_TAKEN", 409, CREATE_OWNER, {"kind": "USER", "name": "Another", "email": "ADA@example.com"}),
    ("OWNER_IN_USE", 409, ERASE_OWNER, {"ownerId": "ada"}),
    ("OWNER_ERASED", 409, REGISTER_LOCKER, {"ownerId": "gone"}),
    ("LOCKER_IN_MAINTENANCE", 409, CREATE_RESERVATION, {"lockerId": "l2", "ownerId": "ada"} | WINDOW),
    ("LOCKER_RETIRED", 409, RENAME, {"lockerId": "l4", "alias": "New", "expectedVersion": 2}),
    ("RESERVATION_OVERLAP", 409, CREATE_RESERVATION, OF_L1 | WINDOW),
    ("RESERVATION_OVER", 409, EXTEND, OVER | {"newEndAt": "2026-05-03T00:00:00Z"}),
    ("NO_LOCKER_AVAILABLE", 409, RESERVE_ANY, {"locationId": places.ulid(0), "ownerId": "ada"} | WINDOW),
    ("RESERVATION_STARTED", 409, CANCEL, {"lockerId": "l3", "reservationId": "now"}),
    ("RESERVATION_NOT_STARTED", 409, RELEASE, {"lockerId": "l3", "reservationId": "busy-1"}),
    ("REFERENCE_TAKEN", 409, CREATE_RESERVATION, OF_L1 | LATER | {"reference": "order 1"}),
    ("TOO_MANY_RESERVATIONS", 409, CREATE_RESERVATION, {"lockerId": "l1", "ownerId": "busy"} | LATER),
    ("ACCESS_CODE_OVER", 409, codes.REVEAL, {"lockerId": "l1", "codeId": "c0"}),
    ("TOO_MANY_ACCESS_CODES", 409, codes.CREATE, {"lockerId": "l1", "reservationId": "live", "kind": "RESERVATION"}),
    ("STALE_ACCESS_CODE_LIST", 409, codes.ACKNOWLEDGE, {"lockerId": "l1", "revision": "old"}),
    ("FORBIDDEN", 403, places.CANCEL, {"bookingId": "taken"}),
    ("CODE_TAKEN", 409, places.CREATE_LOCATION, places.fresh()),
    ("LOCATION_INACTIVE", 409, REGISTER_LOCKER, {"ownerId": "ada", "locationId": places.ulid(1)}),
    ("SLOT_TAKEN", 409, places.APPROVE, {"bookingId": "late", "expectedVersion": 1}),
    ("BOOKING_CLOSED", 409, places.REJECT, {"bookingId": "taken", "reason": "No", "expectedVersion": 2}),
    ("TOO_MANY_PENDING_BOOKINGS", 409, places.REQUEST, {"locationId": places.ulid(0), "ownerId": "ada"} | CHESS),
    ("TOO_MANY_WEBHOOKS", 409, webhooks.CREATE, ENDPOINT),
]


@pytest_asyncio.fixture
async def stocked(api: Api, wire: Wire, plain_client: Any, table: str) -> Api:
    """A server with everything that it takes to be refused."""
    await api.owner("ada", email="ada@example.com")
    await api.owner("damaged")
    await api.owner("gone")
    await api.done(ERASE_OWNER, ownerId="gone")
    await api.locker("l1", "ada")
    await api.locker("l2", "ada")
    await api.mutate(UPDATE_STATUS, lockerId="l2", newStatus="MAINTENANCE", expectedVersion=1)
    await api.reservation("live", "l1", "ada", WINDOW["startAt"], WINDOW["endAt"])
    await api.reservation("over", "l1", "ada", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")
    await api.mutate(CANCEL, **OVER)
    for number in range(6):
        await codes.create(api, f"c{number}", reservationId="live")
        await api.mutate(codes.REVOKE, lockerId="l1", codeId="c0")
    await api.owner("busy")
    for _ in range(10):
        await api.done(webhooks.CREATE, **ENDPOINT)
    await api.locker("l3", "ada")
    await api.locker("l4", "ada")
    await api.done(RETIRE_LOCKER, lockerId="l4", expectedVersion=1)
    await api.mutate(CREATE_RESERVATION, lockerId="l3", reservationId="now", ownerId="ada", reference="order 1", **NOW)
    for day in range(1, 21):
        await api.reservation(
            f"busy-{day}", "l3", "busy", f"2026-06-{day:02d}T00:00:00Z", f"2026-06-{day:02d}T01:00:00Z"
        )
    await api.owner("root", role="ADMIN")
    await places.create_location(api, 0, code="rome")
    await places.create_location(api, 1, code="closed")
    await api.mutate(places.DEACTIVATE, locationId=places.ulid(1), expectedVersion=1)
    await places.book(api, "taken")
    await places.book(api, "late")
    await places.approve(api, "taken")
    for pk, sk, attribute, value in (
        ("OWNER#ada", "PENDING_BOOKINGS", "pendingBookings", {"N": "20"}),
        ("OWNER#damaged", "META", "kind", {"S": "nonsense"}),
    ):
        await plain_client.update_item(
            TableName=table,
            Key={"PK": {"S": pk}, "SK": {"S": sk}},
            UpdateExpression=f"SET {attribute} = :value",
            ExpressionAttributeValues={":value": value},
        )
    wire.fault = lambda call: Answer.error("ThrottlingException") if ("OWNER#stalled", "META") in call.keys else None
    return api


async def send(api: Api, code: str, content: dict[str, Any], accept: str) -> httpx.Response:
    """The response to a request that may be refused, by an admin unless the code depends on the caller."""
    response = await sent(api.by(owner("bob")) if code == "FORBIDDEN" else api, None, accept, **content)
    assert response.headers["content-type"] == f"{accept}; charset=utf-8"
    return response


@pytest.mark.parametrize("accept", [JSON, GRAPHQL])
async def test_every_refusal_has_its_code_and_its_place_in_the_response(stocked: Api, accept: str) -> None:
    # a request that never ran has no data, and fails in the newer media type
    for code, status, content in NEVER_RAN:
        response = await send(stocked, code, content, accept)
        only_error(response, code, status)
        assert "data" not in response.json(), code
        assert response.status_code == (status if accept == GRAPHQL else 200), code
    # a field that failed leaves the request a success
    for code, status, content in FAILED:
        response = await send(stocked, code, content, accept)
        assert only_error(response, code, status)["path"][0] == "owner"
        assert (response.status_code, set(response.json()["data"])) == (200, {"owner"}), code
    # a refused mutation has user errors in its payload
    for code, status, document, values in REFUSED:
        response = await send(stocked, code, {"query": document, "variables": {"input": values}}, accept)
        assert (response.status_code, set(response.json())) == (200, {"data"}), code
        (payload,) = response.json()["data"].values()
        assert {(error["code"], error["status"]) for error in payload["userErrors"]} == {(code, status)}


def documented(heading: str) -> dict[str, int]:
    """The codes of one table of the page, each with its status."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return {code: int(status) for code, status in re.findall(r"^\| `([A-Z_]+)` \| (\d+) ", section, re.MULTILINE)}


def test_every_documented_code_is_met_here_with_its_status() -> None:
    user_errors = {code: status for code, status, _, _ in REFUSED}
    graphql_errors = {code: status for code, status, _ in NEVER_RAN + FAILED}
    assert documented("User errors") == user_errors
    # These depend on settings, or come in a subscription only, and are tested in tests/server.
    others = {"PERSISTED_QUERY_NOT_SUPPORTED": 400, "UNAUTHENTICATED": 401, "RATE_LIMITED": 429, "TIMEOUT": 504}
    assert documented("GraphQL errors") == graphql_errors | others | {"RESYNC_REQUIRED": 410}
