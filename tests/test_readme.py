"""The README's queries give the README's answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaders.demo import DemoShape, load_demo
from tests.explained import timeless

if TYPE_CHECKING:
    from loaders.backend import Backend
    from tests.api import Api

ROOT = Path(__file__).parent.parent
EXPLAINED = re.compile(r"-d '(?P<body>\{.+?\})'\n```\s+```json\n(?P<explanation>.+?)```", re.DOTALL)
EXAMPLE = re.compile(r"```graphql\n(?P<query>.+?)```\s+```json\n(?P<answer>.+?)```", re.DOTALL)
PROSE = re.compile(r"```.*?```", re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)#]+)")


def examples() -> list[tuple[str, Any]]:
    text = (ROOT / "README.md").read_text()
    return [(match["query"], json.loads(match["answer"])) for match in EXAMPLE.finditer(text)]


async def test_the_readmes_examples_are_true_in_their_order(api: Api, backend: Backend) -> None:
    await load_demo(backend.store, DemoShape(), backend.clock(), lambda _: None)
    assert len(examples()) == 5
    for query, answer in examples():
        assert await api.send(query) == answer


async def test_the_readmes_explanation_is_true_but_for_its_times(api: Api, backend: Backend) -> None:
    await load_demo(backend.store, DemoShape(), backend.clock(), lambda _: None)
    example = EXPLAINED.search((ROOT / "README.md").read_text())
    assert example is not None
    headers = {"SmartLocker-Explain": "1"}
    response = await api.client.post("/graphql", json=json.loads(example["body"]), headers=headers)
    assert timeless(response.json()["extensions"]["explain"]) == timeless(json.loads(example["explanation"]))


def test_every_link_of_the_documentation_leads_somewhere() -> None:
    for page in [
        ROOT / "README.md",
        *(page for folder in ("docs", "examples", "bench") for page in ROOT.glob(f"{folder}/**/*.md")),
    ]:
        for match in LINK.finditer(PROSE.sub("", page.read_text())):
            target = match["target"]
            assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name} names {target}"


def test_every_error_code_is_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()
    codes = set(re.findall(r"^  ([A-Z_]+)$", _enum((ROOT / "schema.graphql").read_text()), re.MULTILINE))
    assert len(codes) == 14
    for code in codes | {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "INVALID_CURSOR", "UNAVAILABLE"}:
        assert f"`{code}`" in page


def _enum(schema: str) -> str:
    return schema.split("enum UserErrorCode {")[1].split("}", maxsplit=1)[0]
