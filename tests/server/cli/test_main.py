import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from domain.times import shift
from domain.webhook_bodies import body_schemas
from loaders.backend import Backend
from loaders.codecs import TableState
from loaders.contracts.registry import CONTRACTS
from loaders.contracts.table_state import FORMAT_VERSION
from loaders.table.clock import utc_now
from loaders.tools.demo import DemoShape, demo_pieces
from loaders.tools.table_state import read_state
from resolvers.schema import bound_schema
from server.cli.documentation import fields_by_contract
from server.cli.main import app
from server.cli.serve import listen
from server.settings import Settings
from tests import codes
from tests.api import unchanged
from tests.conftest import CODE_KEYS, NOW, RING, Clock, Dump, OpenApi
from tests.invariants import check_invariants
from tests.server.conftest import Result, Run, RunOnTable
from tests.source_items import EXAMPLES, LOCATION
from tests.table_state import UNUSABLE, set_state
from tests.tables import put
from tests.wire import Answer, Wire

FORMAT = {"PK": {"S": "TABLE"}, "SK": {"S": "FORMAT"}}


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    command = command.loaded() if hasattr(command, "loaded") else command
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from walk(child, (*path, name))


COMMANDS = dict(walk(typer.main.get_command(app)))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_describes_a_command_and_its_options(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_every_command_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "settings.md").read_text()
    commands = [" ".join(path) for path, command in COMMANDS.items() if not hasattr(command, "commands")]
    assert [command for command in commands if f"`{command}" not in page] == []


def test_the_schemas_of_webhooks_are_printed_as_one_document(run: Run) -> None:
    assert json.loads(run("events", "schemas").out) == body_schemas()


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version") == Result(0, f"smartlocker {version('smartlocker')}\n", "")


async def test_table_create_makes_a_table_once_that_removes_expired(on_table: RunOnTable, plain_client: Any) -> None:
    for done in ("created", "already exists"):
        assert await on_table("table", "create", table_name="by-command") == Result(0, f"table by-command {done}\n", "")
    answer = await plain_client.describe_time_to_live(TableName="by-command")
    assert answer["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expiresAt"}


async def test_table_describe_says_its_keys_and_its_index_or_what_makes_it(on_table: RunOnTable, table: str) -> None:
    assert await on_table("table", "describe") == Result(
        0, f"table {table}: ACTIVE, 1 item\nkeys: PK, SK\nindex GSI1: GSI1PK, GSI1SK\n", ""
    )
    assert await on_table("table", "describe", table_name="nowhere") == Result(
        1, "", "smartlocker: the table nowhere does not exist: create it with `smartlocker table create`\n"
    )


async def test_migrate_migrates_any_table_when_it_is_confirmed_and_waits_for_servers_of_its_format(
    on_table: RunOnTable, table: str, plain_client: Any
) -> None:
    await plain_client.delete_item(TableName=table, Key=FORMAT)
    declined = await on_table("migrate", stdin="n\n")
    assert (declined.status, declined.err) == (1, "smartlocker: the table was not migrated\n")
    assert "Item" not in await plain_client.get_item(TableName=table, Key=FORMAT)
    for waits in (False, True):
        migrated = await on_table("migrate", "--yes", request_seconds="7")
        assert migrated.status == 0
        assert ("waiting 27 s until no server serves the table\n" in migrated.err) == waits
        assert migrated.out.splitlines()[0].startswith(f"Migrating table {table} reads the whole table once")
        assert migrated.out.splitlines()[-1] == f"table {table} is migrated: 0 items written"
    assert "Item" in await plain_client.get_item(TableName=table, Key=FORMAT)


@pytest.mark.parametrize(("state", "reason"), UNUSABLE.values(), ids=UNUSABLE)
async def test_commands_refuse_a_table_that_servers_refuse(
    on_table: RunOnTable, table: str, plain_client: Any, tmp_path: Path, state: TableState | None, reason: str
) -> None:
    assert (await on_table("export", tmp_path / "export", "--yes")).status == 0
    await set_state(plain_client, table, state)
    before = await plain_client.items(table)
    for words in (
        ("demo", "load"),
        ("keys", "create", "--name", "x", "--role", "device", "--locker", "l1"),
        ("keys", "list"),
        ("import", tmp_path / "export", "--yes"),
        ("export", tmp_path / "other", "--yes"),
        ("doctor", "--full-scan", "--yes", "--repair"),
    ):
        refused = await on_table(*words)
        assert refused.status in {1, 2}
        assert reason in refused.err or f"has format {FORMAT_VERSION + 1}" in refused.err
    if "newer" not in reason:
        assert (await on_table("doctor", "--full-scan", "--yes")).status == 0
    assert await plain_client.items(table) == before


