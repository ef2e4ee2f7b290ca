"""Subscriptions in a browser: in GraphiQL, and with its own EventSource as docs/live.md has it."""

import asyncio
import json
import re
from typing import Any

from playwright.async_api import Browser, WebSocket, expect

from tests.api import UPDATE_STATUS
from tests.browser.graphiql import GraphiQL, claims_in
from tests.documentation import ROOT
from tests.e2e.serving import Server
from tests.network import network_to

PAGE = (ROOT / "docs" / "live.md").read_text()
LOCKER = "locker-000026"


def code(pattern: str) -> str:
    found = re.search(pattern, PAGE, re.DOTALL)
    assert found is not None
    return found[1]


async def set_status(server: Server, status: str) -> None:
    """Changes the locker as another client."""
    present = await asyncio.to_thread(server.ask, f'{{ locker(lockerId: "{LOCKER}", consistent: true) {{ version }} }}')
    values = {"lockerId": LOCKER, "newStatus": status, "expectedVersion": present["locker"]["version"]}
    await asyncio.to_thread(server.ask, UPDATE_STATUS, input=values)


async def test_a_subscription_shows_what_another_client_changes_with_the_token_of_the_demo_user(
    graphiql: GraphiQL, server: Server
) -> None:
    page = graphiql.page
    sent: list[dict[str, Any]] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(json.loads(frame)))

    page.on("websocket", listen)
    await graphiql.signed_in_as.select_option("Demo owner owner-0002")
    await page.get_by_role("tab", name="LockerChanges").click()
    await graphiql.editor.click()
    async with page.expect_websocket() as opened:
        await page.keyboard.press("Control+Enter")
    await set_status(server, "MAINTENANCE")
    await graphiql.expect_shown('"kind": "LOCKER_STATUS_CHANGED"', '"to": "MAINTENANCE"', '"role": "ADMIN"')
    await set_status(server, "AVAILABLE")
    await graphiql.expect_shown('"to": "AVAILABLE"')
    socket = await opened.value
    async with socket.expect_event("close"):
        await page.get_by_role("button", name="Stop query").click()
    assert [message["type"] for message in sent] == ["connection_init", "subscribe", "complete"]
    assert claims_in({"authorization": sent[0]["payload"]["Authorization"]})["ownerId"] == "owner-0002"
    page.remove_listener("websocket", listen)


async def test_a_refused_subscription_shows_why_and_it_can_be_planned_but_not_copied(graphiql: GraphiQL) -> None:
    await graphiql.signed_in_as.select_option("Demo owner owner-0002")
    await graphiql.paste('subscription Others { lockerActivity(lockerId: "locker-000001") { kind } }')
    await graphiql.page.keyboard.press("Control+Enter")
    await graphiql.expect_shown('"code": "FORBIDDEN"')
    await graphiql.show_plan()
    await graphiql.ask_for_plan()
    await expect(graphiql.field("lockerActivity")).to_be_visible()
    await graphiql.page.get_by_role("button", name="Copy as curl, JavaScript or Python").click()
    await graphiql.page.get_by_role("menuitem", name="Copy as curl").click()
    await expect(graphiql.page.get_by_text("Not copied: see docs/live.md for programs that subscribe")).to_be_visible()


async def test_the_browsers_own_event_source_goes_on_where_it_was(browser: Browser, server: Server) -> None:
    program = "\n".join([code(r"export (const CHANGES = .+?;)\n"), code(r"`eventsource.js`:\n\n```js\n(.+?)```")])
    begin = f"""() => {{ {program}
        window.shown = [];
        const show = ({{ data }}) => window.shown.push(data.lockerActivity.locker.status);
        watchChanges('{LOCKER}', new Date().toISOString(), show);
    }}"""
    has_shown = "status => window.shown.at(-1) === status"
    async with network_to(server.url) as network:
        page = await browser.new_page()
        await page.route("**/screen", lambda route: route.fulfill(body="<p>", content_type="text/html"))
        await page.goto(f"http://127.0.0.1:{network.port}/screen")
        await page.evaluate(begin)
        await set_status(server, "OCCUPIED")
        await page.wait_for_function(has_shown, arg="OCCUPIED")
        network.cut()
        await set_status(server, "AVAILABLE")
        await page.wait_for_function(has_shown, arg="AVAILABLE")
        await page.close()
