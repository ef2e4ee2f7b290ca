import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.server.conftest import Result, Run

Explain = Callable[..., Result]

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
def explain(run: Run) -> Explain:
    return partial(run, "explain")


def test_a_plan_is_a_table_with_expected_and_maximum_cost(explain: Explain, document: str) -> None:
    status, out, err = explain(document, "--operation", "Lockers", "--variables", '{"first": 10}')
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert (status, err) == (0, "")
    assert lines[0] == ["expected", "maximum"]
    assert ["lockers", "QC-02", "Query", "1", "11", "0.5", "1", "11", "3"] in lines
    events = ["accessEvents", "\N{MULTIPLICATION SIGN}10", "QC-09", "Query", "10", "110", "5", "10", "110", "345"]
    assert events in lines
    assert lines[-3:] == [
        ["total", "11", "121", "5.5", "12", "122", "348.5"],  # an owner without a locker is read
        ["with", "allowance", "for", "fallbacks", "12", "121", "6"],
        ["limit", "1,500", "20,000", "25,000"],
    ]


def test_a_fallback_has_a_condition_and_is_compared_with_the_limit_up_to_an_allowance(explain: Explain) -> None:
    _, out, _ = explain("-", stdin='{ locker(lockerId: "a") { activeReservation { endAt } } }')
    assert "only where the reservation of the" in out
    (allowance,) = [line.split() for line in out.splitlines() if line.strip().startswith("with allowance")]
    (total,) = [line.split() for line in out.splitlines() if line.strip().startswith("total")]
    assert float(total[1]) < float(allowance[4])


def test_write_units_are_shown_where_something_is_written(explain: Explain) -> None:
    mutation = """mutation { updateLockerStatus(input: {lockerId: "a", newStatus: OCCUPIED, expectedVersion: 1}) {
      locker { status }
    } }"""
    assert "write units" in explain("-", stdin=mutation)[1]
    assert "write units" not in explain("-", stdin="{ locations { nextCursor } }")[1]


def test_a_document_above_the_limit_is_shown_and_fails(explain: Explain, document: str) -> None:
    variables = '{"first": 100}'
    status, out, err = explain(document, "--operation", "Lockers", "--variables", variables, max_operations="50")
    assert status == 1
    assert "QC-09" in out
    assert err.startswith("smartlocker: QUERY_TOO_COMPLEX: The request is expected to need")
    assert "`owner.lockers.nodes.accessEvents`" in err


def test_the_plan_as_json_has_the_format_of_the_extension(explain: Explain, document: str, tmp_path: Path) -> None:
    (tmp_path / "variables.json").write_text('{"first": 10}')
    values = f"@{tmp_path / 'variables.json'}"
    status, out, _ = explain(document, "--operation", "Lockers", "--variables", values, "--json")
    explained = json.loads(out)
    assert (status, explained.keys()) == (0, {"tree", "totals"})
    assert explained["totals"]["expected"] == {"operations": 11, "items": 121, "readUnits": 5.5, "writeUnits": 0}
    assert explained["totals"]["measured"] is None


def test_the_settings_in_force_are_those_of_the_environment(explain: Explain) -> None:
    locations = "{ locations(status: ACTIVE) { nextCursor } }"
    status, out, err = explain("-", "--json", stdin=locations, page_size="3", max_items="3")
    assert json.loads(out)["totals"]["expected"]["items"] == 4
    assert (status, "4 items, and the limit is 3" in err) == (1, True)
    aliases = "{ a: __typename b: __typename }"
    assert explain("-", stdin=aliases).status == 0
    refused = "smartlocker: QUERY_TOO_COMPLEX: The document has 2 aliases, and the limit is 1.\n"
    assert explain("-", stdin=aliases, max_aliases="1") == (1, "", refused)


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
        ("{ __typename }", ("--variables", "{"), "smartlocker: --variables is not valid JSON: "),
        ("{ __typename }", ("--variables", '{"a": NaN}'), "smartlocker: --variables is not valid JSON: "),
        ("{ __typename }", ("--variables", "[" * 40 + "]" * 40), "smartlocker: --variables is not valid JSON: "),
        ("{ __typename }", ("--variables", "[]"), "smartlocker: --variables must be a JSON object"),
        ("{ __typename }", ("--variables", "@nowhere.json"), "smartlocker: nowhere.json cannot be read"),
    ],
)
def test_an_invalid_document_is_one_line(explain: Explain, document: str, words: tuple[str, ...], message: str) -> None:
    status, out, err = explain("-", *words, stdin=document)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(message)


def test_a_missing_file_is_reported_in_one_line(explain: Explain) -> None:
    status, _, err = explain("nowhere.graphql")
    assert (status, "nowhere.graphql cannot be read" in err) == (1, True)
