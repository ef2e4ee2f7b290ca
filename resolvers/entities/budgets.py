"""Budgets that admins set for callers: the type, its query and its mutation."""

import strawberry

from domain.budgets import CallerBudget as Record
from domain.commands import budgets as commands
from domain.times import Instant
from loaders.contracts.budgets import CALLER_BUDGETS, SET_CALLER_BUDGET
from loaders.writes import budgets as writes
from resolvers.api.mutations import mutations, write
from resolvers.api.relay import Connection
from resolvers.bindings.base import column
from resolvers.bindings.lists import pages
from resolvers.bindings.rules import ADMINS
from resolvers.entities.base import entity


@entity(Record)
class CallerBudget:
    """Budget that an admin has set for a caller, in place of the usual one."""

    key_id: strawberry.ID | None = column("Id of the API key of the caller; null if it uses none.")
    subject: str | None = column("Subject of the tokens of the caller; null if it uses an API key.")
    caller_id: strawberry.ID | None = column(
        "Id of the caller in activities: a hash of the subject; null if it uses an API key."
    )
    units_per_minute: int = column("Capacity units that the caller may spend per minute.")
    burst: int = column("Capacity units that the caller can save up.")
    set_at: Instant = column("Time at which the budget was set.")
    set_by: str = column("Subject of the admin who set it.")


@strawberry.type
class BudgetQueries:
    caller_budgets: Connection[CallerBudget] | None = pages(
        CALLER_BUDGETS,
        rule=ADMINS,
        description="Callers with a budget of their own: API keys by id, then subjects. Requires an admin.",
    )


@mutations(commands, writes)
class BudgetMutations:
    set_caller_budget: CallerBudget = write(
        SET_CALLER_BUDGET,
        ADMINS,
        returns="The budget; null if the caller has the usual one again.",
        description="Set how much a caller may spend, in place of the rate limit of the server's settings. Servers "
        "that have a rate limit know it within five seconds. Of two at once, the later one stays. Requires an admin.",
    )
