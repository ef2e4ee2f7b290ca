import socket
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from domain.times import to_seconds
from loaders.backend import Backend
from loaders.table.sdk import open_client
from server.cli.settings_commands import descriptions
from server.process.store import connect
from server.settings import Settings
from tests.api import CREATE_RESERVATION
from tests.conftest import Dump, OpenApi
from tests.history import keep_history
from tests.server.conftest import Run

ORIGIN = "https://app.example.com"
DEFAULTS = Settings.model_construct().model_dump()  # whatever the environment says


@pytest.fixture
def no_files_of_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hides credentials in files of the user who runs the tests."""
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_described(name: str) -> None:
    assert descriptions()[name].endswith(".")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("endpoint_url", "https://[::1]:8001/path", "https://[::1]:8001/path"),
        ("endpoint_url", "aws", "aws"),
        ("table_name", "Lockers.test-2_3", "Lockers.test-2_3"),
        ("data_dir", "/var/lib/lockers", Path("/var/lib/lockers")),
        ("jwt_claims", '{"role": "custom:role"}', {"role": "custom:role"}),
        ("trusted_documents_file", __file__, Path(__file__)),
        ("allowed_hosts", " api.example.com ,10.0.0.5,", ("api.example.com", "10.0.0.5")),
        ("cors_origins", "HTTPS://App.Example.com:8443, http://[::1]", (f"{ORIGIN}:8443", "http://[::1]")),
        ("request_seconds", "2.5", 2.5),
        ("rate_limit_units", "600", 600),
    ],
)
def test_a_setting_is_from_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: object) -> None:
    monkeypatch.setenv(f"SMARTLOCKER_{name.upper()}", text)
    assert Settings().model_dump() == DEFAULTS | {name: value}


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in DEFAULTS:
        monkeypatch.setenv(f"SMARTLOCKER_{name.upper()}", "")
    assert Settings().model_dump() == DEFAULTS
    assert Settings().is_embedded


OPTIONS = {"host", "port", "profile"}
INVALID = {
    "endpoint_url": ["localhost:8001", "ftp://localhost", "http://", "http://two words", "http://a_b:1", "AWS"],
    "table_name": ["no", "with space"],
    "port": ["http", "-1", "65536"],
    "profile": ["staging"],
    "jwt_claims": ['{"roles": "custom:role"}', '{"role": 5}', "role=custom:role", "[]"],
    "longest_reservation_days": ["0", "3651"],
    "log_days": ["1", "3651"],
    "history_days": ["0", "3651"],
    "event_days": ["6", "3651", "never"],
    "details_days": ["0", "3651"],
    "max_pending_bookings": ["0", "-1"],
    "max_live_reservations": ["0", "1001"],
    "live_reservations": ['{"ada": -1}', '{"ada": 1001}', "ada=5", "[]"],
    "page_size": ["0"],
    "page_size_max": ["0", "101"],
    "trusted_documents_file": ["/nothing/here.json", "/"],
    "persisted_queries": ["-1", "100001"],
    "max_tokens": ["0"],
    "max_aliases": ["-1"],
    "max_depth": ["0"],
    "max_directives": ["-1"],
    "max_root_fields": ["0"],
    "request_seconds": ["0", "301"],
    "max_concurrent_requests": ["0"],
    "cors_origins": [
        *("*", "null", "app.example.com", f"{ORIGIN}/", f"{ORIGIN}/page", f"{ORIGIN},https://"),
        *("https://*.example.com", "https://me@app.example.com", "ftp://app.example.com"),
    ],
    "rate_limit_units": ["-1"],
    "rate_limit_burst": ["0"],
    "drain_seconds": ["-1"],
}


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_value_is_rejected_by_the_name_of_its_variable(refusal: Callable[..., str], name: str) -> None:
    for text in INVALID[name]:
        option = f" (--{name})" if name in OPTIONS else ""
        assert refusal(**{name: text}).startswith(f"smartlocker: SMARTLOCKER_{name.upper()}{option}: ")


@pytest.mark.parametrize(
    "place",
    [
        "http://issuer.example.com/keys",
        "http://127.0.0.1.example.com/keys",
        "https://name:password@issuer.example.com/keys",
        "https://",
        "https://issuer.example.com:port/",
        "ftp://issuer.example.com/keys",
        "file:///etc/keys.json",
        "/nothing/here.json",
        "/",
    ],
)
def test_keys_come_from_a_file_or_by_https_unless_they_are_at_hand(place: str) -> None:
    issuer: dict[str, Any] = {"jwt_issuer": "https://issuer.example.com/", "jwt_audience": "lockers"}
    for good in ("https://issuer.example.com/keys", "http://127.0.0.1:9/keys", "http://localhost/keys", __file__):
        assert Settings(**issuer, jwks=good).jwks == good
    with pytest.raises(ValidationError, match="jwks"):
        Settings(**issuer, jwks=place)


def test_an_issuer_is_whole_or_none(refusal: Callable[..., str]) -> None:
    issuer: dict[str, Any] = {"jwt_issuer": "https://issuer.example.com/", "jwt_audience": "lockers", "jwks": __file__}
    assert Settings(**issuer).jwt_issuer == "https://issuer.example.com/"
    for name in issuer:
        assert refusal(**{other: value for other, value in issuer.items() if other != name}) == (
            "smartlocker: SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and SMARTLOCKER_JWKS belong together: "
            "set all or none"
        )


def test_refused_settings_are_explained(refusal: Callable[..., str]) -> None:
    assert refusal(endpoint_url="http://two words") == (
        "smartlocker: SMARTLOCKER_ENDPOINT_URL: must be aws or a URL such as http://127.0.0.1:8001"
    )
    assert refusal(port="http") == (
        "smartlocker: SMARTLOCKER_PORT (--port): Input should be a valid integer, unable to parse string as an integer"
    )
    assert refusal(page_size="50", page_size_max="49") == (
        "smartlocker: SMARTLOCKER_PAGE_SIZE must not exceed SMARTLOCKER_PAGE_SIZE_MAX"
    )
    assert refusal(details_days="29") == (
        "smartlocker: SMARTLOCKER_DETAILS_DAYS must not be less than SMARTLOCKER_LONGEST_RESERVATION_DAYS"
    )
    assert refusal(trusted_documents="only") == (
        "smartlocker: SMARTLOCKER_TRUSTED_DOCUMENTS=only needs SMARTLOCKER_TRUSTED_DOCUMENTS_FILE"
    )
    assert refusal(test_clock="on", workers="2") == "smartlocker: SMARTLOCKER_TEST_CLOCK=on needs SMARTLOCKER_WORKERS=1"
    assert refusal(page_size="101") == "smartlocker: SMARTLOCKER_PAGE_SIZE must not exceed SMARTLOCKER_PAGE_SIZE_MAX"


def test_an_option_of_serve_comes_before_its_variable(run: Run) -> None:
    """Each refusal shows the value that was used."""
    environment = {"host": "127.0.0.1", "port": "1", "profile": "development"}
    assert "does not listen on 0.0.0.0" in run("serve", "--host", "0.0.0.0", **environment).err  # noqa: S104
    assert "the production profile needs an issuer" in run("serve", "--profile", "production", **environment).err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"cannot listen on port {port} of 127.0.0.1" in run("serve", "--port", str(port), **environment).err


def test_a_wrong_option_is_named_with_its_variable(run: Run) -> None:
    assert run("serve", "--profile", "staging").err == (
        "smartlocker: SMARTLOCKER_PROFILE (--profile): Input should be 'development' or 'production'\n"
    )
    assert run("keys", "list", profile="staging").err == (
        "smartlocker: SMARTLOCKER_PROFILE: Input should be 'development' or 'production'\n"
    )


def test_the_help_of_serve_lists_every_setting_with_its_default_and_its_description(run: Run) -> None:
    listed = run("serve", "--help").out.partition("Settings, from environment variables:")[2]
    for name in Settings.model_fields:
        assert f"  SMARTLOCKER_{name.upper()} (default: " in listed
        assert f")\n      {descriptions()[name]}\n" in listed
    shown = {"PORT": "8000", "JWKS": "unset", "CORS_ORIGINS": "none", "ALLOW_EMBEDDED_STORE": "false"}
    for name, default in shown.items():
        assert f"  SMARTLOCKER_{name} (default: {default})\n" in listed


def test_a_variable_that_is_no_setting_is_reported_with_the_nearest_one(run: Run) -> None:
    line = "SMARTLOCKER_PROT is not a setting and has no effect; the nearest setting is SMARTLOCKER_PORT"
    assert run("token", prot="1").err == f"smartlocker: {line}\n"
    served = run("serve", prot="1", port="0", endpoint_url="http://127.0.0.1:1")
    assert served.err.splitlines()[0] == f"WARNING:  {line}"
    assert run("token", log_format="json").err == ""


@pytest.fixture
def refusal(run: Run) -> Callable[..., str]:
    """The one line with which `smartlocker serve` rejects its settings."""

    def serve(**settings: str) -> str:
        result = run("serve", **settings)
        (line,) = result.err.splitlines()
        assert (result.status, result.out) == (1, "")
        return str(line)

    return serve


@pytest.mark.usefixtures("no_files_of_aws")
async def test_requests_go_to_the_url_or_to_aws_with_the_region_the_table_and_the_credentials_that_were_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def check(endpoint: str, url: str, *, is_local: bool) -> None:
        settings = Settings(endpoint_url=endpoint, region="eu-west-3", table_name="Lockers")
        async with connect(settings) as connection, open_client(connection) as client:
            assert (connection.table, connection.region, connection.local) == ("Lockers", "eu-west-3", is_local)
            assert (client.meta.endpoint_url, client.meta.region_name) == (url, "eu-west-3")

    await check("http://localhost:1", "http://localhost:1", is_local=True)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDOFTHECHAIN")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    await check("http://localhost:1", "http://localhost:1", is_local=False)
    await check("aws", "https://dynamodb.eu-west-3.amazonaws.com", is_local=False)


@pytest.mark.usefixtures("no_files_of_aws")
def test_aws_without_credentials_is_refused_before_anything_is_sent(refusal: Callable[..., str]) -> None:
    assert refusal(endpoint_url="aws", port="0") == (
        "smartlocker: DynamoDB at AWS eu-central-1 cannot be reached: Unable to locate credentials"
    )


async def test_the_longest_reservation_is_as_long_as_was_set(open_api: OpenApi) -> None:
    assert Settings(longest_reservation_days=2).longest_reservation == timedelta(days=2)
    async with open_api(longest_reservation_days=2) as api:
        await api.owner("ada")
        await api.locker("l1", "ada")
        values = {"lockerId": "l1", "ownerId": "ada", "startAt": "2026-03-02T00:00:00Z"}
        refused = await api.mutate(CREATE_RESERVATION, **values, endAt="2026-03-04T00:00:00.001Z")
        assert refused["reservation"] is None
        assert [(error["code"], error["message"]) for error in refused["userErrors"]] == [
            ("BAD_USER_INPUT", "a reservation must not be longer than 2 days")
        ]
        accepted = await api.mutate(CREATE_RESERVATION, **values, endAt="2026-03-04T00:00:00Z")
        assert accepted["userErrors"] == []


async def test_log_and_history_are_kept_as_long_as_was_set(open_api: OpenApi, backend: Backend, dump: Dump) -> None:
    async with open_api(log_days=5) as api:
        await api.owner("ada")
    await keep_history(backend.store, Settings(history_days=6).retention.history)
    days = {
        item["entityType"]: (item["expiresAt"] - to_seconds(item[time])) / 86_400
        for item in (await dump()).values()
        for time in ("stamp", "occurredAt")
        if time in item
    }
    assert days == {"LOG_ENTRY": 5, "ACTIVITY": 6}
