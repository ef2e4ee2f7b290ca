"""Authentication of requests: from the Authorization header to a principal, before the body is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from starlette.requests import Request

from domain.api_keys import KEY_PREFIX
from domain.authorization import Principal
from server.auth.api_keys import ApiKeyVerifier
from server.http_errors import HttpError, InvalidCredentialsError

if TYPE_CHECKING:
    from server.auth.tokens import TokenVerifier

_CHALLENGE: Final = "Bearer"


class Authenticator(Protocol):
    async def __call__(self, request: Request, /) -> Principal:
        """Raises a 401 for missing or wrong credentials, and an UnavailableError if these cannot be checked now."""


@dataclass(slots=True, eq=False)
class CredentialAuthenticator:
    tokens: Callable[[], TokenVerifier]
    """Gives what verifies tokens; called with the first token, as loading it takes time."""
    api_keys: ApiKeyVerifier
    anonymous: Principal | None
    """The principal of requests without credentials; None if these are rejected."""

    async def __call__(self, request: Request, /) -> Principal:
        values = request.headers.getlist("authorization")
        if not values:
            if self.anonymous is None:
                raise _unauthenticated("Credentials are missing: send Authorization: Bearer with a token or API key.")
            return self.anonymous
        try:
            credentials = _bearer(values)
            verifier = self.api_keys if credentials.startswith(KEY_PREFIX) else self.tokens()
            return await verifier.principal(credentials)
        except InvalidCredentialsError as error:
            raise _unauthenticated(str(error), f'{_CHALLENGE} error="invalid_token"') from None


def _bearer(values: list[str]) -> str:
    if len(values) > 1:
        raise InvalidCredentialsError("Send one Authorization header only.")
    scheme, _, credentials = values[0].partition(" ")
    credentials = credentials.strip(" ")
    if scheme.lower() != "bearer" or not credentials or not credentials.isascii() or " " in credentials:
        raise InvalidCredentialsError("The Authorization header must be Bearer, a space, and a token or an API key.")
    return credentials


def _unauthenticated(message: str, challenge: str = _CHALLENGE) -> HttpError:
    return HttpError(401, message, "UNAUTHENTICATED", {"WWW-Authenticate": challenge})
