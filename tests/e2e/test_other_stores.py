"""`make serve STORE=…`: the server on a store of one's own, for platforms that have no embedded one."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loaders.table.embedded import find_binary, reserve_address
from tests.e2e.serving import ROOT, eventually, serving

OWNER = '{ owner(ownerId: "owner-0001") { name lockers { nodes { lockerId } } } }'
RENAME = """mutation { renameLocker(input: {lockerId: "locker-000001", alias: "Mine", expectedVersion: 1}) {
  locker { alias } } }"""


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    """A store that somebody else has started."""
    with reserve_address() as (host, port):
        words = ["serve", "--host", host, "--port", str(port), "--db-path", str(tmp_path / "other.db")]
        store = subprocess.Popen([find_binary(None), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers() -> bool:
            assert store.poll() is None
            with socket.socket() as client:
                return client.connect_ex((host, port)) == 0

        try:
            eventually(answers)
            yield f"http://{host}:{port}"
        finally:
            store.terminate()
            store.wait()


def test_make_serve_creates_table_and_demo_data_at_an_endpoint_once(tmp_path: Path, endpoint: str) -> None:
    make = ("make", "--no-print-directory", "--directory", ROOT, "--old-file", ".venv/installed")
    program = (*make, f"BIN={Path(sys.executable).parent}", f"STORE={endpoint}", "PORT=0")
    with serving(tmp_path / "first", program) as server:
        owner = server.ask(OWNER)["owner"]
        assert (owner["name"], len(owner["lockers"]["nodes"])) == ("Metro Parcel 1", 5)
        server.ask(RENAME)
    with serving(tmp_path / "again", program) as server:
        assert server.ask('{ locker(lockerId: "locker-000001") { alias } }') == {"locker": {"alias": "Mine"}}
