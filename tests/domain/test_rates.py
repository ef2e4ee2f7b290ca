"""A budget: what it gives, what it keeps back, and when."""

from __future__ import annotations

import pytest

from domain.rates import Budget, RateState

NOW = 1_772_366_400_000_000
SECOND = 1_000_000


def test_what_was_given_comes_back_at_the_rate_of_the_budget() -> None:
    budget = Budget(per_minute=60, burst=10)
    assert budget.window == 10 * SECOND
    assert budget.price(1) == SECOND
    assert budget.given(NOW + 3 * SECOND, NOW) == RateState(limit=10, remaining=7, reset_seconds=3, retry_seconds=0)
    assert budget.given(NOW - 1, NOW) == RateState(limit=10, remaining=10, reset_seconds=0, retry_seconds=0)


def test_a_refusal_says_when_there_is_enough() -> None:
    budget = Budget(per_minute=60, burst=10)
    state = budget.refused(NOW + 9 * SECOND + 1, NOW, budget.price(2))
    assert state == RateState(limit=10, remaining=0, reset_seconds=10, retry_seconds=2)


@pytest.mark.parametrize("units", [10, 10.5, 1e9])
def test_what_costs_more_than_can_be_saved_up_takes_all_of_it(units: float) -> None:
    budget = Budget(per_minute=60, burst=10)
    assert budget.price(units) == budget.window


def test_a_price_is_never_rounded_down() -> None:
    assert Budget(per_minute=7, burst=7).price(1) * 7 >= 60 * SECOND
