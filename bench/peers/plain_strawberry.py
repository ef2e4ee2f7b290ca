"""Plain Strawberry with aioboto3, as its documentation shows it: resolvers, DataLoaders, aiohttp's server."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import sys
import time
import zlib
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NewType, TypeAlias
from uuid import uuid4

import aioboto3
import jwt
import strawberry
from aiobotocore.config import AioConfig
from aiohttp import web
from strawberry.aiohttp.views import GraphQLView
from strawberry.dataloader import DataLoader
from strawberry.schema.config import StrawberryConfig

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]

_TABLE = os.environ.get("TABLE", "SmartLocker")
_EARLIEST = "0001-01-01T00:00:00.000Z"
_LATEST = "9999-12-31T23:59:59.999Z"
_SLOTS = 1000
_IS_NEW = "attribute_not_exists(#PK)"

_DateTime = NewType("_DateTime", str)
_Item: TypeAlias = dict[str, Any]
_Info: TypeAlias = strawberry.Info


@strawberry.enum(name="LockerStatus")
class LockerStatus(Enum):
    """Current state of a locker."""

    AVAILABLE = "AVAILABLE"
    OCCUPIED = "OCCUPIED"
    MAINTENANCE = "MAINTENANCE"


@strawberry.enum(name="ReservationStatus")
class ReservationStatus(Enum):
    """State of a reservation."""

    UPCOMING = "UPCOMING"
    ACTIVE = "ACTIVE"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"


@strawberry.interface
class Node:
    """An object with a global id."""

    @strawberry.field
    def id(self) -> strawberry.ID:
        """The id."""
        raise NotImplementedError


@strawberry.type
class PageInfo:
    """Position of a page."""

    has_next_page: bool


@strawberry.type
class Reservation(Node):
    """A reservation."""

    reservation_id: strawberry.ID
    locker_id: strawberry.ID
    owner_id: strawberry.ID
    start_at: _DateTime
    end_at: _DateTime
    status: ReservationStatus

    @strawberry.field
    def id(self) -> strawberry.ID:
        """The id."""
        return _global_id("Reservation", self.locker_id, self.start_at, self.reservation_id)


@strawberry.type
class ReservationConnection:
    """A page of reservations."""

    nodes: list[Reservation]
    page_info: PageInfo


@strawberry.input
class TimeWindow:
    """A time window."""

    from_: _DateTime | None = strawberry.field(name="from", default=None)
    to: _DateTime | None = None


@strawberry.type
class Locker(Node):
    """A locker, from its record or from a list's copy, which has no version and no time of creation."""

    locker_id: strawberry.ID
    owner_id: strawberry.ID
    alias: str | None
    status: LockerStatus
    updated_at: _DateTime
    own_version: strawberry.Private[int | None]
    own_created_at: strawberry.Private[str | None]

    @strawberry.field
    def id(self) -> strawberry.ID:
        """The id."""
        return _global_id("Locker", self.locker_id)

    @strawberry.field
    async def version(self, info: _Info) -> int:
        """Incremented on every change."""
        if self.own_version is None:
            return (await info.context["lockers"].load(self.locker_id)).own_version  # type: ignore[no-any-return]
        return self.own_version

    @strawberry.field
    async def created_at(self, info: _Info) -> _DateTime:
        """Time of creation."""
        if self.own_created_at is None:
            return (await info.context["lockers"].load(self.locker_id)).own_created_at  # type: ignore[no-any-return]
        return _DateTime(self.own_created_at)

    @strawberry.field
    async def active_reservation(self, info: _Info) -> Reservation | None:
        """The current reservation."""
        pointed: Reservation | None = await info.context["pointers"].load(self.locker_id)
        return pointed if pointed is not None and pointed.start_at <= _now() < pointed.end_at else None

    @strawberry.field
    async def reservations(
        self, info: _Info, window: TimeWindow | None = None, first: int = 25
    ) -> ReservationConnection | None:
        """The reservations of a time window."""
        low = (window and window.from_) or _EARLIEST
        high = (window and window.to) or _LATEST
        values = {":pk": f"LOCKER#{self.locker_id}", ":low": f"RES#{low}", ":high": f"RES#{high}~"}
        store: _Store = info.context["store"]
        items = await store.query("#PK = :pk AND #SK BETWEEN :low AND :high", values, limit=first + 1)
        nodes = [_reservation(item) for item in items[:first]]
        return ReservationConnection(nodes=nodes, page_info=PageInfo(has_next_page=len(items) > first))


