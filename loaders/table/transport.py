"""How requests reach the store: what every transport promises."""

import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import orjson

from loaders.table.values import ReadItem

ATTEMPTS = 3
"""How often a request is sent at most, where the store is busy or does not answer."""

MAX_CONNECTIONS = 64
"""How many connections to the store there are at most."""

FIRST_ERROR_STATUS = 300


class Answer(NamedTuple):
    """The store's answer, how often the request was sent again before it came, and its Date header."""

    body: dict[str, Any]
    retries: int
    date: str | None = None


class RefusedRequestError(Exception):
    """The store answered with an error: its code, its own words, the HTTP status and the whole answer.

    `retries` is how often the request was sent again, `request_id` what the store calls it, if it says so.
    """

    def __init__(
        self, code: str, message: str, status: int, body: Mapping[str, Any], retries: int, request_id: str = ""
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.body = body
        self.retries = retries
        self.request_id = request_id


class NoAnswerError(Exception):
    """The store did not answer, or not with what it promises, although the request was sent again `retries` times."""

    def __init__(self, message: str, retries: int) -> None:
        super().__init__(message)
        self.retries = retries


class Transport(Protocol):
    async def send(self, operation: str, request: dict[str, Any], shape: type[ReadItem] | None = None) -> Answer:
        """Sends one request, again where that may help. Items of this shape may come as such.

        Raises RefusedRequestError where the store answers with an error, NoAnswerError where it does not answer.
        """


class DamagedAnswerError(Exception):
    """The answer is not what the store sent."""


def json_of(
    status: int, checksum: str | bytes | None, body: bytes, parse: Callable[[bytes], Any] = orjson.loads
) -> dict[str, Any]:
    """The JSON object of an answer, unless it is damaged. An error may come from a proxy, without any."""
    try:
        if checksum is not None and int(checksum) != zlib.crc32(body):
            raise DamagedAnswerError("the checksum of the answer does not match")
        content = parse(body)
    except ValueError:
        content = None
    if isinstance(content, dict):
        return content
    if status < FIRST_ERROR_STATUS:
        raise DamagedAnswerError("the answer is not a JSON object")
    return {}
