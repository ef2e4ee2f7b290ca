import json
from pathlib import Path

import pytest

from tests.e2e.serving import serving

CLIENT = "203.0.113.7"
TLS_ONLY = "strict-transport-security"


@pytest.mark.parametrize(
    ("trusted", "client", "is_tls"),
    [("10.0.0.0/8,127.0.0.0/8", CLIENT, True), ("10.0.0.1", "127.0.0.1", False)],
)
def test_the_address_and_scheme_of_the_client_are_taken_from_a_trusted_proxy_only(
    tmp_path: Path, at_store: dict[str, str], trusted: str, client: str, *, is_tls: bool
) -> None:
    logged = {"request_log": "on", "log_format": "json"}
    with serving(tmp_path / "run", **at_store, **logged, FORWARDED_ALLOW_IPS=trusted) as server:
        for invented in ("", "198.51.100.1, ", "no address, "):
            # As a proxy sends it, which adds the client's address to whatever the client has sent.
            headers = {"X-Forwarded-For": f"{invented}{CLIENT}", "X-Forwarded-Proto": "https"}
            answer = server.post("{ __typename }", headers)
            assert answer.json() == {"data": {"__typename": "Query"}}
            assert (TLS_ONLY in answer.headers) is is_tls
    lines = [json.loads(line) for line in server.stderr.splitlines()]
    assert [line["client"] for line in lines if line["event"] == "request"] == [client] * 3
