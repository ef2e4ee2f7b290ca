"""The caller: who asks, what it may do, and what is left of its budget."""

import strawberry

from domain.authorization import Principal, Role, Scope
from domain.budgets import BudgetState
from loaders.contracts.lockers import LOCKER_BY_ID
from loaders.contracts.owners import OWNER_BY_ID
from resolvers.bindings.base import column, embedded
from resolvers.bindings.references import one
from resolvers.bindings.rules import AS_OBJECT
from resolvers.entities.base import entity
from resolvers.entities.lockers import Locker
from resolvers.entities.owners import Owner


@entity(BudgetState)
class RateLimit:
    """Budget of a caller in capacity units, as after the charge for this request."""

    limit: int = column("Maximum number of units in the budget.")
    remaining: int = column("Units that are left.")
    reset_seconds: int = column("Seconds until the budget is full again.")


@entity(Principal)
class Viewer:
    """The caller of this request, according to its credentials."""

    subject: str = column("Subject of the credentials: of the token, or the id of the API key.")
    role: Role = column("Role of the caller.")
    scopes: list[Scope] = column(
        "Permissions of a partner; empty for other roles, which need none.",
        lambda principal, _: [scope for scope in Scope if scope in principal.scopes],
    )
    owner_id: strawberry.ID | None = column("Id of the owner that the caller is; null if it is none.")
    owner: Owner | None = one(OWNER_BY_ID, key="owner_id", rule=AS_OBJECT, description="Owner that the caller is.")
    organization_ids: list[strawberry.ID] = column(
        "Ids of the organizations that an owner belongs to.", lambda principal, _: sorted(principal.organizations)
    )
    owner_ids: list[strawberry.ID] = column(
        "Ids of the owners that a partner acts for.", lambda principal, _: sorted(principal.partner_of)
    )
    locker_id: strawberry.ID | None = column("Id of the locker of a device.")
    location_id: strawberry.ID | None = column("Id of the location of a device that controls a location's door.")
    locker: Locker | None = one(LOCKER_BY_ID, key="locker_id", rule=AS_OBJECT, description="Locker of a device.")
    rate_limit: RateLimit | None = embedded(
        "State of the caller's budget; null if there is no rate limit.", lambda _, request: request.budget.state
    )


@strawberry.type
class ViewerQueries:
    viewer: Viewer = embedded("The caller of this request.", lambda _, request: request.principal)
