"""`smartlocker codes keys` as its operator runs it, and what a server leaves in its log and its backup."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.times import shift
from server.clock import utc_now
from tests.api import REGISTER_LOCKER, mutation
from tests.codes import CREATE, PROVISION, VERIFY, check_no_digits
from tests.e2e.serving import COMMAND, serving

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = (f"{name}:{base64.b64encode(name.encode() * 16).decode()}" for name in ("k1", "k2"))
REVOKE = mutation("revokeAccessCode", "accessCode { codeId }")


def test_a_key_can_leave_the_ring_only_when_nothing_needs_it_and_no_digits_are_left_behind(
    tmp_path: Path, furnished: Path
) -> None:
    demo = (furnished / "codes.secret").read_text()

    def run(*words: str, ring: str) -> subprocess.CompletedProcess[str]:
        variables = {"SMARTLOCKER_DATA_DIR": str(furnished), "SMARTLOCKER_CODE_KEYS": ring}
        return subprocess.run(
            [COMMAND, *words], env=os.environ | variables, capture_output=True, text=True, check=False
        )

    def keys(ring: str) -> tuple[int, list[str], list[str]]:
        done = run("codes", "keys", ring=ring)
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    of_demo = "development: 3 live codes, 2 devices (in use)"
    settings = {"SMARTLOCKER_DATA_DIR": str(furnished), "SMARTLOCKER_CODE_KEYS": f"{FIRST},{demo}"}
    day = {"lockerId": "door", "validUntil": shift(utc_now(), timedelta(hours=20))}
    with serving(tmp_path / "run", **settings, SMARTLOCKER_REQUEST_LOG="on") as server:
        server.ask(REGISTER_LOCKER, input={"lockerId": "door", "ownerId": "owner-0001"})
        issued = {
            server.ask(CREATE, input=day | values)["createAccessCode"]["digits"]
            for values in (
                {"codeId": "four", "kind": "ONE_TIME", "length": 4},
                {"codeId": "six", "kind": "COURIER", "maxUses": 2},
                {"codeId": "eight", "kind": "STANDING"},
            )
        }
        assert sorted(map(len, issued)) == [4, 6, 8]
        for digits in sorted(issued):
            entry = {"lockerId": "door", "digits": digits, "attemptId": f"a{len(digits)}"}
            assert server.ask(VERIFY, input=entry)["verifyAccessCode"]["decision"] == "GRANTED"
        server.ask(PROVISION, input={"lockerId": "door", "generation": 1})
        in_use = ["k2: 0 live codes, 0 devices (current)", "k1: 2 live codes, 1 devices (in use)", of_demo]
        assert keys(f"{SECOND},{FIRST},{demo}") == (0, in_use, [])
        needed = "smartlocker: live codes or devices need keys that are not in SMARTLOCKER_CODE_KEYS: k1"
        assert keys(f"{SECOND},{demo}") == (1, [in_use[0], of_demo], [needed])
        for code_id in ("six", "eight"):
            server.ask(REVOKE, input={"lockerId": "door", "codeId": code_id})
        assert keys(f"{SECOND},{FIRST},{demo}")[1][1] == "k1: 0 live codes, 1 devices (in use)"
        backup = run("backup", str(tmp_path / "backup"), ring=FIRST)
        assert backup.returncode == 0, backup.stderr
    for bad in ("k1:", f"{FIRST},{FIRST}", "k1:c2hvcnQ="):
        status, out, (error,) = keys(bad)
        assert (status, out, error.startswith("smartlocker: ")) == (1, [], True)
        assert "c2hvcnQ=" not in error
    database = (tmp_path / "backup").read_bytes().decode("latin-1")
    without_demo_ids = re.sub(r"[a-z]+-[0-9]+", " ", database)
    check_no_digits({"backup": without_demo_ids, "log": server.stdout + server.stderr}, issued)
