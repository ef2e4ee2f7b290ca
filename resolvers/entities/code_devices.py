"""Access codes at a door: the list for its device, lockouts, and the mutations of devices."""

from typing import Any

import strawberry

from domain.access_codes import MAX_LIVE_CODES, AccessDecision, CodeList, ListedCode
from domain.access_codes import Lockout as LockoutRecord
from domain.commands import access_codes as commands
from domain.times import Instant
from loaders.contracts.access_codes import (
    ACKNOWLEDGE_ACCESS_CODES,
    CLEAR_LOCKOUT,
    PROVISION_DEVICE,
    REPORT_ACCESS_CODE_USE,
    VERIFY_ACCESS_CODE,
)
from loaders.writes import code_devices, verification
from resolvers.api.mutations import mutations, write
from resolvers.api.payloads import Payload, written
from resolvers.bindings.base import bound_field, column, described, embedded
from resolvers.bindings.rules import CODE_CHANGES, DOOR_DEVICES, LOCKOUT_CLEARING, Rule
from resolvers.entities.access_codes import AccessCode
from resolvers.entities.base import entity
from resolvers.entities.bindings.access_codes import CodeListOf


@entity(LockoutRecord)
class Lockout:
    """The failed attempts at a door. After 5 failures in 15 minutes it refuses all codes for a while."""

    failures: list[Instant] = column("Times of recent failures that have not led to a lockout.")
    locked_until: Instant | None = column("End of the current or the latest lockout.")
    lockouts: int = column("Number of lockouts in a row; each lasts twice as long as the one before, an hour at most.")


@entity(ListedCode)
class ListedAccessCode:
    """An access code as the device of its door has it."""

    code_id: strawberry.ID = column("Id of the code.")
    digits_mac: str = column(
        "HMAC-SHA-256 with the key of the device, in hexadecimal, of the code id, a line feed and the digits. "
        "Anyone who has that key can find the digits by trying all of them."
    )
    valid_from: Instant = column("Time from which the code opens the door.")
    valid_until: Instant = column(
        "Time until which the code opens the door, with the grace period after a reservation; at most 72 hours ahead."
    )
    uses_left: int | None = column("How often the code can still be used; null if there is no limit.")


@entity(CodeList)
class AccessCodeList:
    """The access codes of a door that are valid within 72 hours, for its device to use without the server."""

    revision: str = column("Changes with the list. Acknowledge it once the list is stored.")
    generation: int = column("Generation of the device whose key the list is for.")
    refresh_before: Instant = column("Time before which the device should read the list again.")
    codes: list[ListedAccessCode] = embedded("The codes.", most=MAX_LIVE_CODES)


def code_list(key: str, rule: Rule, description: str) -> Any:
    return bound_field(CodeListOf(contract=ACKNOWLEDGE_ACCESS_CODES, key=key, rule=rule), description)


@described
class VerifyAccessCodePayload(Payload):
    """Return type of `verifyAccessCode`."""

    decision: AccessDecision | None = column("Whether to open the door; null if there are errors.", written("decision"))
    code_id: strawberry.ID | None = column("Id of the code that was granted.", written("code_id"))
    locked_until: Instant | None = column("Time until which the door refuses all codes.", written("locked_until"))


@described
class ProvisionDevicePayload(Payload):
    """Return type of `provisionDevice`."""

    generation: int | None = column("Generation of the device; null if it was not provisioned.", written("generation"))
    device_key: str | None = column(
        "Key of the device in hexadecimal. Store it in the device: it is never shown again once the device has "
        "acknowledged a list.",
        written("device_key"),
    )


@described
class AcknowledgeAccessCodesPayload(Payload):
    """Return type of `acknowledgeAccessCodes`."""

    acknowledged_revision: str | None = column(
        "Revision of the list that the device has; null if there are errors.", written("acknowledged_revision")
    )


@mutations(commands, code_devices, verification)
class CodeDeviceMutations:
    verify_access_code: VerifyAccessCodePayload = write(
        VERIFY_ACCESS_CODE,
        DOOR_DEVICES,
        description="Decide whether digits that were entered at a door open it. For the device of the door.",
    )
    provision_device: ProvisionDevicePayload = write(
        PROVISION_DEVICE,
        CODE_CHANGES,
        description="Begin a new generation of a door's device and get the key that protects its list of codes. For "
        "the owner of the locker; a location's door requires an admin.",
    )
    acknowledge_access_codes: AcknowledgeAccessCodesPayload = write(
        ACKNOWLEDGE_ACCESS_CODES,
        DOOR_DEVICES,
        description="Confirm that the device of a door has stored its list of codes. For the device.",
    )
    report_access_code_use: AccessCode = write(
        REPORT_ACCESS_CODE_USE,
        DOOR_DEVICES,
        returns="The code; null if the use was not counted.",
        description="Report that the device of a door opened it by its own list. Each event id counts once. For the "
        "device.",
    )
    clear_lockout: Lockout = write(
        CLEAR_LOCKOUT,
        LOCKOUT_CLEARING,
        returns="The lockout record, without failures; null if it was not cleared.",
        description="End the lockout of a door and forget its failed attempts. For the owner of the locker and "
        "support; a location's door requires an admin or support.",
    )
