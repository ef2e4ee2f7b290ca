import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest

from domain.authorization import Scope
from domain.times import shift
from server.auth.claims import principal_from
from server.auth.development import DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, read_secret
from tests.conftest import NOW, Dump, OpenApi
from tests.issuer import bearer
from tests.over_http import post
from tests.server.conftest import Result, Run, RunOnTable
from tests.wire import Answer, Wire, unlogged

PARTNER = ("keys", "create", "--role", "partner", "--name", "Courier", "--owner", "o1", "--owner", "o2")
DEVICE = ("keys", "create", "--role", "device", "--name", "Hall 3", "--locker", "l1")


async def test_a_key_is_made_listed_used_and_revoked(on_table: RunOnTable, open_api: OpenApi) -> None:
    made = await on_table(*PARTNER, "--scope", "lockers:read", "--scope", "events:read", "--expires", "90d")
    secret = made.out.strip()
    key_id = secret.removeprefix("slk_")[:26]
    assert (made.status, made.err) == (0, f"key {key_id} created; its secret is not shown again:\n")
    listed = await on_table("keys", "list")
    (row,) = [line for line in listed.out.splitlines() if key_id in line]
    for shown in ("Courier", "partner", "o1, o2", "lockers:read events:read", "until "):
        assert shown in row
    assert secret[-64:] not in listed.out

    async def status() -> int:
        async with open_api(authenticator=None) as api:
            return (await post(api, "{ __typename }", headers=bearer(secret))).status_code

    assert await status() == 200
    for _ in range(2):
        suspended = await on_table("keys", "suspend", key_id)
        assert suspended.out.startswith(f"key {key_id} suspended at 20")
    (row,) = [line for line in (await on_table("keys", "list")).out.splitlines() if key_id in line]
    assert "suspended 20" in row
    assert f"│ {NOW[:13]} │" in row
    assert await status() == 401
    assert (await on_table("keys", "resume", key_id)).out == f"key {key_id} resumed\n"
    assert await status() == 200
    missing = await on_table("keys", "suspend", "none")
    assert (missing.status, "API key none does not exist." in missing.err) == (1, True)
    revoked = await on_table("keys", "revoke", key_id)
    assert (revoked.status, revoked.err) == (0, "")
    assert revoked.out.startswith(f"key {key_id} revoked at 20")
    assert "revoked 20" in (await on_table("keys", "list")).out
    assert await status() == 401


async def test_the_list_shows_every_id_whole_in_a_pipe_and_in_a_narrow_terminal(
    on_table: RunOnTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = (await on_table(*PARTNER, *(f"--scope={scope}" for scope in Scope))).out.strip()
    key_id = secret.removeprefix("slk_")[:26]
    assert key_id in (await on_table("keys", "list")).out
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert key_id in (await on_table("keys", "list")).out


async def test_commands_use_the_time_of_the_store(on_table: RunOnTable, wire: Wire, dump: Dump) -> None:
    wire.now = lambda: 1_772_366_400  # 2026-03-01, twelve o'clock
    assert (await on_table(*DEVICE, "--expires", "12h", endpoint_url=wire.url)).status == 0
    items = await dump()
    (key,) = [items[place] for place in unlogged(items)]
    assert shift(NOW, timedelta(seconds=-2)) <= key["createdAt"] <= shift(NOW, timedelta(seconds=2))
    earliest = shift(NOW, timedelta(hours=12, seconds=-2))
    assert earliest <= key["expiresAt"] <= shift(key["createdAt"], timedelta(hours=12))  # the command takes both times


async def test_a_device_key_does_not_expire_by_default(on_table: RunOnTable) -> None:
    assert (await on_table(*DEVICE)).status == 0
    listed = await on_table("keys", "list")
    (row,) = [line for line in listed.out.splitlines() if "Hall 3" in line]
    cells = [cell.strip() for cell in row.split("│")[1:-1]]
    assert [cells[index] for index in (1, 2, 3, 4, 7)] == ["Hall 3", "device", "l1", "", "active"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (PARTNER, "--scope is required for a partner"),
        ((*DEVICE, "--owner", "o1"), "--owner is not allowed for a device"),
        (("keys", "create", "--role", "device", "--name", "x"), "--locker or --location is required for a device"),
        ((*DEVICE, "--expires", "soon"), "--expires must be a number of days or hours, such as 90d or 12h"),
        ((*DEVICE, "--expires", "0d"), "--expires must be a number of days or hours, such as 90d or 12h"),
        (("keys", "revoke", "nothing"), "API key nothing does not exist."),
        (("keys", "revoke", "a#b"), "keyId must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"),
    ],
)
async def test_a_failed_command_reports_one_line(on_table: RunOnTable, words: tuple[str, ...], message: str) -> None:
    assert await on_table(*words) == Result(1, "", f"smartlocker: {message}\n")


