import itertools
import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.browser import dashboard
from tests.browser.dashboard import ACTIVE_RESERVATION, DASHBOARD, LATEST_EVENT
from tests.browser.graphiql import GraphiQL, explain_of
from tests.e2e.serving import Server, serving
from tests.explained import walk
from tests.npm import printed_by

QUANTITIES = {"operations": "Operations", "items": "Items", "readUnits": "Read units", "writeUnits": "Write units"}
FIGURES = ("expected", "measured", "maximum")
NOT_MEASURED = "\u2013"

DASHBOARD_QUERY = """query Dashboard {
  locations(first: 3) { nodes { lockers(first: 4) { nodes {
    activeReservation { endAt owner { name } }
    latestEvent { action }
  } } } }
}"""

# Ten owners with five lockers each, and two lists of every locker.
MANY_OPERATIONS = f"""query Many {{
  {" ".join(f'o{n}: owner(ownerId: "owner-{n:04}") {{ ...Lockers }}' for n in range(1, 11))}
}}
fragment Lockers on Owner {{
  name
  lockers(first: 5) {{
    nodes {{ latestEvent {{ action }} reservations(first: 1) {{ nodes {{ reservationId }} }} }}
  }}
}}"""
TOO_COMPLEX = """query TooComplex {
  locations(first: 100) { nodes { lockers(first: 100) { nodes { accessEvents(first: 100) { nodes { action } } } } } }
}"""
RESERVATIONS = """{
  locker(lockerId: "locker-000026") { version reservations(first: 100) { nodes { reservationId } } }
}"""

CONTRACTS_OF_LOCKERS_NOW = {"QC-01", "QC-02", "QC-07", "QC-10", "QC-20", "QC-31"}

# Contracts that often appear together.
NEIGHBORS = ["QC-01", "QC-02", "QC-05", "QC-07", "QC-09", "QC-10", "QC-14", "QC-20", "QC-31", "QC-32", "QC-34"]


def test_contracts_that_appear_together_have_distinct_colors() -> None:
    program = f"""import {{ contractColor }} from './colors.js';
    console.log(JSON.stringify({json.dumps(NEIGHBORS)}.map(contractColor)));"""
    folder = Path(__file__).parents[2] / "graphiql" / "src" / "plan"
    printed = json.loads(printed_by(["node", "--input-type=module"], folder, program))
    colors = [[float(number) for number in color[len("oklch(") : -1].split()] for color in printed]
    for (lightness, _, hue), (other_lightness, _, other_hue) in itertools.combinations(colors, 2):
        distance = abs(hue - other_hue)
        assert min(distance, 360 - distance) >= 25 or abs(lightness - other_lightness) >= 0.1, colors


async def test_the_tree_shows_every_fields_costs_and_fallbacks_and_marks_those_above_their_expected_cost(
    graphiql: GraphiQL,
) -> None:
    await run_dashboard(graphiql)
    nodes = list(walk(DASHBOARD["tree"]))
    await expect(graphiql.plan.locator(".plan-node")).to_have_count(len(nodes))
    for quantity in ("operations", "items", "readUnits"):
        await graphiql.plan.get_by_role("button", name=QUANTITIES[quantity], exact=True).click()
        for node in nodes:
            figures = graphiql.field(node["path"]).locator("> .plan-line:first-child .plan-figure")
            await expect(figures).to_have_text(figures_of(node["reads"], quantity))
    for node in nodes:
        field = graphiql.field(node["path"])
        await expect(field.locator("code")).to_have_text(node["field"])
        await expect(field.locator(".plan-contract")).to_have_text([read["contract"] for read in node["reads"]])
        if node["parents"] > 1:
            await expect(field).to_contain_text(f"for {node['parents']} parents")
        conditions = [read["condition"] for read in node["reads"] if read["condition"]]
        await expect(field.locator(".plan-fallback em")).to_have_text(conditions)
    marked = graphiql.plan.locator(".plan-above")
    await expect(marked.locator(".plan-warning")).to_have_text(
        ["operations, items, read units above expected", "read units above expected"]
    )
    await expect(marked.locator("code")).to_have_text(["Locker.activeReservation", "Locker.latestEvent"])
    await expect(graphiql.plan.get_by_role("button", name="Write units")).to_have_count(0)


