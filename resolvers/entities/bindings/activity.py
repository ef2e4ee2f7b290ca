"""Activities: the part of a history that a caller may see, and the log as a whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from domain.activity import PastActivity
from domain.authorization import Principal, acts_for, is_admin, may_see_locker, sees_all
from domain.models import Locker, LockerId, OwnerId
from domain.retention import KEPT_LOG
from loaders.contracts.activity import LOG_ACTIVITY
from loaders.contracts.base import Contract
from loaders.contracts.following import LOG_LEASES
from loaders.contracts.reading import ReadPage
from loaders.following.catching_up import LEASES, kept_until
from loaders.keys import LOG_SHARDS
from loaders.pages import Page
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, look_up_charge
from resolvers.bindings.lists import BoundPage, Lists, Pages
from resolvers.request_state import ArgumentContext, RequestState

SELECTS_CURSOR = "place"
"""The attribute that only the cursor of an activity reads."""


def sees_of_owner(principal: Principal, activity: PastActivity, owner_id: OwnerId) -> bool:
    """Whether who acts for an owner that an activity concerned may see the object that it names."""
    scope = activity.kind.scope
    return scope is not None and acts_for(principal, owner_id, scope)


def sees_of_locker(principal: Principal, activity: PastActivity, owner_id: OwnerId) -> bool:
    """The same for the present owner of the locker; changes of the locker itself, also members and its device see."""
    is_own = activity.kind.value.startswith("locker.") and activity.locker_id is not None
    return sees_of_owner(principal, activity, owner_id) or (
        is_own and may_see_locker(principal, owner_id, LockerId(str(activity.locker_id)))
    )


def sees_in_log(principal: Principal, activity: PastActivity) -> bool:
    """Whether a caller who sees all may see what an activity names: support sees neither API keys nor callers."""
    return is_admin(principal) or (activity.api_key_id is None and activity.caller_id is None)


def sees_activity(principal: Principal, activity: PastActivity, locker: Locker | None) -> bool:
    """Whether an activity is in a list of the caller; `locker` is the one that it happened to, as it is now."""
    if sees_all(principal):
        return sees_in_log(principal, activity)
    if locker is not None:
        return sees_of_locker(principal, activity, locker.owner_id)
    return activity.kind.is_public or any(sees_of_owner(principal, activity, owner) for owner in activity.owners)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPages(Pages):
    """A page of the history of each parent, without the activities that the caller may not see.

    `sees` decides by the owner of the parent, which `key` names last. Where there is a list for `others`, these are
    callers who do not see all, and may see all of it. Where the cursor of an activity is selected, it is read first how
    far history was kept: of what comes later, some may be missing.
    """

    sees: Callable[[Principal, PastActivity, OwnerId], bool] | None = None
    others: ReadPage[Any] | None = None

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (*((self.contract,) if self.others is None else (self.contract, self.others)), LOG_LEASES)

    def price(self, step: FieldStep, parents: int, bound: BoundPage) -> list[Charge]:
        leases = [look_up_charge(LOG_LEASES, LOG_SHARDS)] if SELECTS_CURSOR in step.uses else []
        return [*leases, *Pages.price(self, step, parents, bound)]

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        request = execution.request
        if request.kept_until is None and any(SELECTS_CURSOR in call.step.uses for call in calls):
            leases = await request.loaders.of(LOG_LEASES).load_bulk(LEASES, calls[0].step.path)
            request.kept_until = kept_until(leases)
        return await Pages.fetch(self, calls, execution)

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        contract, keys = Pages.lists(self, values, request)
        return (contract if self.others is None or sees_all(request.principal) else self.others), keys

    async def page(self, key: Any, bound: BoundPage, request: RequestState) -> Page[Any]:
        place, owner_id = key if isinstance(key, tuple) else (key, key)
        page = await Pages.page(self, place, bound, request)
        principal, sees = request.principal, self.sees
        if sees is None or sees_all(principal) or all(sees(principal, node, owner_id) for node in page.nodes):
            return page
        request.has_hidden = True
        return page.with_nodes([node if sees(principal, node, owner_id) else None for node in page.nodes])


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPages(Pages):
    """A page of all activities: the parts of the log, merged."""

    contract: ReadPage[Any] = LOG_ACTIVITY

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        _, ((start, end),) = Pages.lists(self, values, request)
        return self.contract, tuple((shard, start, end) for shard in range(LOG_SHARDS))

    def price(self, step: FieldStep, parents: int, bound: BoundPage) -> list[Charge]:
        """See Reading: the entry of a cursor is read again."""
        wider = replace(bound.request, size=bound.request.size + 1)
        return Pages.price(self, step, parents, replace(bound, request=wider))

    async def page(self, key: Any, bound: BoundPage, request: RequestState) -> Page[Any]:
        _, start, end = bound.keys[0]
        store, since = request.backend.store, request.backend.kept_since(KEPT_LOG)
        page = await LOG_ACTIVITY.activities(store, bound.request, bound.order, start, end, since, request.queries)
        shown = [node if sees_in_log(request.principal, node) else None for node in page.nodes]
        if None not in shown:
            return page
        request.has_hidden = True
        return page.with_nodes(shown)
