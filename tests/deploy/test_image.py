import fnmatch
import json
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.documentation import ROOT
from tests.e2e.serving import COMMAND, serving

TEXT = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
BIN = Path(sys.executable).parent


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} +(.+)$", TEXT, re.MULTILINE)


def test_the_linter_has_nothing_to_say() -> None:
    found = subprocess.run([BIN / "hadolint", ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_every_base_is_pinned_by_digest() -> None:
    stages = set(re.findall(r" AS (\w+)", TEXT))
    bases = [base.split()[0] for base in instructions("FROM")]
    assert len(bases) == 5
    assert [
        base for base in bases if base not in stages and not re.fullmatch(r"\S+:\S+@sha256:[0-9a-f]{64}", base)
    ] == []


def test_the_user_is_a_number_and_the_last_stage_is_the_server() -> None:
    assert instructions("USER") == ["65532:65532"]
    assert instructions("FROM")[-1] == "base AS server"
    assert "SMARTLOCKER_PROFILE=production" in instructions("ENV")[-1]


def test_what_is_copied_is_sent_to_the_builder() -> None:
    rules = (ROOT / ".dockerignore").read_text().split()
    assert rules[0] == "*"
    sources = [path for line in instructions("COPY") if "--from" not in line for path in line.split()[:-1]]
    allowed = [rule.removeprefix("!") for rule in rules if rule.startswith("!")]
    assert [path for path in sources if not any(fnmatch.fnmatch(path.split("/")[0], rule) for rule in allowed)] == []
    assert [path for path in sources if not (ROOT / path).exists()] == []


def is_healthy(port: int) -> bool:
    """The result of the image's health check for a server at this port."""
    (options,) = instructions("HEALTHCHECK")
    command = json.loads(options.partition(" CMD ")[2])
    environment = {"SMARTLOCKER_PORT": str(port), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=False).returncode == 0


def test_the_health_check_passes_while_the_server_answers(tmp_path: Path, store_url: str, table: str) -> None:
    with serving(tmp_path / "run", [COMMAND], endpoint_url=store_url, table_name=table) as server:
        port = int(server.url.split(":")[2].partition("/")[0])
        assert is_healthy(port)
    assert not is_healthy(port)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 503 Service Unavailable\r\n\r\n", b""])
def test_the_health_check_fails_for_any_other_answer(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def respond() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        thread = threading.Thread(target=respond)
        thread.start()
        assert not is_healthy(listener.getsockname()[1])
        thread.join()
