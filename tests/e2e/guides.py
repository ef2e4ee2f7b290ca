"""Pages that tell a reader what to run: their blocks, and what these print."""

import contextlib
import io
import re
from typing import Any

BLOCK = re.compile(r"```(python|sh)\n(.+?)```(?:\s+```text\n(.+?)```)?", re.DOTALL)


def printed_by(block: str, names: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(block, names)  # noqa: S102  # the page's own lines
    return output.getvalue()


def prints(block: str, names: dict[str, Any], output: str) -> bool:
    return printed_by(block, names) == output
