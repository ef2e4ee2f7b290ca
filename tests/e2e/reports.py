"""Reports of servers that tests start as processes: a line for each request, that it kept to its plan or how not."""

from pathlib import Path

VARIABLE = "PLANS_REPORT"
"""The variable of the environment that names the file."""
KEPT = "kept to its plan"

_read: dict[Path, int] = {}


def expect(report: Path) -> None:
    """From here on looks at a report."""
    _read[report] = 0


def beyond_plans() -> list[str]:
    """New reports of all servers since the last call, except for requests that kept to their plans."""
    wrong: list[str] = []
    for report, seen in _read.items():
        lines = report.read_text().splitlines() if report.exists() else []
        _read[report] = len(lines)
        wrong += [line for line in lines[seen:] if line != KEPT]
    return wrong
