"""`make torture`: all phases one after another, or one of them, and the report."""

import asyncio
import logging
import os
import platform
import resource
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from bench.page import write_section
from tests.torture.phases import PHASES, run_phase
from tests.torture.report import section_of, text_of

ROOT = Path(__file__).parents[2]
CORES = os.cpu_count() or 1


def main(
    phase: Annotated[str, typer.Option(help=f"One phase: {', '.join(PHASES)}.")] = "",
    scale: Annotated[float, typer.Option(help="Counts and durations are multiplied by it.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed makes the same clients and faults.")] = 1,
) -> None:
    """Runs the phases; fails if a verdict does not hold. At scale 1, their figures go to docs/reliability.md."""
    if phase and phase not in PHASES:
        raise typer.BadParameter(f"the phases are {', '.join(PHASES)}", param_hint="--phase")
    for name in [name for name in os.environ if name.startswith(("SMARTLOCKER_", "AWS_"))]:
        del os.environ[name]
    logging.disable()  # that the store is started again is no news here
    results = []
    for name in [phase] if phase else PHASES:
        begin, of_others = time.monotonic(), _seconds_of_others()
        with TemporaryDirectory() as folder:
            results.append(asyncio.run(run_phase(name, scale, seed, Path(folder))))
        share = (_seconds_of_others() - of_others) / (time.monotonic() - begin) / CORES
        results[-1].circumstances = (
            f"{datetime.now(UTC):%Y-%m-%d}, seed {seed}, Python {platform.python_version()}, {CORES} cores, "
            f"{max(0, share):.0%} of which other programs used"
        )
        typer.echo(text_of(results[-1]))
        if scale == 1:
            write_section(f"torture {name}", section_of(results[-1]), ROOT / "docs/reliability.md")
    sys.exit(not all(result.holds for result in results))


def _seconds_of_others() -> float:
    """Time of processors that programs outside this run have used so far, other virtual machines included."""
    user, nice, system, _, _, *interrupts_and_stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
    busy = (user + nice + system + sum(interrupts_and_stolen)) / os.sysconf("SC_CLK_TCK")
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return busy - sum(usage.ru_utime + usage.ru_stime for usage in own)


if __name__ == "__main__":
    typer.run(main)
