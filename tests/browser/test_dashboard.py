"""The dashboard in a browser: each screen, changes of others, a lost connection, conflicts, callers without rights."""

import re
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.graphiql import REPORT_VIOLATIONS, SCREENSHOTS
from tests.e2e.serving import Server
from tests.npm import installed

STATUS = """mutation ($input: UpdateLockerStatusInput!) {
  updateLockerStatus(input: $input) { locker { version } userErrors { message } } }"""
LOCKER = "query ($id: ID!) { locker(lockerId: $id) { status version } }"
REGISTER = """mutation ($owner: CreateOwnerInput!, $locker: RegisterLockerInput!) {
  createOwner(input: $owner) { userErrors { message } } registerLocker(input: $locker) { userErrors { message } } }"""
STAY = """mutation ($reservation: CreateReservationInput!, $start: StartReservationInput!) {
  createReservation(input: $reservation) { userErrors { message } }
  startReservation(input: $start) { userErrors { message } } }"""
RESERVE = """mutation ($input: CreateReservationInput!) {
  createReservation(input: $input) { userErrors { message } } }"""
OPENED = (
    """mutation ($input: RecordAccessEventInput!) { recordAccessEvent(input: $input) { userErrors { message } } }"""
)
VERIFY = """mutation ($input: VerifyAccessCodeInput!) {
  verifyAccessCode(input: $input) { decision lockedUntil userErrors { message } } }"""
ROME = "Roma Termini"
# Connections that are refused, without a close frame, while `isDown`.
UNRELIABLE = """Object.assign(window, { isDown: false, refused: 0 }); window.WebSocket = class extends WebSocket {
  constructor(url, protocols) {
    super(isDown ? url.replace('graphql', 'nothing') : url, protocols);
    window.socket = this;
    this.addEventListener('error', () => refused++);
  }
}"""
# Where text is wider than its box, or the page wider than the window.
OVERFLOWING = """() => [...document.querySelectorAll('body *')].filter(one =>
  !one.closest('thead, svg') && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
  .map(one => one.outerHTML.slice(0, 100)).concat(document.documentElement.scrollWidth > innerWidth ? ['page'] : [])"""

