"""The alerts and panels of deploy/monitoring/."""

import json
import re
from typing import Any

import yaml

from tests.documentation import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
RULES = FOLDER / "rules.yaml"
ALERTS: dict[str, dict[str, Any]] = {
    rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
}
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text())
PANELS = [
    (panel["title"], target["expr"].replace("$__rate_interval", "5m"))
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
]
DOCUMENTED = set(re.findall(r"^\| `(smartlocker_\w+)` \|", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE))
"""The metrics that exist: another test holds the documentation against the page of metrics."""
