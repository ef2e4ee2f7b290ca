import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from domain.times import shift
from loaders.table.clock import utc_now
from loaders.tools.demo_places import location_id
from tests.api import REGISTER_LOCKER, mutation
from tests.codes import CREATE
from tests.e2e.serving import ROOT, Server, command, serving

KEY = mutation("createApiKey", "secret")
USES = """{ locker(lockerId: "door") {
  accessCodes { nodes { codeId uses validity { state deviceStatus } } }
  accessEvents { nodes { action } }
} }"""
DEVICE = (sys.executable, ROOT / "examples" / "device.py")
PLACE = location_id(0)
BOOKED = """query ($id: ID!) { location(locationId: $id) { accessEvents { nodes { action metadata } } } }"""


def test_a_device_opens_its_locker_without_the_server_and_reports_it_later(tmp_path: Path, furnished: Path) -> None:
    state = tmp_path / "lock.json"

    def device(server: Server | None, *words: str, key: str = "", **door: str) -> str:
        url = "http://127.0.0.1:9/graphql" if server is None else server.url
        variables: dict[str, Any] = {"URL": url, "KEY": key, "STATE": state, **(door or {"LOCKER": "door"})}
        return command(*words, program=DEVICE, **variables).stdout.strip()

    with serving(tmp_path / "first", data_dir=furnished) as server:
        server.ask(REGISTER_LOCKER, input={"lockerId": "door", "ownerId": "owner-0001"})
        made = server.ask(KEY, input={"name": "Door", "role": "DEVICE", "lockerId": "door"})
        key = made["createApiKey"]["secret"]
        code = {"lockerId": "door", "validUntil": shift(utc_now(), timedelta(days=1))}
        once, now, courier = (
            server.ask(CREATE, input=code | values)["createAccessCode"]["digits"]
            for values in (
                {"codeId": "once", "kind": "ONE_TIME"},
                {"codeId": "now", "kind": "ONE_TIME"},
                {"codeId": "two", "kind": "COURIER", "maxUses": 2},
            )
        )
        device(server, "provision", "1")
        assert state.stat().st_mode & 0o777 == 0o600
        device(server, "sync", key=key)
        assert device(server, "enter", courier, key=key) == "OPEN"
        assert device(server, "enter", now, key=key) == "OPEN"
        wrong = next(text for text in ("000000", "000001", "000002", "000003") if text not in {once, now, courier})
        assert device(server, "enter", wrong, key=key) == "CLOSED"
    assert device(None, "enter", once, key=key) == "OPEN"
    assert device(None, "enter", once, key=key) == "CLOSED", "it was used up"
    assert device(None, "enter", now, key=key) == "CLOSED", "it was used up with the server"
    assert device(None, "enter", wrong, key=key) == "CLOSED"
    with serving(tmp_path / "second", data_dir=furnished) as server:
        # The same program is the lock of a location's door, which has nothing to open now.
        state = tmp_path / "place.json"
        made = server.ask(KEY, input={"name": "Place", "role": "DEVICE", "locationId": PLACE})
        place_key = made["createApiKey"]["secret"]
        device(server, "provision", "1", LOCATION=PLACE)
        device(server, "sync", key=place_key, LOCATION=PLACE)
        assert device(server, "enter", wrong, key=place_key, LOCATION=PLACE) == "CLOSED"
        assert device(None, "enter", wrong, key=place_key, LOCATION=PLACE) == "CLOSED"
        events = server.ask(BOOKED, id=PLACE)["location"]["accessEvents"]["nodes"]
        assert events == [{"action": "DENIED", "metadata": None}]
        state = tmp_path / "lock.json"
        assert device(server, "enter", once, key=key) == "CLOSED", "its use is reported first"
        device(server, "sync", key=key)
        device(server, "sync", key=key)
        found = server.ask(USES)["locker"]
        assert {node["codeId"]: (node["uses"], node["validity"]) for node in found["accessCodes"]["nodes"]} == {
            "once": (1, {"state": "USED_UP", "deviceStatus": "REMOVED"}),
            "now": (1, {"state": "USED_UP", "deviceStatus": "REMOVED"}),
            "two": (1, {"state": "ACTIVE", "deviceStatus": "LOADED"}),
        }
        assert sorted(event["action"] for event in found["accessEvents"]["nodes"]) == [*["DENIED"] * 2, *["UNLOCK"] * 3]
        early = {"codeId": "once", "eventId": "e1", "usedAt": shift(utc_now(), timedelta(days=1))}
        state.write_text(json.dumps(json.loads(state.read_text()) | {"uses": [early]}))
        assert device(server, "enter", courier, key=key) == "OPEN", "a report that is refused keeps no door shut"
