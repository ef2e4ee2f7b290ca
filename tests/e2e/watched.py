"""`smartlocker`, with every request held against its plan: a line of a file holds each result.

Where `STORE_SECONDS` is set, the store has so long to answer.
"""

import os
from pathlib import Path

from loaders.table.http_client import Timeouts
from server.cli.main import Injected, main
from tests.e2e.reports import KEPT, VARIABLE
from tests.planned import PriceCheck

if __name__ == "__main__":
    seconds = os.environ.get("STORE_SECONDS")
    timeouts = None if seconds is None else Timeouts(float(seconds), float(seconds))
    with Path(os.environ[VARIABLE]).open("a", buffering=1) as file:
        check = PriceCheck(lambda problems: print(" and ".join(problems) or KEPT, file=file))
        main(Injected(observer=check, timeouts=timeouts))
