from pathlib import Path

from playwright.async_api import Browser

from tests.browser.graphiql import GraphiQL
from tests.documentation import README, expect_commands, expect_examples
from tests.e2e.serving import serving

CONFLICT = ["VERSION_CONFLICT"]


async def test_every_tab_works_again_and_again_after_the_examples(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "run", SMARTLOCKER_DATA_DIR=str(tmp_path / "data")) as server:
        expect_commands(server, README)
        expect_examples(server)
        context = await browser.new_context(viewport={"width": 1440, "height": 900})
        graphiql = await GraphiQL.open(context, server.url)
        # The first time, only the second of the two updates is stale.
        for user, adas_errors in (("Demo admin", []), ("Demo owner owner-0002", CONFLICT)):
            await graphiql.signed_in_as.select_option(user)
            reserved = (await graphiql.run_tab("ReserveLocker"))["data"]["createReservation"]
            assert (reserved["reservation"]["status"], reserved["userErrors"]) == ("UPCOMING", [])
            await graphiql.expect_shown('"status": "UPCOMING"', '"userErrors": []')
            updated = (await graphiql.run_tab("StaleVersion"))["data"]
            codes = {name: [error["code"] for error in payload["userErrors"]] for name, payload in updated.items()}
            assert codes == {"ada": adas_errors, "ben": CONFLICT}
            await graphiql.expect_shown('"code": "VERSION_CONFLICT"', '"currentVersion": 2')
            for tab in ("LockersNow", "Viewer", "FirstQuery"):
                assert "errors" not in await graphiql.run_tab(tab)
            activity = await graphiql.run_tab("Activity")
            assert "errors" not in activity
            assert len(activity["data"]["owner"]["activity"]["nodes"]) == 10
        await context.close()
        expect_commands(server, README)
