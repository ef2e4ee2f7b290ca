"""AWS Signature Version 4 for DynamoDB, with the day's signing key kept."""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["CONTENT_TYPE", "Credentials", "Signer"]

CONTENT_TYPE = "application/x-amz-json-1.0"
"""Of every request."""

_SERVICE = "dynamodb"
_ALGORITHM = "AWS4-HMAC-SHA256"


class Credentials(NamedTuple):
    """What a request is signed with; temporary credentials have a session token."""

    access_key: str
    secret_key: str
    token: str | None


class Signer:
    """Signs POST requests to one path of one host.

    Args:
        region: the AWS region.
        host: the value of the Host header.
        path: as it is in the request.
    """

    def __init__(self, region: str, host: str, path: str) -> None:
        self._region = region
        self._host = host
        self._path = quote(path, safe="/~")
        self._key: bytes = b""
        self._key_for: tuple[str, str] = ("", "")

    def headers(self, target: str, body: bytes, credentials: Credentials, now: datetime) -> str:
        """The headers that authenticate a request, each on a line."""
        stamp = _stamp(now.replace(microsecond=0))
        day = stamp[:8]
        scope = f"{day}/{self._region}/{_SERVICE}/aws4_request"
        token = credentials.token
        token_name, token_line = (";x-amz-security-token", f"x-amz-security-token:{token}\n") if token else ("", "")
        signed = f"content-type;host;x-amz-date{token_name};x-amz-target"
        canonical = (
            f"POST\n{self._path}\n\ncontent-type:{CONTENT_TYPE}\nhost:{self._host}\nx-amz-date:{stamp}\n{token_line}"
            f"x-amz-target:{target}\n\n{signed}\n{hashlib.sha256(body).hexdigest()}"
        )
        text = f"{_ALGORITHM}\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.digest(self._signing_key(credentials.secret_key, day), text.encode(), "sha256").hex()
        authorization = (
            f"Authorization: {_ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={signed}, "
            f"Signature={signature}\r\nX-Amz-Date: {stamp}\r\n"
        )
        return f"{authorization}X-Amz-Security-Token: {token}\r\n" if token else authorization

    def _signing_key(self, secret: str, day: str) -> bytes:
        if self._key_for != (secret, day):
            key = f"AWS4{secret}".encode()
            for part in (day, self._region, _SERVICE, "aws4_request"):
                key = hmac.digest(key, part.encode(), "sha256")
            self._key, self._key_for = key, (secret, day)
        return self._key


@lru_cache(1)
def _stamp(second: datetime) -> str:
    return second.strftime("%Y%m%dT%H%M%SZ")
