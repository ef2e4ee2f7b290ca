"""Queries made at random give the same answer by the plan and by graphql-core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.equivalence.runner import DOCUMENTS, make_case, report

if TYPE_CHECKING:
    from tests.equivalence.runner import Runner, World
    from tests.equivalence.world import Table

COUNT = DOCUMENTS * 9 // 10
PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
async def test_queries_have_the_same_answer(runner: Runner, world: World, shared_table: Table, part: int) -> None:
    async def shared() -> Table:
        return shared_table

    failures = []
    for seed in range(part, COUNT, PARTS):
        case = make_case(seed, world.vocabulary)
        found = await runner.differences(case, shared_table, shared_table, shared)
        if found:
            failures.append("\n".join([str(case), *found]))
    assert not failures, report(failures)
