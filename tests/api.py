"""The API as a client uses it, and the few mutations that most tests begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from domain.authorization import Principal
from tests.principals import HEADER, spelled


def mutation(field: str, selection: str) -> str:
    """A mutation's document: what is asked of its entity, and everything that its errors can say."""
    return f"""mutation ($input: {field[0].upper()}{field[1:]}Input!) {{ {field}(input: $input) {{
  {selection}
  userErrors {{
    __typename message code path status retryable
    ... on VersionConflictError {{ currentVersion }}
    ... on InvalidTransitionError {{ currentStatus allowedStatuses }}
    ... on ReservationOverlapError {{ reservation {{ reservationId startAt endAt }} }}
    ... on SlotTakenError {{ event {{ eventId locationId date duration title bookingId }} }}
  }}
}} }}"""


CREATE_OWNER = mutation("createOwner", "owner { ownerId version }")
REGISTER_LOCKER = mutation("registerLocker", "locker { lockerId alias status version }")
UPDATE_STATUS = mutation("updateLockerStatus", "locker { lockerId status version }")
RENAME = mutation("renameLocker", "locker { version }")
RETIRE_LOCKER = mutation("retireLocker", "locker { status version updatedAt }")
TRANSFER = mutation("transferLocker", "locker { version ownerId }")
RECORD_EVENT = mutation("recordAccessEvent", "accessEvent { eventId timestamp recordedAt action metadata }")
CREATE_RESERVATION = """
mutation ($input: CreateReservationInput!) {
  createReservation(input: $input) {
    reservation { reservationId startAt endAt status ownerId }
    userErrors { __typename code message path status ... on ReservationOverlapError { reservation { reservationId } } }
  }
}"""


class Api:
    def __init__(
        self, client: httpx.AsyncClient, principal: Principal | None = None, setup: tuple[Any, ...] = ()
    ) -> None:
        self.client = client
        self.setup = setup
        """In what the application differs from that of other tests."""
        self.headers = {} if principal is None else {HEADER: spelled(principal)}

    def by(self, principal: Principal) -> Api:
        return Api(self.client, principal, self.setup)

    async def send(self, query: str, **variables: Any) -> dict[str, Any]:
        """The whole answer, whatever it says."""
        response = await self.client.post(
            "/graphql", json={"query": query, "variables": variables}, headers=self.headers
        )
        answer: dict[str, Any] = response.json()
        return answer

    async def run(self, query: str, **variables: Any) -> Any:
        """The data of an answer without errors."""
        answer = await self.send(query, **variables)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    async def mutate(self, query: str, **values: Any) -> dict[str, Any]:
        """The payload of a mutation with one field, given its input's values."""
        (payload,) = (await self.run(query, input=values)).values()
        assert isinstance(payload, dict)
        return payload

    async def done(self, query: str, **values: Any) -> dict[str, Any]:
        """The payload of a mutation that must succeed."""
        payload = await self.mutate(query, **values)
        assert not payload["userErrors"], payload
        return payload

    async def owner(self, owner_id: str, **values: Any) -> None:
        await self.done(CREATE_OWNER, **{"ownerId": owner_id, "kind": "USER", "name": owner_id, **values})

    async def locker(self, locker_id: str, owner_id: str, **values: Any) -> None:
        await self.done(REGISTER_LOCKER, lockerId=locker_id, ownerId=owner_id, **values)

    async def reservation(self, reservation_id: str, locker_id: str, owner_id: str, start: str, end: str) -> None:
        named = {"reservationId": reservation_id, "lockerId": locker_id, "ownerId": owner_id}
        await self.done(CREATE_RESERVATION, **named, startAt=start, endAt=end)

    async def event(self, locker_id: str, **values: Any) -> dict[str, Any]:
        values = {"action": "OPEN", "actorId": "ada", "result": "SUCCESS", **values}
        event: dict[str, Any] = (await self.done(RECORD_EVENT, lockerId=locker_id, **values))["accessEvent"]
        return event


def user_error(code: str, message: str, status: int, *path: str) -> dict[str, Any]:
    """A user error as `mutation` selects it; its path is within the input."""
    error = {"__typename": "PlainError", "message": message, "code": code, "path": ["input", *path]}
    return {**error, "status": status, "retryable": False}


@asynccontextmanager
async def unchanged(dump: Callable[[], Any]) -> AsyncIterator[None]:
    """Holds where the table is afterwards exactly what it was before."""
    before = await dump()
    yield
    assert await dump() == before


async def refused(api: Api, dump: Callable[[], Any], query: str, **values: Any) -> dict[str, Any]:
    """The payload of a mutation that changes nothing."""
    async with unchanged(dump):
        return await api.mutate(query, **values)