@strawberry.type
class LockerConnection:
    """A page of lockers."""

    nodes: list[Locker]
    page_info: PageInfo


@strawberry.type
class Owner(Node):
    """An owner."""

    owner_id: strawberry.ID
    own_name: strawberry.Private[str | None] = None

    @strawberry.field
    async def name(self, info: _Info) -> str:
        """Name of the owner."""
        if self.own_name is None:
            return (await info.context["owners"].load(self.owner_id)).own_name  # type: ignore[no-any-return]
        return self.own_name

    @strawberry.field
    def id(self) -> strawberry.ID:
        """The id."""
        return _global_id("Owner", self.owner_id)

    @strawberry.field
    async def lockers(self, info: _Info, first: int = 25) -> LockerConnection | None:
        """The owner's lockers."""
        values = {":pk": f"OWNER#{self.owner_id}", ":prefix": "LOCKER#"}
        store: _Store = info.context["store"]
        items = await store.query("#PK = :pk AND begins_with(#SK, :prefix)", values, limit=first + 1)
        nodes = [_locker(item) for item in items[:first]]
        return LockerConnection(nodes=nodes, page_info=PageInfo(has_next_page=len(items) > first))


@strawberry.type
class Query:
    """The queries."""

    @strawberry.field
    async def locker(self, info: _Info, locker_id: strawberry.ID) -> Locker | None:
        """A locker by its id."""
        return await info.context["lockers"].load(locker_id)  # type: ignore[no-any-return]

    @strawberry.field
    def owner(self, owner_id: strawberry.ID) -> Owner | None:
        """An owner by its id; as in SmartLocker, one of whom only the id and the lists are selected is not read."""
        return Owner(owner_id=owner_id)

    @strawberry.field
    async def nodes(self, info: _Info, ids: list[strawberry.ID]) -> list[Node | None]:
        """Objects by their global ids."""

        async def load(global_id: str) -> Node | None:
            kind, _, own_id = base64.urlsafe_b64decode(global_id + "==").decode().partition("/")
            loader = {"Locker": "lockers", "Owner": "owners"}.get(kind)
            return None if loader is None else await info.context[loader].load(own_id)

        return await asyncio.gather(*map(load, ids))


@strawberry.input
class UpdateLockerStatusInput:
    """The input of updateLockerStatus."""

    locker_id: strawberry.ID
    new_status: LockerStatus
    expected_version: int


@strawberry.input
class CreateReservationInput:
    """The input of createReservation."""

    locker_id: strawberry.ID
    owner_id: strawberry.ID
    start_at: _DateTime
    end_at: _DateTime
    reservation_id: strawberry.ID | None = None


@strawberry.type
class UserError:
    """An expected failure."""

    code: str
    message: str


@strawberry.type
class UpdateLockerStatusPayload:
    """Payload of updateLockerStatus."""

    locker: Locker | None
    user_errors: list[UserError]


@strawberry.type
class CreateReservationPayload:
    """Payload of createReservation."""

    reservation: Reservation | None
    user_errors: list[UserError]


