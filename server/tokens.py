"""Bearer tokens: from a JWT to the principal that it speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import jwt
from jwt import exceptions

from server.claims import BadTokenError, principal_from
from server.development import DEVELOPMENT_ALGORITHM, DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER
from server.jwks import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.principal import Principal
    from server.claims import ClaimName
    from server.jwks import KeySource

__all__ = ["Issuer", "Tokens"]

_LEEWAY_SECONDS = 30
_LONGEST = 8192
_REQUIRED: Final = ["exp", "iss", "aud", "sub"]
_UNTRUSTED: Final = "The token is malformed or its signature is wrong."
_MESSAGES: Final[dict[type[exceptions.InvalidTokenError], str]] = {
    exceptions.ExpiredSignatureError: "The token has expired.",
    exceptions.ImmatureSignatureError: "The token is not valid yet.",
    exceptions.InvalidIssuerError: "The token is of another issuer.",
    exceptions.InvalidAudienceError: "The token is for another audience.",
    exceptions.InvalidAlgorithmError: "The token's algorithm is not allowed here.",
}


@dataclass(frozen=True, slots=True)
class Issuer:
    """Who signs tokens, for whom, with which keys, and how it calls the claims."""

    name: str
    audience: str
    keys: KeySource
    claims: Mapping[ClaimName, str]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Checks tokens of the issuer and, in development alone, those that `smartlocker token` makes."""

    issuer: Issuer | None
    development_secret: Callable[[], str | None] | None

    async def principal(self, token: str) -> Principal:
        """Who a token speaks of.

        Raises:
            BadTokenError: where it is not to be trusted, or says nothing that can be used.
        """
        if len(token) > _LONGEST:
            raise BadTokenError(f"The token may have {_LONGEST} characters at most.")
        header = _header(token)
        # The algorithm decides which keys are looked at; each kind of key has an allow-list of its own.
        if header.get("alg") in ALGORITHMS and self.issuer is not None:
            key_id = header.get("kid")
            key = self.issuer.keys.known(key_id) or await _asked_for(self.issuer, key_id, token)
            claims = _verified(token, key, ALGORITHMS, self.issuer.name, self.issuer.audience)
            return principal_from(claims, self.issuer.claims)
        if header.get("alg") == DEVELOPMENT_ALGORITHM and self.development_secret is not None:
            secret = self.development_secret()
            if secret is None:
                raise BadTokenError(_UNTRUSTED)
            claims = _verified(token, secret, (DEVELOPMENT_ALGORITHM,), DEVELOPMENT_ISSUER, DEVELOPMENT_AUDIENCE)
            return principal_from(claims, {})
        raise BadTokenError(_MESSAGES[exceptions.InvalidAlgorithmError])


async def _asked_for(issuer: Issuer, key_id: str | None, token: str) -> jwt.PyJWK:
    # A token that would be refused in any case is not worth asking for its key.
    _check_claims(token, issuer)
    key = await issuer.keys.find(key_id)
    if key is None:
        raise BadTokenError("The token is signed with a key that is not known.")
    return key


def _header(token: str) -> dict[str, Any]:
    try:
        return jwt.get_unverified_header(token)
    except exceptions.InvalidTokenError:
        raise BadTokenError(_UNTRUSTED) from None


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
        raise _refusal(error) from None


def _check_claims(token: str, issuer: Issuer) -> None:
    """Refuses what no signature could make good; gives nothing back, since nothing of it is verified."""
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
        raise _refusal(error) from None


def _refusal(error: exceptions.InvalidTokenError) -> BadTokenError:
    if isinstance(error, exceptions.MissingRequiredClaimError):
        return BadTokenError(f"The token has no {error.claim}.")
    return BadTokenError(_MESSAGES.get(type(error), _UNTRUSTED))
