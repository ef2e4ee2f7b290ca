import asyncio
import gc
import io
import json
import logging
import re
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from hashlib import sha256
from typing import Any

import pytest
import pytest_asyncio

from domain.api_keys import ApiKeyRole
from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role
from domain.commands.api_keys import CreateApiKey
from domain.models import LockerId
from loaders.backend import Backend
from loaders.conversion import DamagedItemError
from loaders.table.client import StoreConnection
from loaders.table.errors import StoreError
from loaders.writes.api_keys import create_api_key
from server.app import create_app
from server.settings import Settings
from server.telemetry.log_writer import LineWriter, dropped_lines
from server.telemetry.logs import configured_logging, format_traceback, log_formatter
from server.telemetry.observation import REQUEST_ID
from tests.api import UPDATE_STATUS, Api
from tests.conftest import OpenApi
from tests.issuer import bearer
from tests.over_http import post
from tests.principals import owner
from tests.wire import Wire

OWNER = 'query Owner { owner(ownerId: "ada") { name } }'
LOGGER = "server.telemetry.request_log"
NOTHING = {"operations": 0, "read_units": 0, "write_units": 0}


@pytest.fixture(autouse=True)
def _no_request() -> Iterator[None]:
    """No request of another test runs any more."""
    token = REQUEST_ID.set(None)
    yield
    REQUEST_ID.reset(token)


@pytest_asyncio.fixture
async def logged(open_api: OpenApi) -> AsyncIterator[Api]:
    """A server whose log has a line for every request."""
    async with open_api(request_log="on") as opened:
        yield opened


CALLER = {"subject": "development", "role": "admin", "client": "127.0.0.1"}


