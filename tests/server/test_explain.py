"""`smartlocker explain`, run as a command: it needs no store."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from server.cli import main

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


def test_a_plan_is_a_table_with_totals(run: Callable[..., tuple[int, str, str]], document: str) -> None:
    status, out, err = run(document, "--operation", "Lockers", "--variables", '{"first": 10}')
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert (status, err) == (0, "")
    assert ["lockers", "QC-02", "Query", "1", "11", "2.5", "0", "always"] in lines
    assert ["accessEvents", "x", "10", "QC-09", "Query", "10", "110", "345", "0", "always"] in lines
    assert lines[-1] == ["worst", "case", "11", "121", "347.5", "0", "always:", "11", "operations"]


def test_what_would_be_refused_is_shown_and_fails(run: Callable[..., tuple[int, str, str]], document: str) -> None:
    status, out, err = run(document, "--operation", "Lockers", "--variables", '{"first": 100}')
    assert status == 1
    assert "QC-09" in out
    assert err.startswith("smartlocker: QUERY_TOO_COMPLEX: This could take 31718.5 read units")


def test_the_plan_as_json(run: Callable[..., tuple[int, str, str]], document: str, tmp_path: Path) -> None:
    (tmp_path / "variables.json").write_text('{"first": 10}')
    values = f"@{tmp_path / 'variables.json'}"
    status, out, _ = run(document, "--operation", "Lockers", "--variables", values, "--json")
    assert (status, json.loads(out)["totals"]["readUnits"]) == (0, 347.5)


def test_a_document_may_come_from_the_standard_input(run: Callable[..., tuple[int, str, str]]) -> None:
    status, out, _ = run("-", "--json", stdin="{ locations { nextCursor } }")
    assert (status, json.loads(out)["totals"]["operations"]) == (0, 1)


def test_the_settings_in_force_are_those_of_the_environment(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMARTLOCKER_PAGE_SIZE", "3")
    monkeypatch.setenv("SMARTLOCKER_MAX_READ_UNITS", "1")
    status, out, err = run("-", "--json", stdin="{ locations { nextCursor } }")
    assert json.loads(out)["totals"]["items"] == 4
    assert (status, "4 read units" in err) == (1, True)


def test_the_limits_of_documents_in_force_are_those_of_the_server(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    document = "{ a: __typename b: __typename }"
    assert run("-", stdin=document)[0] == 0
    monkeypatch.setenv("SMARTLOCKER_MAX_ALIASES", "1")
    assert run("-", stdin=document) == (
        1,
        "",
        "smartlocker: QUERY_TOO_COMPLEX: The document has 2 aliases: 1 is the most.\n",
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
