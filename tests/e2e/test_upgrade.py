"""Two versions of one format share a table; of another format, older or newer, none serves it."""

import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from loaders.contracts.table_state import FORMAT_VERSION
from loaders.tools.table_state import CURRENT_STATE
from tests.documentation import ROOT
from tests.e2e.serving import COMMAND, Server, command, eventually, refusal_of, serving, start
from tests.table_state import OLDER, set_state
from tests.tables import PlainClient

NEXT = "1.99.0"
CREATE = 'mutation ($id: ID!) { createOwner(input: {ownerId: $id, kind: USER, name: "New"}) { userErrors { code } } }'
RENAME = """mutation ($id: ID!, $name: String!, $version: Int!) {
  updateOwner(input: {ownerId: $id, name: $name, expectedVersion: $version}) { owner { version } userErrors { code } }
}"""
NAME = "query ($id: ID!) { owner(ownerId: $id) { name version } }"


@pytest.fixture(scope="module")
def next_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a wheel that is built from this tree with another version number, and installed by itself.

    Only what it depends on is taken from the environment of the tests.
    """
    folder = tmp_path_factory.mktemp("next")
    for name in ("domain", "loaders", "resolvers", "server"):
        shutil.copytree(ROOT / name, folder / "tree" / name, ignore=shutil.ignore_patterns("__pycache__"))
    project = (ROOT / "pyproject.toml").read_text()
    (folder / "tree" / "pyproject.toml").write_text(re.sub('(?m)^version = ".+"$', f'version = "{NEXT}"', project))
    shutil.copy(ROOT / "README.md", folder / "tree")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    offline = ["--no-deps", "--no-index"]
    subprocess.run(
        [*pip, "wheel", *offline, "--no-build-isolation", "--wheel-dir", folder, folder / "tree"], check=True
    )
    venv.create(folder / "env", with_pip=False)
    wheel = folder / f"smartlocker-{NEXT}-py3-none-any.whl"
    subprocess.run([*pip, "--python", folder / "env/bin/python", "install", *offline, wheel], check=True)
    (packages,) = (folder / "env" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    return folder / "env" / "bin" / "smartlocker"


def rename(servers: Sequence[Server], owner_id: str, rounds: int) -> None:
    """Renames an owner at the servers in turn; each must know what the other has done."""
    servers[0].ask(CREATE, id=owner_id)
    for number in range(rounds):
        changed = servers[number % len(servers)].ask(
            RENAME, id=owner_id, name=f"{owner_id} {number}", version=number + 1
        )
        assert changed["updateOwner"] == {"owner": {"version": number + 2}, "userErrors": []}


def test_two_versions_of_one_format_serve_one_table_under_load(
    tmp_path: Path, next_version: Path, at_store: dict[str, Any]
) -> None:
    settings = at_store | {"metrics": "on"}
    old = start(tmp_path / "old", [COMMAND], **settings)
    with serving(tmp_path / "new", [next_version], **settings) as new:
        try:
            for server, number in ((old, version("smartlocker")), (new, NEXT)):
                assert f'smartlocker_build_info{{version="{number}"}} 1.0' in server.get("/metrics").text
            with ThreadPoolExecutor(4) as clients:
                list(clients.map(lambda name: rename([old, new], name, 10), ("ada", "bob", "eve", "joe")))
        finally:
            assert old.end() == 0  # as an upgrade replaces one server after another
        for name in ("ada", "bob", "eve", "joe"):
            assert new.ask(NAME, id=name) == {"owner": {"name": f"{name} 9", "version": 11}}
        rename([new], "mia", 2)
        page = new.get("/graphql", headers={"Accept": "text/html"}).text
        assets = re.findall(r'"([^"]*assets/[^"]+)"', page)
        assert assets, "the wheel has the page with its files"
        assert {new.get(f"/graphql/{path.removeprefix('/graphql/')}").status_code for path in assets} == {200}
        # The next version follows the log from where the other one was.
        eventually(lambda: new.get("/metrics").text.count('smartlocker_followed_shards{shard="') == 4)
        followed = r'smartlocker_followed_shards\{shard="\d"\} 1.0'
        eventually(lambda: len(re.findall(followed, new.get("/metrics").text)) == 4)
    assert command("doctor", "--full-scan", "--yes", **at_store).stdout.endswith("no violation\n")


async def test_no_version_serves_a_table_of_another_format(
    tmp_path: Path, next_version: Path, at_store: dict[str, Any], plain_client: PlainClient, table: str
) -> None:
    newer = replace(CURRENT_STATE, format_version=FORMAT_VERSION + 1)
    server = start(tmp_path / "run", [next_version], **at_store)
    try:
        for state, reason in (
            (OLDER, "run `smartlocker migrate`"),
            (newer, "a newer version of SmartLocker is needed"),
        ):
            await set_state(plain_client, table, state)
            eventually(lambda reason=reason: server.ready[0] == 503 and reason in server.ready[1])  # type: ignore[misc]
            answer = server.post("{ __typename }")
            assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (503, "UNAVAILABLE")
            assert server.get("/health").text == "ok"
        assert f"table {table} has format {FORMAT_VERSION + 1}, and this version" in refusal_of("serve", **at_store)
        await set_state(plain_client, table, CURRENT_STATE)
        eventually(lambda: server.ready == (200, "ready"))
    finally:
        server.end()
