import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.graphiql import GraphiQL, is_run

SCHEMA = (Path(__file__).parent.parent.parent / "schema.graphql").read_text()

EXAMPLES = ["FirstQuery", "LockersNow", "StaleVersion", "ReserveLocker", "Activity", "LockerChanges", "Viewer"]
FIRST_WORDS = dict(zip(EXAMPLES, ("An", "A", "Ada", "Reserves", "What", "What", "Who"), strict=True))

TABS_ARE_STORED = """queries => {
    const { tabs = [] } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}');
    return queries.every(query => tabs.some(tab => tab.query === query));
}"""

# The pairs of parts of the page that cover each other; the run button is beside the text that it runs.
OVERLAPPING_PARTS = """() => {
    const parts = [
        '.graphiql-sidebar', '.graphiql-plugin:has(*)', '.graphiql-session-header', '.graphiql-toolbar',
        '.graphiql-query-editor > .graphiql-editor', '.graphiql-editor-tools', '.graphiql-response',
    ];
    const boxes = parts
        .map(part => [part, document.querySelector(part)?.getBoundingClientRect()])
        .filter(([, box]) => box?.right > 0);
    return boxes.flatMap(([one, a], index) =>
        boxes
            .slice(index + 1)
            .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
            .map(([other]) => `${one} ${other}`));
}"""

# How far the text of the query reaches beyond its editor, and whether a line number covers the bar below it.
TEXT_OUTSIDE = """() => {
    const editor = document.querySelector('.graphiql-query-editor .monaco-scrollable-element').getBoundingClientRect();
    const words = [...document.querySelectorAll('.graphiql-query-editor .view-line > span > span')];
    const number = document.querySelector('.graphiql-query-editor .line-numbers').getBoundingClientRect();
    const bar = document.querySelector('.graphiql-editor-tools').getBoundingClientRect();
    return {
        pixels: Math.max(0, ...words.map(word => word.getBoundingClientRect().right - editor.right)),
        number: document.elementsFromPoint(number.right - 4, bar.top).some(part => part.matches('.line-numbers')),
    };
}"""

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


async def test_the_page_opens_with_examples_that_run_explorer_docs_and_history(graphiql: GraphiQL) -> None:
    assert await graphiql.tabs.all_inner_texts() == EXAMPLES
    await expect(graphiql.explorer.get_by_text("ownerId*:")).to_be_visible()
    await expect(graphiql.docs.get_by_text("All Schema Types")).to_be_visible()
    for button in ("Variables", "Headers", "Show History", "Show Documentation Explorer"):
        await expect(graphiql.page.get_by_role("button", name=button)).to_be_visible()
    # All requests go to the server, including those for workers and fonts.
    for pattern in (r"", r"/assets/index-.+\.js", r"/assets/editor\.worker-.+\.js", r"/assets/fira-code-.+\.woff2"):
        await graphiql.wait_for_request(pattern)
    assert not graphiql.foreign_requests
    hint = graphiql.page.get_by_text("Run the operation with the button \u25b6 or Ctrl-Enter to see its response here.")
    await expect(hint).to_be_visible()
    await graphiql.run_tab("FirstQuery")
    await graphiql.expect_shown('"name": "Elif Eriksen"', '"lockerId": "locker-000002"', '"nextCursor"')
    await expect(hint).to_be_hidden()


@pytest.mark.parametrize("graphiql", ["light", "dark"], indirect=True)
async def test_the_theme_is_the_systems_and_can_be_changed(graphiql: GraphiQL, request: pytest.FixtureRequest) -> None:
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


