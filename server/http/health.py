"""Health checks for orchestrators and load balancers.

They do not access the store: if the store stalls, all servers would be taken out of rotation at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["Readiness", "health_routes"]


class Readiness:
    """Whether the server accepts new requests: true until it is stopping."""

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