async def test_migrate_counts_items_of_older_forms_in_a_dry_run_and_converts_them(
    on_table: RunOnTable, table: str, plain_client: Any, dump: Dump
) -> None:
    await put(plain_client, table, *EXAMPLES)
    async with unchanged(dump):
        counted = await on_table("migrate", "--dry-run")
    assert counted.status == 0
    lines = counted.out.splitlines()
    assert {
        "RESERVATION: 3 of another form",
        "OWNER: 999 has no record, and gets one with the id as name",
        "Booking: 1 left as they are (locationId)",
        "LockCode: 1 of a kind that is not known, left as they are",
        "LockCode code: not placed, kept on 1",
    } <= set(lines)
    assert lines[-1] == f"table {table} was not changed"
    assert "1234" not in counted.out  # no values
    migrated = await on_table("migrate", "--yes", "--location", LOCATION)
    assert migrated.status == 0
    assert "left as they are (" not in migrated.out
    checked = await on_table("doctor", "--full-scan", "--yes")
    unknown, unfollowed, found = checked.out.splitlines()
    assert (checked.status, unknown, found) == (0, "LockCode: 1 of a kind that is not known", "no violation")
    assert unfollowed.startswith("nobody follows the log (parts 0, 1, 2, 3): ")


async def test_export_and_import_state_their_cost_and_do_nothing_unless_confirmed(
    run: Run, on_table: RunOnTable, table: str, dump: Dump, tmp_path: Path
) -> None:
    file, data = tmp_path / "export.jsonl", str(tmp_path / "data")
    await on_table("demo", "load", "--owners", "2", "--lockers", "3", "--events", "0")
    count = len(await dump())
    declined = await on_table("export", file, stdin="n\n")
    assert (declined.status, declined.err) == (1, "smartlocker: nothing was done\n")
    assert not file.exists()
    exported = await on_table("export", file, stdin="y\n")
    assert exported.out.splitlines()[0].startswith(f"Exporting table {table} reads the whole table once: about ")
    assert exported.out.splitlines()[-1].endswith(f"table {table} is exported to {file}: {count} items")
    assert exported.err.splitlines()[-1] == f"{count} items exported"
    declined = await asyncio.to_thread(run, "import", file, stdin="n\n", data_dir=data)
    assert (declined.status, declined.err) == (1, "smartlocker: nothing was done\n")
    imported = await asyncio.to_thread(run, "import", "--yes", file, data_dir=data)
    assert imported.out.splitlines()[0].startswith(f"Importing {file} writes {count} items, at most ")
    assert imported.out.splitlines()[-1] == (
        f"{file} is imported to table SmartLocker: {count} of {count} items written, the table matches the file"
    )
    assert imported.err.splitlines()[-1] == f"{count} of {count} items imported"


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_backups_are_for_the_embedded_store(run: Run, tmp_path: Path, command: str) -> None:
    assert run(command, tmp_path / "backup", endpoint_url="aws") == Result(
        1,
        "",
        f"smartlocker: `smartlocker {command}` is for the embedded store: use point-in-time recovery or the backups of "
        "AWS, or `smartlocker export`\n",
    )


def test_an_import_of_no_export_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    result = run("import", "--yes", missing, data_dir=str(tmp_path / "data"))
    assert result == Result(1, "", f"smartlocker: {missing} cannot be read (No such file or directory)\n")
    assert not (tmp_path / "data").exists()


async def test_demo_load_writes_all_items_once_and_whole(on_table: RunOnTable, dump: Dump, clock: Clock) -> None:
    words = ("demo", "load", "--owners", "5", "--lockers", "17", "--events", "40")
    wanted = sum(map(len, demo_pieces(DemoShape(5, 17, 40), NOW, RING)))
    first = await on_table(*words, clock=clock)
    assert (first.status, first.out) == (0, f"{wanted} items written\n")
    items = await dump()
    kinds = Counter(item["entityType"] for item in items.values())
    of_codes = {kind: kinds.pop(kind) for kind in ("ACCESS_CODE", "CODE_CLAIM", "CODE_DOOR", "LOG_ENTRY")}
    assert of_codes == {"ACCESS_CODE": 3, "CODE_CLAIM": 3, "CODE_DOOR": 2, "LOG_ENTRY": 5}
    counted = [kinds.pop(kind) for kind in ("LOCATION_FIGURES", "OWNER_FIGURES", "LOCATION_USAGE")]
    assert counted[:2] == [12, 5]
    assert kinds.total() == wanted
    check_invariants(items, NOW)
    second = await on_table(*words, clock=clock)
    assert (second.status, second.out) == (0, "0 items written\n")
    assert await dump() == items


