"""The documents in README and examples, with the answers that are printed beside them."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = (ROOT / "examples" / "README.md").read_text()
# A document and its answer; between them there may be a sentence and a command.
ANSWERED = re.compile(r"```graphql\n(?P<query>[^`]+)```(?:[^`]+```sh\n[^`]+```)?\s+```json\n(?P<answer>[^`]+)```")
EXAMPLE = re.compile(
    r"^## \d+\. .+?"
    r"```graphql\n(?P<document>.+?)```\s+"
    r"Variables:\s+```json\n(?P<variables>.+?)```\s+"
    r"Answer:\s+```json\n(?P<answer>.+?)```",
    re.DOTALL | re.MULTILINE,
)
