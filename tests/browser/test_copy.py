import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from subprocess import PIPE
from threading import Timer
from typing import Any

from playwright.async_api import expect

from tests.browser.graphiql import GraphiQL
from tests.e2e.serving import Server, command

# How each language is run; the program is read from the standard input.
PROGRAMS = {"curl": ["sh"], "JavaScript": ["node"], "Python": [sys.executable, "-"]}
PROMPTS = {"curl": ["bash", "-i"], "JavaScript": ["node", "--interactive"], "Python": [sys.executable, "-i"]}
ANSWER = re.compile(r'\{\s*"data"')
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


async def test_in_development_a_copied_request_runs_as_it_is(graphiql: GraphiQL) -> None:
    expected = await graphiql.run_tab("FirstQuery")
    assert "authorization" in graphiql.sent[-1].headers
    for language in PROGRAMS:
        copied = await copy(graphiql, language)
        assert "TOKEN" not in copied
        assert json.loads(run(language, copied).stdout)["data"] == expected["data"]


async def test_a_copied_request_of_an_owner_needs_a_token(graphiql: GraphiQL, server: Server) -> None:
    await graphiql.signed_in_as.select_option("Demo owner owner-0002")
    expected = await graphiql.run_tab("Viewer")
    sent = graphiql.sent[-1].headers["authorization"].removeprefix("Bearer ")
    data_dir = server.greeting[1].removeprefix("Data: ").split(",")[0]
    how = re.compile(r"Set TOKEN to the output of: .venv/bin/smartlocker ([-a-z0-9 ]+)")
    copies = {language: await copy(graphiql, language) for language in PROGRAMS}
    (words,) = {how.findall(copied.splitlines()[0])[0] for copied in copies.values()}
    token = command(*words.split(), data_dir=data_dir).stdout.strip()
    for language, copied in copies.items():
        assert sent not in copied
        answer = json.loads(run(language, copied, TOKEN=token).stdout)["data"]["viewer"]
        assert (answer["role"], answer["owner"]) == ("OWNER", expected["data"]["viewer"]["owner"])


async def test_a_copied_request_with_a_header_takes_a_token_from_a_variable(graphiql: GraphiQL) -> None:
    expected = await graphiql.run_tab("FirstQuery")
    token = graphiql.sent[-1].headers["authorization"].removeprefix("Bearer ")
    await graphiql.page.get_by_role("button", name="Headers").click()
    await graphiql.page.locator(".graphiql-editor-tool .monaco-editor:visible").click()
    await graphiql.page.keyboard.insert_text(json.dumps({"Authorization": f"Bearer {token}"}))
    for language in PROGRAMS:
        copied = await copy(graphiql, language)
        assert token not in copied
        where = "Set TOKEN to the token or API key of your Authorization header"
        assert where in copied.splitlines()[0]
        assert json.loads(run(language, copied, TOKEN=token).stdout)["data"] == expected["data"]
        refused = run(language, copied, TOKEN=token[::-1])
        assert "UNAUTHENTICATED" in refused.stdout or "401" in refused.stderr
        # Without a token nothing is sent.
        missing = run(language, copied, TOKEN="")
        assert missing.returncode != 0
        assert missing.stdout == ""
        assert "Set TOKEN to" in missing.stderr or "TOKEN is not set: see the first line" in missing.stderr


async def test_a_server_that_offers_no_demo_users_always_needs_a_token(graphiql: GraphiQL) -> None:
    await graphiql.page.route(f"{graphiql.url}/tokens", lambda route: route.fulfill(json=[]))
    await graphiql.page.reload()
    await graphiql.wait_until_ready()
    await expect(graphiql.signed_in_as).to_have_count(0)
    first, *_ = (await copy(graphiql, "curl")).splitlines()
    assert "Set TOKEN to a token or an API key for this server" in first


async def test_a_copied_request_can_be_pasted_into_a_prompt(graphiql: GraphiQL) -> None:
    expected = await graphiql.run_tab("LockersNow")
    for language, prompt in PROMPTS.items():
        assert answer_at(prompt, await copy(graphiql, language))["data"] == expected["data"]


async def test_a_copied_request_without_a_token_keeps_every_character(graphiql: GraphiQL) -> None:
    await graphiql.signed_in_as.select_option("No token")
    await graphiql.paste(CREATE_OWNER)
    await graphiql.page.locator(".graphiql-editor-tool .monaco-editor:visible").click()
    await graphiql.page.keyboard.insert_text(json.dumps({"kind": "USER", "phone": None}))
    # GraphiQL runs the first operation until another is chosen.
    expected = await graphiql.run()
    assert expected["data"]["createOwner"]["userErrors"] == []
    for language in PROGRAMS:
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
    """The clipboard after the current request was copied."""
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


def answer_at(prompt: list[str], program: str) -> Any:
    """The output of a prompt that stays open, as it does after a program is pasted."""
    with subprocess.Popen(prompt, stdin=PIPE, stdout=PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = Timer(TIMEOUT_SECONDS, process.kill)
        watchdog.start()
        process.stdin.write(program)
        process.stdin.flush()
        printed = ""
        while True:
            character = process.stdout.read(1)
            assert character, printed
            printed += character
            found = ANSWER.search(printed) if character == "}" else None
            with suppress(ValueError):
                if found is not None:
                    answer = json.loads(printed[found.start() :])
                    break
        watchdog.cancel()
        process.stdin.close()
        return answer
