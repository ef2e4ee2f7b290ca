"""`make torture`: all phases one after another, or one of them, and the report."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from bench.page import write_section
from tests.torture.phases import PHASES, run_phase
from tests.torture.report import page_of, section_of, text_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "artefacts/torture.html"


def main(
    phase: Annotated[str, typer.Option(help=f"One phase: {', '.join(PHASES)}.")] = "",
    scale: Annotated[float, typer.Option(help="Counts and durations are multiplied by it.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed makes the same clients and faults.")] = 1,
) -> None:
    """Runs the phases; fails if a verdict does not hold. A whole run at scale 1 also writes docs/reliability.md."""
    if phase and phase not in PHASES:
        raise typer.BadParameter(f"the phases are {', '.join(PHASES)}", param_hint="--phase")
    for name in [name for name in os.environ if name.startswith(("SMARTLOCKER_", "AWS_"))]:
        del os.environ[name]
    logging.disable()  # that the store is started again is no news here
    results = []
    for name in [phase] if phase else PHASES:
        with TemporaryDirectory() as folder:
            results.append(asyncio.run(run_phase(name, scale, seed, Path(folder))))
        typer.echo(text_of(results[-1]))
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page_of(results, seed))
    typer.echo(f"The charts are in {PAGE.relative_to(ROOT)}")
    if scale == 1 and not phase:
        write_section("torture", section_of(results, seed), ROOT / "docs/reliability.md")
    sys.exit(not all(result.holds for result in results))


if __name__ == "__main__":
    typer.run(main)
