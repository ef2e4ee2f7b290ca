"""The schema as a product: linted, described, and never broken without a word."""

import re

from tests.clients.conftest import ROOT, Project

RELEASED = ROOT / "docs" / "released" / "schema.graphql"
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
BREAKING_ITEM = re.compile(r"^- \*\*Breaking:\*\* .+?(?=\n- |\n\n|\Z)", re.DOTALL | re.MULTILINE)


def test_the_schema_keeps_the_rules_for_schemas_and_for_relay(project: Project) -> None:
    assert project.node("lint.mjs", "schema.graphql") == []


def test_nothing_released_is_broken_unless_the_changelog_names_it(project: Project) -> None:
    unreleased = CHANGELOG.split("## Unreleased\n")[1].split("\n## ", maxsplit=1)[0]
    named = set(re.findall(r"`([^`]+)`", "\n".join(BREAKING_ITEM.findall(unreleased))))
    breaks = project.node("breaks.mjs", str(RELEASED), "schema.graphql")
    assert [change["message"] for change in breaks if change["path"] not in named] == []