async def test_own_tabs_are_still_there_after_a_reload(graphiql: GraphiQL) -> None:
    mine, yours = 'query Mine { owner(ownerId: "owner-0001") { name } }', "query Yours { __typename }"
    for query in (mine, yours):
        await graphiql.paste(query)
    await graphiql.page.wait_for_function(TABS_ARE_STORED, arg=[mine, yours])
    await graphiql.page.reload()
    await graphiql.wait_until_ready()
    assert await graphiql.tabs.all_inner_texts() == [*EXAMPLES, "Mine", "Yours"]
    assert await graphiql.text() == yours
    answer = await graphiql.run_tab("Mine")
    assert answer["data"] == {"owner": {"name": "Metro Parcel 1"}}


async def test_only_the_user_moves_the_focus_into_the_explorer(graphiql: GraphiQL) -> None:
    inputs = graphiql.explorer.locator("input")
    for tab, following in (("FirstQuery", "StaleVersion"), ("StaleVersion", "FirstQuery")):
        await expect(inputs.first).to_have_value(tab)
        await expect(inputs.nth(1)).to_be_visible()
        before = await graphiql.text()
        await graphiql.page.keyboard.press("9")
        assert await graphiql.text() == before
        await expect(graphiql.explorer.locator("input:focus")).to_have_count(0)
        await graphiql.page.get_by_role("tab", name=following).click()
    # An argument that the user adds is ready to be typed.
    await graphiql.explorer.get_by_text("last:", exact=True).click()
    await expect(graphiql.explorer.locator("input:focus")).to_have_count(1)


async def test_the_docs_list_types_and_fields_by_name(graphiql: GraphiQL) -> None:
    types = await graphiql.docs.locator(".graphiql-doc-explorer-type-name").all_inner_texts()
    roots, others = types[:3], types[3:]
    assert roots == ["Query", "Mutation", "Subscription"]
    assert len(others) > 50
    assert others == sorted(others, key=str.casefold)
    for name in ("Query", "Locker", "RegisterLockerInput"):
        await graphiql.docs.get_by_role("link", name=name, exact=True).first.click()
        fields = await graphiql.docs.locator(".graphiql-doc-explorer-field-name").all_inner_texts()
        assert len(fields) > 2
        assert fields == sorted(fields, key=str.casefold)
        await graphiql.docs.get_by_role("link", name="Go back to Docs").click()


async def test_the_docs_begin_with_the_description_of_the_schema(graphiql: GraphiQL) -> None:
    words = description_of("schema {").replace("`", "")
    assert "userErrors" in words
    await expect(graphiql.docs).to_contain_text(words)


async def test_icons_are_named_for_tooltips_and_screen_readers(graphiql: GraphiQL) -> None:
    titles = set(await graphiql.page.locator("svg > title").all_text_contents())
    assert len(titles) >= 10
    assert {"docs icon", "history icon", "keyboard shortcut icon", "prettify icon", "magnifying glass icon"} <= titles
    assert [title for title in titles if not re.fullmatch(r"([a-z]{3,} )+icon", title)] == []


async def test_the_docs_heading_and_the_search_box_do_not_cover_each_other(graphiql: GraphiQL) -> None:
    heading = graphiql.docs.locator(".graphiql-doc-explorer-title")
    search = graphiql.docs.locator(".graphiql-doc-explorer-search")
    await graphiql.page.set_viewport_size({"width": 800, "height": 900})
    for name in ("Docs", "AcknowledgeAccessCodesPayload"):
        if name != "Docs":
            await graphiql.docs.get_by_role("link", name=name, exact=True).click()
        await expect(heading).to_have_text(name)
        above, below = await heading.bounding_box(), await search.bounding_box()
        assert above is not None
        assert below is not None
        assert above["y"] + above["height"] <= below["y"]
        assert await heading.evaluate("heading => heading.scrollWidth <= heading.clientWidth")
    await graphiql.save_screenshot("docs_800")
    await search.get_by_role("combobox").fill("lock")
    await expect(search.get_by_role("option").first).to_be_visible()
    await expect(heading).to_be_visible()


