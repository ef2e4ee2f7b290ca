"""Conversion of token claims to a principal and back."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from domain.authorization import Principal, Role, Scope
from domain.ids import check_id, check_subject
from domain.models import LocationId, LockerId, OwnerId
from server.http_errors import InvalidCredentialsError
from server.settings import ClaimName

T = TypeVar("T")


def principal_from(claims: Mapping[str, Any], names: Mapping[ClaimName, str]) -> Principal:
    """The principal of a verified token; `names` are the issuer's names of claims that differ from SmartLocker's.

    Raises:
        InvalidCredentialsError: if a claim is missing or invalid.
    """
    read = _Claims(claims, names)
    subject = read.subject()
    role = read.role()
    match role:
        case Role.OWNER:
            owner_id, organizations = OwnerId(read.required_id("ownerId")), read.owner_ids("organizations")
            return Principal(subject=subject, role=role, owner_id=owner_id, organizations=organizations)
        case Role.PARTNER:
            partner_of, scopes = read.owner_ids("partnerOf"), read.scopes()
            if not partner_of or not scopes:
                message = f"A partner's token needs the claims {read.name('partnerOf')} and {read.name('scope')}."
                raise InvalidCredentialsError(message)
            return Principal(subject=subject, role=role, partner_of=partner_of, scopes=scopes)
        case Role.DEVICE:
            locker_id = read.optional_id("lockerId", LockerId)
            location_id = read.optional_id("locationId", LocationId)
            if (locker_id is None) is (location_id is None):
                message = f"A device's token needs either {read.name('lockerId')} or {read.name('locationId')}."
                raise InvalidCredentialsError(message)
            return Principal(subject=subject, role=role, locker_id=locker_id, location_id=location_id)
        case Role.SUPPORT:
            return Principal(subject=subject, role=role)
        case Role.ADMIN:
            # An admin may also be an owner.
            return Principal(subject=subject, role=role, owner_id=read.optional_id("ownerId", OwnerId))


def claims_of(principal: Principal) -> dict[str, Any]:
    """The claims of a principal: the inverse of `principal_from`."""
    claims = {
        "sub": principal.subject,
        "role": str(principal.role),
        "ownerId": principal.owner_id,
        "organizations": sorted(principal.organizations),
        "partnerOf": sorted(principal.partner_of),
        "lockerId": principal.locker_id,
        "locationId": principal.location_id,
        "scope": " ".join(sorted(principal.scopes)),
    }
    return {name: value for name, value in claims.items() if value}


class _Claims:
    """The claims of a token by SmartLocker's names."""

    def __init__(self, claims: Mapping[str, Any], names: Mapping[ClaimName, str]) -> None:
        self._claims = claims
        self._names = names

    def name(self, claim: ClaimName) -> str:
        return self._names.get(claim, claim)

    def subject(self) -> str:
        try:
            return check_subject(str(self._claims["sub"]))
        except ValueError as error:
            raise InvalidCredentialsError(f"The token's claim sub {error}.") from None

    def role(self) -> Role:
        try:
            return Role(self._value("role"))
        except ValueError:
            roles = ", ".join(Role)
            raise InvalidCredentialsError(f"The token's claim {self.name('role')} must be one of {roles}.") from None

    def required_id(self, claim: ClaimName) -> str:
        return self._checked(claim, self._value(claim))

    def optional_id(self, claim: ClaimName, kind: Callable[[str], T]) -> T | None:
        return None if self._value(claim) is None else kind(self.required_id(claim))

    def owner_ids(self, claim: ClaimName) -> frozenset[OwnerId]:
        """A list of ids; a single id counts as a list."""
        value = self._value(claim)
        values = value if isinstance(value, list) else [] if value is None else [value]
        return frozenset(OwnerId(self._checked(claim, each)) for each in values)

    def scopes(self) -> frozenset[Scope]:
        """SmartLocker's scopes; an issuer may add those of other services."""
        value = self._value("scope")
        words = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
        return frozenset(scope for scope in Scope if scope.value in words)

    def _value(self, claim: ClaimName) -> Any:
        return self._claims.get(self.name(claim))

    def _checked(self, claim: ClaimName, value: Any) -> str:
        try:
            return check_id(value)
        except (ValueError, TypeError):
            raise InvalidCredentialsError(f"The token's claim {self.name(claim)} must be a valid id.") from None
