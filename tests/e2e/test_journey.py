import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.serving import ROOT, command, serving

JOURNEY = (sys.executable, ROOT / "examples" / "partner_journey.py")
PARTNER = ["--role=partner", "--owner=owner-0001", "--scope=reservations:read", "--scope=reservations:write"]
RESERVATION = """query ($locker: ID!, $id: ID!) { reservation(lockerId: $locker, reservationId: $id) {
  ownerId status reference startedAt details { recipient { name } } locker { status }
} }"""


def test_a_partner_finds_a_locker_reserves_it_checks_in_and_releases_it(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", data_dir=furnished) as server:
        token = command("token", *PARTNER, data_dir=furnished).stdout.strip()
        *steps, last = command(server.url, "owner-0001", token, program=JOURNEY).stdout.splitlines()
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["partner_journey.py"], "python examples/partner_journey.py http://127.0.0.1:8000/graphql owner-0001 TOKEN"),
        (["partner_journey.py", "http://127.0.0.1:9/graphql", "o1", "t"], "find: http://127.0.0.1:9/graphql cannot be"),
        (["device.py"], "python device.py enter 123456"),
        (["device.py", "sync"], "export LOCKER=locker-000001"),
        (["webhook_receiver.py", "8001"], "python webhook_receiver.py 8001"),
    ],
)
def test_an_example_that_lacks_something_says_how_it_is_run(words: list[str], said: str) -> None:
    run = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT / "examples")
    assert (run.returncode, run.stdout) == (1, "")
    assert said in run.stderr
    assert "Traceback" not in run.stderr
