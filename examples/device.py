"""A lock that opens with access codes, with the server or without it. It needs nothing but Python.

    export LOCKER=locker-000001 STATE=lock.json URL=http://127.0.0.1:8000/graphql KEY=slk_…
    python device.py provision 1     # once, with the token of the locker's owner or of an admin in KEY
    python device.py sync            # regularly, with the device's API key in KEY; also reports offline uses
    python device.py enter 123456    # prints OPEN or CLOSED

With LOCATION=01HDEM… in place of LOCKER it is the lock of a location's door, which an admin provisions.
Without the server the lock uses the list of its last sync, and counts failures itself: nobody else does then.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import urllib.error
import urllib.request
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

MAX_FAILURES = 5
FAILURE_WINDOW = timedelta(minutes=15)
_LATER = {429, 502, 503, 504}

PROVISION = """mutation Provision($input: ProvisionDeviceInput!) {
  provisionDevice(input: $input) { deviceKey userErrors { message } }
}"""
CODES = """query Codes($id: ID!) {
  %s { accessCodeList {
    revision refreshBefore codes { codeId digitsMac validFrom validUntil usesLeft }
  } }
}"""
ACKNOWLEDGE = """mutation Acknowledge($input: AcknowledgeAccessCodesInput!) {
  acknowledgeAccessCodes(input: $input) { acknowledgedRevision userErrors { message } }
}"""
VERIFY = """mutation Verify($input: VerifyAccessCodeInput!) {
  verifyAccessCode(input: $input) { decision codeId userErrors { message } }
}"""
REPORT = """mutation Report($input: ReportAccessCodeUseInput!) {
  reportAccessCodeUse(input: $input) { accessCode { uses } userErrors { message } }
}"""


class AwayError(Exception):
    """The server cannot be reached, or cannot answer now."""


class Lock:
    """One lock: its state survives a restart in a file that only its user can read."""

    def __init__(self, url: str, key: str, door: dict[str, str], path: Path) -> None:
        self._url, self._key, self._door, self._path = url, key, door, path
        self._state: dict[str, Any] = {"codes": [], "uses": [], "failures": []}
        if path.exists():
            self._state = json.loads(path.read_text())

    def provision(self, generation: int) -> None:
        """Gets the key of this device, which is shown once."""
        payload = self._mutate(PROVISION, generation=generation)
        self._state |= {"device_key": payload["deviceKey"], "codes": []}
        self._save()

    def sync(self) -> None:
        """Reports what was opened without the server, then takes the present list."""
        self._report()
        ((name, door_id),) = self._door.items()
        place = f"{name.removesuffix('Id')}({name}: $id)"
        (place_found,) = self._ask(CODES % place, id=door_id).values()
        found = place_found["accessCodeList"]
        self._state |= {"codes": found["codes"], "failures": []}
        self._save()
        self._mutate(ACKNOWLEDGE, revision=found["revision"])

    def enter(self, digits: str) -> bool:
        """Whether digits open the lock: the server decides, or the list if the server is away."""
        attempt_id = str(uuid.uuid4())
        try:
            self._report()  # else a code with one use would open once more
            payload = self._mutate(VERIFY, digits=digits, attemptId=attempt_id)
        except AwayError:
            return self._enter_offline(digits, attempt_id)
        for code in self._state["codes"]:
            if code["codeId"] == payload["codeId"]:
                self._use(code)
        return bool(payload["decision"] == "GRANTED")

    def _report(self) -> None:
        for use in list(self._state["uses"]):
            try:
                self._mutate(REPORT, **use)
            except SystemExit as refusal:  # such as of a time that is yet to come; it is sent again
                sys.stderr.write(f"a use is not reported: {refusal}\n")
                continue
            self._state["uses"].remove(use)
            self._save()

    def _enter_offline(self, digits: str, attempt_id: str) -> bool:
        now = datetime.now(UTC)
        recent = [time for time in self._state["failures"] if datetime.fromisoformat(time) > now - FAILURE_WINDOW]
        if len(recent) >= MAX_FAILURES:
            return False
        code = next((code for code in self._state["codes"] if self._matches(code, digits, now)), None)
        if code is None:
            self._state["failures"] = [*recent, now.isoformat()]
            self._save()
            return False
        # The server may have granted the attempt: with its id, the use counts once.
        self._state["uses"].append({"codeId": code["codeId"], "eventId": attempt_id, "usedAt": now.isoformat()})
        self._use(code)
        return True

    def _use(self, code: dict[str, Any]) -> None:
        if code["usesLeft"] is not None:
            code["usesLeft"] -= 1
        self._save()  # before the door opens: a lock that is switched off must not forget a use

    def _matches(self, code: dict[str, Any], digits: str, now: datetime) -> bool:
        message = f"{code['codeId']}\n{digits}".encode()
        mac = hmac.new(bytes.fromhex(self._state["device_key"]), message, hashlib.sha256).hexdigest()
        is_valid = datetime.fromisoformat(code["validFrom"]) <= now < datetime.fromisoformat(code["validUntil"])
        return hmac.compare_digest(mac, code["digitsMac"]) and is_valid and code["usesLeft"] != 0

    def _mutate(self, document: str, **values: Any) -> dict[str, Any]:
        data = self._ask(document, input=self._door | values)
        payload: dict[str, Any] = next(iter(data.values()))
        if payload["userErrors"]:
            raise SystemExit(payload["userErrors"][0]["message"])
        return payload

    def _ask(self, document: str, **variables: Any) -> dict[str, Any]:
        body = json.dumps({"query": document, "variables": variables}).encode()
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310  # the operator sets the URL
        try:
            with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310  # as above
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            if error.code in _LATER:
                raise AwayError from error
            raise SystemExit(f"the server answers {error.code}") from error  # it is there, and refuses this device
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            raise AwayError from error
        if "errors" in answer:
            if answer["errors"][0].get("extensions", {}).get("code") in {"UNAVAILABLE", "TIMEOUT"}:
                raise AwayError
            raise SystemExit(answer["errors"][0]["message"])
        data: dict[str, Any] = answer["data"]
        return data

    def _save(self) -> None:
        new = self._path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(json.dumps(self._state))
        new.replace(self._path)


def main() -> None:
    """Runs one command."""
    if (
        len(sys.argv) == 1
        or not {"URL", "STATE"} <= os.environ.keys()
        or not {"LOCKER", "LOCATION"} & os.environ.keys()
    ):
        raise SystemExit(__doc__)
    command, *values = sys.argv[1:]
    location = os.environ.get("LOCATION")
    door = {"lockerId": os.environ["LOCKER"]} if location is None else {"locationId": location}
    lock = Lock(os.environ["URL"], os.environ.get("KEY", ""), door, Path(os.environ["STATE"]))
    if command == "provision":
        lock.provision(int(values[0]))
    elif command == "sync":
        lock.sync()
    elif command == "enter":
        sys.stdout.write("OPEN\n" if lock.enter(values[0]) else "CLOSED\n")


if __name__ == "__main__":
    main()
