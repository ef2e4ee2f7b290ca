"""A server that cannot start says why and what to do, in one line."""

from __future__ import annotations

import asyncio
import shutil
import socket
from typing import TYPE_CHECKING, Any

import pytest

from loaders.table.embedded import find_binary, run_embedded
from tests.e2e.serving import refusal_of

if TYPE_CHECKING:
    from pathlib import Path

WAYS_OUT = (
    "install npm, or set SMARTLOCKER_STORE_BINARY to a dynoxide binary, or set SMARTLOCKER_ENDPOINT_URL to DynamoDB "
    "(aws) or anything that speaks its protocol"
)


@pytest.fixture
def taken_port() -> Any:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_that_is_taken_is_named(taken_port: int, tmp_path: Path) -> None:
    line = refusal_of("serve", SMARTLOCKER_PORT=str(taken_port), SMARTLOCKER_DATA_DIR=str(tmp_path / "data"))
    assert line == (
        f"cannot listen on port {taken_port} of 127.0.0.1 (Address already in use): "
        "set --port or --host (SMARTLOCKER_PORT, SMARTLOCKER_HOST)"
    )
    assert not (tmp_path / "data").exists()


async def test_a_data_directory_in_use_is_named(tmp_path: Path) -> None:
    async with run_embedded(find_binary(None), tmp_path):
        line = await asyncio.to_thread(refusal_of, "serve", SMARTLOCKER_DATA_DIR=str(tmp_path))
    assert line == f"the data directory {tmp_path} is in use by another server: stop it, or set SMARTLOCKER_DATA_DIR"


def test_a_data_directory_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    line = refusal_of("serve", SMARTLOCKER_DATA_DIR=str(tmp_path / "data"))
    assert line == f"the data directory {tmp_path / 'data'} cannot be used (File exists): set SMARTLOCKER_DATA_DIR"


def test_without_npm_and_a_store_every_way_out_is_named(tmp_path: Path) -> None:
    line = refusal_of("serve", **nothing_installed(tmp_path))
    assert line == f"found neither npm nor a store binary: {WAYS_OUT}"


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    settings = nothing_installed(tmp_path)
    (tmp_path / "bin" / "npm").symlink_to(shutil.which("true") or "")
    (tmp_path / "cache").write_text("a file")
    line = refusal_of("serve", **settings)
    place = tmp_path / "cache" / "smartlocker" / "dynoxide-1.2.1"
    assert line == f"{place} cannot be made (Not a directory): {WAYS_OUT}"


def test_a_store_binary_that_is_no_program_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    line = refusal_of(
        "serve", SMARTLOCKER_STORE_BINARY=str(tmp_path / "text"), SMARTLOCKER_DATA_DIR=str(tmp_path / "data")
    )
    assert line == f"SMARTLOCKER_STORE_BINARY names {tmp_path / 'text'}, which is no program that can be run"


def test_a_store_binary_that_is_another_program_is_named(tmp_path: Path) -> None:
    program = shutil.which("true")
    line = refusal_of("serve", SMARTLOCKER_STORE_BINARY=str(program), SMARTLOCKER_DATA_DIR=str(tmp_path / "data"))
    assert line == f"the embedded store {program} did not start: see store.log in the data directory"


def test_an_endpoint_that_cannot_be_reached_is_named() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        url = f"http://127.0.0.1:{unheard.getsockname()[1]}"
        line = refusal_of("serve", SMARTLOCKER_ENDPOINT_URL=url)
    place = url.removeprefix("http://")
    assert line == f"DynamoDB at {url} cannot be reached: no connection to {place}: [Errno 111] Connection refused"


def test_a_missing_table_is_named_with_the_command_that_makes_it(store_url: str) -> None:
    line = refusal_of("serve", SMARTLOCKER_ENDPOINT_URL=store_url, SMARTLOCKER_TABLE_NAME="nowhere")
    assert line == f"DynamoDB at {store_url} has no table nowhere: create it with `smartlocker table create`"


async def test_a_table_with_other_keys_is_refused_with_both(store_url: str, plain_client: Any) -> None:
    await plain_client.create_table(
        TableName="other-keys",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "N"},
            {"AttributeName": "owner", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "GSI1",
                "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    try:
        line = await asyncio.to_thread(
            refusal_of, "serve", SMARTLOCKER_ENDPOINT_URL=store_url, SMARTLOCKER_TABLE_NAME="other-keys"
        )
    finally:
        await plain_client.delete_table(TableName="other-keys")
    assert line == (
        "table other-keys has the keys table id HASH N; GSI1 owner HASH S, where SmartLocker needs "
        "table PK HASH S, SK RANGE S; GSI1 GSI1PK HASH S, GSI1SK RANGE S: name another with SMARTLOCKER_TABLE_NAME"
    )


def nothing_installed(folder: Path) -> dict[str, str]:
    """An environment without npm and without a store, fetched or otherwise."""
    (folder / "bin").mkdir()
    return {
        "PATH": str(folder / "bin"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "SMARTLOCKER_DATA_DIR": str(folder / "data"),
    }


def test_trusted_documents_that_are_none_are_named(store_url: str, table: str, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("[]")
    line = refusal_of(
        "serve",
        SMARTLOCKER_ENDPOINT_URL=store_url,
        SMARTLOCKER_TABLE_NAME=table,
        SMARTLOCKER_TRUSTED_DOCUMENTS_FILE=str(manifest),
    )
    assert line == f"the manifest {manifest} must be a JSON object from ids to documents"
