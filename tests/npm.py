"""npm packages for the tests: pinned by a lock, installed once, and run with node."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_PACKAGE_FILES = ("package.json", "package-lock.json")


def installed(lock_folder: Path) -> Path:
    """A folder with the packages of a lock, installed once for each state of it."""
    digest = hashlib.sha256(b"".join((lock_folder / name).read_bytes() for name in _PACKAGE_FILES)).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smartlocker"
    home = cache / f"{lock_folder.name}-{digest[:16]}"
    if not home.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            for name in _PACKAGE_FILES:
                shutil.copy(lock_folder / name, temporary)
            subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=temporary, check=True)
            with suppress(OSError):  # another run was faster
                Path(temporary).rename(home)
                Path(temporary).mkdir()
    return home


def pinned(lock_folder: Path) -> dict[str, dict[str, Any]]:
    lock = json.loads((lock_folder / "package-lock.json").read_text())
    return {place: package for place, package in lock["packages"].items() if place}


def printed_by(command: Sequence[str | Path], folder: Path, source: str | None = None) -> str:
    """The output of a program, which must end with status 0."""
    result = subprocess.run(command, input=source, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    return result.stdout
