"""Prints what happens, as it happens. It needs nothing but Python.

    python watch.py                           # everything, with the token of an admin
    python watch.py locker locker-000001      # or: location 01HDEM…, owner owner-0001
    python watch.py owner owner-0001 RESERVATION_ENDED RESERVATION_OVERDUE

URL is the server, by default http://127.0.0.1:8000/graphql, and KEY a token or an API key. With STATE=watch.json it
continues, when it is started again, with what has happened meanwhile. While the server is away it waits; then it prints
what it has missed, each activity once.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DOCUMENT = """subscription Watch($after: String%s, $kinds: [ActivityKind!]) {
  %s(after: $after%s, kinds: $kinds) {
    activityId cursor occurredAt kind version
    lockerId locationId ownerId reservationId bookingId codeId keyId
    actor { role subject } changes { field from to }
  }
}"""
IDS = ("lockerId", "locationId", "ownerId", "reservationId", "bookingId", "codeId", "keyId")
AGAIN = timedelta(minutes=2)
"""How long an activity is remembered; it can come again within 30 seconds."""
SILENCE_SECONDS = 40
"""The server sends something every 12 seconds."""


class Watch:
    """One subscription, however often it is begun, with the cursor to go on from."""

    def __init__(self, url: str, key: str, place: list[str], kinds: list[str], state: Path | None) -> None:
        self._url, self._key, self._state = url, key, state
        self._variables: dict[str, Any] = {"kinds": kinds or None}
        self._document = DOCUMENT % ("", "activity", "")
        if place:
            name, self._variables["id"] = place
            self._document = DOCUMENT % (", $id: ID!", f"{name}Activity", f", {name}Id: $id")
        self._after = datetime.now(UTC).isoformat()
        self._known: dict[str, str] = {}
        if state is not None and state.exists():
            self._after, self._known = json.loads(state.read_text())

    def activities(self) -> Iterator[dict[str, Any]]:
        """Each activity, once; ends when the server says that there are no more."""
        while True:
            try:
                for event, data in self._events():
                    if event == "complete":
                        return
                    yield from self._of_result(json.loads(data))
            except urllib.error.HTTPError as error:
                if error.code not in {429, 502, 503, 504}:
                    raise SystemExit(f"the server answers {error.code}: {error.read().decode()}") from error
            except (OSError, TimeoutError):
                pass
            time.sleep(1)

    def _events(self) -> Iterator[tuple[str, str]]:
        body = json.dumps({"query": self._document, "variables": self._variables | {"after": self._after}}).encode()
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310  # the user sets the URL
        with urllib.request.urlopen(request, timeout=SILENCE_SECONDS) as response:  # noqa: S310  # as above
            fields: dict[str, str] = {}
            for line in response:
                name, _, value = line.decode().rstrip("\n").partition(":")
                if name:
                    fields[name] = value.removeprefix(" ")
                elif fields and not value:
                    yield fields["event"], fields.get("data", "")
                    fields = {}

    def _of_result(self, result: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for error in result.get("errors", []):
            sys.stderr.write(f"{error['message']}\n")
            self._after = error.get("extensions", {}).get("cursor", self._after)
        for activity in (result.get("data") or {}).values():
            if activity is None:
                continue
            if activity["activityId"] not in self._known:
                yield activity
            self._note(activity)

    def _note(self, activity: dict[str, Any]) -> None:
        """Keeps the cursor, and what may come again; only now, as the activity was printed."""
        self._after = activity["cursor"]
        self._known[activity["activityId"]] = activity["occurredAt"]
        newest = max(map(datetime.fromisoformat, self._known.values()))
        self._known = {name: at for name, at in self._known.items() if datetime.fromisoformat(at) > newest - AGAIN}
        if self._state is not None:
            new = self._state.with_suffix(".new")
            new.write_text(json.dumps([self._after, self._known]))
            new.replace(self._state)


def line(activity: dict[str, Any]) -> str:
    """An activity in one line: when, what, to which objects, by whom, and what changed."""
    actor = activity["actor"]
    changes = [f"{change['field']} {change['from']} → {change['to']}" for change in activity["changes"]]
    return "  ".join(
        [
            activity["occurredAt"],
            activity["kind"],
            " ".join(activity[name] for name in IDS if activity[name]),
            "by time" if actor is None else f"by {actor['role']} {actor['subject'] or ''}".rstrip(),
            *changes,
        ]
    )


def main() -> None:
    """Prints until it is stopped."""
    words = sys.argv[1:]
    place, kinds = (words[:2], words[2:]) if words and words[0] in {"locker", "location", "owner"} else ([], words)
    if len(place) == 1 or not all(kind.isupper() for kind in kinds):
        raise SystemExit(__doc__)
    state = os.environ.get("STATE")
    url = os.environ.get("URL", "http://127.0.0.1:8000/graphql")
    watch = Watch(url, os.environ.get("KEY", ""), place, kinds, None if state is None else Path(state))
    try:
        for activity in watch.activities():
            print(line(activity), flush=True)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
