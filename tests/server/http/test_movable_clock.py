"""The clock that tests of others can set: what it refuses, and that it goes on after a restart."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from domain.times import Instant, shift
from tests.api import Api
from tests.conftest import OpenApi

PATH = "/development/clock"


async def now(api: Api) -> Instant:
    return Instant((await api.client.get(PATH)).json()["now"])


async def test_the_clock_goes_forward_in_all_servers_of_a_data_directory(open_api: OpenApi, tmp_path: Path) -> None:
    settings = {"server_clock": None, "test_clock": "on", "data_dir": tmp_path / "new"}
    async with open_api(**settings) as api:
        began = await now(api)
        wanted = shift(began, timedelta(hours=30))
        answer = await api.client.put(PATH, json={"now": wanted})
        assert wanted <= answer.json()["now"] < shift(wanted, timedelta(hours=1))
    async with open_api(**settings) as api:
        assert wanted <= await now(api)
        back = await api.client.put(PATH, json={"now": began})
        assert back.status_code == 409
        assert "never goes back" in back.json()["message"]
        bodies: list[Any] = [{"now": shift(began, timedelta(days=4000))}, {"now": "tomorrow"}, {"now": 5}, {}, []]
        for wrong in bodies:
            assert (await api.client.put(PATH, json=wrong)).status_code == 400, wrong
        assert (await api.client.put(PATH, content=b"{")).status_code == 400
        elsewhere = {"Sec-Fetch-Site": "cross-site"}
        assert (await api.client.put(PATH, json={"now": wanted}, headers=elsewhere)).status_code == 403
        assert wanted <= await now(api) < shift(wanted, timedelta(hours=1))


async def test_there_is_no_such_clock_unless_it_is_asked_for_and_never_in_production(
    open_api: OpenApi, tmp_path: Path
) -> None:
    async with open_api(server_clock=None, data_dir=tmp_path) as api:
        assert (await api.client.get(PATH)).status_code == 404
    async with open_api(server_clock=None, data_dir=tmp_path, test_clock="on", profile="production") as api:
        assert (await api.client.get(PATH)).status_code == 404