def log_entries(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The lines of requests as JSON, without what differs from run to run."""
    formatter = log_formatter(is_json=True)
    lines = [json.loads(formatter.format(record)) for record in caplog.records if record.name == LOGGER]
    for line in lines:
        assert line.pop("duration_ms") > 0
        assert line.pop("timestamp").endswith("Z")
        assert (line.pop("event"), line.pop("level"), line.pop("logger")) == ("request", "info", LOGGER)
        line.pop("request_id", None)
    return lines


async def test_a_request_is_one_line_with_what_it_took_of_the_store(
    one: Api, logged: Api, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    assert one
    change = {"lockerId": "l1", "newStatus": "OCCUPIED", "expectedVersion": 1}
    with caplog.at_level(logging.INFO, LOGGER):
        await logged.run(OWNER)
        await logged.mutate(UPDATE_STATUS, **change)
        await logged.mutate(UPDATE_STATUS, **change)
    anonymous = {"operation_type": "mutation", "document": sha256(UPDATE_STATUS.encode()).hexdigest()}
    changed = {**anonymous, "status": 200, "read_units": 1.0, **CALLER}
    query = {"operation_type": "query", "operation": "Owner", "status": 200, "read_units": 0.5, **CALLER}
    assert log_entries(caplog) == [
        {**query, "code": "OK", "operations": 1, "write_units": 0},
        {**changed, "code": "OK", "operations": 2, "write_units": 10.0},
        {**changed, "code": "VERSION_CONFLICT", "operations": 1, "write_units": 0},
    ]
    assert {call.request["ReturnConsumedCapacity"] for call in wire.calls} == {"TOTAL"}


async def test_refusals_have_a_line_and_pages_have_none(logged: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        await logged.client.get("/graphql", headers={"Accept": "text/html"})
        await logged.client.get("/health")
        await logged.client.put("/graphql")
        await logged.send("{")
    assert log_entries(caplog) == [
        {"code": "BAD_USER_INPUT", "status": 405, "client": "127.0.0.1", **NOTHING},
        {"code": "GRAPHQL_PARSE_FAILED", "status": 200, "document": sha256(b"{").hexdigest(), **CALLER, **NOTHING},
    ]


async def test_a_client_who_leaves_early_was_canceled(table: str, wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(
        Settings(table_name=table, request_log="on"), StoreConnection(table, "eu-central-1", wire.url, local=True)
    )
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}

    async def leave() -> dict[str, str]:
        await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        raise AssertionError("nobody is there")

    with caplog.at_level(logging.INFO, LOGGER):
        await app(scope, leave, send)
    assert log_entries(caplog) == [{"code": "CANCELLED", "subject": "development", "role": "admin", **NOTHING}]


async def test_a_line_names_the_caller_and_the_clients_own_id_of_the_request(
    open_api: OpenApi, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    command = CreateApiKey(name="Hall", role=ApiKeyRole.DEVICE, locker_id=LockerId("l1"))
    created = await create_api_key(backend, command, DEVELOPMENT_ADMIN)
    ada, forged = owner("ada"), Principal(subject=f"a\nb{'c' * 200}", role=Role.ADMIN)
    with caplog.at_level(logging.INFO, LOGGER):
        async with open_api(request_log="on") as api:
            await post(api.by(ada), OWNER, headers={"X-Request-Id": "a:1/b_2=@x"})
            for strange in ("", "two words", "<script>", "x" * 129, "-x"):
                await post(api.by(forged), OWNER, headers={"X-Request-Id": strange})
        async with open_api(request_log="on", authenticator=None) as api:
            await post(api, OWNER, headers=bearer(str(created.secret)))
            await post(api, OWNER, headers=bearer("wrong"))
        async with open_api(request_log="on", request_log_caller="off") as api:
            await post(api.by(ada), OWNER)
    wanted = ("subject", "role", "key_id", "client", "client_request_id")
    lines = [{name: line[name] for name in wanted if name in line} for line in log_entries(caplog)]
    client = {"client": "127.0.0.1"}
    assert lines == [
        {"subject": "ada", "role": "owner", "client_request_id": "a:1/b_2=@x", **client},
        *[{"subject": f"a?b{'c' * 125}", "role": "admin", **client}] * 5,
        {"key_id": created.record.key_id, "role": "device", **client},
        client,
        {},
    ]


async def test_a_lines_request_id_is_that_of_the_answer(logged: Api, capsys: pytest.CaptureFixture[str]) -> None:
    with configured_logging(Settings(log_format="json")):
        response = await post(logged, OWNER)
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize("level", ["info", "warning"])
async def test_lines_past_logging_are_those_that_it_would_write(
    open_api: OpenApi, capsys: pytest.CaptureFixture[str], level: str
) -> None:
    async def send(write_line: Callable[[str], None] | None) -> None:
        async with open_api(request_log="on", write_line=write_line) as api:
            await post(api, OWNER, headers={"X-Request-Id": "a1"})
            await post(api.by(Principal(subject="\ud800", role=Role.ADMIN)), "{ locker(lockerId: 1) }")
            await api.client.get("/graphql", headers={"Accept": "text/html"})
            await api.client.put("/graphql")

    def shown(text: str) -> list[list[tuple[str, Any]]]:
        """Their fields in order, without what differs from run to run."""
        differ = {"timestamp", "duration_ms", "request_id"}
        return [
            [(name, name in differ or value) for name, value in json.loads(line).items()] for line in text.splitlines()
        ]

    with configured_logging(Settings(log_format="json", log_level=level)):
        await send(None)
    through = shown(capsys.readouterr().err)
    with configured_logging(Settings(log_format="json", log_level=level)) as write_line:
        await send(write_line)
    assert shown(capsys.readouterr().err) == through
    assert len(through) == (3 if level == "info" else 0)


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        ({}, 0),
        ({"request_log": "off"}, 0),
        ({"request_log": "on", "log_level": "warning"}, 0),
        ({"profile": "production", "request_log": "off"}, 0),
        ({"profile": "production"}, 1),
    ],
)
async def test_requests_have_a_line_in_production_unless_it_is_off_or_would_not_be_seen(
    open_api: OpenApi, caplog: pytest.LogCaptureFixture, settings: dict[str, str], lines: int
) -> None:
    async with open_api(**settings) as api:
        with caplog.at_level(logging.INFO, LOGGER):
            await api.send(OWNER)
    assert len(log_entries(caplog)) == lines


@pytest.mark.parametrize(
    ("settings", "is_json"),
    [
        ({}, False),
        ({"profile": "production"}, True),
        ({"log_format": "json"}, True),
        ({"profile": "production", "log_format": "readable"}, False),
    ],
)
def test_lines_are_json_in_production_and_readable_in_development(
    capsys: pytest.CaptureFixture[str], settings: dict[str, Any], *, is_json: bool
) -> None:
    with configured_logging(Settings(**settings)):
        logging.getLogger("uvicorn.error").info("Application startup complete.", extra={"color_message": "noise"})
        logging.getLogger("server.x").info("request", extra={"fields": {"operation": "Owner", "code": "OK"}})
    first, second = capsys.readouterr().err.splitlines()
    if is_json:
        assert json.loads(first).items() >= {"event": "Application startup complete.", "level": "info"}.items()
        assert set(json.loads(first)) == {"event", "level", "logger", "timestamp"}
        assert json.loads(second).items() >= {"operation": "Owner", "code": "OK"}.items()
    else:
        assert first == "INFO:     Application startup complete."
        assert second == "INFO:     request operation=Owner code=OK"


def test_libraries_log_only_warnings_and_errors(capsys: pytest.CaptureFixture[str]) -> None:
    with configured_logging(Settings(log_level="debug")):
        for name in ("botocore.endpoint", "aiobotocore", "server"):
            logging.getLogger(name).debug("details of %s", name)
        logging.getLogger("botocore").warning("wrong")
    assert capsys.readouterr().err.splitlines() == ["DEBUG:    details of server", "WARNING:  wrong"]


CANARY = "c4n4ry"


def fail() -> None:
    """Fails with everything that a failure can hold."""
    try:
        try:
            json.loads("{}")[CANARY]
        except KeyError as error:
            raise StoreError("ValidationException", CANARY) from error
    except StoreError:
        parts = [
            ValueError(CANARY),
            OSError(5, "Input/output error", CANARY),
            DamagedItemError("item has no valid kind"),
        ]
        group = ExceptionGroup(CANARY, parts)
        group.add_note(CANARY)
        raise group  # noqa: B904  # its context is logged too


@pytest.mark.parametrize("is_json", [False, True])
def test_a_traceback_shows_where_and_what_and_no_value(*, is_json: bool) -> None:
    try:
        fail()
    except ExceptionGroup:
        record = logging.LogRecord("server", logging.ERROR, __file__, 1, "it %s", ("failed",), sys.exc_info())
    REQUEST_ID.set("id1")
    text = log_formatter(is_json=is_json).format(record)
    assert CANARY not in text
    assert len(text.splitlines()) == 1 or not is_json
    shown = json.loads(text)["exception"] if is_json else text
    assert [line for line in shown.splitlines() if not line.startswith((" ", "ERROR"))] == [
        "Traceback (most recent call last):",
        "KeyError",
        "The exception above caused:",
        "Traceback (most recent call last):",
        "loaders.table.errors.StoreError: ValidationException",
        "The exception above caused:",
        "Traceback (most recent call last):",
        "ExceptionGroup",
        "Part of the group:",
        "Traceback (most recent call last):",
        "ValueError",
        "Part of the group:",
        "Traceback (most recent call last):",
        "OSError: Input/output error",
        "Part of the group:",
        "Traceback (most recent call last):",
        "loaders.conversion.DamagedItemError: item has no valid kind",
    ]
    assert "in fail" in shown
    assert "it failed" in text
    assert "id1" in text


def test_errors_that_led_to_each_other_end() -> None:
    first, second = KeyError(), ValueError()
    first.__context__, second.__context__ = second, first
    assert format_traceback(first).count("Traceback") == 2


async def test_a_failure_of_a_background_task_is_logged_without_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    gc.collect()  # so that no failure of another test is found below
    with configured_logging(Settings()):
        asyncio.get_running_loop().create_future().set_exception(KeyError(CANARY))
        gc.collect()
    logged = capsys.readouterr().err
    assert logged.startswith("ERROR:    Future exception was never retrieved")
    assert logged.rstrip().endswith("KeyError")
    assert CANARY not in logged


async def test_a_callback_that_fails_is_logged_without_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    def fall(value: str) -> None:
        raise KeyError(value)

    with configured_logging(Settings()):
        asyncio.get_running_loop().call_soon(fall, CANARY)
        await asyncio.sleep(0)
    logged = capsys.readouterr().err
    assert re.match(r"ERROR:    Exception in callback .*… at .*test_logs.py:\d+\n", logged)
    assert CANARY not in logged


class StuckStream(io.StringIO):
    """A stream whose reader does not read until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.released = threading.Event()

    def write(self, text: str) -> int:
        self.entered.set()
        self.released.wait()
        return super().write(text)


def line(text: str) -> logging.LogRecord:
    return logging.LogRecord("server", logging.INFO, __file__, 1, text, (), None)


def test_a_reader_that_does_not_read_holds_nobody_up_and_what_it_misses_is_counted() -> None:
    stream = StuckStream()
    writer = LineWriter(stream, max_lines=3, closing_seconds=60)
    writer.handle(line("0"))
    assert stream.entered.wait(60)
    for number in range(1, 6):
        writer.handle(line(str(number)))
    assert writer.dropped == 2
    stream.released.set()
    writer.close()
    assert stream.getvalue() == "0\n1\n2\n3\n"


def test_a_stuck_reader_does_not_keep_the_log_from_closing() -> None:
    stream = StuckStream()
    writer = LineWriter(stream, closing_seconds=0)
    writer.handle(line("0"))
    writer.close()
    stream.released.set()


def test_every_line_is_written_when_the_log_is_closed(capsys: pytest.CaptureFixture[str]) -> None:
    with configured_logging(Settings()):
        for number in range(5000):
            logging.getLogger("server").info("%d", number)
    assert len(capsys.readouterr().err.splitlines()) == 5000


def test_lines_that_cannot_be_written_are_counted() -> None:
    stream = io.StringIO()
    stream.close()
    writer = LineWriter(stream)
    logging.getLogger().addHandler(writer)
    try:
        writer.handle(line("0"))
        writer.close()
        assert dropped_lines() == 1
    finally:
        logging.getLogger().removeHandler(writer)
