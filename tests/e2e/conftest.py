"""A data directory that has had its first start, so that not every test waits for one."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from loaders.table.client import DynamoStore
from tests.e2e.clusters import Cluster, open_cluster
from tests.e2e.serving import serving
from tests.tables import PlainClient
from tests.wire import Wire


@pytest.fixture(scope="session")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory after a first start."""
    folder = tmp_path_factory.mktemp("first")
    with serving(folder / "run", data_dir=folder / "data"):
        pass
    return folder / "data"


@pytest.fixture
def furnished(first_start: Path, tmp_path: Path) -> Path:
    """A data directory of the test's own, with demo data."""
    return shutil.copytree(first_start, tmp_path / "data")


@pytest.fixture
def at_wire(wire: Wire, table: str) -> dict[str, str]:
    """The settings of a server on the test's table, through the proxy, which may hold a call for long."""
    return {"endpoint_url": wire.url, "table_name": table, "request_seconds": "120", "STORE_SECONDS": "60"}


@pytest.fixture
def at_store(store_url: str, table: str) -> dict[str, str]:
    """The same without the proxy, for tests that keep the event loop waiting."""
    return {"endpoint_url": store_url, "table_name": table}


@pytest_asyncio.fixture
async def cluster(
    tmp_path: Path, at_store: dict[str, str], plain_client: PlainClient, table: str
) -> AsyncIterator[Cluster]:
    async with open_cluster(tmp_path, at_store, DynamoStore(plain_client.transport, table)) as made:
        yield made
