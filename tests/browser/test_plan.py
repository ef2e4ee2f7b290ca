"""The Plan pane of GraphiQL: the last request as a waterfall, the next one as a tree, as the server tells them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from tests.browser.graphiql import GraphiQL
from tests.e2e.serving import serving
from tests.npm import printed_by

if TYPE_CHECKING:
    from playwright.async_api import Browser, Request

    from tests.e2e.serving import Server

# Ten owners of five lockers each, and two lists of every locker.
MANY = f"""query Many {{
  {" ".join(f'o{n}: owner(ownerId: "owner-{n:04}") {{ ...Lockers }}' for n in range(1, 11))}
}}
fragment Lockers on Owner {{
  name
  lockers(first: 5) {{
    nodes {{ latestEvent {{ action }} reservations(first: 1) {{ nodes {{ reservationId }} }} }}
  }}
}}"""
TOO_MUCH = """query TooMuch {
  owner(ownerId: "owner-0001") {
    lockers(first: 100) { nodes { accessEvents(first: 100) { nodes { locker { owner { name } } } } } }
  }
}"""
RESERVATIONS = """{
  locker(lockerId: "locker-000001") { version reservations(first: 100) { nodes { reservationId } } }
}"""


# Contracts that one picture often shows together.
NEIGHBOURS = ["QC-01", "QC-02", "QC-05", "QC-07", "QC-09", "QC-10", "QC-14", "QC-20", "QC-31", "QC-32", "QC-34"]


def test_contracts_that_are_seen_together_have_colours_that_can_be_told_apart() -> None:
    program = f"""import {{ contractColour }} from './colours.js';
    console.log(JSON.stringify({json.dumps(NEIGHBOURS)}.map(contractColour)));"""
    folder = Path(__file__).parents[2] / "graphiql" / "src" / "plan"
    printed = json.loads(printed_by(["node", "--input-type=module"], folder, program))
    colours = [[float(number) for number in colour[len("oklch(") : -1].split()] for colour in printed]
    for (light, _, hue), (other_light, _, other_hue) in itertools.combinations(colours, 2):
        apart = abs(hue - other_hue)
        assert min(apart, 360 - apart) >= 25 or abs(light - other_light) >= 0.1, colours


async def test_the_last_request_is_a_waterfall_of_the_operations_that_the_server_reports(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    answer = await graphiql.run_tab("LockersNow")
    operations = answer["extensions"]["explain"]["operations"]
    assert {operation["contract"] for operation in operations} == {"QC-02", "QC-07", "QC-10", "QC-20"}
    rows = graphiql.plan.locator("summary")
    await expect(rows).to_have_count(len(operations))
    for row, operation in zip(await rows.all(), operations, strict=True):
        for text in (operation["contract"], operation["operation"], f"{operation['asked']} asked", units(operation)):
            await expect(row).to_contain_text(text)
        if operation["partition"]:
            await expect(row).to_contain_text(f"{operation['partition']}  {operation['sortKey']}")
    await expect(graphiql.plan.get_by_test_id("totals")).to_contain_text(f"{len(operations)} operations in")


async def test_a_bar_stands_where_its_operation_was_in_time_and_has_its_contracts_colour(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    answer = await graphiql.run_tab("LockersNow")
    operations = answer["extensions"]["explain"]["operations"]
    bars = await graphiql.plan.locator("summary .plan-bar").evaluate_all(
        """bars => bars.map(bar => {
            const [own, track] = [bar, bar.parentElement].map(element => element.getBoundingClientRect());
            return [(own.x - track.x) / track.width, own.width / track.width, getComputedStyle(bar).backgroundColor];
        })"""
    )
    # As long as the axis: what one bar says, all the others say too.
    length = operations[-1]["startMs"] / bars[-1][0]
    assert length >= max(operation["startMs"] + operation["durationMs"] for operation in operations)
    for (start, width, _), operation in zip(bars, operations, strict=True):
        assert start == pytest.approx(operation["startMs"] / length, abs=0.02)
        assert width == pytest.approx(operation["durationMs"] / length, abs=0.02)
    colours = {operation["contract"]: bar[2] for operation, bar in zip(operations, bars, strict=True)}
    assert [colours[operation["contract"]] for operation in operations] == [bar[2] for bar in bars]
    assert len(set(colours.values())) == 4


async def test_a_row_opens_to_its_keys_and_to_the_paths_that_asked(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    answer = await graphiql.run_tab("LockersNow")
    operations = answer["extensions"]["explain"]["operations"]
    number, operation = next((n, entry) for n, entry in enumerate(operations) if len(entry["keys"] or []) > 1)
    row = graphiql.plan.locator("details").nth(number)
    # With the keyboard alone.
    await row.locator("summary").focus()
    await graphiql.page.keyboard.press("Enter")
    for text in (*(f"{key['pk']}  {key['sk']}" for key in operation["keys"]), *operation["paths"]):
        await expect(row.locator("dd").get_by_text(text, exact=True)).to_be_visible()


async def test_the_answer_is_shown_without_its_explanation(graphiql: GraphiQL) -> None:
    answer = await graphiql.run_tab("FirstQuery")
    assert answer["extensions"]["explain"]["operations"]
    await graphiql.expect_shown('"nextCursor"')
    await expect(graphiql.page.locator(".result-window .view-lines")).not_to_contain_text("extensions")


async def test_requests_are_explained_until_somebody_switches_that_off_and_it_stays_off(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    switch = graphiql.plan.get_by_role("checkbox", name="Explain my requests")
    await expect(switch).to_be_checked()
    await graphiql.run_tab("FirstQuery")
    assert explain_of(graphiql.sent[-1]) is True
    await switch.uncheck()
    await expect(graphiql.plan.get_by_role("status")).to_have_text("Explaining is switched off.")
    await graphiql.page.reload()
    await expect(graphiql.plan).to_be_visible()
    await expect(switch).not_to_be_checked()
    answer = await graphiql.run_tab("FirstQuery")
    assert explain_of(graphiql.sent[-1]) is None
    assert "extensions" not in answer
    # The page's own requests for the schema are none of the user's.
    assert [explain_of(request) for request in graphiql.sent] == [None, True, None, None]


@pytest.mark.parametrize("graphiql", ["light", "dark"], indirect=True)
async def test_over_a_hundred_operations_stay_readable(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    await graphiql.paste(MANY)
    answer = await graphiql.run()
    operations = answer["extensions"]["explain"]["operations"]
    assert len(operations) > 100
    rows = graphiql.plan.locator("summary")
    await expect(rows).to_have_count(len(operations))
    await expect(graphiql.plan.locator(".plan-overview rect")).to_have_count(len(operations))
    await graphiql.keep_picture(f"many_operations_{await graphiql.theme()}")
    await rows.last.scroll_into_view_if_needed()
    await expect(rows.last).to_be_in_viewport()
    await expect(graphiql.plan.locator(".plan-axis")).to_be_in_viewport()
    view = graphiql.plan.locator(".plan-view")
    assert await view.evaluate("view => view.scrollWidth <= view.clientWidth"), "something is wider than the pane"


async def test_the_plan_of_a_mutation_is_a_tree_and_the_table_stays_as_it_is(
    graphiql: GraphiQL, server: Server
) -> None:
    before = server.ask(RESERVATIONS)
    await graphiql.show_plan()
    await graphiql.page.get_by_role("tab", name="ReserveLocker").click()
    plan = (await graphiql.ask_for_plan())["extensions"]["explain"]["plan"]
    assert server.ask(RESERVATIONS) == before
    readers = [node for node in walk(plan["tree"]) if node["contracts"]]
    assert [node["field"] for node in readers] == [
        "Mutation.createReservation",
        "Reservation.locker",
        "Reservation.owner",
    ]
    await expect(graphiql.plan.locator(".plan-field code")).to_have_text([node["field"] for node in readers])
    chips = graphiql.plan.locator(".plan-tree .plan-contract")
    await expect(chips).to_have_text([use["id"] for node in readers for use in node["contracts"]])
    totals = graphiql.plan.get_by_test_id("plan-totals")
    await expect(totals).to_contain_text(f"At most {plan['totals']['operations']} operations")
    heaviest = graphiql.plan.locator(".plan-heaviest > .plan-line:first-child")
    await expect(heaviest).to_contain_text(plan["heaviest"]["path"].rsplit(".")[-1])
    meter = graphiql.plan.get_by_role("meter", name="Operations")
    assert await meter.get_attribute("aria-valuenow") == str(plan["totals"]["operations"])
    assert await meter.get_attribute("aria-valuemax") == str(plan["maximum"]["operations"])


async def test_the_plan_of_a_request_over_the_maximum_says_so(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    await graphiql.paste(TOO_MUCH)
    plan = (await graphiql.ask_for_plan())["extensions"]["explain"]["plan"]
    assert plan["allowed"] is False
    await expect(graphiql.plan.get_by_role("alert")).to_contain_text("Over the maximum")
    await expect(graphiql.plan.locator(".plan-heaviest")).to_have_count(1)


async def test_what_keeps_a_plan_from_being_made_is_shown(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    await graphiql.paste('{ owner(ownerId: "owner-0001") { nickname } }')
    answer = await graphiql.ask_for_plan()
    await expect(graphiql.plan.get_by_role("alert")).to_have_text(answer["errors"][0]["message"])
    # The browser itself complains of the status that the refusal came with.
    graphiql.complaints.clear()


async def test_where_explaining_is_forbidden_the_request_is_run_without(
    browser: Browser, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = {"SMARTLOCKER_DATA_DIR": str(tmp_path / "data"), "SMARTLOCKER_EXPLAIN": "nobody"}
    with serving(tmp_path / "run", **settings) as server:
        context = await browser.new_context(viewport={"width": 1440, "height": 900})
        graphiql = await GraphiQL.open(context, server.url)
        await graphiql.show_plan()
        await graphiql.page.get_by_role("tab", name="ReserveLocker").click()
        await graphiql.editor.click()
        refused = await graphiql.run()
        assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
        await graphiql.expect_shown('"status": "ACTIVE"', '"userErrors": []')
        assert [explain_of(sent) for sent in graphiql.sent[-2:]] == [True, None]
        await expect(graphiql.plan.get_by_role("status")).to_contain_text("does not explain requests to you")
        await expect(graphiql.plan.get_by_role("checkbox", name="Explain my requests")).not_to_be_checked()
        # And no more of it: the next request is sent once.
        await graphiql.run()
        await graphiql.expect_shown('"code": "RESERVATION_OVERLAP"')
        assert explain_of(graphiql.sent[-1]) is None
        await graphiql.keep_picture(request.node.name.removeprefix("test_"))
        await context.close()


def explain_of(request: Request) -> Any:
    """What a request asks to be told of itself."""
    return json.loads(request.post_data or "{}").get("extensions", {}).get("explain")


def units(operation: dict[str, Any]) -> str:
    """An operation's units as the pane writes them."""
    return f"{operation['readUnits']:g} RU" if operation["readUnits"] else f"{operation['writeUnits']:g} WU"


def walk(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The nodes of a plan in the order in which they stand on the screen."""
    return [found for node in nodes for found in (node, *walk(node["children"]))]
