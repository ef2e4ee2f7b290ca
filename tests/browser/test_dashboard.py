"""The dashboard in a browser: each screen, changes of others, a lost connection, conflicts, callers without rights."""

import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Locator, Page, WebSocketRoute, expect

from tests.browser.graphiql import REPORT_VIOLATIONS, SCREENSHOTS
from tests.e2e.serving import Server
from tests.npm import installed

STATUS = """mutation ($input: UpdateLockerStatusInput!) {
  updateLockerStatus(input: $input) { locker { version } userErrors { message } } }"""
LOCKER = "query ($id: ID!) { locker(lockerId: $id) { status version } }"
ROME = "Roma Termini"
# Where text is wider than its box, or the page wider than the window.
OVERFLOWING = """() => [...document.querySelectorAll('body *')].filter(one =>
  !one.closest('.scroll, svg') && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
  .map(one => one.outerHTML.slice(0, 100)).concat(document.documentElement.scrollWidth > innerWidth ? ['page'] : [])"""


class Others:
    """Another client of the same server."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def send(self, query: str, **variables: Any) -> Any:
        async with httpx.AsyncClient(timeout=30) as client:
            answer = (await client.post(self._url, json={"query": query, "variables": variables})).json()
        assert "errors" not in answer, answer
        return answer["data"]

    async def set_status(self, locker_id: str, *statuses: str) -> str:
        """Sets a locker to the first of these statuses that it does not have; returns that."""
        locker = (await self.send(LOCKER, id=locker_id))["locker"]
        status = next(one for one in statuses if one != locker["status"])
        given = {"lockerId": locker_id, "newStatus": status, "expectedVersion": locker["version"]}
        made = await self.send(STATUS, input=given | {"changeId": str(uuid.uuid4())})
        assert not made["updateLockerStatus"]["userErrors"]
        return status


class Dashboard:
    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url.replace("/graphql", "/dashboard")
        self.others = Others(url)
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: self.requests.append(request.url))

    async def sign_in(self, name: str = "Demo admin", at: str = "") -> None:
        await self.page.goto(f"{self.url}{at}")
        await self.page.get_by_role("button", name=name).click()

    async def board(self) -> None:
        await self.sign_in()
        await self.page.locator("table a", has_text=ROME).click()
        await expect(self.page.get_by_role("heading", name=ROME)).to_be_visible()
        await expect(self.live).to_have_text("Live")

    @property
    def live(self) -> Locator:
        return self.page.locator(".live")

    @property
    def doors(self) -> Locator:
        return self.page.get_by_role("list", name="Lockers").get_by_role("listitem")

    async def first_door(self) -> str:
        return str(await self.doors.first.get_by_role("link").get_attribute("href")).rpartition("/")[2]


@pytest_asyncio.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(reduced_motion="reduce", viewport={"width": 1200, "height": 900})
    await context.add_init_script(REPORT_VIOLATIONS)
    yield context
    await context.close()


@pytest_asyncio.fixture
async def dashboard(context: BrowserContext, server: Server) -> Dashboard:
    return Dashboard(await context.new_page(), server.url)


def words(status: str) -> str:
    return status.capitalize()


async def test_the_overview_shows_all_locations_with_one_request(dashboard: Dashboard) -> None:
    await dashboard.sign_in()
    page = dashboard.page
    await expect(page.get_by_role("heading", name="Locations")).to_be_visible()
    await expect(page.get_by_role("row")).to_have_count(13)
    await expect(page.locator(".map a")).to_have_count(12)
    await expect(page.locator("small", has_text="counted")).to_be_visible()
    assert len([url for url in dashboard.requests if url.endswith("/graphql")]) <= 2  # React asks twice in development
    assert not dashboard.problems


async def test_a_change_of_another_client_appears_on_the_board_and_the_overview(dashboard: Dashboard) -> None:
    await dashboard.board()
    locker_id = await dashboard.first_door()
    status = await dashboard.others.set_status(locker_id, "AVAILABLE", "MAINTENANCE")
    await expect(dashboard.doors.first.locator(".status")).to_have_text(words(status))
    await expect(dashboard.page.locator(".news li").first).to_contain_text("Locker status changed")
    await dashboard.page.get_by_role("link", name="SmartLocker").click()
    row = dashboard.page.get_by_role("row", name=re.compile(ROME))
    column = {"AVAILABLE": 0, "MAINTENANCE": 2}
    cells = row.locator("td")
    other = "MAINTENANCE" if status == "AVAILABLE" else "AVAILABLE"
    await expect(cells).to_have_count(5)
    await expect(dashboard.live).to_have_text("Live")
    before = int(await cells.nth(column[other]).inner_text())
    await dashboard.others.set_status(locker_id, other)
    await expect(cells.nth(column[other])).to_have_text(str(before + 1))
    assert not dashboard.problems


async def test_what_happened_while_the_connection_was_lost_appears_when_it_is_back(dashboard: Dashboard) -> None:
    sockets: list[WebSocketRoute] = []
    is_down = False

    async def connect(socket: WebSocketRoute) -> None:
        if is_down:
            await socket.close(code=1013)
            return
        sockets.append(socket)
        socket.connect_to_server()

    await dashboard.page.route_web_socket(re.compile("/graphql$"), connect)
    await dashboard.board()
    locker_id = await dashboard.first_door()
    first = await dashboard.others.set_status(locker_id, "AVAILABLE", "MAINTENANCE")
    news = dashboard.page.locator(".news li")
    await expect(dashboard.doors.first.locator(".status")).to_have_text(words(first))
    known = await news.first.get_attribute("data-activity")
    is_down = True
    await sockets[-1].close(code=1012)
    await expect(dashboard.live).to_have_text("Connection lost, trying again")
    status = await dashboard.others.set_status(locker_id, "AVAILABLE", "MAINTENANCE")
    is_down = False
    await expect(dashboard.live).to_have_text("Live")
    await expect(dashboard.doors.first.locator(".status")).to_have_text(words(status))
    await expect(news.first).not_to_have_attribute("data-activity", str(known))
    await expect(dashboard.page.locator(f"[data-activity='{known}']")).to_have_count(1)


async def test_a_locker_shows_its_timeline_to_the_end_and_can_be_changed(dashboard: Dashboard) -> None:
    await dashboard.board()
    page = dashboard.page
    await dashboard.doors.first.get_by_role("link").click()
    await expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    button = page.get_by_role("button", name=re.compile("Set to (available|maintenance)")).first
    wanted = (await button.inner_text()).removeprefix("Set to ").capitalize()
    await button.click()
    await expect(page.locator(".change .status")).to_have_text(wanted)
    await expect(page.locator(".timeline li").first).to_contain_text("Locker status changed")
    await expect(page.locator(".timeline li").first).to_contain_text("by demo-admin")
    for _ in range(20):
        await page.mouse.wheel(0, 20_000)
        if await page.get_by_text("That is all.").is_visible():
            break
        await page.wait_for_function("() => !document.body.innerText.includes('Loading more')")
    await expect(page.get_by_text("That is all.")).to_be_visible()
    assert not dashboard.problems


async def test_a_conflict_shows_the_locker_as_it_is_now(dashboard: Dashboard) -> None:
    page = dashboard.page
    await page.route_web_socket(re.compile("/graphql$"), lambda _: None)  # so that it does not know of the other change
    await dashboard.sign_in()
    await page.locator("table a", has_text=ROME).click()
    locker_id = await dashboard.first_door()
    await dashboard.doors.first.get_by_role("link").click()
    buttons = page.get_by_role("button", name=re.compile("^Set to"))
    await expect(buttons.first).to_be_enabled()
    status = await dashboard.others.set_status(locker_id, "MAINTENANCE", "AVAILABLE")
    await buttons.first.click()
    await expect(page.get_by_role("alert")).to_contain_text("Somebody else has changed this locker")
    await expect(page.locator(".change .status")).to_have_text(words(status))


async def test_usage_is_a_chart_for_each_figure(dashboard: Dashboard) -> None:
    await dashboard.board()
    await dashboard.page.get_by_role("link", name="Usage").click()
    await expect(dashboard.page.locator("figure.chart")).to_have_count(5)
    await dashboard.page.get_by_text("Numbers").first.click()
    await expect(dashboard.page.locator("figure.chart").first.get_by_role("row")).to_have_count(15)
    assert not dashboard.problems


async def test_a_caller_without_rights_is_told_so(dashboard: Dashboard) -> None:
    await dashboard.sign_in("Demo owner")
    await expect(dashboard.page.get_by_role("alert")).to_contain_text("requires the role ADMIN")


async def test_credentials_that_are_not_valid_lead_back_to_the_sign_in(dashboard: Dashboard) -> None:
    page = dashboard.page
    await page.goto(dashboard.url)
    await page.get_by_label("Token or API key").fill("nonsense")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("not valid any more")
    await expect(page.get_by_label("Token or API key")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_screen_fits_and_is_accessible(dashboard: Dashboard, scheme: Any) -> None:
    axe = (installed(Path(__file__).parent) / "node_modules" / "axe-core" / "axe.min.js").read_text()
    page = dashboard.page
    await page.emulate_media(color_scheme=scheme)
    await dashboard.board()
    await expect(dashboard.doors.first).to_be_visible()
    board = page.url.partition("#")[2]
    locker = f"/locker/{await dashboard.first_door()}"
    screens = {"overview": ("/", "table a"), "board": (board, ".doors li"), "locker": (locker, ".timeline li")}
    screens["usage"] = (board.replace("/location/", "/usage/"), "figure.chart")
    for name, (place, ready) in screens.items():
        await page.evaluate("place => { location.hash = place }", place)
        await expect(page.locator(ready).first).to_be_visible()
        for width in (360, 800, 1600):
            await page.set_viewport_size({"width": width, "height": 900})
            assert await page.evaluate(OVERFLOWING) == [], (name, width)
        await page.evaluate(axe)
        found = await page.evaluate("async () => (await axe.run()).violations.map(one => [one.id, one.nodes[0].html])")
        assert found == [], (name, scheme)
        await page.set_viewport_size({"width": 1200, "height": 800})
        await page.screenshot(path=SCREENSHOTS / f"dashboard-{name}-{scheme}.png")
    assert not dashboard.problems
