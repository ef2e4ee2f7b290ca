"""Fragments on an interface may hold some on other types: what stands there is about nothing and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests import principals

if TYPE_CHECKING:
    from tests.api import Api
    from tests.wire import Wire

LOCKER = '{ locker(lockerId: "%s") { lockerId ... on Node { ... on Owner { reservations { nextCursor } } } } }'
OWNER = '{ owner(ownerId: "%s") { ownerId ... on Node { ... on Location { lockers { nextCursor } } } } }'
NAMED = """{ locker(lockerId: "%s") { lockerId ...A } }
fragment A on Node { ...B } fragment B on Owner { reservations { nextCursor } }"""


@pytest_asyncio.fixture
async def two(api: Api, wire: Wire) -> Api:
    """Two owners with a locker each."""
    for name in ("ada", "eve"):
        await api.owner(name)
        await api.locker(f"{name}-1", name)
    wire.reset()
    return api


@pytest.mark.parametrize("document", [LOCKER, OWNER, NAMED])
async def test_what_does_not_exist_is_still_not_found(two: Api, wire: Wire, document: str) -> None:
    answer = await two.send(document % "nowhere")
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["NOT_FOUND"]
    assert set(answer["data"].values()) == {None}
    assert len(wire.calls) == 1


@pytest.mark.parametrize("document", [LOCKER, NAMED])
async def test_what_is_somebody_elses_looks_like_what_does_not_exist(two: Api, document: str) -> None:
    own = two.by(principals.owner("ada"))
    answers = []
    for locker in ("eve-1", "nowhere"):
        content = {"query": document % locker, "extensions": {"cost": True}}
        response = await own.client.post("/graphql", json=content, headers=own.headers)
        answer = response.json()
        for error in answer["errors"]:
            del error["extensions"]["requestId"]
        answers.append(answer)
    assert answers[0] == answers[1]
    assert [error["extensions"]["code"] for error in answers[0]["errors"]] == ["FORBIDDEN"]
    assert answers[0]["extensions"]["cost"]["actual"] is None


@pytest.mark.parametrize("inner", ["Reservation { ownerId }", "AccessEvent { actorId }", "Location { version }"])
async def test_a_list_is_not_read_more_closely_for_it(two: Api, wire: Wire, inner: str) -> None:
    data = await two.run(
        f'{{ owner(ownerId: "ada") {{ lockers {{ nodes {{ alias ... on Node {{ ... on {inner} }} }} }} }} }}'
    )
    assert data == {"owner": {"lockers": {"nodes": [{"alias": None}]}}}
    assert [call.operation for call in wire.calls] == ["Query"]


async def test_one_that_applies_counts(two: Api, wire: Wire) -> None:
    query = '{ owner(ownerId: "ada") { lockers { nodes { ... on Node { ... on Locker { version } } } } } }'
    assert (await two.run(query))["owner"]["lockers"]["nodes"] == [{"version": 1}]
    assert [call.operation for call in wire.calls] == ["Query", "GetItem"]
