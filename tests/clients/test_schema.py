"""The schema as a product: linted, described, and never broken without a word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.clients.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.conftest import Project

RELEASED = ROOT / "docs" / "released" / "schema.graphql"
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
BREAKING_ITEM = re.compile(r"^- \*\*Breaking:\*\* .+?(?=\n- |\n\n|\Z)", re.DOTALL | re.MULTILINE)
SILENT = "# Changelog\n\n## Unreleased\n\n"


def found(project: Project, schema: Path) -> set[tuple[str, int]]:
    """The rules that a schema breaks, each with its line."""
    return {(finding["ruleId"], finding["line"]) for finding in project.node("lint.mjs", str(schema))}


def unannounced_breaks(project: Project, schema: Path, changelog: str) -> list[str]:
    """What breaks applications that know the released schema, and is not named in the changelog."""
    unreleased = changelog.split("## Unreleased\n")[1].split("\n## ", maxsplit=1)[0]
    named = set(re.findall(r"`([^`]+)`", "\n".join(BREAKING_ITEM.findall(unreleased))))
    breaks = project.node("breaks.mjs", str(RELEASED), str(schema))
    return [change["message"] for change in breaks if change["path"] not in named]


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """The released schema with something else in the place of what is there once."""
    text = RELEASED.read_text()
    assert text.count(old) == 1
    path = tmp_path / "schema.graphql"
    path.write_text(text.replace(old, new))
    return path


def test_the_schema_keeps_the_rules_for_schemas_and_for_relay(project: Project) -> None:
    assert found(project, project.folder / "schema.graphql") == set()


def test_nothing_released_is_broken_unless_the_changelog_names_it(project: Project) -> None:
    assert unannounced_breaks(project, project.folder / "schema.graphql", CHANGELOG) == []


def test_a_break_fails_until_the_changelog_names_it(project: Project, tmp_path: Path) -> None:
    schema = changed(tmp_path, '  """Display name of the locker."""\n  alias: String\n\n  """Size', '  """Size')
    message = "Field 'alias' was removed from object type 'Locker'"
    for silent in (
        "- Something else.",
        "- `Locker.alias` is gone.",
        "- **Breaking:** `Locker.status` is gone.\n- `Locker.alias` stays.",
        "\n## 0.1.0\n\n- **Breaking:** `Locker.alias` is gone.",
    ):
        assert unannounced_breaks(project, schema, f"{SILENT}{silent}\n") == [message]
    named = f"{SILENT}- **Breaking:** gone are\n  `Locker.alias` and more.\n- Something else.\n"
    assert unannounced_breaks(project, schema, named) == []
