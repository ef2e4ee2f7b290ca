"""From a token's claims to a principal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from domain.models import LockerId, OwnerId
from domain.principal import Principal, Role, Scope
from domain.text import check_id

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BadTokenError", "ClaimName", "claims_of", "principal_from"]

ClaimName: TypeAlias = Literal["role", "ownerId", "organizations", "partnerOf", "lockerId", "scope"]
_LONGEST_SUBJECT = 255


class BadTokenError(Exception):
    """The token is refused; the message is for whoever sent it, and holds nothing of the token."""


def principal_from(claims: Mapping[str, Any], names: Mapping[ClaimName, str]) -> Principal:
    """Who the claims of a verified token speak of.

    Args:
        claims: what the token says.
        names: how the issuer calls a claim, where that is not as it is called here.
    """
    read = _Claims(claims, names)
    subject = read.subject()
    role = read.role()
    match role:
        case Role.OWNER:
            owner_id = OwnerId(read.required_id("ownerId"))
            organizations = frozenset(map(OwnerId, read.ids("organizations")))
            return Principal(subject=subject, role=role, owner_id=owner_id, organizations=organizations)
        case Role.PARTNER:
            partner_of = frozenset(map(OwnerId, read.ids("partnerOf")))
            scopes = read.scopes()
            if not partner_of or not scopes:
                raise BadTokenError(f"A partner's token needs the claims {read.name('partnerOf')} and scope.")
            return Principal(subject=subject, role=role, partner_of=partner_of, scopes=scopes)
        case Role.DEVICE:
            return Principal(subject=subject, role=role, locker_id=LockerId(read.required_id("lockerId")))
        case Role.ADMIN:
            return Principal(subject=subject, role=role)


def claims_of(principal: Principal) -> dict[str, Any]:
    """The claims that speak of a principal: the opposite of `principal_from`."""
    claims = {
        "sub": principal.subject,
        "role": str(principal.role),
        "ownerId": principal.owner_id,
        "organizations": sorted(principal.organizations),
        "partnerOf": sorted(principal.partner_of),
        "lockerId": principal.locker_id,
        "scope": " ".join(sorted(principal.scopes)),
    }
    return {name: value for name, value in claims.items() if value}


class _Claims:
    """A token's claims by our own names for them."""

    def __init__(self, claims: Mapping[str, Any], names: Mapping[ClaimName, str]) -> None:
        self._claims = claims
        self._names = names

    def name(self, claim: ClaimName) -> str:
        return self._names.get(claim, claim)

    def subject(self) -> str:
        subject = str(self._claims["sub"])
        if not (subject.isprintable() and 1 <= len(subject) <= _LONGEST_SUBJECT):
            raise BadTokenError(f"The token's claim sub must have 1 to {_LONGEST_SUBJECT} printable characters.")
        return subject

    def role(self) -> Role:
        try:
            return Role(self._value("role"))
        except ValueError:
            roles = ", ".join(Role)
            raise BadTokenError(f"The token's claim {self.name('role')} must be one of {roles}.") from None

    def required_id(self, claim: ClaimName) -> str:
        return self._checked(claim, self._value(claim))

    def ids(self, claim: ClaimName) -> list[str]:
        """Several ids; a single one may stand for itself."""
        value = self._value(claim)
        values = value if isinstance(value, list) else [] if value is None else [value]
        return [self._checked(claim, each) for each in values]

    def scopes(self) -> frozenset[Scope]:
        """The scopes that are known here: an issuer has others for other services."""
        value = self._value("scope")
        words = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
        return frozenset(scope for scope in Scope if scope.value in words)

    def _value(self, claim: ClaimName) -> Any:
        return self._claims.get(self.name(claim))

    def _checked(self, claim: ClaimName, value: Any) -> str:
        try:
            return check_id(value)
        except (ValueError, TypeError):
            raise BadTokenError(f"The token's claim {self.name(claim)} must be the id that it has here.") from None