@strawberry.type
class Mutation:
    """The mutations."""

    @strawberry.mutation
    async def update_locker_status(self, info: _Info, input: UpdateLockerStatusInput) -> UpdateLockerStatusPayload:  # noqa: A002  # the API's name
        """Changes a locker's status."""
        store: _Store = info.context["store"]
        key = _key(f"LOCKER#{input.locker_id}", "META")
        item = await store.get(key, consistent=True)
        if item is None:
            return UpdateLockerStatusPayload(
                locker=None, user_errors=[UserError(code="NOT_FOUND", message="No locker.")]
            )
        locker = _locker(item)
        if locker.own_version != input.expected_version or locker.status is input.new_status:
            error = UserError(code="VERSION_CONFLICT", message="The locker has changed.")
            return UpdateLockerStatusPayload(locker=None, user_errors=[error])
        locker.status, locker.own_version, locker.updated_at = (
            input.new_status,
            input.expected_version + 1,
            _DateTime(_now()),
        )
        shown = {"status": {"S": locker.status.value}, "updatedAt": {"S": locker.updated_at}}
        copy = {name: item[name] for name in ("alias", "reservableBy", "size", "features")} | {
            "GSI1PK": {"S": f"OWNER#{locker.owner_id}#LOCKER#{locker.status.value}"},
            "GSI1SK": {"S": locker.locker_id},
        }
        await store.transact(
            _update(
                key,
                shown | {"version": {"N": str(locker.own_version)}, "lastChange": {"S": str(uuid4())}},
                "#version = :expectedVersion AND #ownerId = :readOwner",
                {":expectedVersion": {"N": str(input.expected_version)}, ":readOwner": {"S": locker.owner_id}},
            ),
            _update(
                _key(f"OWNER#{locker.owner_id}", f"LOCKER#{locker.locker_id}"), shown | copy, "attribute_exists(#PK)"
            ),
            _logged(
                info.context["caller"],
                (item.get("locationId") or item["ownerId"])["S"],
                {
                    "kind": "locker.status_changed",
                    "lockerId": locker.locker_id,
                    "locationId": item.get("locationId", {}).get("S"),
                    "ownerId": locker.owner_id,
                    "version": locker.own_version,
                    "status": locker.status.value,
                    "size": item["size"]["S"],
                    "changes": [["status", item["status"]["S"], locker.status.value]],
                },
            ),
        )
        return UpdateLockerStatusPayload(locker=locker, user_errors=[])

    @strawberry.mutation
    async def create_reservation(self, info: _Info, input: CreateReservationInput) -> CreateReservationPayload:  # noqa: A002  # the API's name
        """Creates a reservation."""
        refusal, created = await _create_reservation(info.context["store"], info.context["caller"], input)
        errors = [] if refusal is None else [UserError(code=refusal, message=refusal)]
        return CreateReservationPayload(reservation=created, user_errors=errors)


