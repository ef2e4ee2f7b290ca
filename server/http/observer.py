"""An observer of GraphQL requests, passed to `create_app`."""

from __future__ import annotations

from typing import Protocol

from resolvers.execution import Result
from resolvers.request_state import RequestState
from server.http.request import GraphQLRequest


class RequestObserver(Protocol):
    """Sees every GraphQL request that is executed, from its state to its result."""

    def started(self, state: RequestState) -> None:
        """Called with the state that the request is executed with."""

    def finished(self, state: RequestState, request: GraphQLRequest, result: Result | None) -> None:
        """Called once for each started request; `result` is None if the execution raised an exception."""
