"""Which secrets of the ring are in use, and that no digits leave the product but in three payloads."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from domain.access_codes import AccessCode, AccessCodeKind, CodeRing
from domain.models import door_of
from loaders.reads.code_keys import KeyUse, key_uses
from tests.codes import PROVISION, REVEAL, REVOKE, ROTATE, check_no_digits, create, furnish, verify, without_values
from tests.conftest import CODE_KEYS, NOW, RING
from tests.contracts.samples import record

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    import pytest

    from loaders.backend import Backend
    from tests.api import Api
    from tests.conftest import Clock

    Opener = Callable[..., AbstractAsyncContextManager[Api]]

LISTED = """{ locker(lockerId: "l1") {
  accessCodes { nodes { id codeId kind length uses validity { state } reveals { revealedBy } } }
  accessEvents { nodes { action metadata } } lockout { failures }
} }"""


async def test_a_key_is_in_use_as_long_as_a_live_code_or_a_device_needs_it(
    api: Api, open_api: Opener, backend: Backend, clock: Clock
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


async def test_no_table_log_trace_or_metric_contains_digits(
    open_api: Opener, dump: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    exporter, guessed = InMemorySpanExporter(), "73910264"
    async with open_api(span_exporter=exporter, tracing="otlp", metrics="on", request_log="on") as api:
        await furnish(api)
        issued = [await create(api, f"c{number}", "STANDING") for number in range(3)]
        issued += [await create(api, f"d{number}", length=6 + number) for number in range(3)]
        issued += [await create(api, f"e{number}", "ONE_TIME", length=4) for number in range(3)]
        issued.append((await api.mutate(ROTATE, lockerId="l1", codeId="d0", expectedRotation=1))["digits"])
        assert (await api.mutate(REVEAL, lockerId="l1", codeId="d1"))["digits"] == issued[4]
        for number, digits in enumerate([*issued, guessed]):
            await verify(api, digits, f"a{number}")
        await api.mutate(REVOKE, lockerId="l1", codeId="d2")
        explained = await api.client.post(
            "/graphql",
            json={
                "query": REVEAL,
                "variables": {"input": {"lockerId": "l1", "codeId": "d1"}},
                "extensions": {"explain": True},
            },
        )
        explanation = str(explained.json().get("extensions"))
        shown = str(await api.run(LISTED))
        metrics = (await api.client.get("/metrics")).text
    log = caplog.text
    spans = " ".join(span.to_json() for span in exporter.get_finished_spans())
    assert len(spans) > 1000
    assert "smartlocker" in metrics
    texts = {
        "table": str(await dump()),
        "log": log,
        "traces": spans,
        "metrics": without_values(metrics),
        "queries": shown,
        "explanation": explanation,
    }
    check_no_digits(texts, {*issued, guessed})


def test_digits_are_spread_evenly_and_differ_by_door_code_rotation_counter_and_key() -> None:
    def digits(ring: CodeRing = RING, locker: str = "l1", **values: Any) -> str:
        code = record(AccessCode, 0, kind=AccessCodeKind.ONE_TIME, **{"code_id": "c", "key_id": "k1", **values})
        return ring.digits(door_of(locker, None), code)  # type: ignore[arg-type]

    firsts = [digits(code_id=f"c{number}", length=8)[0] for number in range(5000)]
    assert all(400 < firsts.count(first) < 600 for first in "0123456789")
    other = CodeRing.of([("k1", b"2" * 32)])
    found = [digits(length=8), digits(length=8, rotation=2), digits(length=8, counter=2), digits(other, length=8)]
    assert len({*found, digits(locker="l2", length=8), digits(length=8, code_id="d")}) == 6
    assert digits(length=8) == digits(length=8)


def test_a_ring_shows_its_key_ids_but_no_secret() -> None:
    assert repr(CodeRing.of([("k1", b"2" * 32)])) == "CodeRing(keys=(RingKey(key_id='k1'),))"
