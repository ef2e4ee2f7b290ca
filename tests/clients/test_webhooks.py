"""The library that receivers in JavaScript verify webhooks with."""

import json
import shutil
import time
from pathlib import Path

from domain.webhook_signatures import secret_of, signed_headers
from tests.conftest import RING
from tests.npm import installed, printed_by

HERE = Path(__file__).parent / "webhooks"


def test_receivers_in_javascript_verify_what_is_signed(tmp_path: Path) -> None:
    shutil.copy(HERE / "verify.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(installed(HERE) / "node_modules")
    secrets = [secret_of(RING, RING.current.key_id, "hook-1", secret_id) for secret_id in ("2", "1")]
    body = {"type": "reservation.created", "data": {"note": "é"}}
    text = json.dumps(body, ensure_ascii=False)
    headers = signed_headers(secrets, "event-1", int(time.time()), text.encode())
    messages = [{"headers": headers, "body": sent} for sent in (text, text + " ")]
    for secret in secrets:
        words = json.dumps({"secret": secret, "messages": messages})
        verified = json.loads(printed_by(["node", "verify.mjs", words], tmp_path))
        assert verified == [body, "No matching signature found"]