# Texts that lie on each other.
OVERLAPPING = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), boxes = [], range = new Range();
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (!data.trim() || parentElement.closest('thead, svg') || !parentElement.checkVisibility()) continue;
    range.selectNodeContents(walker.currentNode);
    for (const box of range.getClientRects()) boxes.push([data, box]);
  }
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  return boxes.flatMap(([one, a], place) =>
    boxes.slice(place + 1).filter(([, b]) => meet(a, b)).map(([other]) => [one, other]));
}"""


class Others:
    """Another client of the same server."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._clock = url.replace("/graphql", "/development/clock")

    async def send(self, query: str, **variables: Any) -> Any:
        async with httpx.AsyncClient(timeout=30) as client:
            answer = (await client.post(self._url, json={"query": query, "variables": variables})).json()
        assert "errors" not in answer, answer
        assert not [payload["userErrors"] for payload in answer["data"].values() if payload.get("userErrors")], answer
        return answer["data"]

    async def set_status(self, locker_id: str, *statuses: str) -> str:
        """Sets a locker to the first of these statuses that it does not have; returns that."""
        locker = (await self.send(LOCKER, id=locker_id))["locker"]
        status = next(one for one in statuses if one != locker["status"])
        given = {"lockerId": locker_id, "newStatus": status, "expectedVersion": locker["version"]}
        await self.send(STATUS, input=given | {"changeId": str(uuid.uuid4())})
        return status

    async def new_locker(self, location_id: str, **others: str) -> tuple[str, str]:
        """An owner of the test's own, and a locker at a location, which is theirs if no others are named."""
        owner, locker = f"owner-{uuid.uuid4()}", f"locker-{uuid.uuid4()}"
        await self.send(
            REGISTER,
            owner={"ownerId": owner, "kind": "USER", "name": f"Zoe {owner[-6:]}", "email": f"{owner}@example.com"},
            locker={"lockerId": locker, "ownerId": owner, "alias": f"Own {locker[-6:]}", "locationId": location_id}
            | others,
        )
        return owner, locker

    async def stay(self, owner: str, locker: str) -> datetime:
        """Occupies a locker by a reservation of two minutes; returns when it began."""
        async with httpx.AsyncClient(timeout=30) as client:
            now = datetime.fromisoformat((await client.get(self._clock)).json()["now"])
        named = {"lockerId": locker, "reservationId": "stay"}
        span = {"startAt": now.isoformat(), "endAt": (now + timedelta(minutes=2)).isoformat()}
        await self.send(STAY, reservation=named | {"ownerId": owner} | span, start=named)
        return now

    async def overstay(self, owner: str, locker: str) -> None:
        """Occupies a locker for two minutes, and lets three pass."""
        later = (await self.stay(owner, locker) + timedelta(minutes=3)).isoformat()
        async with httpx.AsyncClient(timeout=30) as client:
            assert (await client.put(self._clock, json={"now": later})).status_code == 200


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
        return self.page.locator(".doors li")

    def door(self, locker_id: str, status: str = "") -> Locator:
        """A locker on the board, in the column of a status if one is named."""
        columns = self.page.get_by_role("region", name=words(status)) if status else self.page
        return columns.locator(f"[data-locker='{locker_id}']")

    async def first_door(self) -> str:
        return str(await self.doors.first.get_attribute("data-locker"))

    @property
    def location_id(self) -> str:
        return self.page.url.rpartition("/")[2]


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
    assert len([url for url in dashboard.requests if url.endswith("/graphql")]) == 2, "one for the sign-in"
    assert not dashboard.problems


async def test_a_change_of_another_client_appears_on_the_board_and_the_overview(dashboard: Dashboard) -> None:
    await dashboard.board()
    locker_id = await dashboard.first_door()
    status = await dashboard.others.set_status(locker_id, "AVAILABLE", "MAINTENANCE")
    await expect(dashboard.door(locker_id, status)).to_be_visible()
    await expect(dashboard.page.locator(".news li").first).to_contain_text("Locker status changed")
    await dashboard.page.get_by_role("link", name="SmartLocker").click()
    row = dashboard.page.get_by_role("row", name=re.compile(ROME))
    column = {"AVAILABLE": 1, "MAINTENANCE": 3}
    cells = row.locator("td")
    other = "MAINTENANCE" if status == "AVAILABLE" else "AVAILABLE"
    await expect(cells).to_have_count(6)
    await expect(dashboard.live).to_have_text("Live")
    before = int(await cells.nth(column[other]).inner_text())
    await dashboard.others.set_status(locker_id, other)
    await expect(cells.nth(column[other])).to_have_text(str(before + 1))
    assert not dashboard.problems


async def test_what_happened_while_the_connection_was_lost_appears_when_it_is_back(dashboard: Dashboard) -> None:
    page = dashboard.page
    await page.add_init_script(UNRELIABLE)
    await dashboard.board()
    locker_id = await dashboard.first_door()
    first = await dashboard.others.set_status(locker_id, "AVAILABLE", "MAINTENANCE")
    news = dashboard.page.locator(".news li")
    await expect(dashboard.door(locker_id, first)).to_be_visible()
    known = await news.first.get_attribute("data-activity")
    await page.evaluate("() => { isDown = true; socket.close(3000) }")
    await page.wait_for_function("() => refused > 0")
    await expect(dashboard.live).to_have_text("Connection lost, trying again")
    status = await dashboard.others.set_status(locker_id, "AVAILABLE", "MAINTENANCE")
    await page.evaluate("() => { isDown = false }")
    await expect(dashboard.live).to_have_text("Live")
    await expect(dashboard.door(locker_id, status)).to_be_visible()
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
    event = {"lockerId": page.url.rpartition("/")[2], "eventId": str(uuid.uuid4()), "actorId": "ada", "action": "OPEN"}
    now = datetime.now(UTC).isoformat()
    await dashboard.others.send(OPENED, input=event | {"timestamp": now, "result": "SUCCESS"})
    await expect(page.locator(".timeline li").first).to_contain_text("Door opened")
    await page.get_by_role("button", name="Door", exact=True).click()
    await expect(page.locator(".timeline li:not(.door)")).to_have_count(0)
    await page.get_by_role("button", name="Everything").click()
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
    await expect(dashboard.doors.first).to_be_visible()
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


