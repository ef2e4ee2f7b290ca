import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from domain.times import shift
from loaders.table.client import StoreConnection, open_store
from loaders.table.clock import utc_now
from loaders.tools.definition import create_table
from loaders.tools.demo import DemoShape, load_demo, locker_id, owner_id
from server.http.movable_clock import ahead_file
from tests.server.conftest import Result, Run

LOCKER, OWNER = locker_id(0), owner_id(0)


@pytest.fixture
async def furnished(store_url: str) -> dict[str, str]:
    """The settings for a table with demo data on a running store."""
    connection = StoreConnection(f"test-{uuid4()}", "eu-central-1", store_url, local=True)
    await create_table(connection)
    async with open_store(connection) as store:
        await load_demo(store, DemoShape(2, 4, 4), utc_now(), lambda _: None)
    return {"endpoint_url": store_url, "table_name": connection.table}


@pytest.fixture
async def broken(furnished: dict[str, str], plain_client: Any) -> dict[str, str]:
    """The same without the owner's copy of a locker."""
    key = {"PK": {"S": f"OWNER#{OWNER}"}, "SK": {"S": f"LOCKER#{LOCKER}"}}
    await plain_client.delete_item(TableName=furnished["table_name"], Key=key)
    return furnished


def test_a_table_whose_clock_is_ahead_is_checked_by_that_clock(run: Run, tmp_path: Path) -> None:
    ahead = timedelta(days=30)
    loaded = run(
        "demo", "load", "--lockers", "4", "--owners", "2", "--events", "4", clock=lambda: shift(utc_now(), ahead)
    )
    assert loaded.status == 0, loaded.err
    scan = ("doctor", "--full-scan", "--yes")
    assert "it is marked as ended before its end" in run(*scan).out
    ahead_file(tmp_path).write_text(str(ahead.total_seconds()))
    exported = tmp_path / "export.jsonl"
    assert run("export", exported, "--yes").status == 0
    for words in (scan, ("doctor", "--export", exported)):
        assert run(*words).out.endswith("no violation\n"), words


PROBLEM = f"it is missing, and follows from LOCKER#{LOCKER} / META"
FINDING = f"I4  OWNER#{OWNER} / LOCKER#{LOCKER}: {PROBLEM}"


@pytest.mark.parametrize("records", [("--locker", LOCKER), ("--owner", OWNER, "--locker", LOCKER)])
def test_records_without_a_violation_end_with_status_0(
    run: Run, furnished: dict[str, str], records: tuple[str, ...]
) -> None:
    assert run("doctor", *records, **furnished) == Result(0, "no violation\n", "")


def test_a_violation_is_reported_repaired_on_request_and_gone(run: Run, broken: dict[str, str]) -> None:
    words = ("doctor", "--locker", LOCKER)
    assert run(*words, **broken) == Result(1, f"{FINDING} (can be repaired)\n1 violation\n", "")
    assert run(*words, **broken).status == 1
    repaired = run(*words, "--repair", **broken)
    assert repaired == Result(0, f"{FINDING} (repaired)\nno violation, 1 repaired\n", "")
    assert run(*words, **broken) == Result(0, "no violation\n", "")


def test_a_full_scan_states_its_cost_and_needs_consent(run: Run, broken: dict[str, str]) -> None:
    refused = run("doctor", "--full-scan", stdin="n\n", **broken)
    assert (refused.status, refused.out.strip()) == (2, "")
    assert f"Checking table {broken['table_name']} reads the whole table once: about " in refused.err
    result = run("doctor", "--full-scan", "--yes", "--json", **broken)
    assert result.status == 1
    item = {"invariant": "I4", "item": f"OWNER#{OWNER} / LOCKER#{LOCKER}", "problem": PROBLEM}
    assert json.loads(result.out) == {
        "findings": [item | {"repairable": True}],
        "repaired": [],
        "unknown": {},
        "expired": 0,
        "unfollowed": [0, 1, 2, 3],
    }
    assert run("doctor", "--full-scan", "--yes", "--repair", **broken).status == 0


def test_an_export_is_checked_without_a_store(run: Run, broken: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    assert run("export", str(path), "--yes", **broken).status == 0
    nowhere = {"endpoint_url": "http://127.0.0.1:1"}
    checked = run("doctor", "--export", str(path), **nowhere)
    assert checked == Result(1, f"{FINDING} (can be repaired)\n1 violation\n", "")
    path.write_text(path.read_text().replace(LOCKER, "other"))
    damaged = run("doctor", "--export", str(path), **nowhere)
    assert (damaged.status, damaged.out) == (2, "")
    assert "is damaged" in damaged.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name lockers, owners, locations or bookings, or use --export or --full-scan"),
        (("--locker", "l1", "--full-scan"), "name lockers, owners, locations or bookings, or use --export"),
        (("--locker", "a#b"), "an id must be"),
        (("--export", "x", "--repair"), "an export cannot be repaired"),
    ],
)
def test_a_wrong_use_ends_with_status_2(
    run: Run, words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    result = run("doctor", *words)
    assert (result.status, result.out) == (2, "")
    assert message in " ".join(result.err.split())


def test_a_record_that_does_not_exist_ends_with_status_2(run: Run, furnished: dict[str, str]) -> None:
    result = run("doctor", "--owner", "nobody", **furnished)
    assert result == Result(2, "", "smartlocker: OWNER#nobody does not exist\n")


def test_a_store_that_does_not_answer_ends_with_status_2(run: Run) -> None:
    result = run("doctor", "--owner", OWNER, endpoint_url="http://127.0.0.1:1")
    assert (result.status, result.out) == (2, "")
