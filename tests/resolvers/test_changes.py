import pytest
from graphql import get_named_type

from loaders.backend import Backend
from tests.api import Api, unchanged, user_error
from tests.conftest import Dump, Prepared
from tests.inputs import GOOD, MUTATIONS, document, stock
from tests.places import refusal, ulid
from tests.wire import Wire

VERSIONED = [
    name for name, field in MUTATIONS.items() if "expectedVersion" in get_named_type(field.args["input"].type).fields
]
OWN_ID = {
    "Locker": "lockerId",
    "Reservation": "reservationId",
    "Owner": "ownerId",
    "Location": "locationId",
    "Booking": "bookingId",
    "CalendarEvent": "eventId",
    "ApiKey": "keyId",
    "LockerStatus": "lockerId",
}
CREATES = ("create", "register", "request", "reserve")
CHANGES = [name for name in MUTATIONS if name.endswith(tuple(OWN_ID)) and not name.startswith(CREATES)]


# What is active and is activated once more is the same request again.
@pytest.mark.parametrize(
    "name", [name for name in VERSIONED if name not in {"reactivateLocation", "enableWebhook", "resumeApiKey"}]
)
async def test_a_stale_version_conflicts_and_shows_state(
    api: Api, dump: Dump, prepared: Prepared, backend: Backend, name: str
) -> None:
    await prepared(stock, api, backend)
    async with unchanged(dump):
        for stale in (0, 2, -1, 2147483647):
            payload = await api.mutate(document(name), **GOOD[name] | {"expectedVersion": stale})
            message = "The current version is 1. Read the current state and retry with its version."
            conflict = user_error("VERSION_CONFLICT", message, 409, "expectedVersion")
            more = {"__typename": "VersionConflictError", "retryable": True, "currentVersion": 1}
            assert payload.pop("userErrors") == [conflict | more]
            (current,) = payload.values()
            assert current["version"] == 1
    assert (await api.mutate(document(name), **GOOD[name] | {"expectedVersion": 1}))["userErrors"] == []


@pytest.mark.parametrize("name", CHANGES)
async def test_changing_what_is_missing_fails(
    api: Api, wire: Wire, dump: Dump, prepared: Prepared, backend: Backend, name: str
) -> None:
    await prepared(stock, api, backend)
    own_id = next(own for kind, own in OWN_ID.items() if name.endswith(kind))
    wire.reset()
    async with unchanged(dump):
        payload = await api.mutate(document(name), **GOOD[name] | {own_id: ulid(9)})
    assert refusal(payload) == ("NOT_FOUND", 404, ["input", own_id])
    assert [value for name, value in payload.items() if name != "userErrors"] == [None]
    assert "TransactWriteItems" not in wire.operations


@pytest.mark.parametrize("name", ["updateOwner", "updateLocation", "configureLocker"])
async def test_a_change_that_names_nothing_to_change_is_refused_before_a_read(api: Api, wire: Wire, name: str) -> None:
    nothing = {key: value for key, value in GOOD[name].items() if key.endswith("Id") or key == "expectedVersion"}
    payload = await api.mutate(document(name), **nothing)
    message = "Name at least one field to change."
    assert payload.pop("userErrors") == [user_error("BAD_USER_INPUT", message, 400)]
    assert [*payload.values()] == [None]
    assert not wire.calls
