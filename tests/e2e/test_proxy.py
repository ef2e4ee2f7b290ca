import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.e2e.serving import serving

CLIENT = "203.0.113.7"
TLS_ONLY = "strict-transport-security"


@contextmanager
def proxy(target: str) -> Iterator[str]:
    """A proxy that says, as proxies do, whose request it passes on and that it came by TLS."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            before = self.headers.get("X-Forwarded-For")
            headers = {
                "Content-Type": "application/json",
                "X-Forwarded-For": f"{before}, {CLIENT}" if before else CLIENT,
                "X-Forwarded-Proto": "https",
            }
            answer = httpx.post(target, content=body, headers=headers, timeout=60)
            self.send_response(answer.status_code)
            self.send_header("Content-Length", str(len(answer.content)))
            for name in (TLS_ONLY, "content-type"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    ("trusted", "client", "is_tls"),
    [("127.0.0.1", CLIENT, True), ("10.0.0.0/8,127.0.0.0/8", CLIENT, True), ("10.0.0.1", "127.0.0.1", False)],
)
def test_the_address_and_scheme_of_the_client_are_taken_from_a_trusted_proxy_only(
    tmp_path: Path, at_store: dict[str, str], trusted: str, client: str, *, is_tls: bool
) -> None:
    logged = {"request_log": "on", "log_format": "json"}
    with (
        serving(tmp_path / "run", **at_store, **logged, FORWARDED_ALLOW_IPS=trusted) as server,
        proxy(server.url) as url,
    ):
        for invented in ({}, {"X-Forwarded-For": "198.51.100.1"}, {"X-Forwarded-For": "no address"}):
            answer = httpx.post(url, json={"query": "{ __typename }"}, headers=invented, timeout=60)
            assert answer.json() == {"data": {"__typename": "Query"}}
            assert (TLS_ONLY in answer.headers) is is_tls
    lines = [json.loads(line) for line in server.stderr.splitlines()]
    assert [line["client"] for line in lines if line["event"] == "request"] == [client] * 3
