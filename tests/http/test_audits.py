"""The public audits of GraphQL over HTTP (npm graphql-http), run against the server as its users start it."""

import json
from pathlib import Path

from tests.e2e.serving import serving
from tests.npm import installed, printed_by

HERE = Path(__file__).parent


def test_all_61_public_audits_pass_without_a_warning(tmp_path: Path, store_url: str, table: str) -> None:
    with serving(tmp_path / "run", endpoint_url=store_url, table_name=table) as server:
        command = ["node", "--input-type=module", "-", server.url]
        audits = json.loads(printed_by(command, installed(HERE), (HERE / "audit.mjs").read_text()))
    assert [result for result in audits if result["status"] != "ok"] == []
    assert len({result["id"] for result in audits}) == 61
