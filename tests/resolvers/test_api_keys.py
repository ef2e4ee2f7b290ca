import asyncio
import hashlib
import json
from typing import Any

import pytest

from tests.api import Api, mutation, unchanged
from tests.conftest import NOW, Clock, Dump
from tests.issuer import bearer
from tests.principals import admin
from tests.tables import PlainClient, put
from tests.wire import Wire, unlogged

WHOLE = "keyId name role ownerIds lockerId scopes createdAt createdBy expiresAt revokedAt"
CREATE = mutation("createApiKey", f"apiKey {{ {WHOLE} }} secret")
REVOKE = mutation("revokeApiKey", f"apiKey {{ {WHOLE} }}")
STATE = "apiKey { suspendedAt revokedAt updatedAt version }"
SUSPEND, RESUME = mutation("suspendApiKey", STATE), mutation("resumeApiKey", STATE)
ONE = f"query ($keyId: ID!) {{ apiKey(keyId: $keyId) {{ {WHOLE} }} }}"
PARTNER: dict[str, Any] = {
    "keyId": "k1",
    "name": "Courier",
    "role": "PARTNER",
    "ownerIds": ["o1", "o2", "o1"],
    "scopes": ["LOCKERS_READ", "EVENTS_READ"],
    "expiresAt": "2026-06-01T00:00:00Z",
}
DEVICE: dict[str, Any] = {"keyId": "k2", "name": "Hall 3", "role": "DEVICE", "lockerId": "l1"}
SHOWN = PARTNER | {
    "ownerIds": ["o1", "o2"],
    "lockerId": None,
    "createdAt": NOW,
    "createdBy": "development",
    "expiresAt": "2026-06-01T00:00:00.000Z",
    "revokedAt": None,
}


async def status_with(api: Api, credentials: str) -> int:
    answer = await api.client.post("/graphql", json={"query": "{ __typename }"}, headers=bearer(credentials))
    return answer.status_code


async def test_a_key_is_made_of_256_random_bits_and_shown_once(api: Api, wire: Wire) -> None:
    payload = await api.mutate(CREATE, **PARTNER)
    secret = payload.pop("secret")
    assert payload == {"apiKey": SHOWN, "userErrors": []}
    assert secret.startswith("slk_k1_")
    assert len(bytes.fromhex(secret.removeprefix("slk_k1_"))) == 32
    (call,) = wire.calls
    assert (call.operation, unlogged(call.keys)) == ("TransactWriteItems", [("APIKEY#k1", "META")])
    assert secret not in json.dumps(call.request)
    assert (await api.run(ONE, keyId="k1"))["apiKey"] == SHOWN
    other = await api.by(admin("root")).mutate(CREATE, **PARTNER | {"keyId": "k9"})
    assert other["secret"][-64:] != secret[-64:]
    assert other["apiKey"]["createdBy"] == "root"


async def test_a_dump_of_the_table_holds_no_usable_key(development_api: Api, dump: Dump) -> None:
    secrets = [(await development_api.mutate(CREATE, **values))["secret"] for values in (PARTNER, DEVICE)]
    items = await dump()
    text = json.dumps(list(items.values()), default=str)
    for secret in secrets:
        assert secret not in text
        assert secret[-64:] not in text
        assert hashlib.sha256(secret.encode()).hexdigest() in text
    for item in (items[key] for key in unlogged(items)):
        for value in item.values():  # nothing in it opens the door, in whatever way it is sent
            for attempt in (f"slk_{item['keyId']}_{value}", value):
                assert await status_with(development_api, attempt) == 401


async def test_of_many_creations_of_one_key_at_once_one_shows_the_secret(api: Api) -> None:
    payloads = await asyncio.gather(*(api.mutate(CREATE, **PARTNER) for _ in range(10)))
    assert [payload["userErrors"] for payload in payloads] == [[]] * 10
    assert sum(payload["secret"] is not None for payload in payloads) == 1


@pytest.mark.parametrize(
    ("values", "problems"),
    [
        (PARTNER | {"ownerIds": []}, [("ownerIds", "ownerIds is required for a partner")]),
        (PARTNER | {"scopes": []}, [("scopes", "scopes is required for a partner")]),
        (PARTNER | {"lockerId": "l1"}, [("lockerId", "lockerId is not allowed for a partner")]),
        (
            {"name": "x", "role": "DEVICE", "ownerIds": ["o1"], "scopes": ["LOCKERS_READ"]},
            [
                ("ownerIds", "ownerIds is not allowed for a device"),
                ("scopes", "scopes is not allowed for a device"),
                ("lockerId", "lockerId or locationId is required for a device"),
            ],
        ),
        (
            PARTNER | {"keyId": None, "expiresAt": "2026-03-01T12:00:00Z"},
            [("expiresAt", "expiresAt must be in the future")],
        ),
        (
            PARTNER | {"ownerIds": ["o1", "a#b"]},
            [("1", "ownerIds must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")],
        ),
    ],
)
async def test_an_invalid_key_is_refused_with_every_reason(
    api: Api, wire: Wire, values: dict[str, Any], problems: list[tuple[str, str]]
) -> None:
    payload = await api.mutate(CREATE, **values)
    assert (payload["apiKey"], payload["secret"]) == (None, None)
    assert [(error["path"][-1], error["message"]) for error in payload["userErrors"]] == problems
    assert {error["code"] for error in payload["userErrors"]} == {"BAD_USER_INPUT"}
    assert wire.calls == []


