"""`smartlocker` with a clock that is ahead by `CLOCK_AHEAD_SECONDS`."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import partial

from domain.times import Instant, shift
from server.app import create_app
from server.cli import serve
from server.cli.main import main
from server.clock import utc_now

AHEAD = timedelta(seconds=float(os.environ.pop("CLOCK_AHEAD_SECONDS", "0")))


def clock() -> Instant:
    return shift(utc_now(), AHEAD)


if __name__ == "__main__":
    setattr(serve, "create_app", partial(create_app, clock=clock))  # noqa: B010  # it is not exported
    main()