async def test_the_totals_show_the_same_figures_in_text_and_meter(graphiql: GraphiQL) -> None:
    await run_dashboard(graphiql)
    totals = DASHBOARD["totals"]
    await expect(graphiql.plan.get_by_test_id("summary")).to_have_text("19 operations in 20 DynamoDB requests, 11.9 ms")
    for quantity in ("operations", "items", "readUnits"):
        row = graphiql.plan.get_by_role("row", name=QUANTITIES[quantity])
        limit = totals["limit"][quantity]
        texts = [plain(totals[figure][quantity]) for figure in (*FIGURES, "admitted", "limit")]
        await expect(row.get_by_role("cell")).to_have_text(texts)
        for figure, text in zip(FIGURES, texts, strict=False):
            meter = row.get_by_role("meter", name=f"{QUANTITIES[quantity]}, {figure}")
            await expect(meter).to_have_attribute("aria-valuetext", f"{text} of {plain(limit)}")
            await expect(meter).to_have_attribute("aria-valuenow", f"{totals[figure][quantity]:g}")
            await expect(meter).to_have_attribute("aria-valuemax", f"{max(totals[figure][quantity], limit):g}")
    assert totals["maximum"]["items"] > totals["limit"]["items"]
    await expect(graphiql.plan.get_by_text("The maximum is above the limit.")).to_be_visible()


async def test_a_field_and_its_operations_link_to_each_other(graphiql: GraphiQL) -> None:
    await run_dashboard(graphiql)
    await graphiql.field(LATEST_EVENT).get_by_role("button", name="12 operations").click()
    selected = graphiql.plan.locator(".plan-waterfall .plan-selected")
    await expect(selected).to_have_count(12)
    await expect(selected.first.locator("summary")).to_be_focused()
    await expect(selected.first.locator("summary")).to_be_in_viewport()
    fallback = graphiql.plan.locator(".plan-waterfall li").nth(17)
    await fallback.locator("summary").click()
    await fallback.get_by_role("button", name=ACTIVE_RESERVATION, exact=True).click()
    await expect(graphiql.field(ACTIVE_RESERVATION).get_by_role("button", name="2 operations")).to_be_focused()
    await expect(selected).to_have_count(2)


