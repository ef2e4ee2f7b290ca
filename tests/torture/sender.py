"""Sends requests over a connection of its own, and records the outcome of each."""

import asyncio
import json
import re
import time
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from tests.api import mutation
from tests.torture.model import FALSE_CONFLICT, INTERNAL_ERROR, OK, Finding, Model, Request

LOST = "NO_ANSWER"
REFUSED = "NO_CONNECTION"
INTERNAL = "INTERNAL_SERVER_ERROR"
UNKNOWN = {LOST, REFUSED, INTERNAL, "UNAVAILABLE", "TIMEOUT"}
LONGEST_SECONDS = 30
DOCUMENTS = {
    name: mutation(name, shown)
    for names, shown in (
        ("createOwner updateOwner", "owner { ownerId name version }"),
        (
            "registerLocker renameLocker updateLockerStatus transferLocker",
            "locker { lockerId alias status ownerId version updatedAt }",
        ),
        ("createReservation cancelReservation extendReservation", "reservation { reservationId startAt endAt status }"),
        ("recordAccessEvent", "accessEvent { eventId timestamp }"),
        ("recordAccessEvents", "accessEvents { eventId timestamp }"),
        ("createLocation", "location { locationId version }"),
        ("requestBooking approveBooking cancelBooking", "booking { bookingId status version }"),
        ("createApiKey", "apiKey { keyId } secret"),
    )
    for name in names.split()
}
DOCUMENTS["locker"] = "query ($input: ID!) { locker(lockerId: $input) { lockerId alias status ownerId version } }"
DOCUMENTS["active"] = "query ($input: ID!) { locker(lockerId: $input) { activeReservation { reservationId } } }"
_HEAD = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]+)\r\n", re.IGNORECASE)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a request; `sends` says how often it may have reached a server."""

    code: str
    payload: Any
    errors: list[dict[str, Any]]
    sends: int = 1

    @property
    def is_version_conflict(self) -> bool:
        return any(error["__typename"] == "VersionConflictError" for error in self.errors)


class Sender:
    """Without an answer it goes to the next server."""

    def __init__(self, name: str, ports: list[int], model: Model) -> None:
        self.name = name
        self.model = model
        self._chance = Random(name)
        self._ports = ports
        self._port = self._chance.randrange(len(ports))
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, name: str, values: Any) -> Outcome:
        body = json.dumps({"query": DOCUMENTS[name], "variables": {"input": values}}).encode()
        start = time.monotonic()
        payload: Any = None
        errors: list[dict[str, Any]] = []
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                answer = json.loads(await self._post(body))
        except ConnectionRefusedError:
            code = REFUSED
        except (OSError, EOFError, TimeoutError):
            code = LOST
        else:
            if "errors" in answer:
                code = answer["errors"][0]["extensions"]["code"]
            else:
                (payload,) = answer["data"].values()
                errors = payload.pop("userErrors", []) if payload else []
                code = errors[0]["code"] if errors else OK
        self.model.requests.append(Request(start, time.monotonic() - start, name, code))
        if code in {LOST, REFUSED}:
            self.hang_up()
        if code == INTERNAL:
            self.model.findings.append(Finding(INTERNAL_ERROR, name, str(values)))
        return Outcome(code, payload, errors, 0 if code == REFUSED else 1)

    async def settle(self, name: str, values: Any) -> Outcome:
        """Sends a request until its outcome is known."""
        sends = 0
        while True:
            outcome = await self.send(name, values)
            sends += outcome.sends
            if outcome.code not in UNKNOWN:
                return Outcome(outcome.code, outcome.payload, outcome.errors, sends)
            await asyncio.sleep(self._chance.uniform(0.05, 0.2))

    async def must(self, name: str, /, **values: Any) -> Any:
        """The result that a request must return; None if it fails."""
        outcome = await self.settle(name, values)
        if outcome.code == OK:
            return next(iter(outcome.payload.values()))
        self._find(FALSE_CONFLICT, name, outcome)
        return None

    def _find(self, kind: str, name: str, outcome: Outcome) -> None:
        self.model.findings.append(Finding(kind, name, f"{self.name}: {asdict(outcome)}"))

    async def _post(self, body: bytes) -> bytes:
        if self._connection is None:
            self._connection = await asyncio.open_connection("127.0.0.1", self._ports[self._port])
        reader, writer = self._connection
        writer.write(_HEAD.format(len(body)).encode() + body)
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        assert length is not None, head
        return await reader.readexactly(int(length[1]))

    def hang_up(self) -> None:
        """Closes the connection; the next request goes to the next server."""
        self._port = (self._port + 1) % len(self._ports)
        if self._connection is not None:
            self._connection[1].close()
            self._connection = None
