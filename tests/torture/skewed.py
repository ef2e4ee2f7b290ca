"""`smartlocker` on a machine whose clock is ahead by `CLOCK_AHEAD_SECONDS`."""

import os
import time

from server.cli.main import Injected, main

AHEAD = float(os.environ.pop("CLOCK_AHEAD_SECONDS", "0"))

if __name__ == "__main__":
    main(Injected(machine=lambda: time.time() + AHEAD))
