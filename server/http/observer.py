"""An observer of GraphQL requests, passed to `create_app`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from resolvers.request_state import RequestState
    from resolvers.schema import Result
    from server.http.request import GraphQLRequest


class RequestObserver(Protocol):
    """Sees every GraphQL request that is executed, from its state to its result."""

    def started(self, state: RequestState) -> RequestState:
        """Returns the state that the request is executed with: the one passed in, or a copy of it."""

    def finished(self, state: RequestState, request: GraphQLRequest, result: Result | None) -> None:
        """Called once for each started request; `result` is None if the execution raised an exception."""
