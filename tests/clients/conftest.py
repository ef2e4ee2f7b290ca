"""A server with an owner of 230 lockers, and a project folder in which real clients are built and run."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from loaders.table.client import DynamoStore
from loaders.table.clock import utc_now
from loaders.tools.demo import DemoShape, load_demo
from tests.e2e.serving import serving
from tests.npm import installed, printed_by
from tests.tables import PlainClient

Opener = Callable[..., AbstractContextManager[str]]

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


class Project:
    """A folder with the pinned packages, the schema and the sources of this folder, as an application has them."""

    def __init__(self, folder: Path, packages: Path) -> None:
        shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "package*", ".npmrc"))
        shutil.copy(ROOT / "schema.graphql", folder)
        (folder / "node_modules").symlink_to(packages / "node_modules")
        self.folder = folder

    def tool(self, name: str, *words: str, within: str = ".") -> str:
        return printed_by([self.folder / "node_modules" / ".bin" / name, *words], self.folder / within)

    def node(self, script: str, *words: str) -> Any:
        return json.loads(printed_by(["node", script, *words], self.folder))


@pytest.fixture(scope="session")
def packages() -> Path:
    return installed(HERE)


@pytest.fixture(scope="session")
def project(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("clients") / "project", packages)


@pytest.fixture(scope="session")
def relay_manifest(project: Project) -> Path:
    """The trusted documents that relay-compiler writes when it accepts the schema and what is asked of it."""
    folder = project.folder / "relay"
    (folder / "artifacts").mkdir()
    manifest = folder / "documents.json"
    manifest.write_text("{}")
    project.tool("relay-compiler", "relay.config.json", within="relay")
    return manifest


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stocked_table(plain_client: PlainClient) -> str:
    """A table in which one owner has 230 lockers."""
    name = await plain_client.new_table()
    await load_demo(DynamoStore(plain_client.transport, name), DemoShape(1, 230, 0), utc_now(), lambda _: None)
    return name


@pytest.fixture(scope="session")
def open_server(store_url: str, stocked_table: str, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    """Starts a server on that table, with other settings if need be."""

    @contextmanager
    def opened(**settings: str) -> Iterator[str]:
        table = {"SMARTLOCKER_ENDPOINT_URL": store_url, "SMARTLOCKER_TABLE_NAME": stocked_table}
        with serving(tmp_path_factory.mktemp("served") / "run", **table, **settings) as server:
            yield server.url

    return opened


@pytest.fixture(scope="session")
def server_url(open_server: Opener) -> Iterator[str]:
    """The address of a server that runs every document."""
    with open_server() as url:
        yield url


@pytest.fixture
def own_locker(server_url: str) -> str:
    """A locker of the test's own, to change: available and of version 1."""
    owner, locker = str(uuid4()), str(uuid4())
    document = f"""mutation {{
        createOwner(input: {{ownerId: "{owner}", kind: USER, name: "Ada"}}) {{ userErrors {{ code }} }}
        registerLocker(input: {{lockerId: "{locker}", ownerId: "{owner}"}}) {{ userErrors {{ code }} }}
    }}"""
    answer = httpx.post(server_url, json={"query": document}, timeout=20).json()
    assert answer == {"data": {"createOwner": {"userErrors": []}, "registerLocker": {"userErrors": []}}}
    return locker
