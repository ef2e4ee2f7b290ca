import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()
HOP = re.compile(r"^\d+\. `(?P<file>[\w/]+\.py)`: `(?P<name>[\w.]+)`", re.MULTILINE)
MOST_HOPS = 20


@pytest.mark.parametrize(("file", "name"), sorted(set(HOP.findall(PAGE))))
def test_a_hop_names_code_that_exists(file: str, name: str) -> None:
    source = (ROOT / file).read_text()
    for part in name.split("."):
        assert re.search(rf"^ *(?:(?:async )?def|class) {part}\b|^{part} = ", source, re.MULTILINE), f"{file}: {part}"


def test_every_hop_has_a_file_and_the_query_takes_fewer_than_twenty() -> None:
    assert len(HOP.findall(PAGE)) == len(re.findall(r"^\d+\. ", PAGE, re.MULTILINE))
    query = PAGE.split("\n## A query\n")[1].split("\n## ")[0]
    assert 0 < len(HOP.findall(query)) < MOST_HOPS


def test_coroutines_of_a_request_run_beside_one_another_only_where_they_are_counted() -> None:
    starts = re.compile(r"\b(?:create_task|ensure_future|gather)\(|TaskGroup\(")
    places = [*ROOT.glob("resolvers/**/*.py"), *ROOT.glob("loaders/contracts/*.py"), *ROOT.glob("loaders/reads/*.py")]
    found = {str(path.relative_to(ROOT)) for path in places if starts.search(path.read_text())}
    assert found == {"resolvers/plan/run.py", "loaders/reads/watching.py"}  # a group for `started`; no request