async def test_tabs_opened_in_quick_succession_have_no_name_of_another(graphiql: GraphiQL) -> None:
    await graphiql.page.get_by_role("button", name="New tab").evaluate("button => { button.click(); button.click(); }")
    await expect(graphiql.tabs).to_have_count(len(EXAMPLES) + 2)
    assert await graphiql.tabs.all_inner_texts() == [*EXAMPLES, "<untitled>", "<untitled>"]


async def test_a_pasted_document_runs_its_first_operation_before_graphiql_has_read_it(graphiql: GraphiQL) -> None:
    await graphiql.page.evaluate(
        "() => { const on = setTimeout; setTimeout = (f, ms) => on(f, ms === 100 ? 1e6 : ms); }"
    )
    await graphiql.paste("query One { __typename } query Other { viewer { role } }")
    assert (await graphiql.run())["data"] == {"__typename": "Query"}


@pytest.mark.parametrize("width", [1400, 800, 400])
async def test_the_active_tab_is_in_view_with_its_close_button(graphiql: GraphiQL, width: int) -> None:
    await graphiql.page.set_viewport_size({"width": width, "height": 900})
    active = graphiql.page.locator("[role=tab][aria-selected=true]")
    for count in (len(EXAMPLES) + 1, len(EXAMPLES) + 2):
        await graphiql.page.get_by_role("button", name="New tab").click()
        await expect(graphiql.tabs).to_have_count(count)
        await expect(active.get_by_role("button", name="<untitled>")).to_be_visible()
        await expect(active).to_be_in_viewport(ratio=0.99)
        await expect(active.get_by_role("button", name="Close Tab")).to_be_in_viewport(ratio=0.99)
    await expect(graphiql.page.get_by_role("button", name="New tab")).to_be_in_viewport(ratio=1)
    await graphiql.show_plan()
    await expect(active).to_be_in_viewport(ratio=0.99)
    await graphiql.page.get_by_role("tab", name="FirstQuery").click()
    await expect(active.get_by_role("button", name="FirstQuery")).to_be_visible()
    await expect(active).to_be_in_viewport(ratio=0.99)


@pytest.mark.parametrize("width", [1400, 800, 400])
async def test_no_text_of_the_query_is_cut_beside_the_plan(graphiql: GraphiQL, width: int) -> None:
    await graphiql.page.set_viewport_size({"width": width, "height": 900})
    await graphiql.show_plan()
    for tab, word in FIRST_WORDS.items():
        await graphiql.page.get_by_role("tab", name=tab).click()
        await expect(graphiql.page.locator(".graphiql-query-editor .view-lines")).to_contain_text(
            f"#\u00a0{word}\u00a0"
        )
        assert await graphiql.page.evaluate(TEXT_OUTSIDE) == {"pixels": 0, "number": False}
    box = await graphiql.editor.bounding_box()
    assert box is not None
    assert box["width"] >= (380 if width == 1400 else 240)


@pytest.mark.parametrize("width", [800, 400])
async def test_empty_variables_take_one_line_in_narrow_windows(graphiql: GraphiQL, width: int) -> None:
    await graphiql.page.set_viewport_size({"width": width, "height": 900})
    variables = graphiql.page.get_by_role("region", name="Variables")

    async def heights() -> tuple[float, float]:
        boxes = [await part.bounding_box() for part in (graphiql.editor, variables)]
        return boxes[0]["height"] if boxes[0] else 0, boxes[1]["height"] if boxes[1] else 0

    editor, empty = await heights()
    assert empty <= 40
    assert editor >= 3 * empty
    await graphiql.page.get_by_role("tab", name="LockersNow").click()
    await expect(variables).to_contain_text("owner-0002")
    assert (await heights())[1] > empty
    await graphiql.page.get_by_role("tab", name="FirstQuery").click()
    await expect(variables).not_to_contain_text("owner-0002")
    assert (await heights())[1] == empty
    # While they are edited, and then with a content, they have their usual height.
    await variables.locator(".monaco-editor:visible").click()
    assert (await heights())[1] > empty
    await graphiql.page.keyboard.insert_text('{"first": 1}')
    await graphiql.editor.click()
    assert (await heights())[1] > empty


