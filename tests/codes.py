"""Access codes as clients use them."""

import hashlib
import hmac
import re
from collections import Counter
from typing import Any

from tests.api import Api, mutation
from tests.principals import device

CODE = """accessCode {
  codeId lockerId locationId kind ownerId reservationId bookingId length maxUses uses rotation revokedAt
  reveals { revealedBy } validity { state validFrom validUntil needsReveal }
} digits"""
CREATE = mutation("createAccessCode", CODE)
ROTATE = mutation("rotateAccessCode", CODE)
REVEAL = mutation("revealAccessCode", CODE)
REVOKE = mutation("revokeAccessCode", CODE.removesuffix("digits"))
VERIFY = mutation("verifyAccessCode", "decision codeId lockedUntil")
CLEAR = mutation("clearLockout", "lockout { failures lockedUntil lockouts }")
PROVISION = mutation("provisionDevice", "generation deviceKey")
ACKNOWLEDGE = mutation("acknowledgeAccessCodes", "acknowledgedRevision")
REPORT = mutation("reportAccessCodeUse", "accessCode { codeId uses validity { state deviceStatus } }")

START, END = "2026-03-01T11:00:00.000Z", "2026-03-01T13:00:00.000Z"
"""The tests' present is in the middle of this reservation."""


CODE_LIST = """revision generation refreshBefore
  codes { codeId digitsMac validFrom validUntil usesLeft }"""


class Device:
    """A device with its key, as the locker or the location of its door uses it."""

    def __init__(self, api: Api, key: str, **door: str) -> None:
        ((name, self.place_id),) = door.items()
        self.api, self.key, self.door, self.kind = api, bytes.fromhex(key), door, name.removesuffix("Id")

    async def listed(self) -> dict[str, Any]:
        document = f"query ($id: ID!) {{ {self.kind}({self.kind}Id: $id) {{ accessCodeList {{ {CODE_LIST} }} }} }}"
        found: dict[str, Any] = (await self.api.run(document, id=self.place_id))[self.kind]["accessCodeList"]
        return found

    async def acknowledge(self, revision: str) -> list[dict[str, Any]]:
        """The errors of an acknowledgement."""
        payload = await self.api.mutate(ACKNOWLEDGE, **self.door, revision=revision)
        errors: list[dict[str, Any]] = payload["userErrors"]
        return errors

    def knows(self, found: dict[str, Any], digits: str) -> list[str]:
        """The codes of the list that have these digits."""
        return [
            code["codeId"]
            for code in found["codes"]
            if code["digitsMac"]
            == hmac.new(self.key, f"{code['codeId']}\n{digits}".encode(), hashlib.sha256).hexdigest()
        ]


async def furnish(api: Api) -> None:
    """A locker l1 of ada, which she has reserved now as r1, and another one, l2."""
    await api.owner("ada")
    await api.locker("l1", "ada")
    await api.locker("l2", "ada")
    await api.reservation("r1", "l1", "ada", START, END)


async def create(api: Api, code_id: str, kind: str = "RESERVATION", **values: Any) -> str:
    """The digits of a new code, by default one of the reservation r1."""
    defaults: dict[str, Any] = {"lockerId": "l1"}
    if kind == "RESERVATION":
        defaults["reservationId"] = "r1"
    elif kind in {"ONE_TIME", "COURIER"}:
        defaults["validUntil"] = "2026-03-01T20:00:00Z"
    digits: str = (await api.done(CREATE, codeId=code_id, kind=kind, **defaults | values))["digits"]
    return digits


async def verify(api: Api, digits: str, attempt_id: str, locker_id: str = "l1") -> str:
    """The decision that the device of a locker gets for digits."""
    values = {"lockerId": locker_id, "digits": digits, "attemptId": attempt_id}
    decision: str = (await api.by(device(locker_id)).done(VERIFY, **values))["decision"]
    return decision


_NO_WORDS = re.compile(
    r"""\\[nrt]                                                      # escapes, whose letter would hide what follows
    | \d{4}-\d\d-\d\d(?:[T ][0-9:.,]+)?                             # times and days
    | [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}  # UUIDs
    | \d+\.\d+(?:e[-+]?\d+)?                                        # decimals
    | slot\W*(?:S\W*)?\d{4}                                         # slots of reservations""",
    re.VERBOSE | re.IGNORECASE,
)
_WORDS = re.compile(r"(?<![0-9A-Za-z])(?:[0-9]{4}|[0-9]{6}|[0-9]{8})(?![0-9A-Za-z])")
MOST_CHANCE = 0.01


def check_no_digits(texts: dict[str, str], issued: set[str]) -> None:
    """None of these texts has one of these sequences of digits.

    Short sequences stand by chance in every long text of hashes and times, so they are looked for as whole words, and
    times, decimals, UUIDs and slots of reservations are no words. Each word that is left is one of the issued
    sequences of its length by chance with n(issued) / 10 ** length: these chances must be so small together that what
    is found is a leak.
    """
    lengths = Counter(map(len, issued))
    found = {name: set(_WORDS.findall(_NO_WORDS.sub(" ", text))) for name, text in texts.items()}
    assert all(texts.values())
    assert {name: words & issued for name, words in found.items() if words & issued} == {}
    chance = sum(lengths[len(word)] / 10 ** len(word) for words in found.values() for word in words)
    assert chance < MOST_CHANCE, (chance, found)


def without_values(metrics: str) -> str:
    """Metrics by their names and labels: a count may be any number."""
    return re.sub(r" \S+$", "", metrics, flags=re.MULTILINE)


def wrong(*digits: str) -> str:
    """Six digits that are none of these."""
    return next(text for text in map("{:06d}".format, range(100)) if text not in digits)
