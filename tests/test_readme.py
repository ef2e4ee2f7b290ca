import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from loaders.backend import Backend
from loaders.tools.demo import DemoShape, load_demo
from server.cli.main import main
from tests.api import Api
from tests.documentation import ANSWERED, README, ROOT
from tests.explained import timeless

DOMAIN = (ROOT / "docs" / "domain.md").read_text()
HTTP = (ROOT / "docs" / "http.md").read_text()
EXPLAIN = (ROOT / "docs" / "explain.md").read_text()
CURL = re.compile(r"-d '(?P<body>\{.+?\})'\n```\s+(?:This is `extensions\.\w+`[^`]+)?```json\n(?P<answer>[^`]+)```")
PLAN = re.compile(
    r"```graphql\n(?P<document>[^`]+)```\s+```sh\n.+--variables '(?P<variables>.+)'\n```\s+```\n(?P<table>[^`]+)```"
)
COST = re.compile(r"`extensions.cost.actual`[^`]+```json\n(?P<cost>[^`]+)```")
CODE = re.compile(r"```.*?```", re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)#]*)(?:#(?P<anchor>[^)]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in ("docs", "examples", "bench") for page in ROOT.glob(f"{folder}/**/*.md")),
]


@pytest_asyncio.fixture
async def demo(api: Api, backend: Backend) -> Api:
    await load_demo(backend.store, DemoShape(), backend.clock(), lambda _: None)
    return api


async def post(api: Api, page: str, **headers: str) -> Any:
    return (await api.client.post("/graphql", json=json.loads(found(CURL, page)["body"]), headers=headers)).json()


def found(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    match = pattern.search(text)
    assert match is not None, pattern.pattern
    return match


@pytest.mark.parametrize(("page", "count"), [(README, 2), (DOMAIN, 1)], ids=["readme", "domain"])
async def test_the_examples_give_the_documented_answers_again_and_again(demo: Api, page: str, count: int) -> None:
    examples = list(ANSWERED.finditer(page))
    assert len(examples) == page.count("```graphql") == count
    for example in examples * 2:
        assert await demo.send(example["query"]) == json.loads(example["answer"])


async def test_the_readmes_curl_command_gives_its_answer_at_its_cost(demo: Api) -> None:
    assert await post(demo, README) == json.loads(found(CURL, README)["answer"])
    cost = (await post(demo, README, **{"SmartLocker-Cost": "1"}))["extensions"]["cost"]
    assert cost["actual"] == json.loads(found(COST, README)["cost"])


async def test_the_documented_cost_is_true(demo: Api) -> None:
    answer = await post(demo, HTTP, **{"SmartLocker-Cost": "1"})
    assert answer["extensions"]["cost"] == json.loads(found(CURL, HTTP)["answer"])


async def test_the_documented_explanation_is_true_except_for_its_times(demo: Api) -> None:
    given = (await post(demo, EXPLAIN, **{"SmartLocker-Explain": "1"}))["extensions"]["explain"]
    documented = json.loads(found(CURL, EXPLAIN)["answer"])
    assert timeless(given) == timeless(documented)
    for explanation in (given, documented):
        explanation.pop("operations")
        explanation["totals"]["measured"].pop("durationMs")
    assert given == documented


def test_the_documented_plan_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = found(PLAN, EXPLAIN)
    words = ["smartlocker", "explain", "-", "--variables", example["variables"]]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(sys, "stdin", io.StringIO(example["document"]))
    with pytest.raises(SystemExit):
        main()
    printed, documented = (
        [line.split() for line in text.splitlines() if line.strip() and "─" not in line]
        for text in (capsys.readouterr().out, example["table"])
    )
    assert printed == documented


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_the_documentation_leads_somewhere(page: Path) -> None:
    for match in LINK.finditer(CODE.sub("", page.read_text())):
        if match["target"].startswith("https://"):
            continue
        target = page.parent / match["target"] if match["target"] else page
        assert target.exists(), match[0]
        assert match["anchor"] is None or match["anchor"] in anchors(target), match[0]


def anchors(page: Path) -> set[str]:
    """The headings of a page as they are linked to: in small letters, words joined by hyphens."""
    headings = HEADING.findall(CODE.sub("", page.read_text()))
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_error_code_is_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()
    schema = (ROOT / "schema.graphql").read_text()
    enum = schema.split("enum UserErrorCode {")[1].split("}", maxsplit=1)[0]
    codes = set(re.findall(r"^  ([A-Z_]+)$", enum, re.MULTILINE))
    assert codes
    for code in codes | {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "INVALID_CURSOR", "UNAVAILABLE"}:
        assert f"`{code}`" in page
