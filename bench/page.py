"""Generated sections of documentation."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["write_section"]

_PAGE = Path(__file__).parent.parent / "docs/performance.md"


def write_section(name: str, text: str, path: Path = _PAGE) -> None:
    """Puts new text between the comments that mark a section of a page, docs/performance.md unless another is named."""
    begin, end = f"<!-- {name}: generated -->", f"<!-- {name}: end -->"
    page = path.read_text()
    section = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not section.search(page):
        raise ValueError(f"{path.name} has no section {name}")
    path.write_text(section.sub(lambda _: f"{begin}\n{text.strip()}\n{end}", page))
