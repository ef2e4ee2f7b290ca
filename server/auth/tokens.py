"""Verification of bearer tokens (JWT)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import jwt
from jwt import exceptions

from server.auth.claims import principal_from
from server.auth.development import DEVELOPMENT_ALGORITHM, DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER
from server.auth.errors import InvalidCredentialsError
from server.auth.jwks import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.authorization import Principal
    from server.auth.jwks import KeySource
    from server.settings import ClaimName

__all__ = ["Issuer", "TokenVerifier"]

_LEEWAY_SECONDS = 30
_MAX_LENGTH = 8192
_REQUIRED: Final = ["exp", "iss", "aud", "sub"]
_UNTRUSTED: Final = "The token is malformed or its signature is invalid."
_MESSAGES: Final[dict[type[exceptions.InvalidTokenError], str]] = {
    exceptions.ExpiredSignatureError: "The token has expired.",
    exceptions.ImmatureSignatureError: "The token is not valid yet.",
    exceptions.InvalidIssuerError: "The token is from another issuer.",
    exceptions.InvalidAudienceError: "The token is for another audience.",
    exceptions.InvalidAlgorithmError: "The token's algorithm is not allowed.",
}


@dataclass(frozen=True, slots=True)
class Issuer:
    """An issuer of tokens: its name, the audience of its tokens, its keys and its names of claims."""

    name: str
    audience: str
    keys: KeySource
    claims: Mapping[ClaimName, str]


@dataclass(frozen=True, slots=True)
class TokenVerifier:
    """Verifies tokens of the issuer and, in development only, those of `smartlocker token`."""

    issuer: Issuer | None
    development_secret: Callable[[], str | None] | None

    async def principal(self, token: str) -> Principal:
        """The principal of a token.

        Raises:
            InvalidCredentialsError: if the token is not valid, or a claim is missing or invalid.
            UnavailableError: if the issuer's keys cannot be fetched now.
        """
        if len(token) > _MAX_LENGTH:
            raise InvalidCredentialsError(f"The token is longer than {_MAX_LENGTH} characters.")
        header = _header(token)
        # The algorithm selects the keys; each kind of key has its own list of allowed algorithms.
        if header.get("alg") in ALGORITHMS and self.issuer is not None:
            key_id = header.get("kid")
            key = self.issuer.keys.cached(key_id) or await _fetched_key(self.issuer, key_id, token)
            claims = _verified(token, key, ALGORITHMS, self.issuer.name, self.issuer.audience)
            return principal_from(claims, self.issuer.claims)
        if header.get("alg") == DEVELOPMENT_ALGORITHM and self.development_secret is not None:
            secret = self.development_secret()
            if secret is None:
                raise InvalidCredentialsError(_UNTRUSTED)
            claims = _verified(token, secret, (DEVELOPMENT_ALGORITHM,), DEVELOPMENT_ISSUER, DEVELOPMENT_AUDIENCE)
            return principal_from(claims, {})
        raise InvalidCredentialsError(_MESSAGES[exceptions.InvalidAlgorithmError])


async def _fetched_key(issuer: Issuer, key_id: str | None, token: str) -> jwt.PyJWK:
    # A token that no key can make valid must not cause a fetch.
    _check_claims(token, issuer)
    key = await issuer.keys.find(key_id)
    if key is None:
        raise InvalidCredentialsError("The token is signed with an unknown key.")
    return key


def _header(token: str) -> dict[str, Any]:
    try:
        return jwt.get_unverified_header(token)
    except exceptions.InvalidTokenError:
        raise InvalidCredentialsError(_UNTRUSTED) from None


def _verified(
    token: str, key: jwt.PyJWK | str, algorithms: Sequence[str], issuer: str, audience: str
) -> dict[str, Any]:
    try:
        return jwt.decode(
            token,
            key,
            algorithms=algorithms,
            issuer=issuer,
            audience=audience,
            leeway=_LEEWAY_SECONDS,
            options={"require": _REQUIRED},
        )
    except exceptions.InvalidTokenError as error:
        raise _invalid_credentials(error) from None


def _check_claims(token: str, issuer: Issuer) -> None:
    """Rejects a token that no signature can make valid; returns nothing, since nothing is verified yet."""
    try:
        jwt.decode(
            token,
            issuer=issuer.name,
            audience=issuer.audience,
            leeway=_LEEWAY_SECONDS,
            options={
                "verify_signature": False,
                "verify_exp": True,
                "verify_nbf": True,
                "verify_iat": True,
                "verify_iss": True,
                "verify_aud": True,
                "verify_sub": True,
                "verify_jti": True,
                "require": _REQUIRED,
            },
        )
    except exceptions.InvalidTokenError as error:
        raise _invalid_credentials(error) from None


def _invalid_credentials(error: exceptions.InvalidTokenError) -> InvalidCredentialsError:
    if isinstance(error, exceptions.MissingRequiredClaimError):
        return InvalidCredentialsError(f"The token has no claim {error.claim}.")
    return InvalidCredentialsError(_MESSAGES.get(type(error), _UNTRUSTED))
