import shutil
from pathlib import Path

import pytest

from loaders.table.client import StoreConnection
from loaders.table.embedded import DATABASE, EmbeddedStoreError, find_binary, run_embedded
from loaders.tools.backup import back_up, restore
from loaders.tools.definition import create_table, describe_table


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    """A data directory with a table."""
    directory = tmp_path / "data"
    async with run_embedded(find_binary(None), directory) as url:
        await create_table(StoreConnection("SmartLocker", "eu-central-1", url, local=True))
    return directory


@pytest.fixture
def backup(data: Path, tmp_path: Path) -> Path:
    """A backup of it."""
    back_up(data, tmp_path / "backup")
    return tmp_path / "backup"


def damage(database: Path) -> None:
    """Overwrites all pages after the first two."""
    content = database.read_bytes()
    database.write_bytes(content[:8192] + b"\xa5" * (len(content) - 8192))


async def test_a_restored_directory_has_the_table_and_is_served(backup: Path, tmp_path: Path) -> None:
    restore(backup, tmp_path / "restored")
    assert sorted(path.name for path in (tmp_path / "restored").iterdir()) == ["in-use", "lock", DATABASE]
    async with run_embedded(find_binary(None), tmp_path / "restored") as url:
        assert await describe_table(StoreConnection("SmartLocker", "eu-central-1", url, local=True))
    (tmp_path / "restored" / DATABASE).unlink()
    with pytest.raises(EmbeddedStoreError, match="was in use"):
        async with run_embedded(find_binary(None), tmp_path / "restored"):
            pass


async def test_a_backup_overwrites_no_file(data: Path, tmp_path: Path) -> None:
    existing = tmp_path / "existing"
    existing.write_text("precious")
    with pytest.raises(EmbeddedStoreError, match=f"^{existing} exists: name a new file$"):
        back_up(data, existing)
    assert existing.read_text() == "precious"


def test_a_directory_without_a_database_cannot_be_backed_up(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedStoreError, match=f"^the data directory {tmp_path} has no database smartlocker.db$"):
        back_up(tmp_path, tmp_path / "backup")
    assert list(tmp_path.iterdir()) == []


async def test_a_backup_that_cannot_be_written_says_why(data: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "backup"
    with pytest.raises(EmbeddedStoreError, match=rf"^{missing} cannot be written \(No such file or directory\)$"):
        back_up(data, missing)


async def test_a_restore_overwrites_no_data(data: Path, backup: Path) -> None:
    before = (data / DATABASE).read_bytes()
    with pytest.raises(EmbeddedStoreError, match=f"^the data directory {data} is not empty: set SMARTLOCKER_DATA_DIR"):
        restore(backup, data)
    assert (data / DATABASE).read_bytes() == before


async def test_a_restore_that_was_interrupted_can_be_run_again(backup: Path, tmp_path: Path) -> None:
    restored = tmp_path / "restored"
    restored.mkdir()
    (restored / "lock").touch()
    (restored / f"{DATABASE}.partial").write_bytes(b"half")
    restore(backup, restored)
    assert sorted(path.name for path in restored.iterdir()) == ["in-use", "lock", DATABASE]


async def test_a_damaged_database_is_neither_backed_up_nor_restored(data: Path, backup: Path, tmp_path: Path) -> None:
    shutil.copy(backup, data / DATABASE)
    damage(data / DATABASE)
    damage(backup)
    with pytest.raises(EmbeddedStoreError, match=f"{data / DATABASE} (is damaged|cannot be copied): "):
        back_up(data, tmp_path / "second")
    with pytest.raises(EmbeddedStoreError, match=f"{backup} (is damaged|cannot be copied): "):
        restore(backup, tmp_path / "restored")
    assert [path.name for path in (tmp_path / "restored").iterdir()] == ["lock"]
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"no database", "cannot be copied: file is not a database"), (b"", "is not a database of the embedded store")],
)
def test_only_a_database_of_the_store_is_restored(tmp_path: Path, content: bytes, problem: str) -> None:
    other = tmp_path / "other"
    other.write_bytes(content)
    with pytest.raises(EmbeddedStoreError, match=f"^{other} {problem}$"):
        restore(other, tmp_path / "data")
    with pytest.raises(EmbeddedStoreError, match=r"^there is no backup "):
        restore(tmp_path / "missing", tmp_path / "data")