@pytest.mark.parametrize("width", [1000, 400])
async def test_editor_and_run_button_can_be_used_in_narrow_windows(graphiql: GraphiQL, width: int) -> None:
    await graphiql.page.set_viewport_size({"width": width, "height": 900})
    for pane in ("explorer", "Plan", None):
        if pane == "Plan":
            await graphiql.show_plan()
        elif pane is None:
            await graphiql.page.get_by_role("button", name="Hide Plan").click()
        await graphiql.save_screenshot(f"narrow_{width}_{pane}")
        assert await graphiql.page.evaluate(OVERLAPPING_PARTS) == []
        run = graphiql.page.get_by_role("button", name="Execute query")
        await expect(run).to_be_in_viewport(ratio=1)
        await expect(graphiql.editor).to_be_in_viewport(ratio=0.9)
        box = await graphiql.editor.bounding_box()
        assert box is not None
        assert box["width"] >= 240
        assert box["height"] >= 100
        await graphiql.editor.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
        await graphiql.page.keyboard.press("Control+A")
        await graphiql.page.keyboard.press("Delete")
        await graphiql.page.keyboard.insert_text("{ __typename }")
        async with graphiql.page.expect_response(lambda response: is_run(response.request)) as response:
            await run.click()
        assert (await (await response.value).json())["data"] == {"__typename": "Query"}


@pytest.mark.parametrize("graphiql", ["light", "dark"], indirect=True)
async def test_all_text_is_readable_in_both_themes(graphiql: GraphiQL) -> None:
    page = graphiql.page
    await graphiql.expect_readable()
    for tab in (name for name in EXAMPLES if name != "LockerChanges"):
        await graphiql.run_tab(tab)
        await graphiql.expect_shown('"data": {')
        await graphiql.expect_readable()
    for name in ("Query", "Owner", "lockers"):
        await graphiql.docs.get_by_role("link", name=name, exact=True).first.click()
        await graphiql.expect_readable()
    await page.get_by_role("button", name="Show History").click()
    await expect(graphiql.history_of("FirstQuery")).to_be_visible()
    await graphiql.expect_readable()
    for button in ("Open settings dialog", "Open short keys dialog"):
        await page.get_by_role("button", name=button).click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await graphiql.expect_readable()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()
    await page.get_by_role("button", name="Copy as").click()
    await expect(page.get_by_role("menuitem").first).to_be_visible()
    await graphiql.expect_readable()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("menuitem")).to_have_count(0)
    await graphiql.write('{ owner(ownerId: "owner-0002") { na')
    await expect(graphiql.suggestions.first).to_contain_text("name")
    await graphiql.expect_readable()


async def test_a_query_typed_by_hand_is_completed_and_runs(graphiql: GraphiQL) -> None:
    await graphiql.write('{ owner(ownerId: "owner-0002") { na')
    await expect(graphiql.suggestions.first).to_contain_text("name")
    await expect(graphiql.suggestions.first).to_contain_text("String")
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
    assert answer["data"]["owner"]["email"] == "owner-0002@example.com"
    await graphiql.expect_shown('"email": "owner-0002@example.com"')


async def test_a_token_in_the_headers_is_sent_and_never_stored(graphiql: GraphiQL) -> None:
    await graphiql.page.get_by_role("button", name="Headers").click()
    await graphiql.page.locator(".graphiql-editor-tool .monaco-editor:visible").click()
    await graphiql.page.keyboard.type('{"Authorization": "Bearer canary', delay=10)
    await graphiql.run()
    # It takes precedence over the demo user's token.
    assert graphiql.sent[-1].headers["authorization"] == "Bearer canary"
    await graphiql.expect_shown('"code": "UNAUTHENTICATED"')
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
