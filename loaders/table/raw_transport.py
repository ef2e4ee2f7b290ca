"""The transport for data operations: SigV4, orjson and a raw HTTP client instead of the SDK's general one."""

import time
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, TypedDict

import msgspec
import orjson

from loaders.table.http_client import ConnectionPool, HttpClientError, HttpResponse
from loaders.table.retry import pause
from loaders.table.signing import CONTENT_TYPE, Credentials, Signer
from loaders.table.transport import (
    ATTEMPTS,
    FIRST_ERROR_STATUS,
    Answer,
    DamagedAnswerError,
    NoAnswerError,
    RefusedRequestError,
    json_of,
)
from loaders.table.values import ReadItem

_PREFIX = "DynamoDB_20120810."
RETRIED_STATUSES = frozenset({500, 502, 503, 504})
RETRIED_CODES = frozenset(
    """
    BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete
    ProvisionedThroughputExceededException ReplicatedWriteConflictException RequestLimitExceeded RequestThrottled
    RequestThrottledException RequestTimeout RequestTimeoutException SlowDown ThrottledException Throttling
    ThrottlingException TooManyRequestsException TransactionInProgressException
    """.split()  # noqa: SIM905  # a list literal would be a line for each code
)
"""Error codes after which the SDK's standard mode sends a request again."""


class RawTransport:
    """Sends requests on a pool of connections; the credentials may change while the process runs."""

    def __init__(self, pool: ConnectionPool, signer: Signer, credentials: Callable[[], Awaitable[Credentials]]) -> None:
        self._pool = pool
        self._signer = signer
        self._credentials = credentials
        self._head = (
            f"POST {pool.path} HTTP/1.1\r\nHost: {pool.host_header}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: "
        )

    async def send(self, operation: str, request: dict[str, Any], shape: type[ReadItem] | None = None) -> Answer:
        target = _PREFIX + operation
        body = orjson.dumps(request)
        parse = orjson.loads if shape is None else parser(operation, shape)
        for attempt in range(ATTEMPTS):
            if attempt:
                await pause(attempt)
            is_last = attempt == ATTEMPTS - 1
            try:
                signed = self._signer.headers(target, body, await self._credentials(), int(time.time()))
                head = f"{self._head}{len(body)}\r\nX-Amz-Target: {target}\r\n{signed}\r\n"
                response = await self._pool.request(head.encode() + body)
                date = response.headers.get(b"date")
                return Answer(
                    _content(response, attempt, parse), attempt, None if date is None else date.decode("latin-1")
                )
            except (HttpClientError, DamagedAnswerError) as error:
                if is_last:
                    raise NoAnswerError(str(error), attempt) from error
            except RefusedRequestError as error:
                if is_last or not (error.code in RETRIED_CODES or error.status in RETRIED_STATUSES):
                    raise
        raise AssertionError("the last attempt returns or raises")


@cache
def parser(operation: str, shape: Any) -> Callable[[bytes], Any]:
    """Parses an answer whose items have this shape; if one of them does not, all come as plain dictionaries."""
    items = {"GetItem": ("Item", shape), "BatchGetItem": ("Responses", dict[str, list[shape]])}
    items["Query"] = ("Items", list[shape])
    others = [(name, Any) for name in ("LastEvaluatedKey", "UnprocessedKeys", "ConsumedCapacity")]
    answer: Any = TypedDict("answer", dict([items[operation], *others]), total=False)  # type: ignore[misc]
    decode = msgspec.json.Decoder(answer).decode

    def parse(body: bytes) -> Any:
        try:
            return decode(body)
        except (msgspec.DecodeError, ValueError, ArithmeticError):
            return orjson.loads(body)

    return parse


def _content(response: HttpResponse, retries: int, parse: Callable[[bytes], Any]) -> dict[str, Any]:
    status = response.status
    is_success = status < FIRST_ERROR_STATUS
    content = json_of(
        status, response.headers.get(b"x-amz-crc32"), response.body, parse if is_success else orjson.loads
    )
    if is_success:
        return content
    code = str(content.get("__type", status)).partition(":")[0].rpartition("#")[2]
    message = str(content.get("message") or content.get("Message") or "")
    request_id = response.headers.get(b"x-amzn-requestid", b"").decode("latin-1")
    raise RefusedRequestError(code, message, status, content, retries, request_id)
