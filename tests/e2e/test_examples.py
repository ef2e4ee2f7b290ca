"""Every example of the documentation, on the demo data of a first start, by the real clock."""

import json
import re
from collections.abc import Iterator

import pytest
from graphql import OperationDefinitionNode, parse

from tests.documentation import EXAMPLE, EXAMPLES, README, ROOT, expect_commands, expect_documents, expect_examples, run
from tests.e2e.serving import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("examples")
    with serving(folder / "run", data_dir=folder / "data") as server:
        yield server


def test_the_readmes_commands_give_the_documented_answers_again_and_again(server: Server) -> None:
    for _ in range(2):
        assert expect_commands(server, README) == README.count("\ncurl ") == 2
        assert expect_documents(server, README) == 1
    curl, answer = (
        re.search(f"{text}(.+?)```", README, re.DOTALL) for text in ("curl -s ", r"cost\.actual`.+?```json")
    )
    assert curl is not None
    assert answer is not None
    shown = run(server, f"curl -s -H 'SmartLocker-Cost: 1' {curl[1]}")
    assert shown["extensions"]["cost"]["actual"] == json.loads(answer[1])


def test_the_examples_give_the_documented_answers_in_their_order(server: Server) -> None:
    assert expect_examples(server) == EXAMPLES.count("\n## ") == 19


def test_the_documents_and_commands_of_every_page_give_its_answers(server: Server) -> None:
    for page in (path.read_text() for path in ROOT.glob("docs/*.md")):
        assert expect_documents(server, page) == page.count("```graphql")
        assert expect_commands(server, page) == page.count("\ncurl -s http://127.0.0.1:8000")


def test_every_example_has_a_name_and_takes_its_values_as_variables() -> None:
    for example in EXAMPLE.finditer(EXAMPLES):
        (operation,) = parse(example["document"]).definitions
        assert isinstance(operation, OperationDefinitionNode)
        assert operation.name is not None
        declared = {variable.variable.name.value for variable in operation.variable_definitions or ()}
        assert declared == set(json.loads(example["variables"]))
