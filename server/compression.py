"""Compression of answers."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING

import brotli

from server.negotiation import IDENTITY, choose_coding

if TYPE_CHECKING:
    from starlette.responses import Response

__all__ = ["compress"]

# Below this, an answer fits a packet anyway.
_SMALLEST_BYTES = 1024
# Above this, compressing takes so long that other requests would notice.
_AT_ONCE_BYTES = 64 * 1024
# About the same speed for both, which is also that of writing the JSON.
_BROTLI_QUALITY = 4
_GZIP_LEVEL = 5


async def compress(response: Response, accept_encoding: str) -> None:
    """Compresses an answer over 1 KB in place, in the coding that the client likes best, if it likes any."""
    body = bytes(response.body)
    coding = choose_coding(accept_encoding)
    if len(body) <= _SMALLEST_BYTES or coding == IDENTITY:
        return
    if len(body) > _AT_ONCE_BYTES:
        response.body = await asyncio.to_thread(_encode, body, coding)
    else:
        response.body = _encode(body, coding)
    response.headers["Content-Encoding"] = coding
    response.headers["Content-Length"] = str(len(response.body))


def _encode(body: bytes, coding: str) -> bytes:
    if coding == "br":
        encoded: bytes = brotli.compress(body, mode=brotli.MODE_TEXT, quality=_BROTLI_QUALITY)
        return encoded
    return gzip.compress(body, _GZIP_LEVEL, mtime=0)
