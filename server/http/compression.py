"""Compression of responses."""

import asyncio
import gzip

import brotli
from starlette.responses import Response

from server.http.negotiation import IDENTITY, choose_coding

# A smaller response fits into one packet anyway.
_MIN_BYTES = 1024
# A larger response is compressed in a thread, since it would delay other requests.
_THREAD_BYTES = 64 * 1024
# Both have about the speed of serializing the JSON.
_BROTLI_QUALITY = 4
_GZIP_LEVEL = 5


async def compress(response: Response, accept_encoding: str) -> None:
    """Compresses a response over 1 KB in place, with the content coding that the client prefers."""
    if len(response.body) <= _MIN_BYTES:
        return
    body = bytes(response.body)
    coding = choose_coding(accept_encoding)
    if coding == IDENTITY:
        return
    if len(body) > _THREAD_BYTES:
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
