"""A real browser that can reach only the server, and a server with demo data."""

import os
from collections.abc import AsyncIterator, Iterator
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.browser.graphiql import REPORT_VIOLATIONS, GraphiQL
from tests.browser.program import find_browser
from tests.e2e.serving import Server, serving

FLAGS = [
    # No host name resolves, and only the server's address is reachable.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # The browser sends no requests of its own.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--disable-gpu",
    # Chromium's sandbox does not start as root, which containers run as; the browser loads only our own page.
    "--no-sandbox",
]


@pytest.fixture(scope="session")
def program() -> str:
    """The path of a browser. Without one the tests are skipped, except under CI, where they fail."""
    found = find_browser()
    if found is None:
        message = "no browser: install Chromium or Chrome to run the tests of GraphiQL"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def server(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with demo data, started as a user starts it."""
    assert program
    folder = tmp_path_factory.mktemp("browser")
    with serving(folder / "run", data_dir=folder / "data", test_clock="on") as started:
        yield started
        assert started.plans


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(program: str) -> AsyncIterator[Browser]:
    # A busy machine needs time to start an editor and its workers.
    expect.set_options(timeout=20_000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page for all tests: the first visit compiles the editor's scripts, which takes most of the time."""
    context = await browser.new_context(reduced_motion="reduce")
    await context.add_init_script(REPORT_VIOLATIONS)
    yield await context.new_page()
    await context.close()


@pytest_asyncio.fixture
async def graphiql(page: Page, server: Server, request: pytest.FixtureRequest) -> AsyncIterator[GraphiQL]:
    """GraphiQL on a first visit. The test fails if the console has errors or another host was contacted."""
    scheme: Literal["light", "dark"] = getattr(request, "param", "light")
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": 1440, "height": 900})
    opened = await GraphiQL.visit(page, server.url)
    yield opened
    await opened.save_screenshot(request.node.name.removeprefix("test_"))
    console_errors = list(opened.console_errors)
    foreign_requests = opened.foreign_requests
    await opened.leave()
    assert not console_errors
    assert not foreign_requests
