"""The measurements run, and what they claim of code that is not asked for holds."""

from __future__ import annotations

from contextlib import nullcontext
from statistics import median

from bench import plan, telemetry
from bench.explain import VARIANTS, WITHOUT
from bench.harness import DOCUMENTS, Variant, interleaved, open_app, table
from bench.telemetry import open_served
from tests.planned import Recorded, planned


async def test_a_request_that_is_not_to_be_explained_calls_hardly_a_function_more_than_if_none_could_be() -> None:
    async with open_app() as app:
        for document, _ in DOCUMENTS.values():
            samples = await interleaved(app, document, VARIANTS, rounds=5, requests=1)
            calls = {name: median(sample.calls for sample in own) for name, own in samples.items()}
            assert calls["not asked for"] < 1.01 * calls[WITHOUT]
            assert calls["explained"] > 1.02 * calls[WITHOUT]
            assert len(table(samples, WITHOUT)) == 2 + len(VARIANTS)


async def test_a_request_that_telemetry_does_not_observe_calls_hardly_a_function_more_than_if_none_could_be() -> None:
    async with open_served() as served:
        for document, _ in DOCUMENTS.values():
            samples = await interleaved(served, document, served.variants(), rounds=5, requests=1)
            calls = {name: median(sample.calls for sample in own) for name, own in samples.items()}
            assert calls[telemetry.OFF] < 1.01 * calls[telemetry.WITHOUT]
            assert calls["metrics"] > 1.02 * calls[telemetry.WITHOUT]


async def test_a_request_that_is_not_planned_calls_fewer_functions_and_one_that_is_keeps_to_its_plan() -> None:
    async with open_app() as app:
        for document, _ in DOCUMENTS.values():
            samples = await interleaved(app, document, plan.VARIANTS, rounds=3, requests=1)
            calls = {name: median(sample.calls for sample in own) for name, own in samples.items()}
            assert calls[plan.PLANNED] > 1.005 * calls[plan.WITHOUT]
        reports: list[list[str]] = []
        with planned(Recorded(), reports.append):
            for document, _ in DOCUMENTS.values():
                await interleaved(app, document, [Variant(plan.PLANNED, nullcontext, {})], rounds=1, requests=1)
        assert reports
        assert not any(reports)
