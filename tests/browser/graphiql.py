"""GraphiQL as somebody at the screen uses it, and what the browser sees meanwhile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, ConsoleMessage, Locator, Page, Request

__all__ = ["ARTEFACTS", "GraphiQL"]

ARTEFACTS = Path(__file__).parent.parent.parent / "artefacts" / "browser"

_GREY = 3 * 128
# Before anything of the page runs: whatever the policy refuses is told as an error, so that no test overlooks it.
_TELL_VIOLATIONS = """
addEventListener('securitypolicyviolation', event =>
  console.error(`refused by the policy: ${event.effectiveDirective} ${event.blockedURI}`));
"""


class GraphiQL:
    """The page in one browser window."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request))  # noqa: PLW0108 - it takes no builtin
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    @classmethod
    async def open(cls, context: BrowserContext, url: str) -> GraphiQL:
        """Opens the page and waits until it can be used."""
        await context.add_init_script(_TELL_VIOLATIONS)
        graphiql = cls(await context.new_page(), url)
        await graphiql.page.goto(url)
        await graphiql.wait_until_ready()
        return graphiql

    async def wait_until_ready(self) -> None:
        await expect(self.page.locator(".graphiql-query-editor .view-line").first).to_be_visible()
        await expect(self.docs.get_by_text("Root Types")).to_be_visible()

    @property
    def strangers(self) -> list[str]:
        """What was asked of anybody but the server."""
        host = urlsplit(self.url).netloc
        return [request.url for request in self.requests if urlsplit(request.url).netloc != host]

    @property
    def sent(self) -> list[Request]:
        """The GraphQL requests, the page's own for the schema among them."""
        return [request for request in self.requests if request.method == "POST"]

    @property
    def tabs(self) -> Locator:
        return self.page.get_by_role("tab")

    @property
    def docs(self) -> Locator:
        return self.page.get_by_role("region", name="Documentation Explorer")

    @property
    def explorer(self) -> Locator:
        return self.page.get_by_role("region", name="Explorer")

    @property
    def editor(self) -> Locator:
        return self.page.locator(".graphiql-query-editor .monaco-editor").first

    @property
    def plan(self) -> Locator:
        return self.page.get_by_role("region", name="Plan", exact=True)

    @property
    def signed_in_as(self) -> Locator:
        return self.page.get_by_role("combobox", name="Signed in as")

    @property
    def suggestions(self) -> Locator:
        return self.page.locator(".suggest-widget.visible .monaco-list-row")

    async def write(self, text: str) -> None:
        """Types into a new tab. The editor closes brackets and quotes by itself, as its user knows."""
        await self.page.get_by_role("button", name="New tab").click()
        await self.editor.click()
        await self.page.keyboard.type(text, delay=10)

    async def paste(self, text: str) -> None:
        """Puts a whole text into a new tab, on one line: the editor would indent any other by itself."""
        await self.page.get_by_role("button", name="New tab").click()
        await self.editor.click()
        await self.page.keyboard.insert_text(" ".join(text.split()))

    async def show_plan(self) -> None:
        """Opens the Plan pane."""
        await self.page.get_by_role("button", name="Show Plan").click()
        await expect(self.plan).to_be_visible()

    async def ask_for_plan(self) -> Any:
        """Asks for the plan of what is in the editor, and returns the answer."""
        async with self.page.expect_response(lambda response: response.request.method == "POST") as response:
            await self.plan.get_by_role("button", name="Plan this request without running it").click()
        return await (await response.value).json()

    def history_of(self, name: str) -> Locator:
        """The history's newest entry of an operation; of one run on a slow machine GraphiQL may keep several."""
        return self.page.get_by_role("list").get_by_text(name).first

    async def run(self) -> Any:
        """Runs what is in the editor that has the cursor, and returns the answer."""
        async with self.page.expect_response(lambda response: response.request.method == "POST") as response:
            await self.page.keyboard.press("Control+Enter")
        return await (await response.value).json()

    async def run_tab(self, name: str) -> Any:
        """Changes to a tab and runs it."""
        await self.page.get_by_role("tab", name=name).click()
        await self.editor.click()
        return await self.run()

    async def expect_shown(self, *lines: str) -> None:
        """Waits until the answer on the screen has these lines."""
        shown = self.page.locator(".result-window .view-lines")
        for line in lines:
            await expect(shown).to_contain_text(line.replace(" ", "\u00a0"))

    async def theme(self) -> str:
        """Whether it is light or dark: the page around and the editor, which are of one mind."""
        colour = await self.page.evaluate(
            "getComputedStyle(document.querySelector('.graphiql-container')).backgroundColor"
        )
        page = "light" if sum(map(float, re.findall(r"[\d.]+", colour)[:3])) > _GREY else "dark"
        editor = re.compile(r"\bvs\b" if page == "light" else r"\bvs-dark\b")
        await expect(self.editor).to_have_class(editor)
        return page

    async def keep_picture(self, name: str) -> None:
        """Keeps a picture of the page as it is, for people to look at."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        await self.page.screenshot(path=ARTEFACTS / f"{name}.png")

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)
