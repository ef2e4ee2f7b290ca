"""Webhooks as callers create, see and change them."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from domain.authorization import Scope
from domain.times import to_instant
from domain.webhook_signatures import secret_of
from domain.webhooks import MAX_WEBHOOKS
from loaders.backend import Backend
from tests.api import Api, unchanged
from tests.conftest import Dump
from tests.places import prepare, refusal, ulid
from tests.principals import device, owner, partner
from tests.webhooks import (
    AGAIN,
    CREATE,
    DELETE,
    DISABLE,
    ENABLE,
    FIELDS,
    REPLAY,
    ROTATE,
    TEST,
    UPDATE,
    URL,
    create,
    deliver,
)

LISTED = f"{{ webhooks {{ nodes {{ {FIELDS} }} }} }}"
OWN = '{ owner(ownerId: "ada") { webhooks { nodes { webhookId status } } } }'
ALL = {"webhookId": "w1", "url": URL, "all": True}
SHOWN = {
    "webhookId": "w1",
    "url": URL,
    "kinds": ["LOCKER_CHANGED"],
    "ownerId": "ada",
    "locationId": None,
    "description": None,
    "status": "ACTIVE",
    "disabledReason": None,
    "failingSince": None,
    "previousSecretUntil": None,
    "createdBy": "development",
    "version": 1,
}


async def test_the_secret_is_shown_once_and_is_not_in_the_table(one: Api, backend: Backend, dump: Dump) -> None:
    values = {"webhookId": "w1", "url": URL, "ownerId": "ada", "kinds": ["LOCKER_CHANGED", "LOCKER_CHANGED"]}
    first = await one.done(CREATE, **values)
    assert first["webhook"] == SHOWN
    async with unchanged(dump):
        again = await one.done(CREATE, **values)
        assert again == first | {"secret": None}
        assert refusal(await one.mutate(CREATE, **values | {"url": f"{URL}/2"})) == (
            "ID_TAKEN",
            409,
            ["input", "webhookId"],
        )
    rotated = await one.done(ROTATE, webhookId="w1", expectedRotation=1)
    assert rotated["webhook"] == SHOWN | {"version": 2, "previousSecretUntil": "2026-03-02T12:00:00.000Z"}
    async with unchanged(dump):
        repeated = await one.done(ROTATE, webhookId="w1", expectedRotation=1)
        assert repeated == rotated | {"secret": None}
        refused = await one.mutate(ROTATE, webhookId="w1", expectedRotation=3)
        assert refusal(refused) == ("BAD_USER_INPUT", 400, ["input", "expectedRotation"])
    items = await dump()
    stored = items["WEBHOOKS", "WEBHOOK#w1"]
    secrets = [first["secret"], rotated["secret"]]
    named = [(stored["previousKeyId"], stored["previousSecretId"]), (stored["keyId"], stored["secretId"])]
    assert secrets == [secret_of(backend.code_ring(), key_id, "w1", secret_id) for key_id, secret_id in named]
    assert not any(secret.removeprefix("whsec_") in str(items) for secret in secrets)


async def test_an_owner_has_ten_webhooks_at_most_whatever_is_sent_at_once(one: Api, dump: Dump) -> None:
    creations = (one.mutate(CREATE, webhookId=f"w{n}", url=URL, ownerId="ada") for n in range(MAX_WEBHOOKS + 5))
    answers = await asyncio.gather(*creations)
    refused = [refusal(answer) for answer in answers if answer["userErrors"]]
    assert refused == [("TOO_MANY_WEBHOOKS", 409, ["input", "ownerId"])] * 5
    made = next(answer["webhook"]["webhookId"] for answer in answers if not answer["userErrors"])
    for _ in range(2):
        assert (await one.done(DELETE, webhookId=made))["webhook"]["status"] == "DELETED"
    assert (await dump())["OWNER#ada", "WEBHOOKS"]["webhooks"] == MAX_WEBHOOKS - 1
    assert made not in {node["webhookId"] for node in (await one.run(OWN))["owner"]["webhooks"]["nodes"]}
    await create(one, "another")


async def test_owners_and_partners_have_webhooks_of_their_own_owner_for_what_they_may_read(
    one: Api, dump: Dump
) -> None:
    await one.owner("bob")
    hers, agent = one.by(owner("ada")), one.by(partner(Scope.WEBHOOKS_WRITE, Scope.RESERVATIONS_READ, of="ada"))
    await create(hers, "hers")
    await create(agent, "agents", kinds=["RESERVATION_CREATED"])
    async with unchanged(dump):
        for caller, values, path in (
            (hers, {"ownerId": "bob"}, ["input"]),
            (hers, {"locationId": ulid(0)}, ["input", "locationId"]),
            (hers, {"all": True}, ["input", "all"]),
            (agent, {"ownerId": "bob", "kinds": ["RESERVATION_CREATED"]}, ["input"]),
            (agent, {"all": True}, ["input", "all"]),
            (one.by(owner("guest", "ada")), {"ownerId": "ada"}, ["input"]),
        ):
            payload = await caller.mutate(CREATE, webhookId="w9", url=URL, **values)
            assert refusal(payload) == ("FORBIDDEN", 403, path), values
            assert ("requires the role ADMIN" in payload["userErrors"][0]["message"]) == ("ownerId" not in values)
        for kinds, wrong in (([], []), (["RESERVATION_CREATED", "LOCKER_CHANGED"], ["1"])):
            payload = await agent.mutate(CREATE, webhookId="w9", url=URL, ownerId="ada", kinds=kinds)
            assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", "kinds", *wrong]), kinds
        # Who can set the address of a webhook sees what is sent there.
        payload = await agent.mutate(UPDATE, webhookId="hers", expectedVersion=1, url=f"{URL}/mine")
        assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", "kinds"])
        for foreign in (one.by(owner("bob")), one.by(partner(*Scope, of="bob")), one.by(device("l1"))):
            answers = [await foreign.mutate(TEST, webhookId=name) for name in ("hers", "missing")]
            assert answers[0] == answers[1]
            assert answers[0]["userErrors"][0]["code"] == "FORBIDDEN"
    shown = await agent.by(partner(Scope.WEBHOOKS_READ, of="ada")).run(OWN)
    assert [node["webhookId"] for node in shown["owner"]["webhooks"]["nodes"]] == ["agents", "hers"]


async def test_a_partner_gets_no_secret_and_no_delivery_of_what_it_may_not_read(
    one: Api, backend: Backend, dump: Dump
) -> None:
    await create(one, "w1", kinds=["RESERVATION_CREATED", "LOCKER_CHANGED"])
    await create(one, "all")
    await deliver(backend, "w1")
    scopes = (Scope.WEBHOOKS_WRITE, Scope.RESERVATIONS_READ)
    agent, trusted = (one.by(partner(*more, of="ada")) for more in (scopes, (*scopes, Scope.LOCKERS_READ)))
    now = to_instant(datetime.now(UTC))
    asked: list[tuple[str, dict[str, Any]]] = [
        (ROTATE, {"expectedRotation": 1}),
        (ENABLE, {"expectedVersion": 1}),
        (AGAIN, {"activityId": "a1", "occurredAt": "2026-03-01T12:00:00Z"}),
        (REPLAY, {"fromTime": now, "toTime": now}),
    ]
    async with unchanged(dump):
        for document, values in asked:
            for caller, name in ((agent, "w1"), (trusted, "all")):
                payload = await caller.mutate(document, webhookId=name, **values)
                assert refusal(payload) == ("FORBIDDEN", 403, ["input", "webhookId"]), document
                assert "requires the scope" in payload["userErrors"][0]["message"]
    for document, values in asked[1:]:
        await trusted.done(document, webhookId="w1", **values)
    assert (await trusted.done(ROTATE, webhookId="w1", expectedRotation=1))["secret"] is not None
    for name in ("w1", "all"):
        version = 2 if name == "w1" else 1
        stopped = await agent.done(DISABLE, webhookId=name, expectedVersion=version)
        assert stopped["webhook"]["status"] == "DISABLED"
        await agent.done(DELETE, webhookId=name)


async def test_webhooks_of_locations_and_of_everything_are_the_admins(api: Api) -> None:
    await prepare(api)
    await create(api, "here", locationId=ulid(0))
    await create(api, "all", all=True)
    assert {node["webhookId"] for node in (await api.run(LISTED))["webhooks"]["nodes"]} == {"here", "all"}
    for caller in (owner("ada"), owner("guest", "ada"), partner(*Scope, of="ada")):
        for name in ("here", "all", "missing"):
            answer = await api.by(caller).send(f'{{ webhook(webhookId: "{name}") {{ url }} }}')
            assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"all": False}, []),
        ({"ownerId": "ada"}, []),
        ({"all": False, "ownerId": "ada", "kinds": ["LOCATION_CREATED"]}, ["kinds", "0"]),
        ({"url": "http://192.168.1.1/"}, ["url"]),
        ({"url": "ftp://example.com"}, ["url"]),
        ({"url": f"https://example.com/{'x' * 500}"}, ["url"]),
    ],
)
async def test_bad_input_creates_nothing(one: Api, dump: Dump, values: dict[str, Any], path: list[str]) -> None:
    async with unchanged(dump):
        assert refusal(await one.mutate(CREATE, **ALL | values)) == ("BAD_USER_INPUT", 400, ["input", *path])


async def test_what_a_webhook_names_must_exist(api: Api, dump: Dump) -> None:
    async with unchanged(dump):
        for target in ({"ownerId": "nobody"}, {"locationId": ulid(7)}):
            payload = await api.mutate(CREATE, webhookId="w1", url=URL, **target)
            assert refusal(payload) == ("NOT_FOUND", 404, ["input", *target])


async def test_a_deleted_webhook_stays_deleted_and_keeps_its_id_for_a_time(one: Api, dump: Dump) -> None:
    await create(one, kinds=["LOCKER_CHANGED"])
    await one.done(DELETE, webhookId="w1")
    item = (await dump())["WEBHOOKS", "WEBHOOK#w1"]
    assert item["expiresAt"] > 0
    async with unchanged(dump):
        for document, values in (
            (UPDATE, {"expectedVersion": 2, "url": URL}),
            (ROTATE, {"expectedRotation": 1}),
            (ENABLE, {"expectedVersion": 2}),
            (TEST, {}),
        ):
            assert refusal(await one.mutate(document, webhookId="w1", **values))[0] == "NOT_FOUND"
        taken = await one.mutate(CREATE, webhookId="w1", url=f"{URL}/2", ownerId="ada")
        assert refusal(taken)[0] == "ID_TAKEN"


async def test_a_disabled_endpoint_cannot_be_tested(one: Api, dump: Dump) -> None:
    await create(one)
    await one.done(DISABLE, webhookId="w1", expectedVersion=1)
    async with unchanged(dump):
        refused = (await one.mutate(TEST, webhookId="w1"))["userErrors"]
    assert [error["message"] for error in refused] == ["Webhook w1 is disabled. Enable it first."]


async def test_a_replay_lies_within_the_log(one: Api, backend: Backend, dump: Dump) -> None:
    await create(one)
    now = backend.stamp().at
    async with unchanged(dump):
        for window in (
            {"fromTime": "2020-01-01T00:00:00Z"},
            {"fromTime": "2999-01-01T00:00:00Z"},
            {"fromTime": now, "toTime": "2020-01-01T00:00:00Z"},
        ):
            payload = await one.mutate(REPLAY, webhookId="w1", **window)
            assert refusal(payload) == ("BAD_USER_INPUT", 400, ["input", "fromTime"])
    await one.done(REPLAY, webhookId="w1", fromTime=now)
    assert len([key for key in await dump() if key[0].startswith("WEBHOOK_TASKS#")]) == 4
