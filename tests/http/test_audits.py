"""The public audits of GraphQL over HTTP (npm graphql-http), run against the server as its users start it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import serving
from tests.npm import installed, pinned, printed_by

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def packages() -> Path:
    """A folder with the pinned packages."""
    return installed(HERE)


def audit(packages: Path, url: str) -> list[dict[str, Any]]:
    """The result of each audit."""
    command = ["node", "--input-type=module", "-", url]
    audits: list[dict[str, Any]] = json.loads(printed_by(command, packages, (HERE / "audit.mjs").read_text()))
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
    packages = pinned(HERE)
    assert set(packages) == {"node_modules/graphql", "node_modules/graphql-http"}
    for package in packages.values():
        assert package["integrity"].startswith("sha512-")
        assert "resolved" not in package
