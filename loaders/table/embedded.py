"""The embedded store: finds or fetches its binary, and runs it on a data directory for as long as it is needed."""

import asyncio
import fcntl
import json
import logging
import os
import platform
import secrets
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import BinaryIO, Literal

from domain.errors import OperatorError

logger = logging.getLogger(__name__)

DATABASE = "smartlocker.db"
"""The name of the database in its data directory."""

LOCK = "lock"
"""The name of the file that the user of the directory locks."""

_IN_USE = "in-use"
_ENDPOINT = "endpoint"
_LOG = "store.log"
_OWN_FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", _LOG, LOCK, _IN_USE, _ENDPOINT)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LOOPBACK = IPv4Network("127.0.0.0/8")
_USUAL_HOST = "127.0.0.1"

_HERE = Path(__file__).parent
_PACKAGE = "@dynoxide/linux-x64"
_START_SECONDS = 30
_RESTART_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5
_SHARE_PAUSE_SECONDS = 0.05
# The store lives exactly as long as the pipe on its parent's standard input: it ends with us even if we are killed.
_LEASH = """
umask 077
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


class EmbeddedStoreError(OperatorError):
    """The embedded store cannot be had; the message says what to do."""


class DataDirectoryInUseError(EmbeddedStoreError):
    """Another process runs a store on the data directory."""


def find_binary(chosen: Path | None, package: Path = _HERE) -> Path:
    """The store's binary: the chosen one, the one fetched before, or one fetched now as the package's files say."""
    if chosen is not None:
        if not os.access(chosen, os.X_OK) or chosen.is_dir():
            raise EmbeddedStoreError(f"SMARTLOCKER_STORE_BINARY names {chosen}, which is not an executable file")
        return chosen
    home = _cache_directory(package)
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
        _fetch(home, package)
    except OSError as error:
        raise EmbeddedStoreError(f"{home} cannot be made ({error.strerror}): {_WAYS_OUT}") from error
    return fetched


@asynccontextmanager
async def share_embedded(binary: Path, data_directory: Path) -> AsyncIterator[str]:
    """The endpoint of the store that a server runs on a data directory; without a server, of one of its own."""
    async with AsyncExitStack() as stack:
        for _ in range(int(_START_SECONDS / _SHARE_PAUSE_SECONDS)):
            with suppress(DataDirectoryInUseError):
                endpoint = await stack.enter_async_context(run_embedded(binary, data_directory))
                break
            published = _published(data_directory)
            if published is not None:
                endpoint = published
                break
            await asyncio.sleep(_SHARE_PAUSE_SECONDS)  # a server is starting, or another command is running
        else:
            raise EmbeddedStoreError(f"the data directory {data_directory} is in use by another command: try again")
        yield endpoint


@asynccontextmanager
async def run_embedded(binary: Path, data_directory: Path, *, shared: bool = False) -> AsyncIterator[str]:
    """Runs the store on a data directory, again where it dies, and yields its endpoint.

    Other processes of the same user may use a `shared` one, through `share_embedded`.
    """
    with hold_directory(data_directory), reserve_address() as (host, port):
        store = _Store(binary, data_directory, host, port)
        endpoint = f"http://{store.host}:{store.port}"
        with open_private(data_directory / _LOG, "ab") as log:
            process = await _start(store, log.fileno())
            mark_in_use(data_directory)
            keeper = asyncio.create_task(_keep(process, store, log.fileno()))
            try:
                with _publishing(data_directory, endpoint) if shared else nullcontext():
                    yield endpoint
            finally:
                keeper.cancel()
                with suppress(asyncio.CancelledError):
                    await keeper


class DatabaseFile:
    """The database that the running store has open.

    A store whose file is removed goes on as if nothing had happened, and loses everything when it ends.
    """

    def __init__(self, data_directory: Path) -> None:
        self._path = data_directory / DATABASE
        self._identity = self._found()

    def problem(self) -> str | None:
        """A message that the file was removed or replaced; None if it was not."""
        if self._found() == self._identity:
            return None
        return (
            f"the database {self._path} was removed or replaced while the store uses it, and all data is lost when the "
            "server stops: save it now with `smartlocker export`"
        )

    def _found(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


def open_private(path: Path, mode: Literal["ab", "wb"]) -> BinaryIO:
    """Opens a file for writing; if it is new, its owner alone may read it."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def mark_in_use(data_directory: Path) -> None:
    """Records that the directory holds data, so that a lost database is not taken for a first start."""
    open_private(data_directory / _IN_USE, "wb").close()


@dataclass(frozen=True, slots=True)
class _Store:
    binary: Path
    data_directory: Path
    host: str
    port: int

    @property
    def command(self) -> list[str]:
        database = str(self.data_directory / DATABASE)
        return [str(self.binary), "serve", "--host", self.host, "--port", str(self.port), "--db-path", database]

    def check_database(self) -> None:
        """Refuses to begin with an empty database where there was one with data."""
        database = self.data_directory / DATABASE
        if (self.data_directory / _IN_USE).exists() and not (database.exists() and database.stat().st_size):
            raise EmbeddedStoreError(
                f"the data directory {self.data_directory} was in use, but its database {DATABASE} is missing: put the "
                "file back, or set SMARTLOCKER_DATA_DIR to a new directory and restore a backup there with "
                "`smartlocker restore`; to begin without data, remove the directory"
            )


