import asyncio
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loaders.table.embedded import find_binary, run_embedded
from tests.conftest import CODE_KEYS
from tests.issuer import ISSUER, production, write_keys
from tests.server.conftest import Result, Run, RunOnTable

Refused = Callable[..., str]

TRUE = shutil.which("true") or ""
WAYS_OUT = (
    "install npm, or set SMARTLOCKER_STORE_BINARY to a dynoxide binary, or set SMARTLOCKER_ENDPOINT_URL to DynamoDB "
    "(aws) or anything that speaks its protocol"
)


@pytest.fixture
def refused(run: Run, tmp_path: Path) -> Refused:
    """The message of `smartlocker serve` if it does not start: one line, with exit status 1, and nothing else."""

    def serve(**settings: str) -> str:
        status, out, err = run("serve", **{"port": "0", "data_dir": str(tmp_path / "data"), **settings})
        assert (status, out) == (1, "")
        (line,) = err.splitlines()
        assert line.startswith("smartlocker: ")
        return line.removeprefix("smartlocker: ")

    return serve


@pytest.fixture
def _nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without npm and without a store, fetched or otherwise."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def issuer(tmp_path: Path) -> dict[str, str]:
    return production(tmp_path) | {"code_keys": CODE_KEYS}


async def test_a_data_directory_in_use_is_named(refused: Refused, tmp_path: Path) -> None:
    async with run_embedded(find_binary(None), tmp_path):
        line = await asyncio.to_thread(refused, data_dir=str(tmp_path))
    assert line == f"the data directory {tmp_path} is in use by another server: stop it, or set SMARTLOCKER_DATA_DIR"


