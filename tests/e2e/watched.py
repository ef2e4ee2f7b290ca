"""`smartlocker`, with every request held against its plan: a line of a file holds each result."""

from __future__ import annotations

import os
from pathlib import Path

from server.cli.main import main
from tests.e2e.reports import KEPT, VARIABLE
from tests.planned import PriceCheck

if __name__ == "__main__":
    with Path(os.environ[VARIABLE]).open("a", buffering=1) as file:
        main(PriceCheck(lambda problems: print(" and ".join(problems) or KEPT, file=file)))
