"""The examples of README, docs and examples/, with the answers that are printed beside them, run as a reader does."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.e2e.serving import Server
from tests.explained import timeless

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = (ROOT / "examples" / "README.md").read_text()
EXAMPLE = re.compile(
    r"^## \d+\. .+?"
    r"```graphql\n(?P<document>.+?)```\s+"
    r"Variables:\s+```json\n(?P<variables>.+?)```\s+"
    r"Answer:\s+```json\n(?P<answer>.+?)```",
    re.DOTALL | re.MULTILINE,
)
_COMMAND = re.compile(
    r"```sh\n(?P<command>(?:DAY=[^\n]+\n)?curl -s http://127\.0\.0\.1:8000/graphql [^`]+)```\s+"
    r"(?:This is `extensions\.(?P<part>\w+)`[^`]+)?```json\n(?P<answer>[^`]+)```"
)
_DOCUMENT = re.compile(
    r"```graphql\n(?P<query>[^`]+)```"
    r"(?:\s+```sh\n[^`]+--variables '(?P<variables>[^']+)'\n```|\s+```json\n(?P<answer>[^`]+)```)?"
)
_VARIES = re.compile(r'"(digits|lastUsedAt|revealedAt)": "[^"]+"')
_DAY = re.compile(r"try-(\d{4}-\d\d-\d\d)")


def expect_commands(server: Server, page: str) -> int:
    """Runs the commands of a page in a shell, and compares what they print; returns their number."""
    commands = list(_COMMAND.finditer(page))
    for example in commands:
        given, documented = run(server, example["command"]), example["answer"]
        for day in set(_DAY.findall(documented)):
            documented = documented.replace(day, _DAY.findall(json.dumps(given))[0])
        answer = json.loads(documented)
        if example["part"] == "explain":
            given = given["extensions"]["explain"]
            assert timeless(given) == timeless(answer)
            for explanation in (given, answer):
                explanation.pop("operations")
                explanation["totals"]["measured"].pop("durationMs")
        elif example["part"]:
            given = given["extensions"][example["part"]]
        assert given == answer, example["command"]
    return len(commands)


def run(server: Server, command: str) -> Any:
    """Runs a command of the documentation at this server, and reads what it prints."""
    here = command.replace("http://127.0.0.1:8000/graphql", server.url)
    return json.loads(subprocess.run(["sh", "-c", here], capture_output=True, text=True, check=True).stdout)


def expect_documents(server: Server, page: str) -> int:
    """Runs the documents of a page, and compares the answers that it has; returns their number."""
    documents = list(_DOCUMENT.finditer(page))
    for example in documents:
        data = server.ask(example["query"], **json.loads(example["variables"] or "{}"))
        assert all(not payload.get("userErrors") for payload in data.values()), example["query"]
        if example["answer"]:
            assert {"data": data} == json.loads(example["answer"]), example["query"]
    return len(documents)


def expect_examples(server: Server) -> int:
    """Runs the examples in their order, and compares their answers but for digits and times; returns their number."""
    examples = list(EXAMPLE.finditer(EXAMPLES))
    digits: dict[str, str] = {}
    for example in examples:
        variables = example["variables"]
        for printed, own in digits.items():
            variables = variables.replace(printed, own)
        given = server.try_to_ask(example["document"], **json.loads(variables))
        documented = json.loads(example["answer"])
        for payload, shown in zip(given["data"].values(), documented["data"].values(), strict=True):
            if "digits" in shown:
                digits[shown["digits"]] = payload["digits"]
        assert _steady(given) == _steady(documented), example["document"]
    return len(examples)


def _steady(answer: Any) -> str:
    return _VARIES.sub(r'"\1": "…"', json.dumps(answer))