async def test_a_demo_load_that_the_store_cuts_short_says_so_in_one_line_and_goes_on_when_run_again(
    on_table: RunOnTable, wire: Wire, dump: Dump, clock: Clock
) -> None:
    wire.fault = lambda _: Answer.error("ValidationException") if len(wire.of("TransactWriteItems")) > 2 else None
    words = ("demo", "load", "--lockers", "60", "--events", "0")
    cut = await on_table(*words, clock=clock, endpoint_url=wire.url)
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
    again = await on_table(*words, clock=clock)
    wanted = sum(map(len, demo_pieces(DemoShape(lockers=60, events=0), NOW, RING)))
    assert 0 < written < wanted
    assert (again.status, again.out) == (0, f"{wanted - written} items written\n")
    check_invariants(await dump(), NOW)


async def test_codes_keys_shows_what_needs_a_key_and_fails_without_it(
    on_table: RunOnTable, open_api: OpenApi, backend: Backend
) -> None:
    async def recorded() -> list[str]:
        return [*(await read_state(backend.store)).code_keys]

    new = CODE_KEYS.replace("k1:MTEx", "k2:MjIy")
    async with open_api(server_clock=utc_now) as api:
        await api.owner("ada")
        await api.locker("l1", "ada")
        code = {"lockerId": "l1", "kind": "STANDING", "validUntil": shift(utc_now(), timedelta(hours=20))}
        assert (await api.mutate(codes.CREATE, **code, codeId="c1"))["digits"]
        await api.mutate(codes.PROVISION, lockerId="l1", generation=1)
        unused, used = (
            "k2: 0 live codes, 0 devices, 0 webhooks, 0 recipients (current)\n",
            "k1: 1 live codes, 1 devices, 0 webhooks, 0 recipients (in use)\n",
        )
        both = await on_table("codes", "keys", code_keys=f"{new},{CODE_KEYS}")
        assert (both.status, both.out, await recorded()) == (0, unused + used, ["k1", "k2"])
        cost = r"reads the whole table once: about \d+ items, \d+ read units, and half a unit for each access code\.\n"
        assert re.fullmatch(f"Listing the uses of keys {cost}", both.err)
        needed = "live codes, devices, webhooks or recipients need keys that are not in SMARTLOCKER_CODE_KEYS"
        missing = f"smartlocker: {needed}: k1\n"
        assert await on_table("codes", "keys", code_keys=new) == Result(1, unused, both.err + missing)
        await api.mutate(codes.REVOKE, lockerId="l1", codeId="c1")
        left = await on_table("codes", "keys", code_keys=CODE_KEYS)
        assert (left.status, left.out, await recorded()) == (
            0,
            "k1: 0 live codes, 1 devices, 0 webhooks, 0 recipients (current)\n",
            ["k1"],
        )
    refused = await on_table("codes", "keys", code_keys="k1:c2hvcnQ=")
    assert (refused.status, refused.out, "c2hvcnQ=" in refused.err) == (1, "", False)


def test_schema_export_writes_what_schema_check_accepts(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "schema.graphql"
    out_of_date = Result(1, "", f"smartlocker: {path} is out of date: run `smartlocker schema export`\n")
    assert run("schema", "check", "--path", path) == out_of_date
    assert run("schema", "export", "--path", path) == Result(0, "", "")
    assert run("schema", "check", "--path", path) == Result(0, f"{path} is up to date\n", "")
    path.write_text(path.read_text() + "\n")
    assert run("schema", "check", "--path", path) == out_of_date


@pytest.mark.parametrize("words", [("permissions", "list"), ("contracts", "list", "--markdown"), ("settings", "list")])
def test_a_generated_page_is_what_its_check_accepts(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    path, check = tmp_path / "page.md", (words[0], "check", "--path", tmp_path / "page.md")
    page = run(*words)
    assert (page.status, page.err) == (0, "")
    path.write_text(page.out)
    assert run(*check) == Result(0, f"{path} is up to date\n", "")
    path.write_text(page.out.replace("| no |", "| yes |").replace("QC-01", "QC-99").replace("8000", "8001"))
    remedy = f"smartlocker {' '.join(words)} > {path}"
    assert run(*check) == Result(1, "", f"smartlocker: {path} is out of date: run `{remedy}`\n")


def test_contracts_list_names_every_contract(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "600")
    result = run("contracts", "list")
    rows = [line for line in result.out.splitlines() if "QC-" in line]
    used = fields_by_contract(bound_schema())
    assert (result.status, len(rows)) == (0, len(CONTRACTS))
    for contract, row in zip(CONTRACTS.values(), rows, strict=True):
        cells = [cell.strip() for cell in row.split("│")[1:-1]]
        fields = ", ".join(field.name for field in used[contract.id])
        assert cells == [contract.id, contract.purpose, contract.operation, fields]


async def test_connections_send_small_packets_at_once() -> None:
    no_delay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        no_delay.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with listen(Settings(port=0)) as listener:
        async with await asyncio.start_server(connected, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            assert await no_delay == 1
            writer.close()
