"""The torture in its short form: few faults, and no verdict that depends on the machine."""

from pathlib import Path

import pytest

from tests.torture.phases import PHASES, run_phase
from tests.torture.report import section_of, text_of

SEED = 1
SCALES = {
    "kills": 0.06,
    "store": 0.12,
    "retries": 0.02,
    "throttle": 0.02,
    "hangs": 0.02,
    "clocks": 0.02,
    "memory": 0.004,
}
COUNTS = {"kills": {"server kills": 3}, "store": {"store kills": 3}, "retries": {"creations sent twice": 201}}


@pytest.mark.parametrize("phase", PHASES)
async def test_faults_lose_nothing_and_tell_no_client_anything_false(tmp_path: Path, phase: str) -> None:
    result = await run_phase(phase, SCALES[phase], SEED, tmp_path)
    failed = [verdict for verdict in result.verdicts if not verdict.holds and not verdict.depends_on_machine]
    assert not failed, (failed, result.findings)
    assert COUNTS.get(phase, {}).items() <= result.figures.items()
    assert phase in text_of(result)
    assert section_of(result).count("\n| ") == len(result.verdicts) + 1
