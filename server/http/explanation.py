"""Explanations and costs of requests: who may see them, and their form in the response."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from domain.authorization import Principal, Role, is_admin
from loaders.trace import Trace
from resolvers.limits import Limit
from resolvers.plan.explain import explanation
from resolvers.plan.price import cost_json
from resolvers.request_state import RequestState
from server.http.request import GraphQLRequest
from server.http_errors import HttpError
from server.limits.request_limits import RequestBudget
from server.telemetry.observation import OBSERVATION

Explainers: TypeAlias = Literal["everyone", "admins", "nobody"]


@dataclass(slots=True)
class RequestCost:
    """The cost of a request, if its client asks for it, and the state of its caller's budget, if there is a rate limit.

    Every response contains them, also those of rejected requests.
    """

    limit: Limit
    is_requested: bool
    state: RequestState | None = None
    budget: RequestBudget | None = None

    def extensions(self, actual: dict[str, Any] | None) -> dict[str, Any]:
        """The entries of the response's extensions, with the actual cost if the caller may see it.

        A request that is rejected early has no price.
        """
        extensions = {} if self.budget is None else self.budget.extensions
        if not self.is_requested:
            return extensions
        price = None if self.state is None else self.state.price
        return extensions | {
            "cost": {
                "expected": None if price is None else cost_json(price.expected),
                "maximum": None if price is None else cost_json(price.maximum),
                "actual": actual,
                "limit": self.limit.as_json(),
            }
        }

    @property
    def rejected_extensions(self) -> dict[str, Any]:
        """The same for a rejected request, which in most cases has no actual cost yet."""
        state = self.state
        trace = (None if state is None else state.trace) or Trace()
        may_see_actual = not trace.records or (state is not None and is_admin(state.principal))
        return self.extensions(trace.cost() if may_see_actual else None)


def open_trace(request: GraphQLRequest) -> Trace | None:
    """The trace of a request, if its client or telemetry needs one."""
    is_requested = request.explain == "after" or request.cost
    observation = OBSERVATION.get()
    if observation is not None:
        return observation.open_trace(wants_units=is_requested)
    return Trace() if is_requested else None


def check_explain(request: GraphQLRequest, explainers: Explainers, principal: Principal) -> None:
    """Rejects a caller who may not see explanations; all may see costs, since their limits are expressed in them."""
    is_allowed = explainers == "everyone" or (explainers == "admins" and principal.role is Role.ADMIN)
    if request.explain != "off" and not is_allowed:
        raise HttpError(403, "You are not allowed to request explanations: see SMARTLOCKER_EXPLAIN.", "FORBIDDEN")


def response_extensions(
    request: GraphQLRequest, state: RequestState, cost: RequestCost, *, ran: bool, failed: bool
) -> dict[str, Any]:
    """The extensions of the response.

    The actual cost includes reads whose result the caller may not see: objects of other owners, and what a mutation
    reads before it writes. So callers other than admins see it only for queries that show all that they read.
    """
    price, trace = state.price, state.trace
    may_see_actual = trace is not None and (
        is_admin(state.principal) or (trace.operation_type == "query" and not (failed or state.has_hidden))
    )
    extensions: dict[str, Any] = {}
    if price is not None and request.explain != "off":
        is_measured = request.explain == "after" and ran
        if may_see_actual or not is_measured:
            extensions["explain"] = explanation(price, state.limit, trace if is_measured else None)
    if not cost.is_requested or trace is None or (ran and not may_see_actual):
        return extensions | cost.extensions(None)
    return extensions | cost.extensions(trace.cost())
