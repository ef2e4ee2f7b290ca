import json
import subprocess
from pathlib import Path
from typing import Any

from tests.conftest import CODE_KEYS
from tests.e2e.serving import command, serving
from tests.issuer import bearer, jwk, production, sign, write_keys

OWNER = '{ owner(ownerId: "owner-0001") { name } }'
CREATE_KEY = """mutation { createApiKey(input: {name: "Hall", role: DEVICE, lockerId: "locker-000001"}) {
  secret apiKey { keyId createdBy }
} }"""


def on_embedded_store(folder: Path, data: Path) -> dict[str, Any]:
    return production(folder) | {"code_keys": CODE_KEYS, "allow_embedded_store": True, "data_dir": data}


def test_in_production_only_the_issuers_tokens_are_accepted_and_none_is_logged(tmp_path: Path, furnished: Path) -> None:
    settings = on_embedded_store(tmp_path, furnished) | {"log_level": "debug", "host": "0.0.0.0"}  # noqa: S104  # as it is used
    development, stranger = command("token", data_dir=furnished).stdout.strip(), sign(name="stranger")
    canaries = [development, stranger, sign()]
    write_keys(tmp_path / "keys.json", jwk(name="odd") | {"key_ops": None}, jwk())
    with serving(tmp_path / "run", **settings) as server:
        assert '-H "Authorization: Bearer $TOKEN"' in server.greeting[3]
        assert server.post(OWNER, bearer(canaries[-1])).json()["data"] == {"owner": {"name": "Metro Parcel 1"}}
        nobody = server.post(OWNER)
        assert (nobody.status_code, nobody.headers["www-authenticate"]) == (401, "Bearer")
        for token in (development, stranger):
            assert server.post(OWNER, bearer(token)).status_code == 401
        made = server.post(CREATE_KEY, bearer(sign())).json()["data"]["createApiKey"]
        assert made["apiKey"]["createdBy"] == "ada"
        canaries.append(made["secret"])
        assert server.post(OWNER, bearer(made["secret"])).status_code == 200
        write_keys(tmp_path / "keys.json", jwk(), jwk(name="second"))
        assert server.post(OWNER, bearer(sign(name="second"))).status_code == 200
    assert "Application shutdown complete" in server.stderr
    for canary in canaries:
        for written in (server.stdout, server.stderr):
            assert canary not in written
            assert canary.rpartition(".")[2][-43:] not in written


def test_production_begins_with_a_table_without_demo_data(tmp_path: Path) -> None:
    settings = on_embedded_store(tmp_path, tmp_path / "data")
    query = '{ locations { nodes { code } } owner(ownerId: "owner-0001") { name } }'
    missing = "access codes may need keys that are not in SMARTLOCKER_CODE_KEYS: k1; see `smartlocker codes keys`"
    for run, keys in (("first", CODE_KEYS), ("again", CODE_KEYS.replace("k1:", "k2:"))):
        with serving(tmp_path / run, **settings | {"code_keys": keys}) as server:
            assert (missing in server.stderr) is (run == "again")
            assert server.greeting[2] == "To try it, run:"
            curl = subprocess.run(
                ["sh", "-c", server.greeting[3]], capture_output=True, env={"TOKEN": sign()}, check=True
            )
            shown = json.loads(curl.stdout)
            assert shown["data"] == {"viewer": {"role": "ADMIN"}, "locations": {"nodes": []}}
            assert "errors" not in shown
            answer = server.post(query, bearer(sign())).json()
            assert answer["data"] == {"locations": {"nodes": []}, "owner": None}
            assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]
    assert not (tmp_path / "data" / "demo-unfinished").exists()