async def _keep(process: asyncio.subprocess.Process, store: _Store, log: int) -> None:
    """Waits on the store and starts it again where it dies; when canceled, ends it."""
    try:
        while True:
            status = await process.wait()
            logger.error("the embedded store ended with status %s: starting it again", status)
            process = await _start_again(store, log)
    finally:
        await _end(process)


async def _start_again(store: _Store, log: int) -> asyncio.subprocess.Process:
    """Starts the store as soon as that is possible; logs once why it is not."""
    pause = _RESTART_PAUSE_SECONDS
    reason = ""
    while True:
        await asyncio.sleep(pause)
        try:
            return await _start(store, log)
        except EmbeddedStoreError as error:
            if str(error) != reason:
                reason = str(error)
                logger.warning("%s: trying again until it starts", reason)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


async def _start(store: _Store, log: int) -> asyncio.subprocess.Process:
    store.check_database()
    # In a session of its own, so that Ctrl-C in a terminal reaches the server alone, which then ends the store.
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", _LEASH, "sh", *store.command, stdin=subprocess.PIPE, stderr=log, start_new_session=True
    )
    for _ in range(int(_START_SECONDS / 0.02)):
        if process.returncode is not None:
            break
        with suppress(OSError):
            _, writer = await asyncio.open_connection(store.host, store.port)
            writer.close()
            await writer.wait_closed()
            return process
        await asyncio.sleep(0.02)
    await _end(process)
    raise EmbeddedStoreError(f"the embedded store {store.binary} did not start: see store.log in the data directory")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()


@contextmanager
def _publishing(data_directory: Path, endpoint: str) -> Iterator[None]:
    """Names the endpoint in a file that only the user may read, for as long as the block runs."""
    path = data_directory / _ENDPOINT
    with tempfile.NamedTemporaryFile("w", dir=data_directory, delete=False) as file:  # it is made with mode 0600
        file.write(endpoint)
    Path(file.name).rename(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _published(data_directory: Path) -> str | None:
    try:
        return (data_directory / _ENDPOINT).read_text()
    except FileNotFoundError:
        return None


@contextmanager
def hold_directory(data_directory: Path) -> Iterator[None]:
    """Holds the data directory: the store itself would let two servers in."""
    try:
        data_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _restrict(data_directory)
        lock = open_private(data_directory / LOCK, "wb")
    except OSError as error:
        raise EmbeddedStoreError(
            f"the data directory {data_directory} cannot be used ({error.strerror}): set SMARTLOCKER_DATA_DIR"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataDirectoryInUseError(
                f"the data directory {data_directory} is in use by another server: stop it, or set SMARTLOCKER_DATA_DIR"
            ) from None
        (data_directory / _ENDPOINT).unlink(missing_ok=True)  # of a server that was killed
        yield


def _restrict(data_directory: Path) -> None:
    """Leaves the directory and its files to their owner: earlier versions let every user read them."""
    if data_directory.stat().st_mode & stat.S_ISVTX:
        raise EmbeddedStoreError(
            f"the data directory {data_directory} is shared with other users: set SMARTLOCKER_DATA_DIR to a directory "
            "below it"
        )
    for path in (data_directory, *(data_directory / name for name in _OWN_FILES)):
        if path.exists() and (mode := path.stat().st_mode) & _OTHERS:
            try:
                path.chmod(mode & ~_OTHERS)
            except PermissionError:
                logger.warning("%s belongs to another user, so its permissions stay: others may read the data", path)


def _fetch(home: Path, package: Path) -> None:
    """Lets npm fetch the pinned package and check its integrity; it appears whole or not at all."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as temporary:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(package / name, temporary)
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


def _cache_directory(package: Path) -> Path:
    version = json.loads((package / "package.json").read_text())["dependencies"][_PACKAGE]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "smartlocker" / f"dynoxide-{version}"


def _is_pinned_platform() -> bool:
    return platform.system() == "Linux" and platform.machine() in {"x86_64", "AMD64"}


@contextmanager
def reserve_address(network: IPv4Network = _LOOPBACK) -> Iterator[tuple[str, int]]:
    """A random address of the network and a port that no other program gets meanwhile.

    The store checks no credentials and lets every web page read its answers: who does not know the address can
    neither guess it nor try them all. It does not start while any program listens on its port at 127.0.0.1, so the
    port is held there.
    """
    host = str(network[1 + secrets.randbelow(network.num_addresses - 2)])
    with socket.socket() as holder:
        holder.bind((_USUAL_HOST, 0))
        port: int = holder.getsockname()[1]
        try:
            with socket.socket() as probe:
                probe.bind((host, port))
        except OSError:
            logger.warning("only 127.0.0.1 can be used for the embedded store: programs of this machine find it easily")
            holder.close()
            host = _USUAL_HOST
        yield host, port
