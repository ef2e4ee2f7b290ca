"""Sending webhooks to URLs that belong to others, who may be hostile."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from time import monotonic
from types import TracebackType
from typing import Any, Self

from aiohttp import (
    ClientConnectorDNSError,
    ClientError,
    ClientResponse,
    ClientResponseError,
    ClientSession,
    ClientSSLError,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from domain.webhook_urls import check_webhook_url, is_allowed_address
from domain.webhooks import Answer

TIMEOUT_SECONDS = 15.0
MAX_RESPONSE_BYTES = 64 * 1024
_BUFFER_BYTES = 8 * 1024
_LONGEST_WAIT = 24 * 60 * 60
_LOOKUPS = 32
"""Names that are looked up at a time, in threads of their own: names that hang delay nothing but webhooks."""

logger = logging.getLogger(__name__)

Lookup = Callable[[str, int, int, int], list[Any]]
"""`socket.getaddrinfo`, or a function like it."""


class WebhookSender:
    """Posts to allowed addresses only, and shows nothing of a response but its status and Retry-After.

    A name is looked up once for each connection, which is made to an address that was found and checked then. An
    address in the URL is checked with the URL. No redirect is followed, no cookie kept, no proxy used.
    """

    def __init__(
        self,
        *,
        allows_local: bool,
        lookup: Lookup = socket.getaddrinfo,
        tls: ssl.SSLContext | None = None,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        self._allows_local, self._lookup, self._timeout = allows_local, lookup, timeout
        self._tls = tls or ssl.create_default_context()

    async def __aenter__(self) -> Self:
        if self._allows_local:
            logger.warning("in development webhooks may have URLs of this machine, and of http")
        self._resolver = _Resolver(self._lookup, allows_local=self._allows_local)
        self._session = ClientSession(
            connector=TCPConnector(
                resolver=self._resolver,
                use_dns_cache=False,
                ssl=self._tls,
                limit=0,  # the sender has limits for each endpoint, and several may be of one host
            ),
            cookie_jar=DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            read_bufsize=_BUFFER_BYTES,
            timeout=ClientTimeout(total=self._timeout),
            headers={"User-Agent": "SmartLocker", "Accept-Encoding": "identity"},
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()
        await self._resolver.close()

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """One attempt; its failure is an answer, too."""
        start = monotonic()
        try:
            there = URL(check_webhook_url(url, allows_local=self._allows_local), encoded=True)
            async with self._session.post(there, headers=headers, data=body, allow_redirects=False) as response:
                taken = _milliseconds(start)
                await _discard(response)
                return Answer(response.status, taken, _retry_after(response.headers))
        except (ClientError, OSError, ValueError) as error:
            return Answer(None, _milliseconds(start), error=_word(error))


class _Resolver(AbstractResolver):
    def __init__(self, lookup: Lookup, *, allows_local: bool) -> None:
        self._lookup, self._allows_local = lookup, allows_local
        self._threads = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="webhook-lookup")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """All addresses of a host, or an error if one of them is not allowed."""
        lookup = asyncio.get_running_loop().run_in_executor
        found = await lookup(self._threads, self._lookup, host, port, family, socket.SOCK_STREAM)
        if not found or not all(is_allowed_address(one[0], allows_local=self._allows_local) for *_, one in found):
            raise PermissionError
        numeric = socket.AI_NUMERICHOST
        return [
            ResolveResult(hostname=host, host=address[0], port=port, family=family, proto=proto, flags=numeric)
            for family, _, proto, _, address in found
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _discard(response: ClientResponse) -> None:
    """Reads a short body, so that the connection can be used again. The status counts, whatever follows it."""
    left = MAX_RESPONSE_BYTES
    try:
        while left > 0 and not response.content.at_eof():
            left -= len(await response.content.read(min(left, _BUFFER_BYTES)))
    except (ClientError, OSError):
        left = 0
    if left == 0:
        response.close()


def _retry_after(headers: Mapping[str, str]) -> int | None:
    """Retry-After in seconds, a day at most. A time is compared with the response's, which the same clock tells."""
    value = headers.get("Retry-After", "")
    try:
        if value.isascii() and value.isdecimal():
            return min(_LONGEST_WAIT, int(value))
        wanted, sent = (parsedate_to_datetime(text) for text in (value, headers.get("Date", "")))
        return min(_LONGEST_WAIT, max(0, int((wanted - sent).total_seconds())))
    except (TypeError, ValueError):
        return None


def _word(error: Exception) -> str:
    """A word for an error. Names that are not known and names of refused addresses have the same."""
    match error:
        case TimeoutError():
            return "timeout"
        case ClientConnectorDNSError():
            return "address"
        case ClientSSLError():
            return "tls"
        case ClientResponseError():
            return "response"
        case ValueError():
            return "url"
        case _:
            return "connection"


def _milliseconds(start: float) -> int:
    return round(1000 * (monotonic() - start))
