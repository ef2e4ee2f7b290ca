"""`node` and `nodes`: any object by its global id."""

import strawberry

from resolvers.api.relay import Node
from resolvers.bindings.base import Argument, bound_field
from resolvers.bindings.nodes import Nodes
from resolvers.bindings.rules import AS_OBJECT


@strawberry.type
class NodeQueries:
    node: Node | None = bound_field(
        Nodes(rule=AS_OBJECT),
        "Look up any object by its global id; null if it does not exist.",
        [Argument("id", strawberry.ID, "Global id of the object.")],
    )
    nodes: list[Node | None] | None = bound_field(
        Nodes(rule=AS_OBJECT, many=True),
        "Look up several objects by their global ids, in the order of the ids; null for those that do not exist.",
        [Argument("ids", list[strawberry.ID], "Global ids, at most 100.")],
    )
