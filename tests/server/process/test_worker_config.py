import pytest

from loaders.table.client import StoreConnection
from loaders.table.http_client import Timeouts
from server.process.workers import WorkerConfig


def test_a_worker_gets_all_that_was_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = StoreConnection("Table", "eu-central-1", "http://127.0.0.1:1", local=True, timeouts=Timeouts(3, 4))
    passed_on = WorkerConfig(1, 5, connection, 6, "metrics")
    for name, value in passed_on.environment().items():
        monkeypatch.setenv(name, value)
    found = WorkerConfig.of_this_process()
    assert found == passed_on
    assert found is not None
    assert isinstance(found.connection.timeouts, Timeouts)
