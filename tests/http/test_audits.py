"""The public audits of GraphQL over HTTP (npm graphql-http), run against the server as its users start it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import serving

HERE = Path(__file__).parent
PACKAGE_FILES = ("package.json", "package-lock.json")


@pytest.fixture(scope="session")
def packages() -> Path:
    """A folder with the pinned packages, installed once for each state of the lock."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in PACKAGE_FILES)).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smartlocker"
    home = cache / f"http-audits-{digest[:16]}"
    if not home.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            for name in PACKAGE_FILES:
                shutil.copy(HERE / name, temporary)
            subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=temporary, check=True)
            with suppress(OSError):  # another run was faster
                Path(temporary).rename(home)
                Path(temporary).mkdir()
    return home


def audit(packages: Path, url: str) -> list[dict[str, Any]]:
    """What came of each audit."""
    result = subprocess.run(
        ["node", "--input-type=module", "-", url],
        input=(HERE / "audit.mjs").read_text(),
        cwd=packages,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    audits: list[dict[str, Any]] = json.loads(result.stdout)
    return audits


async def test_all_61_public_audits_pass_without_a_warning(
    packages: Path, tmp_path: Path, store_url: str, table: str
) -> None:
    def run() -> list[dict[str, Any]]:
        settings = {"SMARTLOCKER_ENDPOINT_URL": store_url, "SMARTLOCKER_TABLE_NAME": table}
        with serving(tmp_path / "run", **settings) as server:
            return audit(packages, server.url)

    audits = await asyncio.to_thread(run)
    assert [result for result in audits if result["status"] != "ok"] == []
    assert len({result["id"] for result in audits}) == 61


def test_the_lock_pins_every_package_by_its_hash_and_names_no_registry() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text())
    pinned = {name: package for name, package in lock["packages"].items() if name}
    assert set(pinned) == {"node_modules/graphql", "node_modules/graphql-http"}
    for package in pinned.values():
        assert package["integrity"].startswith("sha512-")
        assert "resolved" not in package