async def _create_reservation(
    store: _Store, caller: _Item, wanted: CreateReservationInput
) -> tuple[str | None, Reservation | None]:
    partition, start, end = f"LOCKER#{wanted.locker_id}", wanted.start_at, wanted.end_at
    reservation_id = wanted.reservation_id or str(uuid4())
    own_keys = [_key(partition, sort) for sort in ("GUARD#RES", "RES#ACTIVE", f"RID#{reservation_id}", "META")]
    guard_key, pointer_key, claim_key, locker_key = own_keys
    found = await store.batch_get([*own_keys, _key(f"OWNER#{wanted.owner_id}", "META")], consistent=True)
    guard, pointer, claim, locker, owner = found
    if claim is not None:
        return "ID_TAKEN", None
    if guard is None or pointer is None or locker is None or owner is None:
        return "NOT_FOUND", None
    if locker["status"]["S"] == "MAINTENANCE":
        return "LOCKER_IN_MAINTENANCE", None
    values = {":pk": partition, ":low": f"LIVE#{_EARLIEST}", ":high": f"LIVE#{end}"}
    between, begins = "#PK = :pk AND #SK BETWEEN :low AND :high", "#PK = :pk AND begins_with(#SK, :prefix)"
    before, slots = await asyncio.gather(
        store.query(between, values, limit=1, forward=False, consistent=True),
        store.query(begins, {":pk": f"OWNER#{wanted.owner_id}", ":prefix": "SLOT#"}, limit=_SLOTS, consistent=True),
    )
    if before and start < before[0]["endAt"]["S"]:
        return "OVERLAP", None
    taken = {item["slot"]["S"] for item in slots}
    slot = next((one for one in (f"{number:04d}" for number in range(_SLOTS)) if one not in taken), None)
    if slot is None:
        return "TOO_MANY_RESERVATIONS", None
    now = {"S": _now()}
    content = json.dumps([wanted.locker_id, wanted.owner_id, start, end])
    revision = {"N": str(int(guard["revision"]["N"]) + 1)}
    ids = {
        "reservationId": {"S": reservation_id},
        "lockerId": {"S": wanted.locker_id},
        "startAt": {"S": start},
    }
    item = ids | {
        "ownerId": {"S": wanted.owner_id},
        "endAt": {"S": end},
        "status": {"S": "ACTIVE"},
        "createdAt": now,
        "updatedAt": now,
        "version": {"N": "1"},
    }
    fingerprint = {"S": hashlib.sha256(content.encode()).hexdigest()}
    place = f"RES#{start}#{reservation_id}"
    due_shard = {"N": str(zlib.crc32(locker.get("locationId", {"S": wanted.owner_id})["S"].encode()) % 4)}
    due = {
        "GSI1PK": {"S": f"DUE#{due_shard['N']}"},
        "GSI1SK": {"S": f"{end}#{wanted.locker_id}#{reservation_id}"},
    }
    changed = {
        "revision": revision,
        "changedStartAt": {"S": start},
        "changedReservationId": {"S": reservation_id},
        "changedRevision": revision,
    }
    steps = [
        _update(guard_key, changed, "#revision = :readRevision", {":readRevision": guard["revision"]}),
        _put(
            _key(partition, place),
            item
            | {"entityType": {"S": "RESERVATION"}, "revision": revision, "slot": {"S": slot}, "dueShard": due_shard},
        ),
        _put(
            _key(partition, f"LIVE#{start}#{reservation_id}"),
            item | {"entityType": {"S": "LIVE_RESERVATION"}, "revision": revision, "dueShard": due_shard} | due,
        ),
        _put(
            _key(f"OWNER#{wanted.owner_id}", f"SLOT#{slot}"),
            ids
            | {
                "entityType": {"S": "RESERVATION_SLOT"},
                "ownerId": {"S": wanted.owner_id},
                "slot": {"S": slot},
                "endAt": {"S": end},
            },
            "attribute_not_exists(#PK) OR #endAt <= :now",
            {":now": now},
        ),
        _put(claim_key, ids | {"entityType": {"S": "RESERVATION_CLAIM"}, "fingerprint": fingerprint}),
        _put(_key(f"OWNER#{wanted.owner_id}", place), item | {"entityType": {"S": "OWNER_RESERVATION"}}),
        _check(
            pointer_key,
            "#reservationId = :pointed AND #endAt = :pointedEnd AND #version = :pointedVersion"
            " AND #lastEndAt = :readLastEnd",
            {
                ":pointed": pointer["reservationId"],
                ":pointedEnd": pointer["endAt"],
                ":pointedVersion": pointer["version"],
                ":readLastEnd": pointer["lastEndAt"],
            },
        ),
        _check(
            locker_key,
            "#ownerId = :readOwner AND #status <> :maintenance AND #reservableBy = :readAudience",
            {
                ":readOwner": locker["ownerId"],
                ":maintenance": {"S": "MAINTENANCE"},
                ":readAudience": locker["reservableBy"],
            },
        ),
    ]
    if "changedStartAt" in guard:
        last = f"RES#{guard['changedStartAt']['S']}#{guard['changedReservationId']['S']}"
        condition = {":changedRevision": guard["changedRevision"]}
        steps.append(_check(_key(partition, last), "#revision = :changedRevision", condition))
    steps.append(
        _logged(
            caller,
            (locker.get("locationId") or locker["ownerId"])["S"],
            {
                "kind": "reservation.created",
                "lockerId": wanted.locker_id,
                "locationId": locker.get("locationId", {}).get("S"),
                "ownerId": wanted.owner_id,
                "lockerOwnerId": locker["ownerId"]["S"],
                "reservationId": reservation_id,
                "startAt": start,
                "version": 1,
            },
        )
    )
    await store.transact(*steps)
    return None, _reservation(item)


