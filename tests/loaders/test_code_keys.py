from typing import Any

from domain.access_codes import AccessCode, AccessCodeKind, CodeRing
from domain.models import door_of
from loaders.backend import Backend
from loaders.reads.code_keys import KeyUse, key_uses
from tests import webhooks
from tests.api import Api
from tests.codes import PROVISION, REVEAL, ROTATE, check_no_digits, create, furnish, verify
from tests.conftest import CODE_KEYS, NOW, RING, Clock, OpenApi
from tests.contracts.samples import record

LISTED = """{ locker(lockerId: "l1") {
  accessCodes { nodes { id codeId kind length uses validity { state } reveals { revealedBy } } }
  accessEvents { nodes { action metadata } } lockout { failures }
} }"""


async def test_a_key_is_in_use_as_long_as_a_webhook_signs_with_its_secret(
    one: Api, open_api: OpenApi, backend: Backend, clock: Clock
) -> None:
    store: Any = backend.store
    for name in ("w1", "w2"):
        await webhooks.create(one, name)
    async with open_api(code_keys=f"{CODE_KEYS.replace('k1:MTEx', 'k2:MjIy')},{CODE_KEYS}") as renewed:
        await renewed.done(webhooks.ROTATE, webhookId="w1", expectedRotation=1)
    assert await key_uses(store, NOW) == {"k1": KeyUse(webhooks=2), "k2": KeyUse(webhooks=1)}
    clock.move(hours=24)
    await one.done(webhooks.DELETE, webhookId="w2")
    assert await key_uses(store, clock()) == {"k2": KeyUse(webhooks=1)}


async def test_a_key_is_in_use_as_long_as_a_live_code_or_a_device_needs_it(
    api: Api, open_api: OpenApi, backend: Backend, clock: Clock
) -> None:
    store: Any = backend.store
    await furnish(api)
    await create(api, "c1")
    await create(api, "c2", "STANDING")
    await api.mutate(PROVISION, lockerId="l1", generation=1)
    async with open_api(code_keys=f"{CODE_KEYS.replace('k1:MTEx', 'k2:MjIy')},{CODE_KEYS}") as renewed:
        assert await key_uses(store, NOW) == {"k1": KeyUse(codes=2, devices=1)}
        await renewed.mutate(ROTATE, lockerId="l1", codeId="c2", expectedRotation=1)
        await renewed.mutate(PROVISION, lockerId="l1", generation=2)
    assert await key_uses(store, NOW) == {"k1": KeyUse(codes=1), "k2": KeyUse(codes=1, devices=1)}
    clock.move(hours=1, minutes=14)
    assert (await key_uses(store, clock()))["k1"] == KeyUse(codes=1), "it still opens the door, in its grace period"
    clock.move(minutes=1)
    assert await key_uses(store, clock()) == {"k2": KeyUse(codes=1, devices=1)}


async def test_no_query_and_no_explanation_shows_digits(api: Api) -> None:
    await furnish(api)
    issued = {await create(api, f"c{number}", length=6 + number) for number in range(3)}
    for number, digits in enumerate([*issued, "73910264"]):
        await verify(api, digits, f"a{number}")
    reveal = {"query": REVEAL, "variables": {"input": {"lockerId": "l1", "codeId": "c1"}}}
    explained = await api.client.post("/graphql", json={**reveal, "extensions": {"explain": True}})
    assert explained.json()["data"]["revealAccessCode"]["digits"] in issued
    texts = {"queries": str(await api.run(LISTED)), "explanation": str(explained.json()["extensions"])}
    check_no_digits(texts, {*issued, "73910264"})


def test_digits_are_spread_evenly_and_differ_by_door_code_rotation_counter_and_key() -> None:
    def digits(ring: CodeRing = RING, locker: str = "l1", **values: Any) -> str:
        code = record(AccessCode, 0, kind=AccessCodeKind.ONE_TIME, **{"code_id": "c", "key_id": "k1", **values})
        return ring.digits(door_of(locker, None), code)  # type: ignore[arg-type]

    firsts = [digits(code_id=f"c{number}", length=8)[0] for number in range(2000)]
    assert all(130 < firsts.count(first) < 270 for first in "0123456789")
    other = CodeRing.of([("k1", b"2" * 32)])
    found = [digits(length=8), digits(length=8, rotation=2), digits(length=8, counter=2), digits(other, length=8)]
    assert len({*found, digits(locker="l2", length=8), digits(length=8, code_id="d")}) == 6
    assert digits(length=8) == digits(length=8)


def test_a_ring_shows_its_key_ids_but_no_secret() -> None:
    assert repr(CodeRing.of([("k1", b"2" * 32)])) == "CodeRing(keys=(RingKey(key_id='k1'),))"
