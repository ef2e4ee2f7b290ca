import re
import shutil
import subprocess

import pytest

from tests.deploy.monitoring import ALERTS, DASHBOARD, DOCUMENTED, PANELS, RULES
from tests.deploy.promql import metrics_of
from tests.documentation import ROOT


@pytest.mark.parametrize("expression", [*(rule["expr"] for rule in ALERTS.values()), *(text for _, text in PANELS)])
def test_an_expression_reads_metrics_that_exist(expression: str) -> None:
    names = {re.sub("_(bucket|sum|count)$", "", name) for name in metrics_of(expression)}
    assert names
    assert names <= DOCUMENTED


def test_the_dashboard_shows_every_metric_that_an_alert_reads() -> None:
    shown = {name for _, text in PANELS for name in metrics_of(text)}
    assert {name for rule in ALERTS.values() for name in metrics_of(rule["expr"])} <= shown
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_every_alert_has_a_section_in_the_runbook_that_says_all_it_must() -> None:
    sections = re.split(r"^## ", (ROOT / "docs" / "runbook.md").read_text(), flags=re.MULTILINE)[1:]
    by_name = {section.partition("\n")[0]: section for section in sections}
    assert list(ALERTS) == [name for name in by_name if name.startswith("SmartLocker")]
    for name, rule in ALERTS.items():
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["runbook"] == f"docs/runbook.md#{name.lower()}"
        for part in ("**Meaning.**", "**First look.**", "**Remedy.**", "**Wake somebody.**"):
            assert part in by_name[name], (name, part)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_accepts_the_rules() -> None:
    subprocess.run(["promtool", "check", "rules", RULES], check=True, capture_output=True)
