"""API keys over GraphQL: made once, shown once, listed without their secret, revoked for good, and for admins alone."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from domain.authorization import Principal, Role, Scope
from domain.models import LockerId, OwnerId
from server.auth.development import development_token
from tests.api import mutation, unchanged
from tests.issuer import bearer
from tests.wire import Lose, Twice

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from tests.api import Api
    from tests.conftest import Clock
    from tests.wire import Wire

WHOLE = "keyId name role ownerIds lockerId scopes createdAt createdBy expiresAt revokedAt"
CREATE = mutation("createApiKey", f"apiKey {{ {WHOLE} }} secret")
REVOKE = mutation("revokeApiKey", f"apiKey {{ {WHOLE} }}")
LIST = "query ($first: Int, $after: String) { apiKeys(first: $first, after: $after) { nodes { keyId } nextCursor } }"
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
SHOWN = {
    "keyId": "k1",
    "name": "Courier",
    "role": "PARTNER",
    "ownerIds": ["o1", "o2"],
    "lockerId": None,
    "scopes": ["LOCKERS_READ", "EVENTS_READ"],
    "createdAt": "2026-03-01T12:00:00.000Z",
    "createdBy": "development",
    "expiresAt": "2026-06-01T00:00:00.000Z",
    "revokedAt": None,
}
OTHERS = [
    Principal(subject="a", role=Role.OWNER, owner_id=OwnerId("o1")),
    Principal(subject="b", role=Role.PARTNER, partner_of=frozenset({OwnerId("o1")}), scopes=frozenset(Scope)),
    Principal(subject="c", role=Role.DEVICE, locker_id=LockerId("l1")),
]


async def test_a_key_is_made_of_256_random_bits_and_shown_once(api: Api, wire: Wire) -> None:
    payload = await api.mutate(CREATE, **PARTNER)
    secret = payload.pop("secret")
    assert payload == {"apiKey": SHOWN, "userErrors": []}
    assert secret.startswith("slk_k1_")
    assert len(bytes.fromhex(secret.removeprefix("slk_k1_"))) == 32
    (call,) = wire.calls
    assert (call.operation, call.keys) == ("TransactWriteItems", [("APIKEY#k1", "META")])
    assert secret not in json.dumps(call.request)
    assert (await api.run(ONE, keyId="k1"))["apiKey"] == SHOWN
    other = await api.mutate(CREATE, **PARTNER | {"keyId": "k9"})
    assert other["secret"][-64:] != secret[-64:]


async def test_a_dump_of_the_table_holds_no_usable_key(development_api: Api, dump: Callable[[], Any]) -> None:
    secrets = [(await development_api.mutate(CREATE, **values))["secret"] for values in (PARTNER, DEVICE)]
    items = await dump()
    text = json.dumps(list(items.values()), default=str)
    for secret in secrets:
        assert secret not in text
        assert secret[-64:] not in text
        assert hashlib.sha256(secret.encode()).hexdigest() in text
    for item in items.values():
        for value in item.values():  # nothing in it opens the door, in whatever way it is sent
            for attempt in (f"slk_{item['keyId']}_{value}", value):
                headers = {"Authorization": f"Bearer {attempt}"}
                response = await development_api.client.post(
                    "/graphql", json={"query": "{ __typename }"}, headers=headers
                )
                assert response.status_code == 401


async def test_the_same_key_again_gives_its_record_without_the_secret_and_another_is_refused(
    api: Api, dump: Callable[[], Any], clock: Clock
) -> None:
    await api.mutate(CREATE, **PARTNER)
    clock.move(hours=1)
    async with unchanged(dump):
        assert await api.mutate(CREATE, **PARTNER) == {"apiKey": SHOWN, "secret": None, "userErrors": []}
        refused = await api.mutate(CREATE, **PARTNER | {"scopes": ["LOCKERS_WRITE"]})
    assert (refused["apiKey"], refused["secret"]) == (None, None)
    assert [(error["code"], error["path"]) for error in refused["userErrors"]] == [("ID_TAKEN", ["input", "keyId"])]


@pytest.mark.parametrize("fault", [Lose(), Twice()])
async def test_a_key_whose_answer_was_lost_between_here_and_the_store_is_still_shown(
    development_api: Api, wire: Wire, fault: Lose | Twice
) -> None:
    wire.fault = lambda _: fault if len(wire.calls) == 1 else None
    payload = await development_api.mutate(CREATE, **PARTNER)
    assert payload["userErrors"] == []
    wire.reset()
    answer = await development_api.client.post(
        "/graphql", json={"query": "{ __typename }"}, headers=bearer(payload["secret"])
    )
    assert answer.status_code == 200


async def test_of_many_who_make_a_key_of_one_id_at_once_one_sees_the_secret(api: Api) -> None:
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
                ("lockerId", "lockerId is required for a device"),
            ],
        ),
        (PARTNER | {"expiresAt": "2026-03-01T12:00:00Z"}, [("expiresAt", "expiresAt must be in the future")]),
        (PARTNER | {"keyId": "a#b"}, [("keyId", "keyId must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")]),
        (
            PARTNER | {"ownerIds": ["o1", "a#b"]},
            [("1", "ownerIds must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")],
        ),
        (PARTNER | {"name": " "}, [("name", "name must have 1 to 200 characters")]),
    ],
)
async def test_a_key_that_makes_no_sense_is_refused_with_every_reason(
    api: Api, wire: Wire, values: dict[str, Any], problems: list[tuple[str, str]]
) -> None:
    payload = await api.mutate(CREATE, **values)
    assert (payload["apiKey"], payload["secret"]) == (None, None)
    assert [(error["path"][-1], error["message"]) for error in payload["userErrors"]] == problems
    assert {error["code"] for error in payload["userErrors"]} == {"BAD_USER_INPUT"}
    assert wire.calls == []


async def test_a_key_has_25_owners_at_most(api: Api) -> None:
    owners = [f"o{number}" for number in range(26)]
    refused = await api.mutate(CREATE, **PARTNER | {"ownerIds": owners})
    assert [error["path"] for error in refused["userErrors"]] == [["input", "ownerIds"]]
    made = await api.mutate(CREATE, **PARTNER | {"ownerIds": owners[:25]})
    assert made["apiKey"]["ownerIds"] == owners[:25]


async def test_a_key_is_revoked_once_and_for_good(api: Api, clock: Clock, wire: Wire) -> None:
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
    missing = await api.mutate(REVOKE, keyId="nothing")
    assert [(error["code"], error["path"]) for error in missing["userErrors"]] == [("NOT_FOUND", ["input", "keyId"])]


async def test_two_who_revoke_a_key_at_once_see_the_same_moment(api: Api, clock: Clock) -> None:
    await api.mutate(CREATE, **PARTNER)
    moments = []

    async def revoke() -> None:
        clock.move(seconds=1)
        payload = await api.mutate(REVOKE, keyId="k1")
        assert payload["userErrors"] == []
        moments.append(payload["apiKey"]["revokedAt"])

    await asyncio.gather(*(revoke() for _ in range(8)))
    assert len(set(moments)) == 1


async def test_keys_are_listed_newest_first_page_by_page_with_the_revoked_ones(api: Api, clock: Clock) -> None:
    for number in range(3):
        await api.mutate(CREATE, **DEVICE | {"keyId": f"k{number}"})
        clock.move(seconds=1)
    await api.mutate(REVOKE, keyId="k1")
    first = (await api.run(LIST, first=2))["apiKeys"]
    assert first["nodes"] == [{"keyId": "k2"}, {"keyId": "k1"}]
    rest = (await api.run(LIST, first=2, after=first["nextCursor"]))["apiKeys"]
    assert rest == {"nodes": [{"keyId": "k0"}], "nextCursor": None}


async def test_a_key_that_is_not_there_is_null_with_its_reason(api: Api) -> None:
    answer = await api.send(ONE, keyId="nothing")
    assert answer["data"] == {"apiKey": None}
    assert answer["errors"][0]["extensions"]["code"] == "NOT_FOUND"


@pytest_asyncio.fixture
async def opened(open_api: Callable[..., AbstractAsyncContextManager[Api]], tmp_path: Path) -> AsyncIterator[Api]:
    async with open_api(authenticator=None, data_dir=tmp_path) as api:
        await api.mutate(CREATE, **PARTNER)
        yield api


@pytest.mark.parametrize("principal", OTHERS, ids=lambda principal: str(principal.role))
async def test_nobody_but_an_admin_sees_makes_or_revokes_a_key(
    opened: Api, wire: Wire, dump: Callable[[], Any], tmp_path: Path, principal: Principal
) -> None:
    opened.client.headers.update(bearer(development_token(tmp_path, principal, timedelta(hours=1))))
    wire.reset()
    async with unchanged(dump):
        for document, variables in (
            (LIST, {}),
            (ONE, {"keyId": "k1"}),
            (CREATE, {"input": DEVICE}),
            (REVOKE, {"input": {"keyId": "k1"}}),
        ):
            answer = await opened.send(document, **variables)
            (payload,) = (answer["data"] or {}).values()
            refusals = answer["errors"] if payload is None else payload.pop("userErrors")
            assert [error.get("code") or error["extensions"]["code"] for error in refusals] == ["FORBIDDEN"]
            assert not any((payload or {}).values())
    assert wire.calls == []


async def test_a_key_names_who_made_it(opened: Api, tmp_path: Path) -> None:
    root = Principal(subject="root@example.com", role=Role.ADMIN)
    opened.client.headers.update(bearer(development_token(tmp_path, root, timedelta(hours=1))))
    payload = await opened.mutate(CREATE, **DEVICE)
    assert payload["apiKey"]["createdBy"] == "root@example.com"