def test_a_data_directory_that_is_none_is_named(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    line = refused()
    assert line == f"the data directory {tmp_path / 'data'} cannot be used (File exists): set SMARTLOCKER_DATA_DIR"


@pytest.mark.usefixtures("_nothing_installed")
def test_without_npm_and_a_store_every_way_out_is_named(refused: Refused) -> None:
    assert refused() == f"found neither npm nor a store binary: {WAYS_OUT}"


@pytest.mark.usefixtures("_nothing_installed")
def test_a_cache_that_cannot_be_written_is_named(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "bin" / "npm").symlink_to(TRUE)
    (tmp_path / "cache").write_text("a file")
    line = refused()
    place = tmp_path / "cache" / "smartlocker" / "dynoxide-1.2.1"
    assert line == f"{place} cannot be made (Not a directory): {WAYS_OUT}"


def test_a_store_binary_that_is_no_program_is_named(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    line = refused(store_binary=str(tmp_path / "text"))
    assert line == f"SMARTLOCKER_STORE_BINARY names {tmp_path / 'text'}, which is not an executable file"


def test_a_store_binary_that_is_another_program_is_named(refused: Refused) -> None:
    line = refused(store_binary=TRUE)
    assert line == f"the embedded store {TRUE} did not start: see store.log in the data directory"


def test_an_endpoint_that_cannot_be_reached_is_named(refused: Refused) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        url = f"http://127.0.0.1:{unheard.getsockname()[1]}"
        line = refused(endpoint_url=url)
    place = url.removeprefix("http://")
    assert line == f"DynamoDB at {url} cannot be reached: no connection to {place}: [Errno 111] Connection refused"


def test_a_missing_table_is_named_with_the_command_that_makes_it(refused: Refused, store_url: str) -> None:
    line = refused(endpoint_url=store_url, table_name="nowhere")
    assert line == f"DynamoDB at {store_url} has no table nowhere: create it with `smartlocker table create`"


async def test_a_table_of_other_keys_is_refused_with_both(refused: Refused, store_url: str, plain_client: Any) -> None:
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
        line = await asyncio.to_thread(refused, endpoint_url=store_url, table_name="other-keys")
    finally:
        await plain_client.delete_table(TableName="other-keys")
    assert line == (
        "table other-keys has the keys table id HASH N; GSI1 owner HASH S, where SmartLocker needs "
        "table PK HASH S, SK RANGE S; GSI1 GSI1PK HASH S, GSI1SK RANGE S: name another with SMARTLOCKER_TABLE_NAME"
    )


def test_trusted_documents_that_are_bad_are_named(refused: Refused, store_url: str, table: str, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("[]")
    line = refused(endpoint_url=store_url, table_name=table, trusted_documents_file=str(manifest))
    assert line == f"the manifest {manifest} must be a JSON object from ids to documents"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])  # noqa: S104  # to be refused
def test_in_development_nothing_but_loopback_is_listened_on(refused: Refused, tmp_path: Path, host: str) -> None:
    line = refused(host=host)
    assert line == (
        f"in the development profile every caller is an admin, so the server does not listen on {host}: set "
        "--host 127.0.0.1 or --profile production (SMARTLOCKER_HOST, SMARTLOCKER_PROFILE)"
    )
    assert not (tmp_path / "data").exists()


NO_ISSUER = "an issuer: set SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and SMARTLOCKER_JWKS"
NO_CODE_KEYS = "secrets for access codes: set SMARTLOCKER_CODE_KEYS, such as k1:$(openssl rand -base64 32)"
NO_STORE = (
    "a store: set SMARTLOCKER_ENDPOINT_URL=aws, or SMARTLOCKER_ALLOW_EMBEDDED_STORE=true to use the embedded one, "
    "although it checks no credentials and runs on one machine"
)
NEEDS = "the production profile needs"
NO_FORM = "must be keys <id>:<base64>, such as k1:$(openssl rand -base64 32), separated by commas"


def test_a_first_start_in_production_names_everything_that_is_missing(refused: Refused, tmp_path: Path) -> None:
    for settings, missing in (
        ({}, f"{NO_ISSUER}; and {NO_CODE_KEYS}; and {NO_STORE}"),
        ({"endpoint_url": "aws", "code_keys": CODE_KEYS}, NO_ISSUER),
    ):
        assert refused(profile="production", **settings) == f"the production profile needs {missing}"
    assert not (tmp_path / "data").exists()


def test_every_setting_that_is_not_valid_is_named(refused: Refused) -> None:
    assert refused(workers="0", code_keys="abc", port="x") == (
        "SMARTLOCKER_PORT (--port): Input should be a valid integer, unable to parse string as an integer; and "
        "SMARTLOCKER_WORKERS (--workers): Input should be greater than or equal to 1; and "
        f"SMARTLOCKER_CODE_KEYS: {NO_FORM}"
    )


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("", f"the production profile needs {NO_CODE_KEYS}"),
        ("k1:c2hvcnQ=", "SMARTLOCKER_CODE_KEYS: must have secrets of 32 bytes or more"),
        ("k1:no base64", f"SMARTLOCKER_CODE_KEYS: {NO_FORM}"),
        ("abc", f"SMARTLOCKER_CODE_KEYS: {NO_FORM}"),
        (f"{CODE_KEYS},{CODE_KEYS}", "SMARTLOCKER_CODE_KEYS: must have 1 to 3 keys with different ids"),
    ],
)
def test_production_does_not_start_without_good_secrets_for_access_codes(
    refused: Refused, issuer: dict[str, str], tmp_path: Path, keys: str, line: str
) -> None:
    assert refused(**issuer | {"allow_embedded_store": "true", "code_keys": keys}) == line
    assert not (tmp_path / "data").exists()


def test_production_uses_the_embedded_store_if_told(refused: Refused, issuer: dict[str, str], tmp_path: Path) -> None:
    assert refused(**issuer) == f"the production profile needs {NO_STORE}"
    assert not (tmp_path / "data").exists()


def test_only_development_with_a_store_of_this_machine_has_a_clock_that_tests_set(
    refused: Refused, issuer: dict[str, str]
) -> None:
    assert refused(**issuer, test_clock="on", endpoint_url="aws") == (
        "the production profile needs the store's time: SMARTLOCKER_TEST_CLOCK is for development"
    )
    assert refused(test_clock="on", endpoint_url="aws") == (
        "SMARTLOCKER_TEST_CLOCK=on is for the embedded store or a local endpoint only"
    )


