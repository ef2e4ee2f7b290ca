"""Who is asking: from a request's headers to a principal, before anything else of the request is read."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from domain.api_keys import KEY_MARK, id_in, matches, principal_of
from domain.errors import UnavailableError
from server.claims import BadTokenError
from server.incoming import RefusedError, refusal_of

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
_MOST_READS = 16
_MOST_WAITING = 100
_CHALLENGE: Final = "Bearer"


class _Look(NamedTuple):
    """What was read of a key, and until when that counts."""

    until: float
    found: ApiKey | None


class KeyRing:
    """Knows API keys, each for a few seconds after it was read; so many at most, the one unused for longest goes first.

    That there is no such key is remembered too, so repeating a bad key does not reach the store. Made-up keys do not
    take the place of good ones: they are remembered apart, and where too many are read only new ids are turned away.
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
        self._known: OrderedDict[ApiKeyId, _Look] = OrderedDict()
        self._unknown: OrderedDict[ApiKeyId, _Look] = OrderedDict()
        self._reading: dict[ApiKeyId, asyncio.Future[ApiKey | None]] = {}
        self._places = asyncio.Semaphore(_MOST_READS)

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
        for looks in (self._known, self._unknown):
            look = looks.get(key_id)
            if look is not None and look.until > self._timer():
                looks.move_to_end(key_id)
                return look.found
        reading = self._reading.get(key_id)
        if reading is None:
            if key_id not in self._known and len(self._reading) >= _MOST_READS + _MOST_WAITING:
                raise UnavailableError("Too many API keys are being looked up: try again in a moment.")
            reading = self._reading[key_id] = asyncio.ensure_future(self._look_up(key_id))
        # A client that goes away must not end the read for the others that wait for it.
        return await asyncio.shield(reading)

    async def _look_up(self, key_id: ApiKeyId) -> ApiKey | None:
        try:
            async with self._places:
                until = self._timer() + _REMEMBERED_SECONDS
                found = await self._read(key_id)
        finally:
            del self._reading[key_id]
        looks = self._unknown if found is None else self._known
        looks[key_id] = _Look(until, found)
        looks.move_to_end(key_id)
        if len(looks) > _MOST_REMEMBERED:
            looks.popitem(last=False)
        return found


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
            raise refusal_of(error) from error


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