async def test_what_is_overdue_appears_on_the_board_and_in_the_list_until_it_is_released(dashboard: Dashboard) -> None:
    await dashboard.board()
    page, others = dashboard.page, dashboard.others
    owner, locker = await others.new_locker(dashboard.location_id)
    await expect(dashboard.door(locker, "AVAILABLE")).to_be_visible()
    await others.overstay(owner, locker)
    await expect(dashboard.door(locker, "OCCUPIED")).to_contain_text(f"Zoe {owner[-6:]}, overdue since")
    await page.get_by_role("link", name="Overdue").click()
    row = page.get_by_role("row", name=f"Own {locker[-6:]}")
    await expect(row).to_contain_text(ROME)
    await expect(row).to_contain_text(f"Zoe {owner[-6:]}")
    await expect(dashboard.live).to_have_text("Live")
    await others.set_status(locker, "AVAILABLE")
    await expect(row).to_have_count(0)
    assert not dashboard.problems


async def test_support_finds_an_owner_by_name_and_clears_the_lockout_of_a_locker(dashboard: Dashboard) -> None:
    page, others = dashboard.page, dashboard.others
    await dashboard.sign_in("Demo support")
    await page.locator("table a", has_text=ROME).click()
    await expect(page.get_by_role("heading", name=ROME)).to_be_visible()
    owner, locker = await others.new_locker(dashboard.location_id)
    for _ in range(5):
        await others.send(VERIFY, input={"lockerId": locker, "digits": "000000", "attemptId": str(uuid.uuid4())})
    await page.evaluate("location.hash = '#/search/50%'")
    await expect(page.get_by_text("Nothing is called “50%”.")).to_be_visible()
    span = {"startAt": "2099-06-01T10:00:00Z", "endAt": "2099-06-01T12:00:00Z"}
    await others.send(RESERVE, input=span | {"lockerId": locker, "ownerId": owner, "reservationId": f"late-{locker}"})
    await page.evaluate("id => { location.hash = `#/search/${id}` }", f"late-{locker}")
    await expect(page.locator(".hits li")).to_contain_text("2099")
    await page.get_by_role("searchbox").fill(f"zoe {owner[-6:]}")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("1 found.")).to_be_visible()
    await page.get_by_role("link", name=f"Zoe {owner[-6:]}").click()
    await expect(page.get_by_text(f"{owner}@example.com")).to_be_visible()
    await page.get_by_role("link", name=f"Own {locker[-6:]}").click()
    await expect(page.get_by_text("Locked out until")).to_be_visible()
    await page.get_by_role("button", name="Clear the lockout").click()
    await expect(page.get_by_text("Locked out until")).to_have_count(0)
    await expect(page.locator(".change .status")).to_have_text("Available")
    await expect(page.get_by_role("button", name="Set to")).to_have_count(0)


async def test_a_caller_without_rights_is_told_so_and_led_to_what_is_theirs(dashboard: Dashboard) -> None:
    page = dashboard.page
    await dashboard.sign_in("Demo owner")
    await expect(page.get_by_role("table", name="Lockers").get_by_role("row")).not_to_have_count(0)
    await expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(["Your lockers"])
    await expect(page.get_by_role("alert")).to_have_count(0)
    await page.evaluate("location.hash = '#/overdue'")
    await expect(page.get_by_role("alert")).to_contain_text("requires")


