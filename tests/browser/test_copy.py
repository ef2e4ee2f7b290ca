"""Copying a request from GraphiQL as a program: what is copied runs and gives the same answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.graphiql import GraphiQL

# How each language is run; the program is read from the standard input.
PROGRAMS = {"curl": ["sh"], "JavaScript": ["node"], "Python": [sys.executable, "-"]}
TIMEOUT_SECONDS = 60

# What shells, template literals and Python's strings give a meaning to. The owner is created once: a repeat with any
# other name is refused.
ODD = """it's "quoted" \\\\ \\n `${HOME}` $HOME $(id) ''' %s {x}"""
CREATE_OWNER = f"""mutation Create($kind: OwnerKind!, $phone: String) {{
  createOwner(input: {{ownerId: "copied", kind: $kind, name: {json.dumps(ODD)}, phone: $phone}}) {{
    owner {{ name kind phone }} userErrors {{ code message }}
  }}
}}
query Other {{ __typename }}"""


@pytest.mark.parametrize("language", PROGRAMS)
async def test_a_copied_request_gives_the_same_answer_with_the_token_of_the_environment(
    graphiql: GraphiQL, language: str
) -> None:
    expected = await graphiql.run_tab("FirstQuery")
    copied = await copy(graphiql, language)
    token = graphiql.sent[-1].headers["authorization"].removeprefix("Bearer ")
    assert token not in copied
    assert "TOKEN" in copied
    assert json.loads(run(language, copied, TOKEN=token).stdout)["data"] == expected["data"]
    refused = run(language, copied, TOKEN=token[::-1])
    assert "UNAUTHENTICATED" in refused.stdout or "401" in refused.stderr


@pytest.mark.parametrize("language", PROGRAMS)
async def test_a_copied_request_keeps_every_character_and_needs_no_token_where_none_is_sent(
    graphiql: GraphiQL, language: str
) -> None:
    await graphiql.signed_in_as.select_option("No token")
    await graphiql.paste(CREATE_OWNER)
    await graphiql.page.locator(".graphiql-editor-tool .monaco-editor:visible").click()
    await graphiql.page.keyboard.insert_text(json.dumps({"kind": "USER", "phone": None}))
    # GraphiQL runs the first operation until another is chosen.
    expected = await graphiql.run()
    assert expected["data"]["createOwner"]["userErrors"] == []
    copied = await copy(graphiql, language)
    assert "TOKEN" not in copied
    assert json.loads(run(language, copied).stdout)["data"] == expected["data"]


async def test_variables_that_are_not_json_are_reported_and_nothing_is_copied(graphiql: GraphiQL) -> None:
    await graphiql.page.locator(".graphiql-editor-tool .monaco-editor:visible").click()
    await graphiql.page.keyboard.insert_text("{ nonsense")
    await graphiql.page.get_by_role("button", name="Copy as").click()
    await graphiql.page.get_by_role("menuitem", name="Copy as curl").click()
    await expect(graphiql.page.get_by_text("Not copied: Variables")).to_be_visible()


async def copy(graphiql: GraphiQL, language: str) -> str:
    """What the clipboard holds after the current request was copied."""
    await graphiql.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await graphiql.page.get_by_role("button", name="Copy as").click()
    await graphiql.page.get_by_role("menuitem", name=f"Copy as {language}").click()
    await expect(graphiql.page.get_by_text(f"Copied as {language}")).to_be_visible()
    copied: str = await graphiql.page.evaluate("navigator.clipboard.readText()")
    return copied


def run(language: str, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        PROGRAMS[language],
        input=program,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
