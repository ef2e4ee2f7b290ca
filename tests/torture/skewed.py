"""`smartlocker` with a clock that is ahead by `CLOCK_AHEAD_SECONDS`."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta

from domain.times import Instant, shift
from server.app import create_app
from server.cli import serve
from server.cli.main import main
from server.clock import utc_now

AHEAD = timedelta(seconds=float(os.environ.pop("CLOCK_AHEAD_SECONDS", "0")))


def clock() -> Instant:
    return shift(utc_now(), AHEAD)


if __name__ == "__main__":
    setattr(  # noqa: B010  # it is not exported
        serve,
        "create_app",
        lambda settings, connection, parts: create_app(settings, connection, replace(parts, clock=clock)),
    )
    main()
