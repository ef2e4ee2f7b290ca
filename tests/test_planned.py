"""The check that holds every request against its plan does notice."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest
from graphql import parse

from resolvers.schema import SmartLockerSchema
from tests.planned import Recorded, planned

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api import Api

LOCKER = '{ locker(lockerId: "l1") { version } }'
WITH_OWNER = '{ locker(lockerId: "l1") { owner { name } } }'
BOTH = '{ a: locker(lockerId: "l1"%s) { version } b: locker(lockerId: "l2") { version } }'
TWICE = '{ locker(lockerId: "l1") { owner { name } } owner(ownerId: "%s") { kind } }'
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
        (TWICE % "ada", TWICE % "ada", None),
        (TWICE % "eve", TWICE % "eve", None),
        (LOCKER, TWICE % "ada", "is certain"),
    ],
)
@pytest.mark.parametrize("is_recorded", [False, True])
async def test_a_request_that_does_not_keep_to_its_plan_is_found(
    api: Api,
    beyond_plan: list[str],
    plan_instead: Callable[[str], None],
    run: str,
    plan: str,
    found: str | None,
    *,
    is_recorded: bool,
) -> None:
    await api.owner("ada")
    await api.owner("eve")
    for number in range(4):
        await api.locker(f"l{number}", "ada")
    assert beyond_plan == []
    plan_instead(plan)
    problems: list[str] = []
    with planned(Recorded(), problems.extend) if is_recorded else nullcontext():
        await api.run(run)
    if not is_recorded:
        problems = list(beyond_plan)
    beyond_plan.clear()
    assert bool(problems) == (found is not None)
    assert found is None or any(found in problem for problem in problems)