async def test_creating_an_expired_key_again_returns_it(api: Api, clock: Clock, wire: Wire, dump: Dump) -> None:
    expiring = PARTNER | {"expiresAt": "2026-03-01T13:00:00Z"}
    first = await api.mutate(CREATE, **expiring)
    clock.move(hours=1)
    items = await dump()
    wire.reset()
    assert await api.mutate(CREATE, **expiring) == first | {"secret": None}
    for other, code in ((expiring | {"name": "Other"}, "ID_TAKEN"), (expiring | {"keyId": "k2"}, "BAD_USER_INPUT")):
        payload = await api.mutate(CREATE, **other)
        assert ([error["code"] for error in payload["userErrors"]], payload["apiKey"]) == ([code], None)
    assert wire.operations == {"TransactWriteItems": 3}
    assert await dump() == items


async def test_a_revoked_key_stays_revoked(api: Api, clock: Clock, wire: Wire) -> None:
    await api.mutate(CREATE, **PARTNER)
    clock.move(hours=1)
    wire.reset()
    revoked = {"apiKey": SHOWN | {"revokedAt": "2026-03-01T13:00:00.000Z"}, "userErrors": []}
    assert await api.mutate(REVOKE, keyId="k1") == revoked
    assert wire.operations == {"GetItem": 1, "TransactWriteItems": 1}
    clock.move(hours=1)
    wire.reset()
    assert await api.mutate(REVOKE, keyId="k1") == revoked
    assert wire.operations == {"GetItem": 1}


async def test_concurrent_revocations_of_a_key_return_the_same_time(api: Api, clock: Clock) -> None:
    await api.mutate(CREATE, **PARTNER)
    moments = []

    async def revoke() -> None:
        clock.move(seconds=1)
        payload = await api.mutate(REVOKE, keyId="k1")
        assert payload["userErrors"] == []
        moments.append(payload["apiKey"]["revokedAt"])

    await asyncio.gather(*(revoke() for _ in range(8)))
    assert len(set(moments)) == 1


async def test_a_key_is_suspended_and_resumed(api: Api, clock: Clock, dump: Dump) -> None:
    await api.mutate(CREATE, **PARTNER)
    clock.move(hours=1)
    suspend = {"keyId": "k1", "expectedVersion": 1, "changeId": "c1"}
    at = "2026-03-01T13:00:00.000Z"
    suspended = {"suspendedAt": at, "revokedAt": None, "updatedAt": at, "version": 2}
    assert (await api.done(SUSPEND, **suspend))["apiKey"] == suspended
    async with unchanged(dump):
        clock.move(hours=1)
        assert (await api.done(SUSPEND, **suspend))["apiKey"] == suspended
        assert (await api.done(SUSPEND, keyId="k1", expectedVersion=2))["apiKey"] == suspended
        stale = await api.mutate(RESUME, keyId="k1", expectedVersion=1)
        assert ([error["code"] for error in stale["userErrors"]], stale["apiKey"]) == (["VERSION_CONFLICT"], suspended)
    resumed = {"suspendedAt": None, "revokedAt": None, "updatedAt": "2026-03-01T14:00:00.000Z", "version": 3}
    assert (await api.done(RESUME, keyId="k1", expectedVersion=2))["apiKey"] == resumed
    kinds = (await api.run("{ activity(orderBy: ASC) { nodes { kind version } } }"))["activity"]["nodes"]
    assert [(entry["kind"], entry["version"]) for entry in kinds] == [
        ("API_KEY_CREATED", 1),
        ("API_KEY_SUSPENDED", 2),
        ("API_KEY_RESUMED", 3),
    ]


async def test_of_changes_of_a_key_at_once_one_is_made_and_a_revocation_is_never_lost(api: Api) -> None:
    await api.mutate(CREATE, **PARTNER)
    changes = [api.mutate(SUSPEND, keyId="k1", expectedVersion=1, changeId=f"c{number}") for number in range(4)]
    *made, revoked = await asyncio.gather(*changes, api.mutate(REVOKE, keyId="k1"))
    assert revoked["apiKey"]["revokedAt"] is not None
    assert sum(not payload["userErrors"] for payload in made) <= 1
    assert (await api.run(ONE, keyId="k1"))["apiKey"]["revokedAt"] is not None
    version = (await api.run('{ apiKey(keyId: "k1") { version } }'))["apiKey"]["version"]
    for change in (SUSPEND, RESUME):
        (error,) = (await api.mutate(change, keyId="k1", expectedVersion=version))["userErrors"]
        assert (error["code"], error["message"]) == ("BAD_USER_INPUT", "API key k1 was revoked.")


async def test_a_key_from_before_versions_has_version_1(
    api: Api, plain_client: PlainClient, table: str, dump: Dump
) -> None:
    await api.mutate(CREATE, **PARTNER)
    ((place, item),) = [entry for entry in (await dump()).items() if entry[0][0] == "APIKEY#k1"]
    await put(plain_client, table, {name: value for name, value in item.items() if name != "version"})
    assert "version" not in (await dump())[place]
    assert (await api.run('{ apiKey(keyId: "k1") { version } }'))["apiKey"] == {"version": 1}
    payloads = [await api.mutate(SUSPEND, keyId="k1", expectedVersion=1, changeId=change) for change in ("a", "b")]
    assert [[error["code"] for error in payload["userErrors"]] for payload in payloads] == [[], ["VERSION_CONFLICT"]]
