"""Whether a request may run: its plan is made first, and what could take too much of the store is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strawberry.extensions import SchemaExtension
from strawberry.types import ExecutionResult

from resolvers.planner import PageSizes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from resolvers.context import Context
    from resolvers.plan import Maximum, Plan
    from resolvers.schema import SmartLockerSchema

__all__ = ["Admission", "PlanFirst"]


@dataclass(slots=True)
class Admission:
    """What a request may take of the store, and its plan as soon as there is one; `only_plan` runs nothing."""

    maximum: Maximum
    only_plan: bool = False
    plan: Plan | None = None
    charge: Callable[[Plan], Awaitable[None]] | None = None
    """Takes what will be run from its caller's budget; raises where there is not enough."""


class PlanFirst(SchemaExtension):
    """Plans every valid document before anything of it runs."""

    async def on_execute(self) -> AsyncIterator[None]:
        """Refuses what could take too much, and stops at the plan where no more is wanted."""
        execution = self.execution_context
        context: Context = execution.context
        schema: SmartLockerSchema = execution.schema  # type: ignore[assignment]  # it is part of no other
        document, name, variables = execution.graphql_document, execution.operation_name, execution.variables or {}
        if document is not None:
            sizes = PageSizes(context.page_size, context.page_size_max)
            context.admission.plan = plan = schema.plan(document, name, variables, sizes)
            if context.admission.only_plan:
                # What running would refuse is told as it would tell it.
                errors = schema.variable_errors(document, name, variables)
                execution.result = ExecutionResult(data=None, errors=errors or None)
            else:
                plan.check(context.admission.maximum)
                if context.admission.charge is not None:
                    await context.admission.charge(plan)
        yield
