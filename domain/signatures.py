"""Signatures of webhooks by Standard Webhooks, https://www.standardwebhooks.com."""

import base64
import hmac
from collections.abc import Sequence


def spelled_secret(secret: bytes) -> str:
    """The secret as receivers are given it, and as the libraries that verify signatures take it."""
    return f"whsec_{base64.b64encode(secret).decode()}"


def signed_headers(message_id: str, timestamp: int, body: bytes, secrets: Sequence[bytes]) -> dict[str, str]:
    """The headers of a message, with a signature for each secret that is valid while one is renewed.

    `timestamp` is in seconds, and is that of the attempt: receivers refuse what is five minutes old.
    """
    content = b".".join((message_id.encode(), b"%d" % timestamp, body))
    signatures = (base64.b64encode(hmac.digest(secret, content, "sha256")).decode() for secret in secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
