"""The check that holds every request against its plan does notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from graphql import parse

from resolvers.schema import SmartLockerSchema

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api

LOCKER = '{ locker(lockerId: "l1") { version } }'
WITH_OWNER = '{ locker(lockerId: "l1") { owner { name } } }'
BOTH = '{ a: locker(lockerId: "l1"%s) { version } b: locker(lockerId: "l2") { version } }'
LIST = '{ owner(ownerId: "ada") { lockers(first: 2) { nodes { version } } } }'
SHORT_LIST = '{ owner(ownerId: "ada") { lockers(first: 1) { nodes { version } } } }'


@pytest.fixture
def plan_instead(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets the plan of another document stand for every one."""

    def pretend(document: str) -> None:
        plan = SmartLockerSchema.plan
        monkeypatch.setattr(
            SmartLockerSchema,
            "plan",
            lambda self, _, name, values, sizes: plan(self, parse(document), name, values, sizes),
        )

    return pretend


@pytest.mark.parametrize(
    ("run", "plan", "found"),
    [
        (LOCKER, LOCKER, None),
        (LIST, LIST, None),
        (LOCKER, "{ __typename }", "sent"),
        (LOCKER, "{ __typename }", "took 0.5 read units, planned 0"),
        (WITH_OWNER, LOCKER, "sent"),
        (LIST, SHORT_LIST, "read 5 items, planned 4"),
        (BOTH % "", BOTH % ", consistent: true", "is certain"),
    ],
)
async def test_a_request_that_does_not_keep_to_its_plan_is_found(
    api: Api, beyond_plan: list[str], plan_instead: Callable[[str], None], run: str, plan: str, found: str | None
) -> None:
    await api.owner("ada")
    for number in range(4):
        await api.locker(f"l{number}", "ada")
    assert beyond_plan == []
    plan_instead(plan)
    await api.run(run)
    problems = list(beyond_plan)
    beyond_plan.clear()
    assert bool(problems) == (found is not None)
    assert found is None or any(found in problem for problem in problems)