class _Store:
    """Reads and writes of the resolvers."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def get(self, key: _Item, *, consistent: bool = False) -> _Item | None:
        answer = await self._client.get_item(TableName=_TABLE, Key=key, ConsistentRead=consistent)
        return answer.get("Item")  # type: ignore[no-any-return]

    async def batch_get(self, keys: list[_Item], *, consistent: bool = False) -> list[_Item | None]:
        found = {}
        request = {_TABLE: {"Keys": keys, "ConsistentRead": consistent}}
        while request:
            answer = await self._client.batch_get_item(RequestItems=request)
            for item in answer["Responses"].get(_TABLE, ()):
                found[item["PK"]["S"], item["SK"]["S"]] = item
            request = answer.get("UnprocessedKeys")
        return [found.get((key["PK"]["S"], key["SK"]["S"])) for key in keys]

    async def query(
        self, condition: str, values: dict[str, str], *, limit: int, forward: bool = True, consistent: bool = False
    ) -> list[_Item]:
        answer = await self._client.query(
            TableName=_TABLE,
            KeyConditionExpression=condition,
            ExpressionAttributeNames={"#PK": "PK", "#SK": "SK"},
            ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
            Limit=limit,
            ScanIndexForward=forward,
            ConsistentRead=consistent,
        )
        return answer["Items"]  # type: ignore[no-any-return]

    async def transact(self, *steps: _Item) -> None:
        await self._client.transact_write_items(TransactItems=list(steps), ClientRequestToken=str(uuid4()))


class _View(GraphQLView[Any]):
    """Gives each request its own loaders."""

    def __init__(self, store: _Store) -> None:
        config = StrawberryConfig(scalar_map={_DateTime: strawberry.scalar(name="DateTime")})
        schema = strawberry.Schema(Query, Mutation, types=[Locker, Owner, Reservation], config=config)
        super().__init__(schema, graphql_ide=None)
        self._store = store
        self._keys = jwt.PyJWKSet.from_json(Path(os.environ["JWKS"]).read_text())
        self._verified: dict[str, _Item] = {}

    def _verify(self, authorization: str) -> _Item:
        """The claims of a token, which is verified once, as SmartLocker does."""
        known = self._verified.get(authorization)
        if known is not None and time.time() < known["exp"]:
            return known
        issuer, audience = os.environ["ISSUER"], os.environ["AUDIENCE"]
        key = self._keys.keys[0]
        claims = jwt.decode(authorization.removeprefix("Bearer "), key, ["RS256"], issuer=issuer, audience=audience)
        self._verified[authorization] = claims
        return claims

    async def get_context(self, request: web.Request, response: web.StreamResponse) -> Any:
        return {
            "caller": self._verify(request.headers["Authorization"]),
            "request": request,
            "response": response,
            "store": self._store,
            "lockers": self._loader(lambda own_id: _key(f"LOCKER#{own_id}", "META"), _locker),
            "owners": self._loader(lambda own_id: _key(f"OWNER#{own_id}", "META"), _owner),
            "pointers": self._loader(lambda own_id: _key(f"LOCKER#{own_id}", "RES#ACTIVE"), _reservation),
        }

    def _loader(self, key_of: Callable[[str], _Item], decoded: Callable[[_Item], Any]) -> DataLoader[str, Any]:
        async def load(ids: list[str]) -> list[Any]:
            keys = [key_of(own_id) for own_id in ids]
            items = [await self._store.get(keys[0])] if len(keys) == 1 else await self._store.batch_get(keys)
            return [None if item is None else decoded(item) for item in items]

        return DataLoader(load_fn=load, max_batch_size=100)


def _locker(item: _Item) -> Locker:
    return Locker(
        locker_id=item["lockerId"]["S"],
        owner_id=item["ownerId"]["S"],
        alias=item["alias"]["S"] if "alias" in item else None,
        status=LockerStatus(item["status"]["S"]),
        updated_at=item["updatedAt"]["S"],
        own_version=int(item["version"]["N"]) if "version" in item else None,
        own_created_at=item["createdAt"]["S"] if "createdAt" in item else None,
    )


def _reservation(item: _Item) -> Reservation:
    return Reservation(
        reservation_id=item["reservationId"]["S"],
        locker_id=item["lockerId"]["S"],
        owner_id=item["ownerId"]["S"],
        start_at=item["startAt"]["S"],
        end_at=item["endAt"]["S"],
        status=_status(item),
    )


def _status(item: _Item) -> ReservationStatus:
    status = ReservationStatus(item["status"]["S"])
    is_to_come = status is ReservationStatus.ACTIVE and item["startAt"]["S"] > _now()
    return ReservationStatus.UPCOMING if is_to_come else status


def _owner(item: _Item) -> Owner:
    return Owner(owner_id=item["ownerId"]["S"], own_name=item["name"]["S"])


def _logged(caller: _Item, place: str, happening: _Item) -> _Item:
    """The item that logs what a transaction does, as SmartLocker has it."""
    shard, entry_id, now = zlib.crc32(place.encode()) % 4, str(uuid4()), _now()
    attributes = {
        "entityType": {"S": "LOG_ENTRY"},
        "shard": {"N": str(shard)},
        "stamp": {"S": now},
        "entryId": {"S": entry_id},
        "happenings": {"S": json.dumps([{"n": 0} | happening])},
        "expiresAt": {"N": str(int(time.time()) + 30 * 24 * 3600)},
        "actorSubject": {"S": caller.get("sub", "nobody")},
        "actorRole": {"S": caller.get("role", "admin")},
    }
    return _put(_key(f"LOG#{shard}", f"{now}#{entry_id}"), attributes)


def _key(partition: str, sort: str) -> _Item:
    return {"PK": {"S": partition}, "SK": {"S": sort}}


def _put(key: _Item, attributes: _Item, condition: str = _IS_NEW, values: _Item | None = None) -> _Item:
    return {"Put": _conditioned(condition, values or {}, "") | {"Item": key | attributes}}


def _check(key: _Item, condition: str, values: _Item) -> _Item:
    return {"ConditionCheck": _conditioned(condition, values, "") | {"Key": key}}


def _update(key: _Item, attributes: _Item, condition: str, values: _Item | None = None) -> _Item:
    expression = "SET " + ", ".join(f"#{name} = :{name}" for name in attributes)
    all_values = (values or {}) | {f":{name}": value for name, value in attributes.items()}
    return {"Update": _conditioned(condition, all_values, expression) | {"Key": key, "UpdateExpression": expression}}


def _conditioned(condition: str, values: _Item, expression: str) -> _Item:
    names = set(re.findall(r"#(\w+)", condition + expression))
    request: _Item = {
        "TableName": _TABLE,
        "ConditionExpression": condition,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {f"#{name}": name for name in names},
    }
    return request | {"ExpressionAttributeValues": values} if values else request


def _global_id(*parts: str) -> strawberry.ID:
    return strawberry.ID(base64.urlsafe_b64encode("/".join(parts).encode()).decode().rstrip("="))


def _now() -> str:
    return _text(datetime.now(UTC))


def _text(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def _serve() -> None:
    async with aioboto3.Session().client(
        "dynamodb",
        region_name="eu-central-1",
        endpoint_url=os.environ["ENDPOINT_URL"],
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106  # the stores of the benchmark check no signature
        config=AioConfig(max_pool_connections=64),
    ) as client:
        app = web.Application()
        app.router.add_route("*", "/graphql", _View(_Store(client)))
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        sys.stdout.write(f"listening {runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Serves until it is ended."""
    asyncio.run(_serve())


if __name__ == "__main__":
    main()
