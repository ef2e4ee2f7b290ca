"""Mutations made at random have the same answer and the same effect by the plan and by graphql-core.

Each document runs once by the plan and once by graphql-core, on two tables with equal content. The tables are equal
again afterwards, so each mutation has taken effect as often as graphql-core runs it: once.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import pytest

from tests.equivalence.runner import DOCUMENTS, make_case, report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.equivalence.runner import Runner, World
    from tests.equivalence.world import Table

COUNT = DOCUMENTS // 10
PARTS = 4
ON_ONE_TABLE = 25
"""After so many documents most versions and ids are used, so that the next ones begin anew."""


@pytest.fixture(autouse=True)
def _equal_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret of an API key is random, and its digest is in the table."""
    monkeypatch.setattr(secrets, "token_hex", lambda size: "5e" * size)


@pytest.mark.parametrize("part", range(PARTS))
async def test_mutations_have_the_same_answer_and_the_same_effect(
    runner: Runner, world: World, new_table: Callable[..., Awaitable[Table]], part: int
) -> None:
    failures = []
    for number, seed in enumerate(range(part, COUNT, PARTS)):
        if number % ON_ONE_TABLE == 0:
            planned, executed, before = await new_table(), await new_table(), world.items
        case = make_case(seed, world.vocabulary, "mutation")

        async def untouched(items: list[dict[str, Any]] = before, ids: int = planned.ids) -> Table:
            return await new_table(items, ids=ids)

        found = await runner.differences(case, planned, executed, untouched)
        before, expected = await planned.items(), await executed.items()
        if before != expected or planned.ids != executed.ids:
            found += _unequal(before, expected)
            planned, executed, before = await new_table(), await new_table(), world.items
        if found:
            failures.append("\n".join([str(case), *found]))
    assert not failures, report(failures)


def _unequal(planned: list[dict[str, Any]], executed: list[dict[str, Any]]) -> list[str]:
    only_planned = [f"only the plan wrote {item}" for item in planned if item not in executed]
    only_executed = [f"only graphql-core wrote {item}" for item in executed if item not in planned]
    return only_planned + only_executed or ["one of them generated more ids"]
