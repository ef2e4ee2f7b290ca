import os
import re
import resource
import signal
from collections.abc import Callable
from pathlib import Path

from loaders.table.embedded import DATABASE, find_binary
from tests.api import CREATE_OWNER
from tests.e2e.serving import Server, eventually, serving

OWNER = '{ owner(ownerId: "owner-0001") { name } }'
LOCKER = '{ locker(lockerId: "locker-000001") { status } }'

PAGE = 4096
LEAVES = {0x0A, 0x0D}
"""The first byte of the pages of the database that hold items, or entries of an index."""


def store_up(server: Server, kind: str) -> float:
    page = server.get("/metrics").text
    (value,) = re.findall(rf'^smartlocker_store_up{{kind="{kind}"}} (\S+)$', page, re.MULTILINE)
    return float(value)


def create_owner(server: Server, number: int) -> bool:
    values = {"ownerId": f"new-{number}", "kind": "USER", "name": "x" * 100}
    return "errors" not in server.try_to_ask(CREATE_OWNER, input=values)


def test_a_store_that_hangs_makes_the_server_not_ready_until_it_goes_on(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", data_dir=furnished, metrics="on") as server:
        assert server.ready == (200, "ready")
        assert store_up(server, "read") == 1
        os.kill(server.store, signal.SIGSTOP)
        try:
            eventually(lambda: server.ready == (503, "store down"))
            assert server.get("/health").text == "ok"
            assert store_up(server, "read") == 0
            eventually(lambda: "the store is down: the server is not ready" in server.stderr)
            assert server.stderr.count("a read failed in the store: no response in time") == 1
        finally:
            os.kill(server.store, signal.SIGCONT)
        eventually(lambda: server.ready == (200, "ready"))
        assert store_up(server, "read") == 1
        eventually(lambda: "the store is up again" in server.stderr)
        assert server.stderr.count("the store is down") == 1


def test_a_database_that_cannot_grow_is_told_with_its_cause_while_reads_go_on(tmp_path: Path, furnished: Path) -> None:
    # The nearest to a full disk that needs no rights.
    store = tmp_path / "store"
    store.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec {find_binary(None)} \"$@\"\n")
    store.chmod(0o700)
    with serving(tmp_path / "run", data_dir=furnished, metrics="on", store_binary=store) as server:
        unlimited = resource.prlimit(server.store, resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
        assert not create_owner(server, 0)
        told = "a write failed in the store: InternalServerError: .*disk (I/O error|is full)"
        eventually(lambda: re.search(told, server.stderr) is not None)
        eventually(lambda: store_up(server, "write") == 0)
        assert server.ask(OWNER) == {"owner": {"name": "Metro Parcel 1"}}
        assert (server.ready, store_up(server, "read")) == ((200, "ready"), 1)
        resource.prlimit(server.store, resource.RLIMIT_FSIZE, unlimited)
        eventually(lambda: create_owner(server, 1))
        assert store_up(server, "write") == 1
        assert server.stderr.count("a write failed in the store") == 1


def test_damaged_pages_are_told_with_their_cause(tmp_path: Path, furnished: Path) -> None:
    damage(furnished / DATABASE, lambda page: page[0] in LEAVES and b"LOCKER#locker-000001" in page)
    with serving(tmp_path / "run", data_dir=furnished) as server:
        assert "errors" in server.try_to_ask(LOCKER)
        assert "errors" in server.try_to_ask(LOCKER)
        told = "a read failed in the store: InternalServerError: .*malformed"
        eventually(lambda: re.search(told, server.stderr) is not None)
    # All that it had to say is written once it has ended.
    assert len(re.findall(told, server.stderr)) == 1


def damage(database: Path, is_hit: Callable[[bytes], bool]) -> None:
    """Overwrites pages of the database, the first one excepted."""
    content = bytearray(database.read_bytes())
    for start in range(PAGE, len(content), PAGE):
        if is_hit(bytes(content[start : start + PAGE])):
            content[start : start + PAGE] = b"\xa5" * PAGE
    assert content != database.read_bytes()
    database.write_bytes(content)


def test_a_database_that_is_removed_while_it_is_used_is_told_at_once(tmp_path: Path, furnished: Path) -> None:
    with serving(tmp_path / "run", data_dir=furnished, metrics="on") as server:
        (furnished / DATABASE).unlink()
        eventually(lambda: server.ready == (503, "store down"))
        assert server.get("/health").text == "ok"
        assert (store_up(server, "read"), store_up(server, "write")) == (0, 0)
        eventually(lambda: "save it now with `smartlocker export`" in server.stderr)
        os.kill(server.store, signal.SIGKILL)
        eventually(lambda: "is missing: put the file back" in server.stderr)
        assert not (furnished / DATABASE).exists()
        assert "errors" in server.try_to_ask(OWNER)
