"""Drives GraphiQL as a user does, and records what the browser does meanwhile."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, ConsoleMessage, Locator, Page, Request, Route, expect

SCREENSHOTS = Path(__file__).parent.parent.parent / "artefacts" / "browser"

_LOW_CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
_MIDDLE_GREY = 3 * 128
# Runs before the page's own scripts and reports every violation of the Content-Security-Policy as a console error.
REPORT_VIOLATIONS = """
addEventListener('securitypolicyviolation', event =>
  console.error(`refused by the policy: ${event.effectiveDirective} ${event.blockedURI}`));
"""


class GraphiQL:
    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.requests: list[Request] = []
        self.console_errors: list[str] = []
        self._listeners: dict[Any, Any] = {
            "request": lambda request: self.requests.append(request),  # noqa: PLW0108 - it takes no builtin
            "console": self._record_console,
            "pageerror": lambda error: self.console_errors.append(str(error)),
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    @classmethod
    async def open(cls, context: BrowserContext, url: str) -> GraphiQL:
        await context.add_init_script(REPORT_VIOLATIONS)
        return await cls.visit(await context.new_page(), url)

    @classmethod
    async def visit(cls, page: Page, url: str) -> GraphiQL:
        graphiql = cls(page, url)
        await page.goto(url)
        await graphiql.wait_until_ready()
        return graphiql

    async def leave(self) -> None:
        """Leaves the page to its next visitor, who finds nothing of this one."""
        await self.page.unroute_all()
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        await self.page.goto(self.url.replace("/graphql", "/health"))  # from elsewhere, scripts would be compiled anew
        await self.page.evaluate("localStorage.clear()")

    async def wait_until_ready(self) -> None:
        await expect(self.page.locator(".graphiql-query-editor .view-line").first).to_be_visible()
        await expect(self.docs.get_by_text("Root Types")).to_be_visible()

    async def wait_for_request(self, pattern: str) -> None:
        def is_it(request: Request) -> bool:
            return re.fullmatch(pattern, request.url.removeprefix(self.url)) is not None

        if not any(map(is_it, self.requests)):
            await self.page.wait_for_event("request", is_it)

    @property
    def foreign_requests(self) -> list[str]:
        host = urlsplit(self.url).netloc
        return [request.url for request in self.requests if urlsplit(request.url).netloc != host]

    @property
    def sent(self) -> list[Request]:
        """The GraphQL requests, including the page's own introspection."""
        return [request for request in self.requests if request.method == "POST"]

    @property
    def tabs(self) -> Locator:
        return self.page.get_by_role("tab")

    @property
    def docs(self) -> Locator:
        return self.page.get_by_role("region", name="Documentation Explorer")

    @property
    def explorer(self) -> Locator:
        return self.page.get_by_role("region", name="Explorer", exact=True)

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

    def field(self, path: str) -> Locator:
        """A field in the tree of the Plan pane, without the fields below it."""
        return self.plan.locator(f".plan-node[data-path='{path}'] > .plan-field")

    async def write(self, text: str) -> None:
        """Types into a new tab. The editor closes brackets and quotes automatically."""
        await self.page.get_by_role("button", name="New tab").click()
        await self.editor.click()
        await self.page.keyboard.type(text, delay=10)

    async def paste(self, text: str) -> None:
        """Inserts a text into a new tab, as one line because the editor would indent further lines."""
        await self.page.get_by_role("button", name="New tab").click()
        await self.editor.click()
        await self.page.keyboard.insert_text(" ".join(text.split()))

    async def show_plan(self) -> None:
        await self.page.get_by_role("button", name="Show Plan").click()
        await expect(self.plan).to_be_visible()

    async def ask_for_plan(self) -> Any:
        """Plans the request in the editor without running it, and returns the response."""
        async with self.page.expect_response(lambda response: explain_of(response.request) == "plan") as response:
            await self.plan.get_by_role("button", name="Plan this request without running it").click()
        return await (await response.value).json()

    async def respond_with(
        self, content: dict[str, Any], status: int = 200, explain: Literal[True, "plan"] | None = None
    ) -> None:
        """Responds to requests for an explanation, or for one kind, with the given content instead of the server's."""

        async def respond(route: Route) -> None:
            asked = explain_of(route.request) if route.request.method == "POST" else None
            if asked is not None and explain in (None, asked):
                await route.fulfill(json=content, status=status)
            else:
                await route.continue_()

        await self.page.route(self.url, respond)

    def history_of(self, name: str) -> Locator:
        """The newest entry of an operation in the history; on a slow machine GraphiQL may add several for one run."""
        return self.page.get_by_role("list").get_by_text(name).first

    async def run(self) -> Any:
        """Runs the operation in the focused editor, and returns the response."""
        async with self.page.expect_response(lambda response: is_run(response.request)) as response:
            await self.page.keyboard.press("Control+Enter")
        return await (await response.value).json()

    async def run_tab(self, name: str) -> Any:
        await self.page.get_by_role("tab", name=name).click()
        await self.editor.click()
        return await self.run()

    async def expect_shown(self, *lines: str) -> None:
        """Waits until the response on the screen has these lines."""
        shown = self.page.locator(".result-window .view-lines")
        for line in lines:
            await expect(shown).to_contain_text(line.replace(" ", "\u00a0"))

    async def text(self) -> str:
        """The text in the query editor, as far as it is on the screen."""
        return (await self.page.locator(".graphiql-query-editor .view-lines").inner_text()).replace("\u00a0", " ")

    async def expect_readable(self) -> None:
        """Checks that no text on the screen has a contrast of less than 4.5:1."""
        assert await self.page.evaluate(_LOW_CONTRAST) == []

    async def theme(self) -> str:
        """`light` or `dark`, the same for the page and its editor."""
        color = await self.page.evaluate(
            "getComputedStyle(document.querySelector('.graphiql-container')).backgroundColor"
        )
        page = "light" if sum(map(float, re.findall(r"[\d.]+", color)[:3])) > _MIDDLE_GREY else "dark"
        editor = re.compile(r"\bvs\b" if page == "light" else r"\bvs-dark\b")
        await expect(self.editor).to_have_class(editor)
        return page

    async def save_screenshot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        await self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def _record_console(self, message: ConsoleMessage) -> None:
        is_refusal = message.text.startswith("Failed to load resource") and message.location["url"] == self.url
        if message.type in {"error", "warning"} and not is_refusal:
            self.console_errors.append(message.text)


def explain_of(request: Request) -> Any:
    """The explanation that a request asks for: true, "plan" or None."""
    return json.loads(request.post_data or "{}").get("extensions", {}).get("explain")


def is_run(request: Request) -> bool:
    """Whether a request runs an operation of the user: it is neither GraphiQL's introspection nor a plan."""
    sent = json.loads(request.post_data or "{}")
    return bool(sent) and sent.get("operationName") != "IntrospectionQuery" and explain_of(request) != "plan"


def claims_in(headers: dict[str, str]) -> Any:
    payload = headers["authorization"].removeprefix("Bearer ").split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
