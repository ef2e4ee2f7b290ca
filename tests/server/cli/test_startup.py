import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.serving import ROOT, Server

SDK = {"aioboto3", "aiobotocore", "boto3", "botocore"}
TELEMETRY = {"opentelemetry", "prometheus_client"}
TOKENS = {"aiohttp", "cryptography", "jwt"}


def recording(tmp_path: Path) -> tuple[str, ...]:
    """`smartlocker`, which at its end writes down the packages that it has loaded."""
    program = f"""
import json, sys
from pathlib import Path
from server.cli.main import main
try:
    main()
finally:
    Path({str(tmp_path / "loaded")!r}).write_text(json.dumps([name.partition(".")[0] for name in sys.modules]))
"""
    return sys.executable, "-c", program


def loaded(tmp_path: Path) -> set[str]:
    return set(json.loads((tmp_path / "loaded").read_text()))


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version_load_nothing_of_the_server(tmp_path: Path, word: str) -> None:
    subprocess.run([*recording(tmp_path), word], cwd=ROOT, capture_output=True, check=True)
    application = {"graphql", "loaders", "pydantic", "resolvers", "starlette", "strawberry", "uvicorn", "uvloop"}
    assert loaded(tmp_path) & (application | SDK | TELEMETRY | TOKENS) == set()


def test_a_server_with_the_raw_client_loads_neither_the_sdk_nor_what_is_off_or_comes_later(tmp_path: Path) -> None:
    server = Server(tmp_path / "run", {"SMARTLOCKER_DATA_DIR": str(tmp_path / "data")}, recording(tmp_path))
    try:
        server.wait_until_it_serves()
        assert server.ask('{ owner(ownerId: "owner-0001") { name } }') == {"owner": {"name": "Metro Parcel 1"}}
    finally:
        server.end()
    assert {"strawberry", "uvicorn"} <= loaded(tmp_path)
    assert loaded(tmp_path) & (SDK | TELEMETRY | TOKENS) == set()
