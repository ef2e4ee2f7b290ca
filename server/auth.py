"""Who is asking: from a request's headers to a principal, before anything else of the request is read."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from domain.api_keys import KEY_MARK, id_in, matches, principal_of
from domain.errors import UnavailableError
from server.claims import BadTokenError
from server.incoming import RefusedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from domain.api_keys import ApiKey, ApiKeyId
    from domain.principal import Principal
    from domain.times import Instant
    from server.tokens import Tokens

__all__ = ["Authenticator", "KeyRing"]

# A revoked key must be refused within five seconds, and a read takes its time too.
_REMEMBERED_SECONDS = 3
_MOST_REMEMBERED = 10_000
_CHALLENGE: Final = "Bearer"


class _Look(NamedTuple):
    """What was, or is being, read of a key, and until when that counts."""

    until: float
    found: asyncio.Future[ApiKey | None]


class KeyRing:
    """Knows API keys, each for a few seconds after it was read; so many at most, the one unused for longest goes first.

    That there is no such key is remembered too, so repeating a bad key does not reach the store.
    """

    def __init__(
        self,
        read: Callable[[ApiKeyId], Awaitable[ApiKey | None]],
        clock: Callable[[], Instant],
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._clock = clock
        self._timer = timer
        self._looks: OrderedDict[ApiKeyId, _Look] = OrderedDict()

    async def principal(self, text: str) -> Principal:
        """Whom a key stands for.

        Raises:
            BadTokenError: where it is none, or not any more.
        """
        key_id = id_in(text)
        api_key = None if key_id is None else await self._find(key_id)
        if api_key is None or not matches(api_key, text):
            raise BadTokenError("The API key is not known.")
        if api_key.revoked_at is not None:
            raise BadTokenError("The API key was revoked.")
        if api_key.expires_at is not None and api_key.expires_at <= self._clock():
            raise BadTokenError("The API key has expired.")
        return principal_of(api_key)

    async def _find(self, key_id: ApiKeyId) -> ApiKey | None:
        look = self._looks.get(key_id)
        if look is None or look.until <= self._timer():
            look = _Look(self._timer() + _REMEMBERED_SECONDS, asyncio.ensure_future(self._read(key_id)))
            self._looks[key_id] = look
        self._looks.move_to_end(key_id)
        if len(self._looks) > _MOST_REMEMBERED:
            self._looks.popitem(last=False)
        try:
            # A client that goes away must not end the read for the others that wait for it.
            return await asyncio.shield(look.found)
        except Exception:
            if self._looks.get(key_id) is look:
                del self._looks[key_id]
            raise


class Authenticator:
    """Tells who is asking; `anybody` is who comes without credentials, where such are let in."""

    def __init__(self, tokens: Tokens, keys: KeyRing, anybody: Principal | None) -> None:
        self._tokens = tokens
        self._keys = keys
        self._anybody = anybody

    async def __call__(self, request: Request) -> Principal:
        """The principal of a request.

        Raises:
            RefusedError: 401 where the credentials are none or bad, 503 where nobody can tell at the moment.
        """
        given = request.headers.getlist("authorization")
        if not given:
            if self._anybody is None:
                raise _unauthenticated("This needs credentials: send Authorization: Bearer with a token or an API key.")
            return self._anybody
        try:
            credentials = _bearer(given)
            checker = self._keys if credentials.startswith(KEY_MARK) else self._tokens
            return await checker.principal(credentials)
        except BadTokenError as error:
            raise _unauthenticated(str(error), f'{_CHALLENGE} error="invalid_token"') from None
        except UnavailableError as error:
            raise RefusedError(
                error.status, error.message, error.code, {"Retry-After": str(error.retry_after_seconds)}
            ) from error


def _bearer(given: list[str]) -> str:
    if len(given) > 1:
        raise BadTokenError("The Authorization header must come once.")
    scheme, _, credentials = given[0].partition(" ")
    credentials = credentials.strip(" ")
    if scheme.lower() != "bearer" or not credentials or not credentials.isascii() or " " in credentials:
        raise BadTokenError("The Authorization header must be Bearer, a space, and a token or an API key.")
    return credentials


def _unauthenticated(message: str, challenge: str = _CHALLENGE) -> RefusedError:
    return RefusedError(401, message, "UNAUTHENTICATED", {"WWW-Authenticate": challenge})
