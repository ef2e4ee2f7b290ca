"""The AWS SDK: its client as a transport, its endpoints and credentials. Loaded only where it is used."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aioboto3
from aiobotocore.config import AioConfig
from aiobotocore.httpsession import AIOHTTPSession
from botocore import xform_name
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, NoCredentialsError
from botocore.httpsession import get_cert_path

from loaders.table.client import StoreConnection
from loaders.table.signing import Credentials
from loaders.table.stamps import check_age
from loaders.table.transport import (
    ATTEMPTS,
    MAX_CONNECTIONS,
    Answer,
    DamagedAnswerError,
    NoAnswerError,
    RefusedRequestError,
    json_of,
)
from loaders.table.values import ReadItem


@asynccontextmanager
async def open_client(connection: StoreConnection) -> AsyncIterator[Any]:
    """The SDK's low-level client, its connections kept open until the block ends."""
    async with aioboto3.Session().client(
        "dynamodb",
        region_name=connection.region,
        endpoint_url=connection.endpoint_url,
        config=AioConfig(
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            connect_timeout=connection.timeouts.connect,
            read_timeout=connection.timeouts.read,
            max_pool_connections=MAX_CONNECTIONS,
            connector_args={"keepalive_timeout": 60},
            http_session_cls=CheckedSession,
            # Requests come from frozen operations whose renderings are tested to the letter.
            parameter_validation=False,
        ),
        **_placeholders(connection),
    ) as client:
        yield client


def credentials_of(client: Any) -> Callable[[], Awaitable[Credentials]]:
    """The credentials of a client as of now: the SDK keeps them fresh."""
    source = client._request_signer._credentials  # noqa: SLF001  # there is no public name

    async def credentials() -> Credentials:
        try:
            if source is None:
                raise NoCredentialsError
            frozen = await source.get_frozen_credentials()
        except BotoCoreError as error:
            raise NoAnswerError(str(error), 0) from error
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)

    return credentials


def tls_of(client: Any) -> ssl.SSLContext | None:
    """Trusts what the SDK trusts: its own certificates, or those that AWS_CA_BUNDLE or a profile names."""
    if not client.meta.endpoint_url.lower().startswith("https:"):
        return None
    return ssl.create_default_context(cafile=get_cert_path(client._endpoint.http_session._verify))  # noqa: SLF001


class CheckedSession(AIOHTTPSession):  # type: ignore[misc]
    """The SDK's HTTP session, but strict.

    The SDK reads an answer that is not JSON as an empty one, in which an item that exists is missing; it accepts a
    wrong checksum at its last attempt; and on aiohttp it accepts a certificate of any host.
    """

    def _get_ssl_context(self) -> Any:
        context = super()._get_ssl_context()
        context.check_hostname = True
        return context

    async def send(self, request: Any) -> Any:
        check_age()
        response = await super().send(request)
        try:
            json_of(response.status_code, response.headers.get("x-amz-crc32"), await response.content)
        except DamagedAnswerError as error:
            raise HTTPClientError(error=error) from error
        return response


class SdkTransport:
    def __init__(self, client: Any) -> None:
        self._client = client
        client.meta.events.register("needs-retry.dynamodb", _note_attempts, unique_id="smartlocker-attempts")

    async def send(self, operation: str, request: dict[str, Any], shape: type[ReadItem] | None = None) -> Answer:
        """See Transport. The SDK parses answers itself."""
        del shape
        try:
            answer: dict[str, Any] = await getattr(self._client, xform_name(operation))(**request)
        except ClientError as error:
            body = error.response
            metadata = body["ResponseMetadata"]
            raise RefusedRequestError(
                body["Error"].get("Code", ""),
                body["Error"].get("Message", ""),
                metadata.get("HTTPStatusCode", 0),
                body,
                metadata.get("RetryAttempts", 0),
                metadata.get("RequestId", ""),
            ) from error
        except BotoCoreError as error:
            raise NoAnswerError(str(error), getattr(error, "attempts", 1) - 1) from error
        metadata = answer["ResponseMetadata"]
        return Answer(answer, metadata["RetryAttempts"], metadata["HTTPHeaders"].get("date"))


def _note_attempts(attempts: int, caught_exception: Exception | None, **_: Any) -> None:
    """Tells of a request without an answer how often it was sent, which the SDK does not."""
    if caught_exception is not None:
        caught_exception.attempts = attempts  # type: ignore[attr-defined]


def _placeholders(connection: StoreConnection) -> dict[str, str]:
    """A store of one's own checks no signature, but the SDK wants to make one."""
    return {"aws_access_key_id": "local", "aws_secret_access_key": "local"} if connection.local else {}
