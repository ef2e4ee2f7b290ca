"""A receiver of webhooks: it verifies each delivery, keeps it once, and answers. It needs nothing but Python.

    export SECRET=whsec_… DATABASE=deliveries.sqlite
    python webhook_receiver.py 8001    # then create a webhook with the URL http://127.0.0.1:8001/

While the secret is renewed, SECRET may have both, separated by a space. Deliveries come at least once and in any
order: one whose id is known is answered and not kept again, and of two versions of an object the higher one is newer.
In production it stands behind a proxy that ends TLS, and another process works on what is kept.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BYTES = 64 * 1024
TOLERANCE_SECONDS = 5 * 60


def is_genuine(secrets: Sequence[str], headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Whether one of the secrets has signed the delivery, lately: https://www.standardwebhooks.com."""
    message_id, timestamp, given = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (timestamp.isascii() and timestamp.isdecimal()) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    content = f"{message_id}.{timestamp}.".encode() + body
    keys = (base64.b64decode(secret.removeprefix("whsec_")) for secret in secrets)
    expected = [b"v1," + base64.b64encode(hmac.digest(key, content, "sha256")) for key in keys]
    return any(hmac.compare_digest(one, other.encode()) for one in expected for other in given.split(" "))


def keep(database: str, message_id: str, body: bytes) -> bool:
    """Keeps a delivery before it is answered; False if it is there already."""
    with closing(sqlite3.connect(database)) as connection, connection:
        return (
            connection.execute("INSERT OR IGNORE INTO deliveries VALUES (?, ?)", (message_id, body.decode())).rowcount
            == 1
        )


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to what is kept, and says nothing else."""

    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        """Receives a delivery."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(int(length))
        if not is_genuine(os.environ["SECRET"].split(), self.headers, body, time.time()):
            self._answer(HTTPStatus.UNAUTHORIZED)
            return
        message_id = self.headers["webhook-id"]
        if keep(os.environ["DATABASE"], message_id, body):
            print(message_id, json.loads(body)["type"], flush=True)
        self._answer(HTTPStatus.NO_CONTENT)

    def _answer(self, status: HTTPStatus) -> None:
        self.send_response(status)
        if status is not HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", "0")
            self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Logs nothing: what is new is printed."""


def main(port: int) -> None:
    """Receives until it is stopped."""
    with closing(sqlite3.connect(os.environ["DATABASE"])) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY, body TEXT NOT NULL)")
    with ThreadingHTTPServer(("127.0.0.1", port), Receiver) as server:
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != len(("program", "port")) or not {"SECRET", "DATABASE"} <= os.environ.keys():
        raise SystemExit(__doc__)
    main(int(sys.argv[1]))
