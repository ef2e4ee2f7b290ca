import sys
from pathlib import Path
from types import FrameType
from typing import Any

from domain.authorization import DEVELOPMENT_ADMIN
from loaders.backend import Backend
from loaders.table.client import DynamoStore
from loaders.table.transport import Answer, Transport
from resolvers.execution import Executor
from resolvers.limits import Limit
from resolvers.request_state import FairLock, PageSizes, RequestState
from server.limits.request_limits import RequestBudget
from tests.api import Api

ROOT = Path(__file__).parents[2]
OURS = tuple(f"{ROOT / package}/" for package in ("domain", "loaders", "resolvers"))
SERVER_FRAMES = 6
"""From the entry of a request to the executor."""
MOST_FRAMES = 24
CHAIN = """{ owner(ownerId: "ada") { name lockers(first: 10) { nodes {
  lockerId version activeReservation { endAt owner { name } } reservations(first: 2) { nodes { owner { name } } }
} } } }"""


class DeepTransport:
    """Counts the frames of our code above each request to the store, and those of the loader between them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.depths: list[int] = []

    async def send(self, operation: str, request: dict[str, Any], shape: Any = None) -> Answer:
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  # there is no other way to it
        depth = 0
        while frame is not None:
            depth += frame.f_code.co_filename.startswith(OURS) or "aiodataloader" in frame.f_code.co_filename
            frame = frame.f_back
        self.depths.append(depth)
        return await self._transport.send(operation, request, shape)


async def test_fewer_than_25_frames_are_above_a_store_call(one: Api, backend: Backend, transport: Transport) -> None:
    await one.reservation("now", "l1", "ada", "2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
    deep = DeepTransport(transport)
    state = RequestState(
        backend.with_store(DynamoStore(deep, backend.store.table)),  # type: ignore[attr-defined]  # the real store
        DEVELOPMENT_ADMIN,
        {},
        PageSizes(25, 100),
        Limit(10**6, 10**6, 10**6),
        RequestBudget(None, DEVELOPMENT_ADMIN),
        FairLock(),
    )
    executor = Executor()
    operation = executor.documents.get(CHAIN).operation(None)
    assert operation is not None
    result = await executor.execute(operation, state)
    assert not result.errors
    assert len(deep.depths) > 4
    assert max(deep.depths) + SERVER_FRAMES < MOST_FRAMES
