"""The commands, run as `smartlocker` runs them."""

from __future__ import annotations

import asyncio
import io
import socket
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from loaders.contracts.registry import CONTRACTS
from loaders.tools.demo import DemoShape, demo_pieces
from resolvers.schema import build_schema
from server.cli.documentation import access_patterns, fields_by_contract, permissions
from server.cli.main import app
from server.cli.serve import _listen
from server.clock import utc_now
from server.settings import Settings
from tests.api import unchanged
from tests.invariants import check_invariants
from tests.old_items import OLD_ITEMS, put
from tests.server.conftest import Result
from tests.wire import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.wire import Wire

ROOT = Path(__file__).parents[3]


@pytest.fixture
def on_table(run: Callable[..., Result], store_url: str, table: str) -> Callable[..., Result]:
    """Runs a command on the test's table."""
    return lambda *words: run(*words, endpoint_url=store_url, table_name=table)


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    command = command.loaded() if hasattr(command, "loaded") else command
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from walk(child, (*path, name))


COMMANDS = dict(walk(typer.main.get_command(app)))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_of_a_command_describes_it_and_its_options(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    result = CliRunner().invoke(app, [*path, "--help"])
    command = COMMANDS[path]
    assert result.exit_code == 0
    assert command.help in result.output
    for name, child in getattr(command, "commands", {}).items():
        assert name in result.output
        assert child.help in result.output
    assert ("--install-completion" in result.output) == (path == ())  # it installs that of all commands
    for option in command.params:
        assert option.opts[0] in result.output
        assert option.help
        assert option.help in result.output


def test_the_version_is_that_of_the_package(run: Callable[..., Result]) -> None:
    assert run("--version") == Result(0, f"smartlocker {version('smartlocker')}\n", "")


def test_table_create_makes_the_table_once(run: Callable[..., Result], store_url: str) -> None:
    settings = {"endpoint_url": store_url, "table_name": "made-by-command"}
    assert run("table", "create", **settings) == Result(0, "table made-by-command created\n", "")
    assert run("table", "create", **settings) == Result(0, "table made-by-command already exists\n", "")


async def test_a_table_that_was_made_clears_away_what_has_expired(
    run: Callable[..., Result], store_url: str, plain_client: Any
) -> None:
    await asyncio.to_thread(run, "table", "create", endpoint_url=store_url, table_name="made-to-expire")
    answer = await plain_client.describe_time_to_live(TableName="made-to-expire")
    assert answer["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expiresAt"}


def test_table_create_without_an_endpoint_makes_it_in_the_data_directory(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    assert run("table", "create", data_dir=str(tmp_path)) == Result(0, "table SmartLocker created\n", "")
    assert run("table", "create", data_dir=str(tmp_path)).out == "table SmartLocker already exists\n"
    assert (tmp_path / "smartlocker.db").exists()


async def test_table_describe_says_its_keys_and_its_index(on_table: Callable[..., Result], table: str) -> None:
    assert await asyncio.to_thread(on_table, "table", "describe") == Result(
        0, f"table {table}: ACTIVE, 1 item\nkeys: PK, SK\nindex GSI1: GSI1PK, GSI1SK\n", ""
    )


def test_table_describe_of_a_missing_table_names_the_command_that_makes_it(
    run: Callable[..., Result], store_url: str
) -> None:
    assert run("table", "describe", endpoint_url=store_url, table_name="nowhere") == Result(
        1, "", "smartlocker: the table nowhere does not exist: create it with `smartlocker table create`\n"
    )


async def test_migrate_migrates_an_older_table_once_when_it_is_confirmed(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, store_url: str, table: str, plain_client: Any
) -> None:
    settings = {"endpoint_url": store_url, "table_name": table}
    format_key = {"PK": {"S": "TABLE"}, "SK": {"S": "FORMAT"}}
    await plain_client.delete_item(TableName=table, Key=format_key)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    declined = await asyncio.to_thread(run, "migrate", **settings)
    assert (declined.status, declined.err) == (1, "smartlocker: the table was not migrated\n")
    assert "Item" not in await plain_client.get_item(TableName=table, Key=format_key)
    for _ in range(2):
        migrated = await asyncio.to_thread(run, "migrate", "--yes", **settings)
        assert migrated.status == 0
        assert migrated.out.splitlines()[0].startswith(f"Migrating table {table} reads the whole table once")
        assert migrated.out.splitlines()[-1] == f"table {table} is migrated: 0 items changed"
    assert "Item" in await plain_client.get_item(TableName=table, Key=format_key)


async def test_migrate_counts_items_of_older_forms_in_a_dry_run_and_converts_them(
    run: Callable[..., Result], store_url: str, table: str, plain_client: Any, dump: Callable[[], Any]
) -> None:
    settings = {"endpoint_url": store_url, "table_name": table}
    await plain_client.delete_item(TableName=table, Key={"PK": {"S": "TABLE"}, "SK": {"S": "FORMAT"}})
    await put(plain_client, table, *OLD_ITEMS)
    async with unchanged(dump):
        counted = await asyncio.to_thread(run, "migrate", "--dry-run", **settings)
    assert counted.status == 0
    assert "RESERVATION: 3 items of an older form" in counted.out.splitlines()
    assert counted.out.splitlines()[-2:] == [
        "2 items stay as they are: they need --location",
        f"table {table} was not changed",
    ]
    words = ("migrate", "--yes", "--location", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    migrated = await asyncio.to_thread(run, *words, **settings)
    assert migrated.status == 0
    assert "items stay" not in migrated.out
    check_invariants(await dump(), utc_now(), is_counted=False)


async def test_export_and_import_state_their_cost_and_do_nothing_unless_confirmed(
    run: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    store_url: str,
    table: str,
    dump: Callable[[], Any],
    tmp_path: Path,
) -> None:
    settings = {"endpoint_url": store_url, "table_name": table}
    file, data = tmp_path / "export.jsonl", str(tmp_path / "data")
    await asyncio.to_thread(run, "demo", "load", "--owners", "2", "--lockers", "3", "--events", "0", **settings)
    count = len(await dump())

    async def answer(reply: str, *words: str, **settings: str) -> Result:
        monkeypatch.setattr(sys, "stdin", io.StringIO(reply))
        return await asyncio.to_thread(run, *words, **settings)

    declined = await answer("n\n", "export", str(file), **settings)
    assert (declined.status, declined.err) == (1, "smartlocker: nothing was done\n")
    assert not file.exists()
    exported = await answer("y\n", "export", str(file), **settings)
    assert exported.out.splitlines()[0].startswith(f"Exporting table {table} reads the whole table once: about ")
    assert exported.out.splitlines()[-1].endswith(f"table {table} is exported to {file}: {count} items")
    assert exported.err.splitlines()[-1] == f"{count} items exported"
    declined = await answer("n\n", "import", str(file), data_dir=data)
    assert (declined.status, declined.err) == (1, "smartlocker: nothing was done\n")
    imported = await answer("", "import", "--yes", str(file), data_dir=data)
    assert imported.out.splitlines()[0].startswith(f"Importing {file} writes {count} items, at most ")
    assert imported.out.splitlines()[-1] == (
        f"{file} is imported to table SmartLocker: {count} of {count} items written, the table matches the file"
    )
    assert imported.err.splitlines()[-1] == f"{count} of {count} items imported"


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_backups_are_for_the_embedded_store(run: Callable[..., Result], tmp_path: Path, command: str) -> None:
    assert run(command, str(tmp_path / "backup"), endpoint_url="aws") == Result(
        1,
        "",
        f"smartlocker: `smartlocker {command}` is for the embedded store: use point-in-time recovery or the backups of "
        "AWS, or `smartlocker export`\n",
    )


async def test_an_import_of_no_export_is_refused_in_one_line(run: Callable[..., Result], tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    result = await asyncio.to_thread(run, "import", "--yes", str(missing), data_dir=str(tmp_path / "data"))
    assert result == Result(1, "", f"smartlocker: {missing} cannot be read (No such file or directory)\n")
    assert not (tmp_path / "data").exists()


async def test_demo_load_writes_all_items_once_and_they_hold_together(
    on_table: Callable[..., Result], dump: Callable[[], Any]
) -> None:
    words = ("demo", "load", "--owners", "5", "--lockers", "17", "--events", "40")
    wanted = sum(map(len, demo_pieces(DemoShape(5, 17, 40), utc_now())))
    first = await asyncio.to_thread(on_table, *words)
    assert (first.status, first.out) == (0, f"{wanted} items written\n")
    items = await dump()
    kinds = Counter(item["entityType"] for item in items.values())
    codes = {kind: kinds.pop(kind) for kind in ("ACCESS_CODE", "CODE_CLAIM", "CODE_DOOR")}
    assert codes == {"ACCESS_CODE": 3, "CODE_CLAIM": 3, "CODE_DOOR": 2}
    assert kinds.total() == wanted
    check_invariants(items, utc_now(), is_counted=False)
    second = await asyncio.to_thread(on_table, *words)
    assert (second.status, second.out) == (0, "0 items written\n")
    assert await dump() == items


async def test_a_demo_load_that_the_store_cuts_short_says_so_in_one_line_and_goes_on_when_run_again(
    run: Callable[..., Result], wire: Wire, table: str, dump: Callable[[], Any]
) -> None:
    wire.fault = lambda _: Answer.error("ValidationException") if len(wire.of("TransactWriteItems")) > 2 else None
    settings = {"endpoint_url": wire.url, "table_name": table}
    words = ("demo", "load", "--lockers", "60", "--events", "0")
    cut = await asyncio.to_thread(run, *words, **settings)
    assert (cut.status, cut.out) == (1, "")
    assert cut.err.splitlines()[-1] == (
        "smartlocker: the demo data is incomplete, continue with `smartlocker demo load`: "
        "ValidationException: ValidationException"
    )
    assert "Traceback" not in cut.err
    while wire.running:  # noqa: ASYNC110  # requests in flight may still arrive
        await asyncio.sleep(0.01)
    written = len(await dump())
    wire.reset()
    again = await asyncio.to_thread(run, *words, **settings)
    wanted = sum(map(len, demo_pieces(DemoShape(lockers=60, events=0), utc_now())))
    assert 0 < written < wanted
    assert (again.status, again.out) == (0, f"{wanted - written} items written\n")
    check_invariants(await dump(), utc_now(), is_counted=False)


def test_demo_load_at_an_endpoint_makes_no_table(run: Callable[..., Result], store_url: str) -> None:
    assert run("demo", "load", endpoint_url=store_url, table_name="nowhere") == Result(
        1,
        "",
        f"smartlocker: DynamoDB at {store_url} has no table nowhere: create it with `smartlocker table create`\n",
    )


def test_schema_export_writes_what_schema_check_accepts(run: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "schema.graphql"
    out_of_date = Result(1, "", f"smartlocker: {path} is out of date: run `smartlocker schema export`\n")
    assert run("schema", "check", "--path", str(path)) == out_of_date
    assert run("schema", "export", "--path", str(path)) == Result(0, "", "")
    assert run("schema", "check", "--path", str(path)) == Result(0, f"{path} is up to date\n", "")
    path.write_text(path.read_text() + "\n")
    assert run("schema", "check", "--path", str(path)) == out_of_date


def test_the_schema_and_the_generated_pages_of_the_repository_are_up_to_date(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert run("schema", "check") == Result(0, "schema.graphql is up to date\n", "")
    assert run("contracts", "check") == Result(0, "docs/access-patterns.md is up to date\n", "")
    assert run("permissions", "check") == Result(0, "docs/permissions.md is up to date\n", "")


def test_permissions_list_is_what_permissions_check_accepts(run: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    page = run("permissions", "list")
    assert page == Result(0, permissions(build_schema().bound), "")
    path.write_text(page.out)
    assert run("permissions", "check", "--path", str(path)) == Result(0, f"{path} is up to date\n", "")
    path.write_text(page.out.replace("| no |", "| yes |"))
    assert run("permissions", "check", "--path", str(path)) == Result(
        1, "", f"smartlocker: {path} is out of date: run `smartlocker permissions list > {path}`\n"
    )


def test_contracts_list_names_every_contract(run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    result = run("contracts", "list")
    rows = [line for line in result.out.splitlines() if "QC-" in line]
    used = fields_by_contract(build_schema().bound)
    assert (result.status, len(rows)) == (0, len(CONTRACTS))
    for contract, row in zip(CONTRACTS.values(), rows, strict=True):
        cells = [cell.strip() for cell in row.split("│")[1:-1]]
        fields = ", ".join(field.name for field in used[contract.id])
        assert cells == [contract.id, contract.purpose, contract.operation, fields]


def test_contracts_list_as_markdown_is_what_contracts_check_accepts(run: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    page = run("contracts", "list", "--markdown")
    assert page == Result(0, access_patterns(build_schema().bound), "")
    path.write_text(page.out)
    assert run("contracts", "check", "--path", str(path)) == Result(0, f"{path} is up to date\n", "")
    path.write_text(page.out.replace("QC-01", "QC-99"))
    remedy = f"smartlocker contracts list --markdown > {path}"
    assert run("contracts", "check", "--path", str(path)) == Result(
        1, "", f"smartlocker: {path} is out of date: run `{remedy}`\n"
    )


async def test_connections_send_small_packets_at_once() -> None:
    no_delay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        no_delay.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with _listen(Settings(port=0)) as listener:
        async with await asyncio.start_server(connected, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            assert await no_delay == 1
            writer.close()
