import io
import re
import sys
from pathlib import Path

import pytest

from server.cli.main import main
from tests.documentation import README, ROOT

EXPLAIN = (ROOT / "docs" / "explain.md").read_text()
PLAN = re.compile(
    r"```graphql\n(?P<document>[^`]+)```\s+```sh\n.+--variables '(?P<variables>.+)'\n```\s+```\n(?P<table>[^`]+)```"
)
CODE = re.compile(r"```.*?```", re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)#]*)(?:#(?P<anchor>[^)]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PAGES = [
    *ROOT.glob("*.md"),
    *(
        page
        for folder in ("docs", "examples", "bench")
        for page in ROOT.glob(f"{folder}/**/*.md")
        if "node_modules" not in page.parts
    ),
]


def found(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    match = pattern.search(text)
    assert match is not None, pattern.pattern
    return match


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


def test_the_readme_is_short_and_shows_the_dashboard_first() -> None:
    assert len(README.encode()) < 8_192
    parts = [
        "(docs/images/dashboard-overview.png)",
        "\n- **",
        "```sh",
        "(docs/images/plan-pane.png)",
        "(docs/images/bench.svg)",
    ]
    places = [README.index(part) for part in parts]
    assert places == sorted(places)
    before, commands = README.split("```sh\n", maxsplit=1)
    assert len(re.findall(r"^- \*\*", before, re.MULTILINE)) == 3
    assert len(commands.split("```", maxsplit=1)[0].splitlines()) == 2


def test_the_readme_has_the_result_of_the_benchmark_with_its_requests() -> None:
    pages = (README, (ROOT / "docs" / "performance.md").read_text())
    own, measured = (
        found(re.compile("<!-- result: generated -->(.+?)<!-- result: end -->", re.DOTALL), page)[1] for page in pages
    )
    assert own == measured
    table = found(re.compile(r"\| requests/s ÷ Mercurius with JIT, at least \|(.+)"), pages[1])[1]
    figures = re.findall(r"([\d.]+) of", table)
    assert re.findall(r"([\d.]+) \((\w\d):", own) == list(zip(figures, ("Q1", "Q2", "Q3", "Q4", "M1"), strict=False))


def test_every_error_code_is_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()
    schema = (ROOT / "schema.graphql").read_text()
    enum = schema.split("enum UserErrorCode {")[1].split("}", maxsplit=1)[0]
    codes = set(re.findall(r"^  ([A-Z_]+)$", enum, re.MULTILINE))
    assert codes
    for code in codes | {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "INVALID_CURSOR", "UNAVAILABLE"}:
        assert f"`{code}`" in page
