"""The operation that changes one item in place: for counters, which many change at once and none reads first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loaders.table.operations import Action, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaders.table.keys import Key


@dataclass(frozen=True, slots=True)
class Update:
    """One item changed under its condition, each number in `added` by as much.

    The condition must name what is added to: there is no adding to what is not there. Sent again after a lost answer it
    may be applied twice, so it is not for what has a version.
    """

    contract: str
    key: Key
    attributes: Mapping[str, Any]
    condition: str
    values: Mapping[str, Any]
    added: Mapping[str, int] = field(default_factory=dict)

    def render(self, table: str) -> dict[str, Any]:
        """The UpdateItem request."""
        values = {**self.values, **{f":{name}Added": number for name, number in self.added.items()}}
        step = Step("item", Action.UPDATE, self.key, self.attributes, self.condition, values)
        request: dict[str, Any] = step.render(table)[Action.UPDATE]
        request["UpdateExpression"] += "".join(f", #{name} = #{name} + :{name}Added" for name in self.added)
        return request | {"ReturnValues": "ALL_NEW"}
