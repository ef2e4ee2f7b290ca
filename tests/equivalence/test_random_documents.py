"""Documents made at random have the same answer and the same effect by the plan and by graphql-core."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.equivalence.runner import DOCUMENTS, Runner, World, make_case, report
from tests.equivalence.world import Table

QUERIES, QUERY_PARTS = DOCUMENTS * 9 // 10, 10
MUTATIONS, MUTATION_PARTS = DOCUMENTS // 10, 4
ON_ONE_TABLE = 25
"""After so many documents most versions and ids are used, so that the next ones begin anew."""


@pytest.fixture(autouse=True)
def _equal_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret of an API key is random, and its digest is in the table."""
    monkeypatch.setattr(secrets, "token_hex", lambda size: "5e" * size)


@pytest.mark.parametrize("part", range(QUERY_PARTS))
async def test_queries_have_the_same_answer(runner: Runner, world: World, shared_table: Table, part: int) -> None:
    async def untouched() -> Table:
        return shared_table

    failures = []
    for seed in range(part, QUERIES, QUERY_PARTS):
        case = make_case(seed, world.vocabulary)
        if found := await runner.differences(case, shared_table, shared_table, untouched):
            failures.append("\n".join([str(case), *found]))
    assert not failures, report(failures)


@pytest.mark.parametrize("part", range(MUTATION_PARTS))
async def test_mutations_have_the_same_answer_and_the_same_effect(
    runner: Runner, world: World, new_table: Callable[..., Awaitable[Table]], part: int
) -> None:
    """Both run on tables with equal content, which are equal again afterwards: so each took effect exactly once."""
    failures = []
    for number, seed in enumerate(range(part, MUTATIONS, MUTATION_PARTS)):
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
