import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

import botocore.auth
import botocore.credentials
import pytest
from botocore.awsrequest import AWSRequest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import UnavailableError
from loaders.table.client import DynamoStore
from loaders.table.errors import StoreError
from loaders.table.operations import Get
from loaders.table.positions import Key
from loaders.table.signing import CONTENT_TYPE, Credentials, Signer
from loaders.table.transport import NoAnswerError
from tests.scripted import Request, ScriptedStore, failed

Opener = Callable[..., AbstractAsyncContextManager[DynamoStore]]

GET = Get("QC-01", Key("LOCKER#l1", "META"))
PLAIN = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)
PROCESS = """
import json, pathlib, sys
from datetime import UTC, datetime, timedelta
count = pathlib.Path(sys.argv[1])
number = int(count.read_text()) + 1
count.write_text(str(number))
print(json.dumps({
    "Version": 1,
    "AccessKeyId": f"key-{number}",
    "SecretAccessKey": f"secret-{number}",
    "SessionToken": f"token-{number}",
    "Expiration": (datetime.now(UTC) + timedelta(minutes=5)).isoformat(),
}))
"""


def authorization(url: str, headers: dict[str, str], body: bytes, credentials: Credentials, now: datetime) -> str:
    """The header that the SDK would send with a request."""
    request = AWSRequest("POST", url, headers, body)
    signer = botocore.auth.SigV4Auth(botocore.credentials.Credentials(*credentials), "dynamodb", "eu-central-1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.auth, "get_current_datetime", lambda: now)
        signer.add_auth(request)
    found: str = request.headers["Authorization"]
    return found


def check_signed(request: Request, url: str, credentials: Credentials) -> None:
    """Asserts that a request that has arrived is signed as the SDK would have signed it."""
    received = request.headers["authorization"]
    signed = received.split("SignedHeaders=")[1].split(",")[0].split(";")
    assert {"content-type", "host", "x-amz-date", "x-amz-target"} <= set(signed)
    assert ("x-amz-security-token" in signed) is (credentials.token is not None)
    assert request.headers.get("x-amz-security-token") == credentials.token
    sent_at = datetime.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - sent_at).total_seconds()) < 600
    headers = {name: request.headers[name] for name in signed if name not in {"host", "x-amz-date"}}
    assert received == authorization(url, headers, request.body, credentials, sent_at)


@given(
    target=PLAIN,
    body=st.binary(),
    key=PLAIN,
    secret=PLAIN,
    token=st.none() | PLAIN,
    path=st.lists(PLAIN.filter(lambda part: not set(part) & set("/?#") and part not in {".", ".."})),
    port=st.none() | st.integers(1, 65535),
    now=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_a_signature_is_the_sdks_own(
    target: str, body: bytes, key: str, secret: str, token: str | None, path: list[str], port: int | None, now: datetime
) -> None:
    host = "example.com" if port in {None, 80} else f"example.com:{port}"
    credentials = Credentials(key, secret, token)
    whole_path = "/" + "/".join(path)
    lines = (
        Signer("eu-central-1", host, whole_path).headers(target, body, credentials, int(now.timestamp())).split("\r\n")
    )
    headers = dict(line.split(": ", 1) for line in lines if line)
    url = f"http://example.com{'' if port is None else f':{port}'}{whole_path}"
    theirs = authorization(url, {"Content-Type": CONTENT_TYPE, "X-Amz-Target": target}, body, credentials, now)
    assert headers["Authorization"] == theirs
    assert headers["X-Amz-Date"] == now.strftime("%Y%m%dT%H%M%SZ")
    assert headers.get("X-Amz-Security-Token") == token


def test_a_signer_follows_the_day_and_the_key() -> None:
    signer = Signer("eu-central-1", "example.com", "/")
    for secret in ("one", "two"):
        for day in (1, 2):
            credentials, now = Credentials("key", secret, None), datetime(2026, 3, day, tzinfo=UTC)
            headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": "t"}
            expected = authorization("http://example.com/", headers, b"{}", credentials, now)
            assert f"Authorization: {expected}\r\n" in signer.headers("t", b"{}", credentials, int(now.timestamp()))


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """The SDK's own chain of credentials, of which nothing is set, in a session of the test's own."""
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    return monkeypatch


def use_program(chain: pytest.MonkeyPatch, directory: Path) -> Path:
    """Lets a program give the credentials, which expire soon; returns the file in which it counts how often it ran."""
    count, program, config = (directory / name for name in ("count", "program.py", "config"))
    count.write_text("0")
    program.write_text(PROCESS)
    config.write_text(f"[default]\ncredential_process = {sys.executable} {program} {count}\n")
    chain.setenv("AWS_CONFIG_FILE", str(config))
    return count


@pytest.mark.parametrize("path", ["", "/stores/one~two%20three"])
@pytest.mark.parametrize("token", [None, "a/session+token=="])
async def test_requests_are_signed_with_the_credentials_of_the_environment(
    open_to: Opener, scripted: ScriptedStore, chain: pytest.MonkeyPatch, token: str | None, path: str
) -> None:
    chain.setenv("AWS_ACCESS_KEY_ID", "key")
    chain.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    if token is not None:
        chain.setenv("AWS_SESSION_TOKEN", token)
    url = scripted.url + path
    async with open_to(url, local=False) as store:
        await store.get(GET)
    (request,) = scripted.requests
    check_signed(request, url, Credentials("key", "secret", token))


async def test_credentials_that_change_are_used_for_the_next_request(
    open_to: Opener, scripted: ScriptedStore, chain: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    count = use_program(chain, tmp_path)
    numbers = []
    async with open_to(scripted.url, local=False) as store:
        for _ in range(3):
            await store.get(GET)
            numbers.append(int(count.read_text()))
    assert numbers == sorted(set(numbers)), "the program is run again for each request, as its keys are about to expire"
    for request, number in zip(scripted.requests, numbers, strict=True):
        check_signed(request, scripted.url, Credentials(f"key-{number}", f"secret-{number}", f"token-{number}"))


@pytest.mark.usefixtures("pauses")
async def test_credentials_that_the_store_takes_for_expired_are_our_fault_and_nothing_is_sent_again(
    store: DynamoStore, scripted: ScriptedStore
) -> None:
    scripted.script = [failed("ExpiredTokenException")]
    with pytest.raises(StoreError, match="ExpiredTokenException"):
        await store.get(GET)
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("source", ["none", "a program that fails"])
async def test_without_credentials_nothing_is_sent(
    open_to: Opener, scripted: ScriptedStore, chain: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    if source != "none":
        use_program(chain, tmp_path)
    async with open_to(scripted.url, local=False) as store:
        (tmp_path / "program.py").write_text("raise SystemExit(1)")
        with pytest.raises(UnavailableError) as unavailable:
            await store.get(GET)
    assert isinstance(unavailable.value.__cause__, NoAnswerError)
    assert unavailable.value.__cause__.retries == 0
    assert scripted.requests == []
