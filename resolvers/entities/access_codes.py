"""Access codes: the type, its lists and its mutations. Only the payloads of three mutations have digits."""

from typing import Any

import strawberry

from domain.access_codes import AccessCode as Record
from domain.access_codes import AccessCodeKind, AccessCodeState, CodeId, DeviceStatus, check_door
from domain.authorization import Principal, Scope, acts_for
from domain.commands import access_codes as commands
from domain.ids import check_id
from domain.models import Locker as LockerRecord
from domain.times import Instant
from loaders.contracts.access_codes import (
    ACCESS_CODE_BY_ID,
    CHANGE_ACCESS_CODE,
    CREATE_ACCESS_CODE,
)
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.writes import access_codes as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Node
from resolvers.bindings.base import Charge, bound_field, column, described, embedded
from resolvers.bindings.references import Visibility
from resolvers.bindings.rules import AS_OBJECT, CODE_CHANGES, CODES
from resolvers.entities.base import entity
from resolvers.entities.bindings.access_codes import CodeValidity, ValidityOf
from resolvers.request_state import RequestState


def _permits(principal: Principal, record: Record, locker: LockerRecord | None) -> bool:
    """A code is visible to the owner of what it is for, and to the owner of the locker."""
    return acts_for(principal, record.owner_id if locker is None else locker.owner_id, Scope.CODES_READ)


@described
class AccessCodeReveal:
    """A reveal of the digits of an access code."""

    revealed_at: Instant = column("Time of the reveal.")
    revealed_by: str | None = column(
        "Subject of the caller who asked for the digits. Null for callers who do not act for the owner of the code."
    )


@entity(CodeValidity)
class AccessCodeValidity:
    """When an access code opens its door. It follows the reservation or the booking of the code."""

    state: AccessCodeState = column("State of the code now, with the grace period after a reservation.")
    valid_from: Instant | None = column("Start of the validity.")
    valid_until: Instant | None = column(
        "End of the validity; null if it has none. A code of a reservation that ends by itself stays active for a "
        "grace period of 15 more minutes, or until another reservation begins."
    )
    device_status: DeviceStatus | None = column(
        "Whether the device of the door has the code in its offline list; null if no device is provisioned."
    )
    needs_reveal: bool = column(
        "Whether the digits became void because a device of the door was lost: reveal or rotate the code to get others."
    )


def _manages(record: Record, request: RequestState) -> bool:
    """Whether the caller acts for the owner of the code, and is not merely the owner of the locker or its device."""
    scopes = (Scope.CODES_READ, Scope.CODES_WRITE)
    return any(acts_for(request.principal, record.owner_id, scope) for scope in scopes)


def _private(name: str, description: str) -> Any:
    """A column that only who acts for the owner of the code sees."""
    text = f"{description} Null for callers who do not act for the owner of the code, such as the owner of the locker."
    return column(text, lambda record, request: getattr(record, name) if _manages(record, request) else None)


def _reveals(record: Record, request: RequestState) -> list[AccessCodeReveal]:
    parts, is_shown = [reveal.split(" ", 2) for reveal in record.reveals], _manages(record, request)
    return [
        AccessCodeReveal(revealed_at=Instant(time), revealed_by=subject if is_shown else None)
        for time, _, subject in parts
    ]


VISIBLE_CODES = Visibility(LOCKER_BY_ID, "locker_id", _permits)


@entity(
    Record,
    node={
        "contract": ACCESS_CODE_BY_ID,
        "key": {"door": check_door, "code_id": lambda text: CodeId(check_id(text))},
        "rule": CODES.decided_by_result(),
        "visible": VISIBLE_CODES,
    },
)
class AccessCode(Node):
    """A code that opens a door. Its digits are shown only by the mutations that create, rotate and reveal it."""

    code_id: strawberry.ID = column("Id of the code, unique for its door.")
    locker_id: strawberry.ID | None = column(
        "Id of the locker that the code opens; null if it opens a location's door."
    )
    location_id: strawberry.ID | None = column("Id of the location whose door the code opens.")
    kind: AccessCodeKind = column("Purpose of the code.")
    owner_id: strawberry.ID = column("Id of the owner of the reservation, the booking or the locker.")
    reservation_id: strawberry.ID | None = column("Id of the reservation that the code is for.")
    booking_id: strawberry.ID | None = column("Id of the booking that the code is for.")
    label: str | None = _private("label", "Note for people, such as the name of the holder.")
    length: int = column("Number of digits.")
    max_uses: int | None = column("How often the code can be used; null if there is no limit.")
    uses: int = column("How often the code was used.")
    last_used_at: Instant | None = column("Time of the last use.")
    rotation: int = column("Incremented when the digits are replaced.")
    created_at: Instant = column("Time at which the code was created.")
    created_by: str | None = _private("created_by", "Subject of the caller who created the code.")
    updated_at: Instant = column("Time at which the code was last rotated or revoked.")
    revoked_at: Instant | None = column("Time at which the code was revoked; null if it was not.")
    reveals: list[AccessCodeReveal] = embedded("The latest ten reveals of the digits.", _reveals, most=10)
    validity: AccessCodeValidity | None = bound_field(
        ValidityOf(rule=AS_OBJECT), "Whether and when the code opens its door, as of now."
    )


def _repeat_charges(_: str | None) -> list[Charge]:
    """The price of recording that another credential of the caller was shown the digits of a code."""
    condition = "only where another credential of the caller repeats the request"
    return [
        Charge(CHANGE_ACCESS_CODE, request.operation, maximum=request.maximum, condition=condition)
        for request in CHANGE_ACCESS_CODE.costs(None, 1)
    ]


_DIGITS = "The digits; null if the mutation failed, or if a repeated request is not the first caller's own."


@mutations(commands, writes)
class AccessCodeMutations:
    create_access_code: AccessCode = write(
        CREATE_ACCESS_CODE,
        CODE_CHANGES,
        more=("code_id", _repeat_charges),
        returns="The code; null if it was not created.",
        secret=("digits", _DIGITS),
        description="Create an access code for a reservation, an approved booking or a locker.",
    )
    rotate_access_code: AccessCode = write(
        CHANGE_ACCESS_CODE,
        CODE_CHANGES,
        returns="The code; null if it was not rotated.",
        secret=("digits", _DIGITS),
        description="Replace the digits of an access code.",
    )
    reveal_access_code: AccessCode = write(
        CHANGE_ACCESS_CODE,
        CODE_CHANGES,
        returns="The code; null if it was not revealed.",
        secret=("digits", "The digits; null if the mutation failed."),
        description="Show the digits of an access code. Who asks is recorded first.",
    )
    revoke_access_code: AccessCode = write(
        CHANGE_ACCESS_CODE,
        CODE_CHANGES,
        returns="The revoked code; null if it was not revoked.",
        description="Revoke an access code permanently.",
    )
