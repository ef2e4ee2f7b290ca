"""Verification of bearer tokens (JWT)."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import jwt
from jwt import exceptions
from jwt.types import Options

from domain.authorization import Principal
from server.auth.claims import principal_from
from server.auth.development import DEVELOPMENT_ALGORITHM, DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER
from server.auth.jwks import ALGORITHMS, KeySource
from server.http_errors import InvalidCredentialsError
from server.settings import ClaimName

_LEEWAY_SECONDS = 30
_MAX_LENGTH = 8192
_WITH_SIGNATURE: Final[Options] = {"require": ["exp", "iss", "aud", "sub"]}
_WITHOUT_SIGNATURE: Final[Options] = {
    **_WITH_SIGNATURE,
    "verify_signature": False,
    "verify_exp": True,
    "verify_nbf": True,
    "verify_iat": True,
    "verify_iss": True,
    "verify_aud": True,
    "verify_sub": True,
    "verify_jti": True,
}
_TIMES: Final = ("exp", "nbf", "iat")
_LATEST_TIME: Final = 10**15
# The library does not expect a time that is infinite, which Python's JSON allows.
_INVALID: Final = (exceptions.InvalidTokenError, OverflowError)
_UNTRUSTED: Final = "The token is malformed or its signature is invalid."
_MAX_VERIFIED: Final = 10_000
_MESSAGES: Final[dict[type[Exception], str]] = {
    exceptions.ExpiredSignatureError: "The token has expired.",
    exceptions.ImmatureSignatureError: "The token is not valid yet.",
    exceptions.InvalidIssuerError: "The token is from another issuer.",
    exceptions.InvalidAudienceError: "The token is for another audience.",
    exceptions.InvalidAlgorithmError: "The token's algorithm is not allowed.",
}


@dataclass(frozen=True, slots=True)
class Issuer:
    name: str
    audience: str
    keys: KeySource
    claims: Mapping[ClaimName, str]


class _Verified(NamedTuple):
    principal: Principal
    key_id: str | None
    key: jwt.PyJWK


@dataclass(frozen=True, slots=True)
class TokenVerifier:
    """Verifies tokens of the issuer and, in development only, those of `smartlocker token`.

    A token of the issuer is verified once, and again when its key is replaced: checking a signature takes longer than
    answering a small query.
    """

    issuer: Issuer | None
    development_secret: Callable[[], str | None] | None
    _verified: OrderedDict[str, _Verified] = field(default_factory=OrderedDict)

    async def principal(self, token: str) -> Principal:
        """Raises an InvalidCredentialsError for a wrong token, an UnavailableError if its key cannot be fetched now."""
        known = self._verified.get(token)
        if known is not None:
            is_current = self.issuer is not None and self.issuer.keys.cached(known.key_id) is known.key
            if is_current and time.time() < (known.principal.expires_at or 0):
                self._verified.move_to_end(token)
                return known.principal
            del self._verified[token]
        if len(token) > _MAX_LENGTH:
            raise InvalidCredentialsError(f"The token is longer than {_MAX_LENGTH} characters.")
        header = _header(token)
        # The algorithm selects the keys; each kind of key has its own list of allowed algorithms.
        if header.get("alg") in ALGORITHMS and self.issuer is not None:
            key_id = header.get("kid")
            key = self.issuer.keys.cached(key_id) or await _fetched_key(self.issuer, key_id, token)
            claims = _decode(token, self.issuer.name, self.issuer.audience, key=key, algorithms=ALGORITHMS)
            principal = _principal(token, claims, self.issuer.claims)
            self._remember(token, _Verified(principal, key_id, key))
            return principal
        if header.get("alg") == DEVELOPMENT_ALGORITHM and self.development_secret is not None:
            secret = self.development_secret()
            if secret is None:
                raise InvalidCredentialsError(_UNTRUSTED)
            algorithms = (DEVELOPMENT_ALGORITHM,)
            claims = _decode(token, DEVELOPMENT_ISSUER, DEVELOPMENT_AUDIENCE, key=secret, algorithms=algorithms)
            return _principal(token, claims, {})
        raise InvalidCredentialsError(_MESSAGES[exceptions.InvalidAlgorithmError])

    def _remember(self, token: str, verified: _Verified) -> None:
        self._verified[token] = verified
        if len(self._verified) > _MAX_VERIFIED:
            self._verified.popitem(last=False)


def _principal(token: str, claims: Mapping[str, Any], names: Mapping[ClaimName, str]) -> Principal:
    return replace(
        principal_from(claims, names),
        credential=hashlib.sha256(token.encode()).hexdigest()[:16],
        expires_at=float(claims["exp"]) + _LEEWAY_SECONDS,
    )


async def _fetched_key(issuer: Issuer, key_id: str | None, token: str) -> jwt.PyJWK:
    # A token that no key can make valid must not cause a fetch. Its claims are not used: nothing is verified yet.
    _decode(token, issuer.name, issuer.audience, options=_WITHOUT_SIGNATURE)
    key = await issuer.keys.find(key_id)
    if key is None:
        raise InvalidCredentialsError("The token is signed with an unknown key.")
    return key


def _header(token: str) -> dict[str, Any]:
    try:
        return jwt.get_unverified_header(token)
    except exceptions.InvalidTokenError:
        raise InvalidCredentialsError(_UNTRUSTED) from None


def _decode(
    token: str,
    issuer: str,
    audience: str,
    *,
    key: jwt.PyJWK | str = "",
    algorithms: Sequence[str] = (),
    options: Options = _WITH_SIGNATURE,
) -> dict[str, Any]:
    """The claims of a token; without a key and an algorithm, no signature is accepted."""
    try:
        claims = jwt.decode(
            token, key, algorithms=algorithms, issuer=issuer, audience=audience, leeway=_LEEWAY_SECONDS, options=options
        )
    except _INVALID as error:
        raise _invalid_credentials(error) from None
    _check_times(claims)
    return claims


def _check_times(claims: Mapping[str, Any]) -> None:
    """The library also takes a time that is given as a string; RFC 7519 has numbers only, and no date is that far."""
    for name in _TIMES:
        if name not in claims:
            continue
        if isinstance(claims[name], bool) or not isinstance(claims[name], int | float):
            raise InvalidCredentialsError(f"The token's claim {name} must be a number.")
        if abs(claims[name]) > _LATEST_TIME:
            raise InvalidCredentialsError(f"The token's claim {name} is too large: it is in seconds since 1970.")


def _invalid_credentials(error: Exception) -> InvalidCredentialsError:
    if isinstance(error, exceptions.MissingRequiredClaimError):
        return InvalidCredentialsError(f"The token has no claim {error.claim}.")
    return InvalidCredentialsError(_MESSAGES.get(type(error), _UNTRUSTED))
