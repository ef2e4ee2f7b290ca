"""GraphiQL in a real browser that can reach the server and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.graphiql import GraphiQL

SCHEMA = (Path(__file__).parent.parent.parent / "schema.graphql").read_text()

# Makes `window.tabsStored` a promise that is fulfilled once the given number of tabs is in the browser's storage.
ANNOUNCE_STORED_TABS = """count => {
    const { setItem } = Storage.prototype;
    window.tabsStored = new Promise(resolve => {
        Storage.prototype.setItem = function (key, value) {
            setItem.call(this, key, value);
            if (key === 'graphiql:tabState' && JSON.parse(value).tabs.length === count) {
                resolve();
            }
        };
    });
}"""


async def test_the_page_opens_with_examples_explorer_docs_and_history(graphiql: GraphiQL) -> None:
    assert await graphiql.tabs.all_inner_texts() == ["FirstQuery", "LockersNow", "StaleVersion", "ReserveLocker"]
    await expect(graphiql.explorer.get_by_text("ownerId*:")).to_be_visible()
    await expect(graphiql.docs.get_by_text("All Schema Types")).to_be_visible()
    for button in ("Variables", "Headers", "Show History", "Show Documentation Explorer"):
        await expect(graphiql.page.get_by_role("button", name=button)).to_be_visible()
    # All requests go to the server, including those for workers and fonts.
    paths = [request.url.removeprefix(graphiql.url) for request in graphiql.requests]
    assert not graphiql.foreign_requests
    for pattern in (r"", r"/assets/index-.+\.js", r"/assets/editor\.worker-.+\.js", r"/assets/fira-code-.+\.woff2"):
        assert any(re.fullmatch(pattern, path) for path in paths), pattern


@pytest.mark.parametrize("graphiql", ["light", "dark"], indirect=True)
async def test_the_theme_follows_the_system_and_can_be_changed(
    graphiql: GraphiQL, request: pytest.FixtureRequest
) -> None:
    opens, other = ("dark", "light") if "[dark]" in request.node.name else ("light", "dark")
    assert await graphiql.theme() == opens
    await graphiql.save_screenshot(f"opens_{opens}")
    # The choice overrides the system's setting and is kept.
    await graphiql.page.get_by_role("button", name="Open settings dialog").click()
    await graphiql.page.get_by_role("button", name=other.title(), exact=True).click()
    await graphiql.page.keyboard.press("Escape")
    await graphiql.page.reload()
    await graphiql.wait_until_ready()
    assert await graphiql.theme() == other


async def test_the_first_tab_shows_an_owner_and_its_lockers(graphiql: GraphiQL) -> None:
    await graphiql.run_tab("FirstQuery")
    await graphiql.expect_shown('"name": "Metro Parcel 1"', '"lockerId": "locker-000001"', '"nextCursor"')


async def test_the_second_tab_shows_the_current_reservations_of_lockers(graphiql: GraphiQL) -> None:
    answer = await graphiql.run_tab("LockersNow")
    assert len(answer["data"]["owner"]["lockers"]["nodes"]) == 5
    # Whether a locker is reserved depends on the time of day.
    await graphiql.expect_shown('"activeReservation": ', '"latestEvent": {', '"alias": "Reading Room 13"')


async def test_an_update_with_a_stale_version_shows_a_conflict(graphiql: GraphiQL) -> None:
    await graphiql.run_tab("StaleVersion")
    await graphiql.expect_shown('"userErrors": []', '"code": "CONFLICT"', '"currentVersion": 2')


async def test_a_reservation_is_created_and_the_same_one_again_overlaps(graphiql: GraphiQL) -> None:
    await graphiql.run_tab("ReserveLocker")
    await graphiql.expect_shown('"status": "ACTIVE"', '"alias": "Bike Cellar 1"', '"userErrors": []')
    await graphiql.run()
    await graphiql.expect_shown('"reservation": null', '"code": "RESERVATION_OVERLAP"')


async def test_a_query_typed_by_hand_is_completed_and_runs(graphiql: GraphiQL) -> None:
    await graphiql.write('{ owner(ownerId: "owner-0002") { na')
    await expect(graphiql.suggestions.first).to_contain_text("name")
    await expect(graphiql.suggestions.first).to_contain_text("String!")
    await graphiql.save_screenshot("suggests")
    await graphiql.page.keyboard.press("Enter")
    answer = await graphiql.run()
    assert list(answer["data"]["owner"]) == ["name"]
    await graphiql.expect_shown(f'"name": "{answer["data"]["owner"]["name"]}"')


async def test_an_unknown_field_is_underlined_before_anything_is_sent(graphiql: GraphiQL) -> None:
    sent = len(graphiql.requests)
    await graphiql.write('{ owner(ownerId: "owner-0002") { nickname')
    await expect(graphiql.page.locator(".graphiql-query-editor .squiggly-error")).to_be_visible()
    assert "POST" not in [request.method for request in graphiql.requests[sent:]]


async def test_the_docs_show_the_descriptions_of_types_fields_and_arguments(graphiql: GraphiQL) -> None:
    docs = graphiql.docs
    await docs.get_by_role("link", name="Query", exact=True).click()
    await expect(docs).to_contain_text(description_of("ownerByEmail("))
    await docs.get_by_role("link", name="ownerByEmail", exact=True).click()
    await expect(docs).to_contain_text(description_of("email: String!\n  )"))
    await docs.get_by_role("link", name="Owner", exact=True).click()
    await expect(docs).to_contain_text(description_of("type Owner "))


async def test_a_field_ticked_in_the_explorer_is_added_to_the_query(graphiql: GraphiQL) -> None:
    await graphiql.explorer.get_by_text("email", exact=True).click()
    await graphiql.editor.click()
    answer = await graphiql.run()
    assert answer["data"]["owner"]["email"] == "owner-0001@example.com"
    await graphiql.expect_shown('"email": "owner-0001@example.com"')


async def test_a_token_in_the_headers_is_sent_and_never_stored(graphiql: GraphiQL) -> None:
    await graphiql.page.get_by_role("button", name="Headers").click()
    await graphiql.page.locator(".graphiql-editor-tool .monaco-editor:visible").click()
    await graphiql.page.keyboard.type('{"Authorization": "Bearer canary', delay=10)
    await graphiql.run()
    # It takes precedence over the demo user's token.
    assert graphiql.sent[-1].headers["authorization"] == "Bearer canary"
    await graphiql.expect_shown('"code": "UNAUTHENTICATED"')
    graphiql.console_errors.clear()
    await graphiql.page.get_by_role("button", name="Show History").click()
    await expect(graphiql.history_of("FirstQuery")).to_be_visible()
    # A new tab makes GraphiQL store all tabs with what their editors hold, half a second later.
    await graphiql.page.evaluate(ANNOUNCE_STORED_TABS, len(await graphiql.tabs.all()) + 1)
    await graphiql.page.get_by_role("button", name="New tab").click()
    await graphiql.page.evaluate("window.tabsStored")
    stored = await graphiql.page.evaluate("JSON.stringify({...localStorage})")
    assert "FirstQuery" in stored
    assert "canary" not in stored


async def test_the_policy_refuses_inline_scripts_and_other_hosts(graphiql: GraphiQL) -> None:
    await graphiql.page.evaluate(
        """async () => {
            const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.head.append(script);
            await fetch('http://localhost:9/').catch(() => {});
            try { new Worker(URL.createObjectURL(new Blob(['']))); } catch {}
        }"""
    )
    assert await graphiql.page.evaluate("window.ran") is None
    refused = [text.split(": ")[1] for text in graphiql.console_errors if text.startswith("refused by the policy")]
    assert refused == ["script-src-elem inline", "connect-src http://localhost:9/", "worker-src blob"]
    assert not graphiql.foreign_requests
    graphiql.console_errors.clear()


def description_of(declaration: str) -> str:
    """The description in the schema: the text before a declaration."""
    before = SCHEMA.split(declaration)[0].rstrip()
    return before.removesuffix('"""').rsplit('"""', 1)[1].strip()
