"""`smartlocker`, with every request held against its plan: a line of a file holds each result.

Where `STORE_SECONDS` is set, the store has so long to answer.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from loaders.table.client import StoreConnection
from loaders.table.http_client import Timeouts
from server.cli.main import main
from server.process import store
from tests.e2e.reports import KEPT, VARIABLE
from tests.planned import PriceCheck

if __name__ == "__main__":
    if "STORE_SECONDS" in os.environ:
        seconds = float(os.environ["STORE_SECONDS"])
        patient = partial(StoreConnection, timeouts=Timeouts(seconds, seconds))
        setattr(store, "StoreConnection", patient)  # noqa: B010  # it is not exported
    with Path(os.environ[VARIABLE]).open("a", buffering=1) as file:
        main(PriceCheck(lambda problems: print(" and ".join(problems) or KEPT, file=file)))