async def test_an_owner_changes_a_locker_whose_guest_is_hidden(dashboard: Dashboard) -> None:
    page, others = dashboard.page, dashboard.others
    [location] = (await others.send("{ locations(first: 1) { nodes { locationId } } }"))["locations"]["nodes"]
    guest, locker = await others.new_locker(location["locationId"], ownerId="owner-0002", reservableBy="EVERYONE")
    await others.stay(guest, locker)
    await dashboard.sign_in("Demo owner", f"#/locker/{locker}")
    await expect(page.locator(".change")).to_contain_text("Reserved until")
    await expect(page.get_by_role("alert")).to_have_count(0)
    await page.get_by_role("button", name="Set to maintenance").click()
    await expect(page.locator(".change .status")).to_have_text("Maintenance")
    await expect(page.get_by_role("button", name="Set to")).to_have_text(["Set to available"])
    await expect(page.get_by_role("alert")).to_have_count(0)


async def test_everything_can_be_reached_with_the_keyboard(dashboard: Dashboard) -> None:
    page = dashboard.page
    await page.goto(dashboard.url)
    await expect(page.get_by_role("button", name="Demo admin")).to_be_visible()

    async def go_to(target: Locator) -> None:
        await expect(target).to_be_visible()
        for _ in range(60):
            await page.keyboard.press("Tab")
            if await target.evaluate("one => one === document.activeElement"):
                break
        await expect(target).to_be_focused()
        await page.keyboard.press("Enter")

    await go_to(page.get_by_role("button", name="Demo admin"))
    await go_to(page.locator("table a", has_text=ROME))
    await go_to(dashboard.doors.first.get_by_role("link"))
    await go_to(page.get_by_role("button", name="Reservations"))
    await expect(page.get_by_role("button", name="Reservations")).to_have_attribute("aria-pressed", "true")


async def test_credentials_that_are_not_valid_lead_back_to_the_sign_in(dashboard: Dashboard) -> None:
    page = dashboard.page
    await page.goto(dashboard.url)
    await page.get_by_label("Token or API key").fill("nonsense")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("These credentials are not valid.")
    ended = {"name": "Ada", "token": "ended", "role": "ADMIN", "ownerId": None}
    await page.evaluate("caller => sessionStorage.setItem('smartlocker.caller', JSON.stringify(caller))", ended)
    await page.reload()
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
    owner, overdue = await dashboard.others.new_locker(board.rpartition("/")[2])
    await dashboard.others.overstay(owner, overdue)
    await expect(dashboard.door(overdue, "OCCUPIED")).to_contain_text("overdue since")
    screens |= {
        "overdue": ("/overdue", "td"),
        "search": ("/search/owner-0001", ".hits li"),
        "owner": (f"/owner/{owner}", "td"),
    }

    async def check(name: str) -> None:
        for width in (360, 800, 1600) if scheme == "light" else ():
            await page.set_viewport_size({"width": width, "height": 900})
            assert await page.evaluate(OVERFLOWING) == [], (name, width)
            assert await page.evaluate(OVERLAPPING) == [], (name, width)
        await page.evaluate(axe)
        found = await page.evaluate("async () => (await axe.run()).violations.map(one => [one.id, one.nodes[0].html])")
        assert found == [], (name, scheme)
        await page.set_viewport_size({"width": 1200, "height": 800})
        await page.screenshot(path=SCREENSHOTS / f"dashboard-{name}-{scheme}.png")

    for name, (place, ready) in screens.items():
        await page.evaluate("place => { location.hash = place }", place)
        await expect(page.locator(ready).first).to_be_visible()
        await check(name)
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("button", name="Demo admin")).to_be_visible()
    await check("sign-in")
    assert not dashboard.problems
