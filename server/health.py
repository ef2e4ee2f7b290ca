"""What an orchestrator asks: is it alive, should it get requests. Neither touches the store.

Were the store asked, its stall would take every server out of rotation at once and turn slow answers into none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["Readiness", "health_routes"]


class Readiness:
    """Whether this server wants requests: until it is told to stop."""

    def __init__(self) -> None:
        self.is_stopping = False


def health_routes(readiness: Readiness) -> list[Route]:
    """The routes /health and /ready."""

    async def health(_: Request) -> PlainTextResponse:
        return PlainTextResponse("ok")

    async def ready(_: Request) -> PlainTextResponse:
        if readiness.is_stopping:
            return PlainTextResponse("stopping", 503)
        return PlainTextResponse("ready")

    return [Route("/health", health), Route("/ready", ready)]
