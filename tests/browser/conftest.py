"""A real browser that reaches nothing but the server, and a server with demo data for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright, expect

from tests.browser.graphiql import GraphiQL
from tests.browser.program import find_browser
from tests.e2e.serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from playwright.async_api import Browser

    from tests.e2e.serving import Server

FLAGS = [
    # No name leads anywhere, and no address but the server's.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # Nothing of the browser's own either.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--disable-gpu",
    # Chromium's sandbox refuses to start as root, as which containers run; it only ever sees our own page.
    "--no-sandbox",
]


@pytest.fixture(scope="session")
def program() -> str:
    """The browser of this machine. Where none can be had the tests are skipped; under CI there always is one."""
    found = find_browser()
    if found is None:
        message = (
            "no browser: `make test` could get neither playwright's nor Debian's chromium here; with either, or with "
            "Chrome on the PATH, GraphiQL is tested in it"
        )
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def server(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server as its user starts it, with demo data."""
    assert program
    folder = tmp_path_factory.mktemp("browser")
    with serving(folder / "run", SMARTLOCKER_DATA_DIR=str(folder / "data")) as started:
        yield started
        assert started.plans


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(program: str) -> AsyncIterator[Browser]:
    # A machine that is busy with other tests takes its time to start an editor and its workers.
    expect.set_options(timeout=20_000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture
async def graphiql(browser: Browser, server: Server, request: pytest.FixtureRequest) -> AsyncIterator[GraphiQL]:
    """GraphiQL on a first visit. In the end nothing has gone wrong in it unseen, and a picture of it is kept."""
    scheme: Literal["light", "dark"] = getattr(request, "param", "light")
    context = await browser.new_context(
        color_scheme=scheme, reduced_motion="reduce", viewport={"width": 1440, "height": 900}
    )
    opened = await GraphiQL.open(context, server.url)
    yield opened
    await opened.keep_picture(request.node.name.removeprefix("test_"))
    complaints = opened.complaints
    strangers = opened.strangers
    await context.close()
    assert not complaints
    assert not strangers
