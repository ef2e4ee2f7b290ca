"""`smartlocker`, with every request held against its plan: a line of a file for each says what came of it."""

from __future__ import annotations

import os
from pathlib import Path

from server.cli import main
from tests.planned import Recorded, planned

__all__ = ["KEPT", "REPORT"]

REPORT = "PLANS_REPORT"
"""The variable of the environment that names the file."""
KEPT = "kept to its plan"

if __name__ == "__main__":
    with (
        Path(os.environ[REPORT]).open("a", buffering=1) as file,
        planned(Recorded(), lambda problems: print(" and ".join(problems) or KEPT, file=file)),
    ):
        main()
