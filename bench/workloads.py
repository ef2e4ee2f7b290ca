"""The measured requests, as every server gets them."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bench.data import FREE_BEFORE, OWNER, locker_id
from domain.times import shift

if TYPE_CHECKING:
    from domain.models import LockerId
    from domain.times import Instant

__all__ = ["STATUS_OF_LOCKERS", "UNIQUE", "Workload", "workloads"]

UNIQUE = "UNIQUE"
"""Stands for a name that no other request has."""

_NO_USER_ERRORS = '"userErrors":[]'
_Q1_FIELDS = "lockerId alias status version createdAt updatedAt"
_Q3_FIELDS = "lockerId alias status version createdAt"
STATUS_OF_LOCKERS = "query ($id: ID!) { locker(lockerId: $id) { lockerId status version } }"


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of request.

    Args:
        name: short name.
        title: what it does.
        query: the document.
        variables: its variables; on a store that is written to they are made for each request.
        expect: what every response contains.
        writes: which requests to make where the store is written to.
        lockers: the lockers that they write to, one for each connection; by default any.
        replay_only: whether a real store refuses most of them, as an owner may have so many live reservations only.
    """

    name: str
    title: str
    query: str
    variables: dict[str, Any] = field(default_factory=dict)
    expect: str = '{"data":'
    writes: str | None = None
    lockers: tuple[LockerId, ...] = ()
    replay_only: bool = False

    @property
    def is_unique(self) -> bool:
        """Whether no two requests have the same document."""
        return UNIQUE in self.query


def workloads(now: Instant) -> list[Workload]:
    """All of them, for data written at `now`."""
    lockers = "query ($id: ID!, $first: Int!) { owner(ownerId: $id) { lockers(first: $first) { nodes { %s } } } }"
    ids = [
        base64.urlsafe_b64encode(f"Locker/{locker_id(number)}".encode()).decode().rstrip("=") for number in range(50)
    ]
    active = "activeReservation { reservationId startAt endAt }"
    window = "reservations(first: 5, window: {from: $from}) { nodes { reservationId startAt endAt } }"
    return [
        Workload(
            "Q1",
            "a locker by id, 6 fields",
            f"query ($id: ID!) {{ locker(lockerId: $id) {{ {_Q1_FIELDS} }} }}",
            {"id": locker_id(0)},
        ),
        Workload(
            "Q2",
            "an owner's first 25 lockers, from the copies",
            lockers % "lockerId alias status",
            {"id": OWNER, "first": 25},
        ),
        Workload(
            "Q3",
            "an owner's 100 lockers with fields of their records",
            lockers % _Q3_FIELDS,
            {"id": OWNER, "first": 100},
        ),
        Workload(
            "Q4", "Q3 with the active reservations", lockers % f"{_Q3_FIELDS} {active}", {"id": OWNER, "first": 100}
        ),
        Workload(
            "M1",
            "a locker's status",
            "mutation ($input: UpdateLockerStatusInput!) { updateLockerStatus(input: $input) {"
            " locker { lockerId status version } userErrors { code } } }",
            {"input": {"lockerId": locker_id(1), "newStatus": "OCCUPIED", "expectedVersion": 1}},
            _NO_USER_ERRORS,
            "status",
        ),
        Workload(
            "nodes",
            "50 lockers by global id",
            "query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Locker { lockerId alias status version } } }",
            {"ids": ids},
        ),
        Workload(
            "upcoming",
            "25 lockers, each with its 5 next reservations",
            "query ($id: ID!, $from: DateTime!) { owner(ownerId: $id) { lockers(first: 25) { nodes { lockerId "
            + window
            + " } } } }",
            {"id": OWNER, "from": now},
        ),
        Workload(
            "reserve",
            "create a reservation",
            "mutation ($input: CreateReservationInput!) { createReservation(input: $input) {"
            " reservation { reservationId startAt endAt status } userErrors { code } } }",
            {
                "input": {
                    "lockerId": locker_id(1),
                    "ownerId": OWNER,
                    "reservationId": "bench-1",
                    "startAt": shift(FREE_BEFORE, timedelta(hours=-1)),
                    "endAt": FREE_BEFORE,
                }
            },
            _NO_USER_ERRORS,
            "reservation",
            replay_only=True,
        ),
        Workload(
            "unseen",
            "Q1 in a document never seen before",
            f'query {UNIQUE} {{ locker(lockerId: "{locker_id(0)}") {{ {_Q1_FIELDS} }} }}',
        ),
    ]
