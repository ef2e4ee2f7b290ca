"""How much of what is made at random a run makes: `make generated` makes four times as much as `make test`."""

import os

FACTOR = int(os.environ.get("GENERATED", "1"))
