"""Subscriptions to what happens: in which place, from when on, and what of it the caller may see."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from strawberry.utils.str_converters import to_camel_case

from domain.activity import ActivityKind, PastActivity
from domain.authorization import Principal, not_found_or_forbidden, sees_all
from domain.errors import InvalidCursorError
from domain.models import OwnerId
from domain.times import parse_instant
from loaders import keys
from loaders.contracts.activity import MISSED_ACTIVITY, WHOLE_LOG
from loaders.contracts.base import Contract
from loaders.contracts.reading import ReadOne
from loaders.cursors import decode_cursor
from loaders.table.positions import Position
from resolvers.bindings.base import Argument, Call, Charge, Execution, FieldStep, Reading, bound_field, look_up_charge
from resolvers.entities.bindings.activity import sees_in_log
from resolvers.request_state import ArgumentContext, RequestState

_AFTER = Argument(
    "after",
    str | None,
    "The `cursor` of the last activity that the client has, or a time: begins with what happened after it. What "
    "happened within 30 seconds before the connection was lost may come again, with the same `activityId`. A time that "
    "is later than 30 seconds ago counts as that. If left out, begins now.",
)
_KINDS = Argument("kinds", list[ActivityKind] | None, "Kinds of activities to send; all of them if left out.")


@dataclass(frozen=True, slots=True)
class BoundLive:
    """The place and the activities that one subscription asks for."""

    key: tuple[Any, ...]
    """The id of the object."""
    place: str
    kinds: frozenset[ActivityKind] | None
    after: Position | None
    events: int = 1
    """How many activities are shown at once."""
    begins: bool = True
    """Whether the object itself is read, to decide on who may subscribe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live(Reading):
    """The activities of one object as they happen, or of all.

    `place` is where they stand, `others` where they do for callers who do not see all. `sees` decides by the owner of
    the object at the time. `may_follow` decides anew, with each activity, whether the caller may still follow it.
    """

    contract: ReadOne[Any] | None = None
    argument: Argument | None = None
    place: str = WHOLE_LOG
    others: str | None = None
    sees: Callable[[Principal, PastActivity, OwnerId], bool] | None = None
    owner_of: Callable[[PastActivity], OwnerId] | None = None
    may_follow: Callable[[Principal, PastActivity], bool] | None = None

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (MISSED_ACTIVITY,) if self.contract is None else (self.contract, MISSED_ACTIVITY)

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> BoundLive:
        key: tuple[Any, ...] = ()
        place = self.place
        if self.argument is not None and self.argument.parse is not None:
            key = (partial(self.argument.parse, name=to_camel_case(self.argument.name))(values[self.argument.name]),)
            place = (self.place if self.others is None or sees_all(request.principal) else self.others).format(*key)
        kinds, after = values.get("kinds"), values.get("after")
        return BoundLive(
            key,
            place,
            None if kinds is None else frozenset(kinds),
            None if after is None else position_of(after, place),
        )

    def price(self, step: FieldStep, parents: int, bound: BoundLive) -> list[Charge]:
        """See Reading: reading the log is for all subscribers of the server, and what was missed is charged as read."""
        if self.contract is None or not bound.begins:
            return []
        return [look_up_charge(self.contract, 1, consistent=True)]

    def price_key(self, bound: BoundLive) -> Hashable:
        return bound.events, bound.begins

    def below(self, parents: int, bound: BoundLive, type_name: str) -> int:
        return bound.events

    async def admit(self, bound: BoundLive, path: str, request: RequestState) -> OwnerId | None:
        """The present owner of the object, if it has one; raises a SmartLockerError where the caller may not follow."""
        rule, principal = self.rule, request.principal
        if not rule.admits(principal):
            raise rule.refusal(principal)
        if self.contract is None:
            return None
        (found,) = await request.loaders.of(self.contract, consistent=True).load_bulk([bound.key], path)
        if isinstance(found, Exception):
            raise found
        if found is None:
            kind, _, name = self.place.format(*bound.key).partition(":")
            raise not_found_or_forbidden(principal, f"{kind.capitalize()} {name} does not exist.")
        if not rule.permits(principal, found):
            raise rule.refusal(principal)
        return getattr(found, "owner_id", None)

    def follows(self, principal: Principal, activity: PastActivity) -> bool:
        """Whether the caller may still follow the object, as it was when this happened."""
        return self.may_follow is None or sees_all(principal) or self.may_follow(principal, activity)

    def shows(
        self, principal: Principal, activity: PastActivity, bound: BoundLive, owner_id: OwnerId | None = None
    ) -> bool:
        """Whether an activity is sent; the owner is that of the object now, by default that at the time."""
        if bound.kinds is not None and activity.kind not in bound.kinds:
            return False
        if self.sees is None or sees_all(principal):
            return sees_in_log(principal, activity)
        at_the_time = bound.key[0] if self.owner_of is None else self.owner_of(activity)
        return self.sees(principal, activity, owner_id or at_the_time)

    async def results(self, calls: Sequence[Call], execution: Execution) -> list[list[Any]]:
        """See Reading: the parents are the activities themselves."""
        return [[*call.rows] for call in calls]


def position_of(after: str, place: str) -> Position:
    """The position of a cursor, or of a time; raises an InvalidCursorError where it is no cursor of this place."""
    with suppress(ValueError):
        return keys.activities(place, parse_instant(after)).beginning
    position = decode_cursor(after, keys.activities(place), "after")
    time = keys.activity_time_of(position)
    try:
        is_time = parse_instant(time) == time
    except ValueError:
        is_time = False
    if not is_time:
        raise InvalidCursorError("This is not a cursor of this API.", ("after",))
    return position


def live(*, description: str, **binding: Any) -> Any:
    created = Live(**binding)
    arguments = [_AFTER, _KINDS] if created.argument is None else [created.argument, _AFTER, _KINDS]
    return bound_field(created, description, arguments)
