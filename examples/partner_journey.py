"""A partner's journey: find a locker, reserve it for a recipient, check in, release. Every step prints its price.

Run it beside `make serve`, with the token of a partner of the demo data:

    .venv/bin/smartlocker token --role partner --owner owner-0001 --scope reservations:read --scope reservations:write
    python examples/partner_journey.py http://127.0.0.1:8000/graphql owner-0001 TOKEN
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

FIND = """query Find($window: TimeSpan!) {
  locations(status: ACTIVE, first: 3) {
    nodes { name availableLockers(window: $window, first: 1) { lockers { lockerId alias size } } }
  }
}"""
RESERVE = """mutation Reserve($input: CreateReservationInput!) {
  createReservation(input: $input) {
    reservation { lockerId reservationId reference status version details { recipient { name } } }
    userErrors { code message }
  }
}"""
START = """mutation Start($input: StartReservationInput!) {
  startReservation(input: $input) { reservation { status version startedAt } userErrors { code message } }
}"""
RELEASE = """mutation Release($input: ReleaseReservationInput!) {
  releaseReservation(input: $input) { reservation { status version endedAt } userErrors { code message } }
}"""


class Partner:
    """Sends requests with a partner's credentials."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token

    def send(self, step: str, document: str, **variables: Any) -> dict[str, Any]:
        """The data of a response; prints what the step cost."""
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "SmartLocker-Cost": "1",
        }
        body = json.dumps({"query": document, "variables": variables}).encode()
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310  # the URL is the user's own
        try:
            with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310  # as above
                answer = json.load(response)
        except urllib.error.HTTPError as error:  # such as 401: the body says why
            answer = json.load(error)
        except urllib.error.URLError as error:
            raise SystemExit(f"{step}: {self._url} cannot be reached: {error.reason}") from error
        if "errors" in answer:
            raise SystemExit(f"{step}: {answer['errors'][0]['message']}")
        cost = answer["extensions"]["cost"]
        price = cost.get("actual") or cost["expected"]
        print(f"{step}: {price['readUnits']:g} read units, {price['writeUnits']:g} write units")
        data: dict[str, Any] = answer["data"]
        return data

    def change(self, step: str, document: str, **values: Any) -> dict[str, Any]:
        """The reservation after a mutation that must succeed."""
        (payload,) = self.send(step, document, input=values).values()
        for error in payload["userErrors"]:
            raise SystemExit(f"{step}: {error['code']}: {error['message']}")
        reservation: dict[str, Any] = payload["reservation"]
        return reservation


def main(url: str, owner: str, token: str) -> None:
    """Takes the whole journey."""
    partner = Partner(url, token)
    now, order = datetime.now(UTC), f"order-{uuid4().hex[:8]}"
    start, end = now.isoformat(), (now + timedelta(minutes=10)).isoformat()
    locations = partner.send("find", FIND, window={"from": start, "to": end})["locations"]["nodes"]
    free = [locker["lockerId"] for location in locations for locker in location["availableLockers"]["lockers"]]
    if not free:
        raise SystemExit("find: no locker is free here")
    place = {"lockerId": free[0], "reservationId": order}
    window = {"startAt": start, "endAt": end}
    recipient = {"name": "Rita Rossi", "email": "rita@example.com"}
    partner.change("reserve", RESERVE, **place, ownerId=owner, **window, reference=order, recipient=recipient)
    partner.change("check in", START, **place, changeId="check-in")
    released = partner.change("release", RELEASE, **place, changeId="release")
    print(f"{order} at {free[0]}: {released['status']}")


if __name__ == "__main__":
    if len(sys.argv) != len(("program", "url", "owner", "token")):
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
