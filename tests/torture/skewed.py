"""`smartlocker` with a clock that is ahead by `CLOCK_AHEAD_SECONDS`."""

import os
from datetime import timedelta

from domain.times import Instant, shift
from server.cli.main import Injected, main
from server.clock import utc_now

AHEAD = timedelta(seconds=float(os.environ.pop("CLOCK_AHEAD_SECONDS", "0")))


def clock() -> Instant:
    return shift(utc_now(), AHEAD)


if __name__ == "__main__":
    main(Injected(clock=clock))
