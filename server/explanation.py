"""Explaining a request: who may ask, what is written down, and what is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from domain.principal import Role, is_admin
from loaders.trace import Trace
from server.incoming import RefusedError
from server.observation import OBSERVATION

if TYPE_CHECKING:
    from domain.principal import Principal
    from resolvers.context import Context
    from resolvers.plan import Maximum
    from server.incoming import Operation
    from server.limits import RequestBudget

__all__ = ["Explainers", "RequestCost", "check_explain", "extensions_of", "trace_of"]

Explainers: TypeAlias = Literal["everyone", "admins", "nobody"]


@dataclass(slots=True)
class RequestCost:
    """What a request takes: of the store for a client that asks, and of its caller's budget where there are such.

    Told in every answer, however far the request came.
    """

    maximum: Maximum
    is_asked: bool
    context: Context | None = None
    budget: RequestBudget | None = None

    def told(self, actual: dict[str, Any] | None) -> dict[str, Any]:
        """Beside what it really took, where that may be known. What was refused early has no plan."""
        told = {} if self.budget is None else self.budget.told
        if not self.is_asked:
            return told
        plan = None if self.context is None else self.context.admission.plan
        worst_case = None if plan is None else plan.worst_case
        return told | {"cost": {"worstCase": worst_case, "actual": actual, "maximum": self.maximum.json}}

    @property
    def told_of_refused(self) -> dict[str, Any]:
        """What is told where the whole request was refused: mostly before it took anything."""
        context = self.context
        trace = (None if context is None else context.trace) or Trace()
        may_know = not trace.records or (context is not None and is_admin(context.principal))
        return self.told(trace.cost() if may_know else None)


def trace_of(operation: Operation) -> Trace | None:
    """Where the operations of a request are written down, for its client or for telemetry; None where nobody asked."""
    is_explained = operation.explain == "after"
    observation = OBSERVATION.get()
    if observation is not None:
        return observation.open_trace(wants_units=is_explained or operation.cost, wants_paths=is_explained)
    return Trace(wants_paths=is_explained) if is_explained or operation.cost else None


def check_explain(operation: Operation, explainers: Explainers, principal: Principal) -> None:
    """Refuses an explanation, after the answer or before it, to those who may not have one.

    What a request cost anybody may know: that is what its limits are told in.
    """
    is_allowed = explainers == "everyone" or (explainers == "admins" and principal.role is Role.ADMIN)
    if operation.explain != "off" and not is_allowed:
        raise RefusedError(403, "You may not ask how a request is answered.", "FORBIDDEN")


def extensions_of(
    operation: Operation, context: Context, cost: RequestCost, *, ran: bool, failed: bool
) -> dict[str, Any]:
    """What is told beside the data.

    What it really took counts also what was read and not shown: what is somebody else's, and what a mutation looks at
    before it writes. So all but admins are told of queries alone, and only of those in which nothing failed.
    """
    plan, trace = context.admission.plan, context.trace
    is_told = trace is not None and (is_admin(context.principal) or (trace.operation_type == "query" and not failed))
    told: dict[str, Any] = {}
    if ran and operation.explain == "after" and trace is not None and is_told:
        told["explain"] = trace.explanation()
    if ran and operation.explain == "plan" and plan is not None:
        told["explain"] = {"plan": plan.json(context.admission.maximum)}
    actual = trace.cost() if trace is not None and (is_told or not ran) else None
    return told | cost.told(actual)
