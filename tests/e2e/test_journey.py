"""A partner's whole journey, by the example program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.e2e.serving import COMMAND, ROOT, serving

if TYPE_CHECKING:
    from pathlib import Path

PARTNER = (
    "--role",
    "partner",
    "--owner",
    "owner-0001",
    "--scope",
    "reservations:read",
    "--scope",
    "reservations:write",
)
RESERVATION = """query ($locker: ID!, $id: ID!) { reservation(lockerId: $locker, reservationId: $id) {
  ownerId status reference startedAt details { recipient { name } } locker { status }
} }"""


def test_a_partner_finds_a_locker_reserves_it_for_a_recipient_checks_in_and_releases_it(
    tmp_path: Path, furnished: Path
) -> None:
    settings = {"SMARTLOCKER_DATA_DIR": str(furnished)}
    with serving(tmp_path / "run", **settings) as server:
        token = _output([COMMAND, "token", *PARTNER], **settings).strip()
        shown = _output([sys.executable, ROOT / "examples/partner_journey.py", server.url, "owner-0001", token])
        *steps, last = shown.splitlines()
        assert [step.partition(":")[0] for step in steps] == ["find", "reserve", "check in", "release"]
        assert all(re.fullmatch(r"[a-z ]+: [\d.]+ read units, [\d.]+ write units", step) for step in steps)
        found = re.fullmatch(r"(order-\w+) at (\S+): COMPLETED", last)
        assert found is not None
        order, locker = found.groups()
        reservation = server.ask(RESERVATION, locker=locker, id=order)["reservation"]
        assert reservation.pop("startedAt")
        assert reservation == {
            "ownerId": "owner-0001",
            "status": "COMPLETED",
            "reference": order,
            "details": {"recipient": {"name": "Rita Rossi"}},
            "locker": {"status": "AVAILABLE"},
        }


def _output(command: list[str | Path], **settings: str) -> str:
    return subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=True).stdout
