from playwright.async_api import expect

from tests.browser.graphiql import GraphiQL, claims_in


async def test_the_first_request_already_carries_the_demo_admins_token(graphiql: GraphiQL) -> None:
    await expect(graphiql.signed_in_as).to_have_value("Demo admin")
    await graphiql.run_tab("FirstQuery")
    await graphiql.expect_shown('"name": "Elif Eriksen"')
    assert [claims_in(request.headers)["role"] for request in graphiql.sent] == ["admin", "admin"]


async def test_another_user_can_be_chosen_and_stays_chosen_after_a_reload(graphiql: GraphiQL) -> None:
    assert (await graphiql.run_tab("Viewer"))["data"]["viewer"]["owner"] is None
    await graphiql.expect_shown('"role": "ADMIN"')
    await graphiql.signed_in_as.select_option(label=await demo_owner(graphiql))
    viewer = await graphiql.run_tab("Viewer")
    assert viewer["data"]["viewer"]["owner"]["ownerId"] == claims_in(graphiql.sent[-1].headers)["ownerId"]
    await graphiql.expect_shown('"role": "OWNER"')
    await graphiql.page.reload()
    await graphiql.wait_until_ready()
    await expect(graphiql.signed_in_as).to_have_value(await demo_owner(graphiql))
    assert (await graphiql.run_tab("Viewer"))["data"] == viewer["data"]


async def test_the_choice_of_no_token_sends_none_and_says_that_requests_then_run_as_admin(graphiql: GraphiQL) -> None:
    await graphiql.signed_in_as.select_option(label="No token (runs as admin)")
    explained = graphiql.page.get_by_title("A development server runs requests without a token as an admin.")
    await expect(explained).to_contain_text("Signed in as")
    await graphiql.paste("{ pendingBookings(first: 1) { nodes { bookingId } } }")
    answer = await graphiql.run()
    assert "errors" not in answer
    assert "authorization" not in graphiql.sent[-1].headers


async def test_the_browser_stores_the_chosen_name_but_no_token(graphiql: GraphiQL) -> None:
    owner = await demo_owner(graphiql)
    await graphiql.signed_in_as.select_option(label=owner)
    await graphiql.run_tab("FirstQuery")
    await graphiql.page.get_by_role("button", name="Show History").click()
    await expect(graphiql.history_of("FirstQuery")).to_be_visible()
    stored = await graphiql.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert owner in stored
    assert graphiql.sent[-1].headers["authorization"].removeprefix("Bearer ") not in stored


async def demo_owner(graphiql: GraphiQL) -> str:
    names = await graphiql.signed_in_as.locator("option").all_inner_texts()
    (owner,) = [name for name in names if name.startswith("Demo owner")]
    return owner
