import subprocess
import sys

from domain.budgets import Budget
from server.limits.shared_budgets import SharedBudgets, budget_memory

BUDGET = Budget(per_minute=60, burst=10)
SECOND = 1_000_000
SPEND = """
import asyncio, sys
from domain.budgets import Budget
from server.limits.shared_budgets import SharedBudgets

async def spend():
    budgets = SharedBudgets(int(sys.argv[1]), Budget(60, 3000), lambda: 0)
    states = [await budgets.take("ada", 1) for _ in range(2000)]
    print(sum(state.retry_seconds == 0 for state in states))

input()
asyncio.run(spend())
"""


async def test_what_one_worker_charges_another_finds_charged() -> None:
    with budget_memory() as memory:
        others = {"mia": Budget(60, 2)}
        one, other = (SharedBudgets(memory, BUDGET, lambda: SECOND, others) for _ in range(2))
        assert (await one.take("ada", 4)).remaining == 6
        assert (await other.take("ada", 3)).remaining == 3
        rejected = await one.take("ada", 5)
        assert (rejected.remaining, rejected.retry_seconds) == (3, 2)
        assert (await other.take("ada", 4, taken=1)).remaining == 0
        assert (await other.take("bob", 1)).remaining == 9
        assert (await other.take("mia", 1)).remaining == 1


async def test_a_budget_refills_with_time() -> None:
    times = iter([0, 4 * SECOND])
    with budget_memory() as memory:
        budgets = SharedBudgets(memory, BUDGET, lambda: next(times))
        assert (await budgets.take("ada", 10)).remaining == 0
        assert (await budgets.take("ada", 1)).remaining == 3


def test_processes_that_charge_at_once_charge_no_unit_twice_and_lose_none() -> None:
    with budget_memory() as memory:
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", SPEND, str(memory)],
                pass_fds=[memory],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("begin\n")
            process.stdin.flush()
        outputs = [process.communicate()[0] for process in processes]
    assert sum(map(int, outputs)) == 3000


async def test_with_more_callers_than_there_is_room_for_those_that_owe_most_are_kept() -> None:
    with budget_memory() as memory:
        budgets = SharedBudgets(memory, BUDGET, lambda: SECOND)
        await budgets.take("ada", 10)
        for number in range(30_000):
            assert (await budgets.take(f"caller {number}", 1)).remaining == 9
        assert (await budgets.take("ada", 1)).retry_seconds == 1
