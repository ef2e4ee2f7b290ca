"""AWS Signature Version 4 for DynamoDB; what the requests of a second have in common is made once."""

import hashlib
import hmac
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

CONTENT_TYPE = "application/x-amz-json-1.0"
"""Of every request."""

_SERVICE = "dynamodb"
_ALGORITHM = "AWS4-HMAC-SHA256"
_BLOCK_BYTES = 64
_INNER, _OUTER = 0x36, 0x5C
"""The bytes that the two hashes of an HMAC combine its key with."""


class Credentials(NamedTuple):
    """The credentials that sign requests; temporary ones have a session token."""

    access_key: str
    secret_key: str
    token: str | None


class _Common(NamedTuple):
    """Parts that all signatures of one second share: the constant texts, and the signing key of the day."""

    second: int
    credentials: Credentials
    before_target: str
    after_target: str
    before_hash: str
    before_signature: str
    after_signature: str
    inner: Any
    outer: Any
    """The two hashes of an HMAC, each after its key: to go on from copies takes a third of `hmac.digest`."""


class Signer:
    """Signs POST requests to one path of one host."""

    def __init__(self, region: str, host: str, path: str) -> None:
        self._region = region
        self._host = host
        self._path = quote(path, safe="/~")
        self._latest: _Common | None = None

    def headers(self, target: str, body: bytes, credentials: Credentials, second: int) -> str:
        """The headers that authenticate a request, each on a line; `second` is the time since 1970."""
        common = self._latest
        if common is None or common.second != second or common.credentials != credentials:
            self._latest = common = self._common(second, credentials)
        canonical = f"{common.before_target}{target}{common.after_target}{hashlib.sha256(body).hexdigest()}"
        text = common.before_hash + hashlib.sha256(canonical.encode()).hexdigest()
        inner, outer = common.inner.copy(), common.outer.copy()
        inner.update(text.encode())
        outer.update(inner.digest())
        return f"{common.before_signature}{outer.hexdigest()}{common.after_signature}"

    def _common(self, second: int, credentials: Credentials) -> _Common:
        stamp = datetime.fromtimestamp(second, UTC).strftime("%Y%m%dT%H%M%SZ")
        day, token = stamp[:8], credentials.token
        scope = f"{day}/{self._region}/{_SERVICE}/aws4_request"
        token_name, token_line = (";x-amz-security-token", f"x-amz-security-token:{token}\n") if token else ("", "")
        names = f"content-type;host;x-amz-date{token_name};x-amz-target"
        key = f"AWS4{credentials.secret_key}".encode()
        for part in (day, self._region, _SERVICE, "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        block = key.ljust(_BLOCK_BYTES, b"\0")
        return _Common(
            second,
            credentials,
            f"POST\n{self._path}\n\ncontent-type:{CONTENT_TYPE}\nhost:{self._host}\nx-amz-date:{stamp}\n{token_line}"
            "x-amz-target:",
            f"\n\n{names}\n",
            f"{_ALGORITHM}\n{stamp}\n{scope}\n",
            f"Authorization: {_ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, "
            "Signature=",
            f"\r\nX-Amz-Date: {stamp}\r\n" + (f"X-Amz-Security-Token: {token}\r\n" if token else ""),
            *[hashlib.sha256(bytes([byte ^ pad for byte in block])) for pad in (_INNER, _OUTER)],
        )
