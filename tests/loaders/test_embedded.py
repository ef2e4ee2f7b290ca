import socket
import stat
from ipaddress import IPv4Network, ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from loaders.table.client import StoreConnection
from loaders.table.embedded import (
    DATABASE,
    EmbeddedStoreError,
    find_binary,
    hold_directory,
    reserve_address,
    run_embedded,
)
from loaders.tools.definition import check_table, create_table
from loaders.tools.table_state import TableProblemError

PAGE = 4096


async def test_the_store_listens_on_a_random_loopback_address_alone(tmp_path: Path) -> None:
    hosts = set()
    for _ in range(2):
        async with run_embedded(find_binary(None), tmp_path) as url:
            parts = urlsplit(url)
            hosts.add(parts.hostname)
            assert ip_address(parts.hostname or "").is_loopback
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", parts.port or 0))
    assert len(hosts) == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])  # noqa: S104  # nothing listens there
async def test_no_other_program_gets_the_port_that_the_store_is_to_listen_on(tmp_path: Path, host: str) -> None:
    async with run_embedded(find_binary(None), tmp_path) as url:
        with socket.socket() as other, pytest.raises(OSError, match="Address already in use"):
            other.bind((host, urlsplit(url).port or 0))


def test_where_there_is_no_other_loopback_address_the_usual_one_is_used_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with reserve_address(IPv4Network("192.0.2.0/24")) as (host, port), socket.socket() as store:
        store.bind((host, port))
    assert host == "127.0.0.1"
    assert caplog.messages == [
        "only 127.0.0.1 can be used for the embedded store: programs of this machine find it easily"
    ]


async def test_a_lost_database_is_no_first_start(tmp_path: Path) -> None:
    async with run_embedded(find_binary(None), tmp_path):
        pass
    for lose in ((tmp_path / DATABASE).unlink, (tmp_path / DATABASE).touch):
        lose()
        with pytest.raises(EmbeddedStoreError) as refusal:
            async with run_embedded(find_binary(None), tmp_path):
                pass
        assert str(refusal.value) == (
            f"the data directory {tmp_path} was in use, but its database smartlocker.db is missing: put the file "
            "back, or set SMARTLOCKER_DATA_DIR to a new directory and restore a backup there with `smartlocker "
            "restore`; to begin without data, remove the directory"
        )
    assert (tmp_path / DATABASE).stat().st_size == 0


async def test_a_database_that_cannot_be_read_is_refused_with_the_cause(tmp_path: Path) -> None:
    async with run_embedded(find_binary(None), tmp_path) as url:
        await create_table(StoreConnection("SmartLocker", "eu-central-1", url, local=True))
    content = (tmp_path / DATABASE).read_bytes()
    pages = [content[start : start + PAGE] for start in range(0, len(content), PAGE)]
    damaged = [b"\xa5" * PAGE if b"TABLE_FORMAT" in page else page for page in pages]
    assert damaged != pages
    (tmp_path / DATABASE).write_bytes(b"".join(damaged))
    async with run_embedded(find_binary(None), tmp_path) as url:
        with pytest.raises(
            TableProblemError, match=rf"^DynamoDB at {url} cannot be read: InternalServerError: .*malformed"
        ):
            await check_table(StoreConnection("SmartLocker", "eu-central-1", url, local=True))


@pytest.mark.parametrize("is_new", [True, False])
async def test_nobody_but_its_owner_can_read_the_data(tmp_path: Path, is_new: bool) -> None:  # noqa: FBT001
    data = tmp_path / "data"
    if not is_new:
        async with run_embedded(find_binary(None), data):
            pass
        data.chmod(0o755)
        for path in data.iterdir():
            path.chmod(0o644)
    async with run_embedded(find_binary(None), data) as url:
        await create_table(StoreConnection("SmartLocker", "eu-central-1", url, local=True))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}
        assert modes.keys() == {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "store.log", "lock", "in-use"}
        assert set(modes.values()) == {0o600}, modes
        assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_a_directory_of_all_users_is_refused_and_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    with pytest.raises(EmbeddedStoreError, match=f"^the data directory {tmp_path} is shared with other users: "):
        hold_directory(tmp_path).__enter__()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    assert list(tmp_path.iterdir()) == []
