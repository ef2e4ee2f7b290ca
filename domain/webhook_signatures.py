"""Signatures of webhooks by Standard Webhooks, https://www.standardwebhooks.com."""

import base64
import hmac
from collections.abc import Sequence

from domain.access_codes import CodeRing

_PREFIX = "whsec_"


def secret_of(ring: CodeRing, key_id: str, webhook_id: str, secret_id: str) -> str:
    """The secret as receivers are given it, and as the libraries that verify signatures take it."""
    return _PREFIX + base64.b64encode(ring.webhook_secret(key_id, webhook_id, secret_id)).decode()


def signed_headers(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers of a message, with a signature for each secret that is valid while one is renewed.

    `timestamp` is in seconds, and is that of the attempt: receivers refuse what is five minutes old.
    """
    content = b".".join((message_id.encode(), b"%d" % timestamp, body))
    keys = (base64.b64decode(secret.removeprefix(_PREFIX)) for secret in secrets)
    signatures = (base64.b64encode(hmac.digest(key, content, "sha256")).decode() for key in keys)
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
