import pytest

from domain.budgets import Budget, BudgetState

NOW = 1_772_366_400_000_000
SECOND = 1_000_000
BUDGET = Budget(per_minute=60, burst=10)


def test_an_accepted_request_reports_what_remains_and_when_the_budget_is_full() -> None:
    assert (BUDGET.window, BUDGET.refill_time(1)) == (10 * SECOND, SECOND)
    assert BUDGET.accepted(NOW + 3 * SECOND, NOW) == BudgetState(
        limit=10, remaining=7, reset_seconds=3, retry_seconds=0
    )
    assert BUDGET.accepted(NOW - 1, NOW) == BudgetState(limit=10, remaining=10, reset_seconds=0, retry_seconds=0)


def test_a_rejected_request_reports_when_to_retry() -> None:
    state = BUDGET.rejected(NOW + 9 * SECOND + 1, NOW, BUDGET.refill_time(2))
    assert state == BudgetState(limit=10, remaining=0, reset_seconds=10, retry_seconds=2)


@pytest.mark.parametrize("units", [10, 10.5, 1e9])
def test_a_request_for_more_than_the_capacity_empties_the_budget(units: float) -> None:
    assert BUDGET.refill_time(units) == BUDGET.window


def test_a_refill_time_is_never_rounded_down() -> None:
    assert Budget(per_minute=7, burst=7).refill_time(1) * 7 >= 60 * SECOND