async def test_a_plan_shows_the_same_tree_without_measured_figures(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    await graphiql.respond_with({"data": None, "extensions": {"explain": unmeasured(DASHBOARD)}})
    await graphiql.paste(DASHBOARD_QUERY)
    await graphiql.ask_for_plan()
    await expect(graphiql.plan.get_by_role("heading", name="Dashboard not run")).to_be_visible()
    for node in walk(DASHBOARD["tree"]):
        expected, _, maximum = figures_of(node["reads"], "readUnits")
        figures = graphiql.field(node["path"]).locator("> .plan-line:first-child .plan-figure")
        await expect(figures).to_have_text([expected, f"Measured {NOT_MEASURED}", maximum])
    await expect(graphiql.plan.locator(".plan-above, .plan-waterfall, .plan-link")).to_have_count(0)
    await expect(graphiql.plan.get_by_role("meter")).to_have_count(6)


async def test_a_request_that_is_refused_as_too_complex_shows_its_plan_before_and_after(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    await graphiql.paste(TOO_COMPLEX)
    totals = (await graphiql.ask_for_plan())["extensions"]["explain"]["totals"]
    assert any(totals["admitted"][quantity] > limit for quantity, limit in totals["limit"].items())
    await expect(graphiql.plan.get_by_role("alert")).to_contain_text("The admitted cost is above the limit")
    await graphiql.editor.click()
    answer = await graphiql.run()
    await expect(graphiql.plan.get_by_role("alert")).to_have_text(answer["errors"][0]["message"])
    await expect_plan_of_the_refused(graphiql, "accessEvents")
    text = f"{plain(totals['expected']['readUnits'])} of 25,000"
    meter = graphiql.plan.get_by_role("meter", name="Read units, expected")
    await expect(meter).to_have_attribute("aria-valuetext", text)


async def test_a_request_that_is_refused_without_an_explanation_shows_its_plan(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    message = "You have used your budget."
    error = {"message": message, "extensions": {"code": "RATE_LIMITED", "status": 429}}
    await graphiql.respond_with({"errors": [error]}, status=429, explain=True)
    await graphiql.paste(TOO_COMPLEX)
    await graphiql.run()
    await expect(graphiql.plan.get_by_role("alert")).to_have_text(message)
    await expect_plan_of_the_refused(graphiql, "accessEvents")
    assert [explain_of(request) for request in graphiql.sent[-2:]] == [True, "plan"]


async def test_a_caller_who_may_not_see_what_was_measured_sees_the_plan(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    await graphiql.signed_in_as.select_option("Demo owner owner-0002")
    await graphiql.paste("query Pending { pendingBookings(first: 1) { nodes { bookingId } } }")
    answer = await graphiql.run()
    assert "extensions" not in answer
    await expect(graphiql.plan.get_by_role("alert")).to_have_text(answer["errors"][0]["message"])
    await expect(graphiql.field("pendingBookings").locator(".plan-is-measured")).to_have_text(
        f"Measured {NOT_MEASURED}"
    )


@pytest.mark.parametrize("graphiql", ["light", "dark"], indirect=True)
async def test_the_pane_is_readable_in_both_themes_and_on_narrow_screens(graphiql: GraphiQL) -> None:
    await run_dashboard(graphiql)
    await graphiql.plan.get_by_text("What do these figures mean?").click()
    await graphiql.plan.locator(".plan-waterfall summary").first.click()
    await graphiql.field(LATEST_EVENT).get_by_role("button").click()
    for width in (1440, 1000, 800, 400):
        await graphiql.page.set_viewport_size({"width": width, "height": 900})
        await graphiql.save_screenshot(f"plan_{await graphiql.theme()}_{width}")
        await graphiql.expect_readable()
        await expect_no_horizontal_overflow(graphiql)


async def test_the_waterfall_shows_the_operations_of_the_last_request_and_opens_them_with_the_keyboard(
    graphiql: GraphiQL,
) -> None:
    await graphiql.show_plan()
    explanation = (await graphiql.run_tab("LockersNow"))["extensions"]["explain"]
    operations = explanation["operations"]
    assert {operation["contract"] for operation in operations} == CONTRACTS_OF_LOCKERS_NOW
    assert {operation["path"] for operation in operations} <= {node["path"] for node in walk(explanation["tree"])}
    rows = graphiql.plan.locator(".plan-waterfall summary")
    await expect(rows).to_have_count(len(operations))
    for row, operation in zip(await rows.all(), operations, strict=True):
        for text in (operation["contract"], operation["operation"], f"{plain(operation['readUnits'])} read unit"):
            await expect(row).to_contain_text(text)
        if operation["partition"]:
            await expect(row).to_contain_text(f"{operation['partition']}  {operation['sortKey']}")
    await expect(graphiql.plan.get_by_test_id("summary")).to_contain_text(f"{len(operations)} operations in")
    number, operation = next((n, entry) for n, entry in enumerate(operations) if len(entry["keys"] or []) > 1)
    row = graphiql.plan.locator(".plan-waterfall details").nth(number)
    await row.locator("summary").focus()
    await graphiql.page.keyboard.press("Enter")
    for text in (*(f"{key['pk']}  {key['sk']}" for key in operation["keys"]), operation["path"]):
        await expect(row.locator("dd").get_by_text(text, exact=True)).to_be_visible()


async def test_bars_show_start_duration_and_contract_of_their_operations(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    answer = await graphiql.run_tab("LockersNow")
    operations = answer["extensions"]["explain"]["operations"]
    await expect(graphiql.plan.locator("summary .plan-bar")).to_have_count(len(operations))
    bars = await graphiql.plan.locator("summary .plan-bar").evaluate_all(
        """bars => bars.map(bar => {
            const [own, track] = [bar, bar.parentElement].map(element => element.getBoundingClientRect());
            return [(own.x - track.x) / track.width, own.width / track.width, getComputedStyle(bar).backgroundColor];
        })"""
    )
    # All bars are drawn to one scale, which the last one reveals.
    length = operations[-1]["startMs"] / bars[-1][0]
    assert length >= max(operation["startMs"] + operation["durationMs"] for operation in operations)
    for (start, width, _), operation in zip(bars, operations, strict=True):
        assert start == pytest.approx(operation["startMs"] / length, abs=0.02)
        assert width == pytest.approx(operation["durationMs"] / length, abs=0.02)
    colors = {operation["contract"]: bar[2] for operation, bar in zip(operations, bars, strict=True)}
    assert [colors[operation["contract"]] for operation in operations] == [bar[2] for bar in bars]
    assert len(set(colors.values())) == len(CONTRACTS_OF_LOCKERS_NOW)


@pytest.mark.parametrize("graphiql", ["light", "dark"], indirect=True)
async def test_the_time_of_a_long_operation_is_readable_on_its_bar(graphiql: GraphiQL) -> None:
    operations = [dashboard.operation(LATEST_EVENT, contract, 0, 16.6, partition="LOCKER#1") for contract in NEIGHBORS]
    await graphiql.show_plan()
    explanation = {**DASHBOARD, "operations": operations}
    await graphiql.respond_with({"data": {"locations": {"nodes": []}}, "extensions": {"explain": explanation}})
    await graphiql.paste(DASHBOARD_QUERY)
    await graphiql.run()
    times = graphiql.plan.locator(".plan-bar .plan-time")
    await expect(times).to_have_text(["16.6 ms"] * len(NEIGHBORS))
    # The bar shows through its label.
    backgrounds = await times.evaluate_all("times => times.map(time => getComputedStyle(time).backgroundColor)")
    assert set(backgrounds) == {"rgba(0, 0, 0, 0)"}
    await times.last.scroll_into_view_if_needed()
    await graphiql.expect_readable()


async def test_explanations_are_not_in_the_shown_response_and_can_be_switched_off_for_good(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    switch = graphiql.plan.get_by_role("checkbox", name="Explain my requests")
    await expect(switch).to_be_checked()
    answer = await graphiql.run_tab("FirstQuery")
    assert answer["extensions"]["explain"]["operations"]
    await graphiql.expect_shown('"nextCursor"')
    await expect(graphiql.page.locator(".result-window .view-lines")).not_to_contain_text("extensions")
    await switch.uncheck()
    await expect(graphiql.plan.get_by_role("status")).to_have_text("Explaining is off.")
    await graphiql.page.reload()
    await expect(graphiql.plan).to_be_visible()
    await expect(switch).not_to_be_checked()
    answer = await graphiql.run_tab("FirstQuery")
    assert "extensions" not in answer
    # The page's own introspection is never explained.
    assert [explain_of(request) for request in graphiql.sent] == [None, True, None, None]


async def test_more_than_a_hundred_operations_stay_readable(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    await graphiql.paste(MANY_OPERATIONS)
    answer = await graphiql.run()
    operations = answer["extensions"]["explain"]["operations"]
    assert len(operations) > 100
    rows = graphiql.plan.locator(".plan-waterfall summary")
    await expect(rows).to_have_count(len(operations))
    await expect(graphiql.plan.locator(".plan-overview rect")).to_have_count(len(operations))
    await rows.last.scroll_into_view_if_needed()
    await expect(rows.last).to_be_in_viewport()
    await expect(graphiql.plan.locator(".plan-axis")).to_be_in_viewport()
    await expect_no_horizontal_overflow(graphiql)


async def test_planning_a_mutation_shows_its_tree_and_writes_nothing(graphiql: GraphiQL, server: Server) -> None:
    before = server.ask(RESERVATIONS)
    await graphiql.show_plan()
    await graphiql.page.get_by_role("tab", name="ReserveLocker").click()
    plan = (await graphiql.ask_for_plan())["extensions"]["explain"]
    assert server.ask(RESERVATIONS) == before
    assert plan["totals"]["measured"] is None
    assert plan["totals"]["expected"]["writeUnits"] > 0
    nodes = [node for node in walk(plan["tree"]) if node["reads"]]
    assert [node["field"] for node in nodes] == [
        "Mutation.createReservation",
        "Reservation.locker",
        "Reservation.owner",
    ]
    await graphiql.plan.get_by_role("button", name="Write units").click()
    for node in nodes:
        field = graphiql.field(node["path"])
        await expect(field.locator("code")).to_have_text(node["field"])
        await expect(field.locator("> .plan-line:first-child .plan-figure")).to_have_text(
            figures_of(node["reads"], "writeUnits")
        )
    await expect(graphiql.plan.get_by_role("row", name="Write units").get_by_role("cell").last).to_have_text("none")
    # Only a query is stopped where it passes the limit.
    assert plan["totals"]["maximum"]["items"] > plan["totals"]["limit"]["items"]
    await expect(graphiql.plan).not_to_contain_text("is stopped")


async def test_an_invalid_request_shows_its_error_instead_of_a_plan(graphiql: GraphiQL) -> None:
    await graphiql.show_plan()
    await graphiql.paste('{ owner(ownerId: "owner-0001") { nickname } }')
    answer = await graphiql.ask_for_plan()
    await expect(graphiql.plan.get_by_role("alert")).to_have_text(answer["errors"][0]["message"])


async def test_a_request_whose_explanation_is_forbidden_is_run_without_it(
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
        await graphiql.expect_shown('"status": "UPCOMING"', '"userErrors": []')
        assert [explain_of(sent) for sent in graphiql.sent[-2:]] == [True, None]
        await expect(graphiql.plan.get_by_role("status")).to_contain_text("does not explain requests to you")
        await expect(graphiql.plan.get_by_role("checkbox", name="Explain my requests")).not_to_be_checked()
        # The next request is sent only once.
        await graphiql.run()
        await graphiql.expect_shown('"status": "UPCOMING"', '"userErrors": []')
        assert explain_of(graphiql.sent[-1]) is None
        await graphiql.save_screenshot(request.node.name.removeprefix("test_"))
        await context.close()


async def expect_plan_of_the_refused(graphiql: GraphiQL, name: str) -> None:
    """Waits for the tree with its expected and maximum figures, and for the limit."""
    field = graphiql.plan.locator(f".plan-node[data-path$='{name}'] > .plan-field > .plan-line:first-child")
    await expect(field.locator(".plan-is-expected, .plan-is-maximum")).to_have_text(
        [re.compile(r"Expected [\d,]+"), re.compile(r"Maximum [\d,]+")]
    )
    await expect(graphiql.plan.get_by_role("row", name="Read units").get_by_role("cell").last).to_have_text("25,000")


async def run_dashboard(graphiql: GraphiQL) -> None:
    """Runs the dashboard query with its stored explanation, and waits for the pane."""
    await graphiql.show_plan()
    await graphiql.respond_with({"data": {"locations": {"nodes": []}}, "extensions": {"explain": DASHBOARD}})
    await graphiql.paste(DASHBOARD_QUERY)
    await graphiql.run()
    await expect(graphiql.plan.get_by_role("heading", name="Dashboard sent at")).to_be_visible()


async def expect_no_horizontal_overflow(graphiql: GraphiQL) -> None:
    view = graphiql.plan.locator(".plan-view")
    assert await view.evaluate("view => view.scrollWidth <= view.clientWidth")


def figures_of(reads: list[dict[str, Any]], quantity: str) -> list[str]:
    """The three figures of a field as the pane shows them, each with its name for screen readers."""
    return [f"{figure.title()} {_sum(reads, figure, quantity)}" for figure in FIGURES]


def _sum(reads: list[dict[str, Any]], figure: str, quantity: str) -> str:
    costs = [read[figure] for read in reads if read[figure] is not None]
    return plain(sum(cost[quantity] for cost in costs)) if costs else NOT_MEASURED


def plain(number: float) -> str:
    """A number as the pane writes it; the costs are multiples of a half."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:g}"


def unmeasured(explanation: dict[str, Any]) -> dict[str, Any]:
    """The plan that an explanation was made from."""
    plan = deepcopy(explanation)
    del plan["operations"]
    plan["totals"]["measured"] = None
    for read in (read for node in walk(plan["tree"]) for read in node["reads"]):
        read["measured"] = None
    return plan
