"""Health checks for orchestrators and load balancers.

They do not access the store, so they answer at once whatever it does. Liveness does not depend on it at all; readiness
fails if no read has succeeded for some time, so that a stall does not take all servers out of rotation, and while the
table cannot be used. A server relies on what it knows of the table for longer than a stall.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from loaders.reads.table_state import TableWatch
from loaders.table.health import StoreHealth


class Readiness:
    """Whether the server accepts new requests: until it is stopping, while its store works and tells the time.

    Without a `store`, neither its health nor the state of its table is watched.
    """

    def __init__(self, store: StoreHealth | None = None, table: TableWatch | None = None) -> None:
        self.is_stopping = False
        self.store = store
        self.table = None if store is None else table or TableWatch()

    @property
    def is_usable(self) -> bool:
        """Whether the table can be used, and the store's time is known."""
        is_timed = self.store is None or self.store.clock.is_known
        return is_timed and (self.table is None or self.table.refusal is None)

    @property
    def is_read_only(self) -> bool:
        return self.table is not None and self.table.is_read_only

    def require_usable_table(self) -> None:
        """Refuses a request while the table has another format or is being migrated."""
        if self.table is not None:
            self.table.require_current()


def health_routes(readiness: Readiness) -> list[Route]:
    async def health(_: Request) -> PlainTextResponse:
        return PlainTextResponse("ok")

    async def ready(_: Request) -> PlainTextResponse:
        if readiness.is_stopping:
            return PlainTextResponse("stopping", 503)
        if readiness.store is not None and not readiness.store.is_read_up:
            return PlainTextResponse("store down", 503)
        if readiness.store is not None and not readiness.store.clock.is_known:
            return PlainTextResponse("clock unknown", 503)
        if readiness.table is not None and readiness.table.refusal is not None:
            return PlainTextResponse(readiness.table.refusal, 503)
        return PlainTextResponse("ready")

    return [Route("/health", health), Route("/ready", ready)]