@pytest.mark.parametrize("words", [DEVICE, ("keys", "list"), ("keys", "revoke", "nothing")])
def test_a_data_directory_without_a_table_gets_none_from_these_commands(run: Run, words: tuple[str, ...]) -> None:
    status, out, err = run(*words)
    assert (status, out) == (1, "")
    assert err.endswith(" has no table SmartLocker: create it with `smartlocker table create`\n")


@pytest.mark.parametrize("words", [DEVICE, ("keys", "list"), ("keys", "revoke", "nothing")])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("AccessDeniedException", "AccessDeniedException: AccessDeniedException"),
        ("ThrottlingException", "DynamoDB at {url} cannot be read: ThrottlingException: ThrottlingException"),
    ],
)
async def test_an_error_of_the_store_is_reported_in_one_line(
    on_table: RunOnTable, wire: Wire, words: tuple[str, ...], code: str, message: str
) -> None:
    wire.fault = lambda call: None if call.operation == "DescribeTable" else Answer.error(code)
    refused = await on_table(*words, endpoint_url=wire.url)
    assert refused == Result(1, "", f"smartlocker: {message.format(url=wire.url)}\n")


@pytest.mark.parametrize(
    ("words", "claims"),
    [
        ((), {"role": "admin"}),
        (
            ("--role", "owner", "--owner", "o1", "--organization", "o2", "--organization", "o3"),
            {"role": "owner", "ownerId": "o1", "organizations": ["o2", "o3"]},
        ),
        (
            ("--role", "partner", "--owner", "o1", "--owner", "o2", "--scope", "lockers:read"),
            {"role": "partner", "partnerOf": ["o1", "o2"], "scope": "lockers:read"},
        ),
        (("--role", "DEVICE", "--locker", "l1"), {"role": "device", "lockerId": "l1"}),
        (("--role", "device", "--location", "01HX"), {"role": "device", "locationId": "01HX"}),
    ],
)
def test_a_token_is_for_its_principal(run: Run, tmp_path: Path, words: tuple[str, ...], claims: dict[str, Any]) -> None:
    made = run("token", *words, "--hours", "2")
    assert (made.status, made.err) == (0, "")
    secret = read_secret(tmp_path)
    assert secret is not None
    content = jwt.decode(made.out.strip(), secret, ["HS256"], audience=DEVELOPMENT_AUDIENCE, issuer=DEVELOPMENT_ISSUER)
    assert content.pop("exp") - content.pop("iat") == 7200
    common = {"iss": DEVELOPMENT_ISSUER, "aud": DEVELOPMENT_AUDIENCE, "sub": f"development-{claims['role']}"}
    assert content == common | claims
    assert principal_from(content, {}).role == claims["role"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--role", "owner"), "an owner's token needs exactly one --owner"),
        (("--role", "owner", "--owner", "o1", "--owner", "o2"), "an owner's token needs exactly one --owner"),
        (("--role", "admin", "--owner", "o1", "--owner", "o2"), "an admin's token takes one --owner at most"),
        (("--role", "partner", "--owner", "o1"), "A partner's token needs --owner and --scope."),
        (("--role", "device"), "A device's token needs either --locker or --location."),
        (("--role", "device", "--locker", "a#b"), "--locker must be a valid id."),
        (("--role", "owner", "--owner", "a#b"), "--owner must be a valid id."),
    ],
)
def test_a_token_without_a_principal_is_refused(run: Run, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    assert run("token", *words) == Result(1, "", f"smartlocker: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_in_production_there_are_no_tokens_to_be_made(run: Run, tmp_path: Path) -> None:
    assert run("token", profile="production") == Result(
        1, "", "smartlocker: development tokens work in the development profile only: get a token from your issuer\n"
    )
    assert list(tmp_path.iterdir()) == []
