"""The knowledge of clients: acknowledged and refused writes, requests over time, and a history of versioned changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from domain.times import Instant, shift
from tests.invariants import Items, check_invariants

OK = "OK"
LOST_WRITE = "lost acknowledged write"
FALSE_CONFLICT = "false conflict"
LOST_OUTCOME = "lost outcome"
INTERNAL_ERROR = "internal error"
VIOLATION = "invariant violation"
UNEXPECTED = "unexpected answer"
FINDINGS = (LOST_WRITE, FALSE_CONFLICT, LOST_OUTCOME, INTERNAL_ERROR, VIOLATION, UNEXPECTED)


class Request(NamedTuple):
    """One request of a client; times are in seconds of the machine's monotonic clock."""

    start: float
    seconds: float
    name: str
    code: str

    @property
    def end(self) -> float:
        return self.start + self.seconds


class Finding(NamedTuple):
    """Something that must not happen."""

    kind: str
    name: str
    detail: str


class Change(NamedTuple):
    """A versioned change of a locker that others change too; `version` is None if its outcome is unknown."""

    locker_id: str
    expected: int
    version: int | None
    updated_at: Instant | None
    invoked: float
    returned: float


@dataclass
class Model:
    present: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    absent: set[tuple[str, str]] = field(default_factory=set)
    requests: list[Request] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    history: list[Change] = field(default_factory=list)
    repeats: int = 0

    def add(self, other: Model) -> None:
        """Takes in what another process has learned; each has things of its own."""
        self.present |= other.present
        self.absent |= other.absent
        self.requests += other.requests
        self.findings += other.findings
        self.history += other.history
        self.repeats += other.repeats


def compare(model: Model, items: Items, now: Instant, skew: timedelta) -> Iterator[Finding]:
    """Differences between the table and what clients were told, and violations in the table itself."""
    for key, expected in model.present.items():
        found = items.get(key)
        actual = found and {name: found.get(name) for name in expected}
        if actual != expected:
            yield Finding(LOST_WRITE, key[1].split("#", maxsplit=1)[0], f"{key}: {actual} in place of {expected}")
    for key in model.absent & items.keys():
        yield Finding(VIOLATION, "refused", f"{key} was refused, and is there")
    try:
        check_invariants(items, now)
    except AssertionError as error:
        yield Finding(VIOLATION, "table", str(error)[:2000])
    final = {item["lockerId"]: int(item["version"]) for item in items.values() if item["entityType"] == "LOCKER"}
    for problem in nonlinear(model.history, final, skew):
        yield Finding(VIOLATION, "history", problem)


def nonlinear(history: Iterable[Change], final: dict[str, int], skew: timedelta) -> Iterator[str]:
    """Why a history of versioned changes is not linearizable.

    Versions are dense, so their order is the only possible one. It is left to check that each version was given once,
    that every missing one can be explained by a change whose outcome is unknown, and that no change which began after
    another had been acknowledged got a lower version. Times that servers set follow it as far as clocks agree.
    """
    by_locker: dict[str, list[Change]] = defaultdict(list)
    for change in history:
        by_locker[change.locker_id].append(change)
    for locker_id, changes in by_locker.items():
        known = sorted((change for change in changes if change.version is not None), key=lambda each: each.version or 0)
        unknown = {change.expected + 1 for change in changes if change.version is None}
        for problem in (*_versions(known, unknown, final[locker_id]), *_order(known, skew)):
            yield f"{locker_id}: {problem}"


def _versions(known: list[Change], unknown: set[int], last: int) -> Iterator[str]:
    versions = [change.version for change in known]
    made = set(range(2, last + 1))
    if len(set(versions)) < len(versions):
        yield "a version was given twice"
    if any(change.version != change.expected + 1 for change in known):
        yield "a version is not the expected one plus one"
    if missing := made - set(versions) - unknown:
        yield f"nobody made the versions {sorted(missing)}"
    if extra := set(versions) - made:
        yield f"the versions {extra} were acknowledged, and the last one is {last}"


def _order(known: list[Change], skew: timedelta) -> Iterator[str]:
    latest_start = 0.0
    for change in known:
        if change.returned < latest_start:
            yield f"version {change.version} was there before a lower one was asked for"
        latest_start = max(latest_start, change.invoked)
    for earlier, later in pairwise(known):
        if earlier.updated_at and later.updated_at and later.updated_at < shift(earlier.updated_at, -skew):
            yield f"version {later.version} has a time before that of {earlier.version}"
