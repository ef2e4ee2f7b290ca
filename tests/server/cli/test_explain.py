"""`smartlocker explain`, run as a command: it needs no store."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from server.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOCKERS = """query Lockers($first: Int!) { owner(ownerId: "ada") {
  lockers(first: $first) { nodes { accessEvents(first: $first) { nodes { action } } } }
} }
query Other { locations { nextCursor } }"""


@pytest.fixture
def document(tmp_path: Path) -> str:
    path = tmp_path / "document.graphql"
    path.write_text(LOCKERS)
    return str(path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def command(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["smartlocker", "explain", *words])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return command


def test_a_plan_is_a_table_with_expected_and_maximum_cost(
    run: Callable[..., tuple[int, str, str]], document: str
) -> None:
    status, out, err = run(document, "--operation", "Lockers", "--variables", '{"first": 10}')
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert (status, err) == (0, "")
    assert lines[0] == ["expected", "maximum"]
    assert ["lockers", "QC-02", "Query", "1", "11", "0.5", "1", "11", "2.5"] in lines
    assert [
        "accessEvents",
        "\N{MULTIPLICATION SIGN}10",
        "QC-09",
        "Query",
        "10",
        "110",
        "5",
        "10",
        "110",
        "345",
    ] in lines
    assert lines[-2:] == [
        ["total", "11", "121", "5.5", "11", "121", "347.5"],
        ["limit", "1,500", "20,000", "25,000"],
    ]


def test_a_fallback_has_a_condition_and_is_compared_with_the_limit_up_to_an_allowance(
    run: Callable[..., tuple[int, str, str]],
) -> None:
    _, out, _ = run("-", stdin='{ locker(lockerId: "a") { activeReservation { endAt } } }')
    assert "only where the reservation of the" in out
    (allowance,) = [line.split() for line in out.splitlines() if line.strip().startswith("with allowance")]
    (total,) = [line.split() for line in out.splitlines() if line.strip().startswith("total")]
    assert float(total[1]) < float(allowance[4])


def test_write_units_are_shown_where_something_is_written(run: Callable[..., tuple[int, str, str]]) -> None:
    mutation = """mutation { updateLockerStatus(input: {lockerId: "a", newStatus: OCCUPIED, expectedVersion: 1}) {
      locker { status }
    } }"""
    assert "write units" in run("-", stdin=mutation)[1]
    assert "write units" not in run("-", stdin="{ locations { nextCursor } }")[1]


def test_what_would_be_refused_is_shown_and_fails(
    run: Callable[..., tuple[int, str, str]], document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMARTLOCKER_MAX_OPERATIONS", "50")
    status, out, err = run(document, "--operation", "Lockers", "--variables", '{"first": 100}')
    assert status == 1
    assert "QC-09" in out
    assert err.startswith("smartlocker: QUERY_TOO_COMPLEX: The request is expected to need")
    assert "`owner.lockers.nodes.accessEvents`" in err


def test_the_plan_as_json_has_the_format_of_the_extension(
    run: Callable[..., tuple[int, str, str]], document: str, tmp_path: Path
) -> None:
    (tmp_path / "variables.json").write_text('{"first": 10}')
    values = f"@{tmp_path / 'variables.json'}"
    status, out, _ = run(document, "--operation", "Lockers", "--variables", values, "--json")
    explained = json.loads(out)
    assert (status, explained.keys()) == (0, {"tree", "totals"})
    assert explained["totals"]["expected"] == {"operations": 11, "items": 121, "readUnits": 5.5, "writeUnits": 0}
    assert explained["totals"]["measured"] is None


def test_a_document_may_come_from_the_standard_input(run: Callable[..., tuple[int, str, str]]) -> None:
    status, out, _ = run("-", "--json", stdin="{ locations { nextCursor } }")
    assert (status, json.loads(out)["totals"]["maximum"]["operations"]) == (0, 1)


def test_the_settings_in_force_are_those_of_the_environment(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMARTLOCKER_PAGE_SIZE", "3")
    monkeypatch.setenv("SMARTLOCKER_MAX_ITEMS", "3")
    status, out, err = run("-", "--json", stdin="{ locations { nextCursor } }")
    assert json.loads(out)["totals"]["expected"]["items"] == 4
    assert (status, "4 items, and the limit is 3" in err) == (1, True)


def test_the_limits_of_documents_in_force_are_those_of_the_server(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    document = "{ a: __typename b: __typename }"
    assert run("-", stdin=document)[0] == 0
    monkeypatch.setenv("SMARTLOCKER_MAX_ALIASES", "1")
    assert run("-", stdin=document) == (
        1,
        "",
        "smartlocker: QUERY_TOO_COMPLEX: The document has 2 aliases, and the limit is 1.\n",
    )


@pytest.mark.parametrize(
    ("document", "words", "message"),
    [
        ("{", (), "smartlocker: 1:2: Syntax Error"),
        ("{ unknown }", (), "smartlocker: 1:3: Cannot query field"),
        (LOCKERS, (), "smartlocker: The document has no operation of that name, or no name was given."),
        (LOCKERS, ("--operation", "None"), "smartlocker: The document has no operation of that name"),
        (LOCKERS, ("--operation", "Lockers"), "smartlocker: 1:15: Variable '$first'"),
        (LOCKERS, ("--operation", "Lockers", "--variables", '{"first": 10.0}'), "smartlocker: 1:15: Variable '$first'"),
        ("{ " + "__typename " * 30 + "}", (), "smartlocker: QUERY_TOO_COMPLEX: "),
        (f"{{ locations(first: {'9' * 4301}) {{ nextCursor }} }}", (), "smartlocker: QUERY_TOO_COMPLEX: "),
        ("{ locations(first: 1000) { nextCursor } }", (), "smartlocker: BAD_USER_INPUT: first must be from 1 to 100"),
        ("{ __typename }", ("--variables", "{"), "smartlocker: --variables is no JSON as requests have it: "),
        ("{ __typename }", ("--variables", '{"a": NaN}'), "smartlocker: --variables is no JSON as requests have it: "),
        ("{ __typename }", ("--variables", "[" * 40 + "]" * 40), "smartlocker: --variables is no JSON as requests"),
        ("{ __typename }", ("--variables", "[]"), "smartlocker: --variables must be a JSON object"),
        ("{ __typename }", ("--variables", "@nowhere.json"), "smartlocker: nowhere.json cannot be read"),
    ],
)
def test_what_cannot_be_planned_is_said_in_a_line(
    run: Callable[..., tuple[int, str, str]], document: str, words: tuple[str, ...], message: str
) -> None:
    status, out, err = run("-", *words, stdin=document)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(message)


def test_a_file_that_is_not_there_is_said_in_a_line(run: Callable[..., tuple[int, str, str]]) -> None:
    status, _, err = run("nowhere.graphql")
    assert (status, "nowhere.graphql cannot be read" in err) == (1, True)
