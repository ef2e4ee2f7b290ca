"""Explaining a request: who may ask, what is written down, and what is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from domain.principal import Role, is_admin
from loaders.trace import Trace
from server.incoming import RefusedError
from server.observation import OBSERVATION

if TYPE_CHECKING:
    from domain.principal import Principal
    from resolvers.context import Context
    from server.incoming import Operation

__all__ = ["Explainers", "check_explain", "extensions_of", "trace_of"]

Explainers: TypeAlias = Literal["everyone", "admins", "nobody"]


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


def extensions_of(operation: Operation, context: Context, *, ran: bool, failed: bool) -> dict[str, Any]:
    """What is told beside the data. The cost needs a plan alone, so that what was refused as too dear has one too.

    What was read and then not shown counts too. So only an admin is told of a request that failed in any part, and only
    an admin sees keys: a number of items or a time in a key may be all that there is to know of somebody else's locker.
    """
    plan, trace = context.admission.plan, context.trace
    sees_all = is_admin(context.principal)
    is_told = sees_all or not (failed or (trace is not None and trace.user_error))
    told: dict[str, Any] = {}
    if ran and operation.explain == "after" and trace is not None and is_told:
        told["explain"] = trace.explanation(shows_keys=sees_all)
    if ran and operation.explain == "plan" and plan is not None:
        told["explain"] = {"plan": plan.json(context.admission.maximum)}
    if operation.cost and plan is not None and trace is not None:
        told["cost"] = {
            "worstCase": plan.worst_case,
            "actual": trace.cost() if is_told else None,
            "maximum": context.admission.maximum.json,
        }
    return told