def test_production_does_not_start_with_a_key_set_that_has_no_usable_key(
    refused: Refused, issuer: dict[str, str], tmp_path: Path, store_url: str, table: str
) -> None:
    write_keys(tmp_path / "keys.json", {"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"})
    line = refused(**issuer, endpoint_url=store_url, table_name=table)
    assert line == f"the key set {tmp_path / 'keys.json'} has no public key for RS256, ES256, EdDSA"


async def test_an_export_that_cannot_be_written_is_named(on_table: RunOnTable, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "export"
    status, _, err = await on_table("export", str(file), "--yes")
    assert (status, err) == (1, f"smartlocker: {file} cannot be written (No such file or directory)\n")


def test_a_commands_file_that_is_unusable_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.graphql").mkdir()
    (tmp_path / "data").write_text("a file")
    line = "smartlocker: schema.graphql cannot be used (Is a directory)\n"
    assert run("schema", "export") == Result(1, "", line)
    line = f"smartlocker: {tmp_path}/data/development.secret cannot be used (Not a directory)\n"
    assert run("token", data_dir=str(tmp_path / "data")) == Result(1, "", line)


def test_settings_that_are_complete_pass(run: Run, tmp_path: Path) -> None:
    assert run("check") == (0, "the settings are complete for the development profile\n", "")
    complete = production(tmp_path) | {"code_keys": CODE_KEYS, "endpoint_url": "aws"}
    assert run("check", **complete) == (0, "the settings are complete for the production profile\n", "")


def test_all_that_is_missing_or_wrong_is_named_at_once(run: Run, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("[]")
    status, out, err = run(
        "check",
        profile="production",
        jwt_issuer=ISSUER,
        jwt_claims="{",
        live_reservations="[]",
        page_size="90",
        page_size_max="80",
        workers="many",
        trusted_documents_file=str(manifest),
        table_nam="Lockers",
    )
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "SMARTLOCKER_WORKERS: Input should be a valid integer, unable to parse string as an integer",
        "SMARTLOCKER_JWT_CLAIMS: must be valid JSON",
        "SMARTLOCKER_LIVE_RESERVATIONS: Input should be a valid dictionary",
        "SMARTLOCKER_PAGE_SIZE must not exceed SMARTLOCKER_PAGE_SIZE_MAX",
        "SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and SMARTLOCKER_JWKS belong together: set all or none",
        f"{NEEDS} {NO_CODE_KEYS}",
        f"{NEEDS} {NO_STORE}",
        f"the manifest {manifest} must be a JSON object from ids to documents",
        "SMARTLOCKER_TABLE_NAM is not a setting and has no effect; the nearest setting is SMARTLOCKER_TABLE_NAME",
        "smartlocker: 9 settings need a change",
    ]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"profile": "production", "endpoint_url": "aws", "code_keys": CODE_KEYS}, f"{NEEDS} {NO_ISSUER}"),
        (
            {"profile": "staging", "host": "192.0.2.1"},
            "SMARTLOCKER_PROFILE: Input should be 'development' or 'production'",
        ),
    ],
)
def test_what_follows_from_another_problem_is_not_named(run: Run, settings: dict[str, str], line: str) -> None:
    assert run("check", **settings).err.splitlines() == [line, "smartlocker: 1 setting needs a change"]


def test_a_key_set_without_a_usable_key_is_named(run: Run, tmp_path: Path) -> None:
    settings = production(tmp_path) | {"code_keys": CODE_KEYS, "endpoint_url": "aws"}
    write_keys(tmp_path / "keys.json")
    assert run("check", **settings).err.splitlines()[0] == (
        f"the key set {tmp_path / 'keys.json'} has no public key for RS256, ES256, EdDSA"
    )
