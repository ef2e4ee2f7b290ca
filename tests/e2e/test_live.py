"""Clients whose connections are cut, on servers that are stopped or killed: each gets all of its scope, nothing else.

`make live` cuts 200 times and kills 10 times, under load.
"""

import asyncio
import json
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from websockets.exceptions import ConnectionClosed, WebSocketException

from domain.activity import Activity, history_places
from domain.authorization import DEVELOPMENT_ADMIN, Principal
from domain.times import EARLIEST, Instant, to_datetime
from loaders import keys
from loaders.contracts.activity import WHOLE_LOG
from loaders.following.catching_up import cursor_at
from loaders.table.client import DynamoStore
from loaders.table.clock import utc_now
from server.auth.development import development_token
from server.new_ids import new_id
from tests import places
from tests.e2e.serving import Server, start
from tests.history import logged
from tests.principals import owner
from tests.sockets import acknowledged
from tests.tables import PlainClient

CUTS = int(os.environ.get("LIVE_CUTS", "12"))
KILLS = int(os.environ.get("LIVE_KILLS", "1"))
CLIENTS = int(os.environ.get("LIVE_CLIENTS", "8"))
SEED = int(os.environ.get("LIVE_SEED", "1"))
ROOMS = [places.ulid(0), places.ulid(1)]
OWNERS = ["ada", "bob"]
HIDDEN = ("location.", "calendar_event.", "api_key.")
"""Kinds that are in the history of an owner only if it is an admin's."""
BROKEN = (OSError, httpx.HTTPError, WebSocketException, TimeoutError)
"""How connections end."""
SHOWN = "activityId cursor occurredAt kind locker { lockerId ownerId }"


@dataclass(frozen=True)
class Scope:
    field: str
    argument: str
    place: str
    principal: Principal = DEVELOPMENT_ADMIN

    @property
    def query(self) -> str:
        arguments = f"{self.argument}, after: $after" if self.argument else "after: $after"
        return f"subscription ($after: String) {{ {self.field}({arguments}) {{ {SHOWN} }} }}"

    def has(self, activity: Activity) -> bool:
        happening = activity.happening
        if self.place == WHOLE_LOG:
            return True
        is_hidden = self.principal is not DEVELOPMENT_ADMIN and happening.kind.value.startswith(HIDDEN)
        return self.place in history_places(happening) and not is_hidden


SCOPES = [
    Scope("activity", "", WHOLE_LOG),
    Scope("lockerActivity", 'lockerId: "fixed"', "locker:fixed", owner("ada")),
    Scope("ownerActivity", 'ownerId: "ada"', "owner:ada", owner("ada")),
    Scope("locationActivity", f'locationId: "{ROOMS[0]}"', f"location:{ROOMS[0]}"),
    Scope("ownerActivity", 'ownerId: "bob"', "owner:bob", owner("bob")),
    Scope("lockerActivity", 'lockerId: "moved"', "locker:moved"),
    Scope("locationActivity", f'locationId: "{ROOMS[1]}"', f"location:{ROOMS[1]}"),
    Scope("ownerActivity", 'ownerId: "bob"', "owner:bob"),
]


@dataclass(eq=False)
class Client:
    """Subscribes wherever a server lives, from the cursor that it has, again and again."""

    scope: Scope
    by_socket: bool
    urls: Callable[[], list[str]]
    token: str
    cursor: str
    seen: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    oldest_repeat: float = 0.0
    """How long before it connected again something happened that it got again, in seconds at most."""
    connections: int = 0
    closes: set[int] = field(default_factory=set)
    """The codes with which servers have closed its connections."""
    _connection: asyncio.Task[None] | None = None
    _connected_at: Instant = EARLIEST
    _now: set[str] = field(default_factory=set)
    """The ids that it got on this connection."""

    async def run(self) -> None:
        while True:
            self._now, self._connected_at = set(), utc_now()
            url = random.choice(self.urls())
            work = self._socket(url) if self.by_socket else self._stream(url)
            connection = self._connection = asyncio.create_task(work)
            self.connections += 1
            try:
                await asyncio.wait([connection])
            finally:
                connection.cancel()
            error = None if connection.cancelled() else connection.exception()
            if isinstance(error, ConnectionClosed) and error.rcvd is not None:
                self.closes.add(error.rcvd.code)
            if error is not None and not isinstance(error, BROKEN):
                raise error
            await asyncio.sleep(0.05)

    def cut(self) -> None:
        if self._connection is not None:
            self._connection.cancel()

    async def _socket(self, url: str) -> None:
        async with acknowledged(url, {"Authorization": f"Bearer {self.token}"}) as socket:
            await socket.subscribe("1", self.scope.query, variables={"after": self.cursor})
            async for message in socket.connection:
                content = json.loads(message)
                assert content["type"] in {"next", "ping", "pong"}, content
                if content["type"] == "next":
                    self._take(content["payload"])

    async def _stream(self, url: str) -> None:
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {self.token}"}
        variables: dict[str, Any] = {}
        if self.seen:
            headers["Last-Event-ID"] = self.cursor
        else:
            variables = {"after": self.cursor}
        content = {"query": self.scope.query, "variables": variables}
        async with (
            httpx.AsyncClient(timeout=httpx.Timeout(10, read=60)) as client,
            client.stream("POST", url, json=content, headers=headers) as response,
        ):
            assert response.status_code == 200
            last = None
            async for line in response.aiter_lines():
                if line.startswith("id: "):
                    last = line.removeprefix("id: ")
                elif line.startswith("data: "):
                    self._take(json.loads(line.removeprefix("data: ")), last)

    def _take(self, payload: dict[str, Any], last: str | None = None) -> None:
        activity = payload["data"][self.scope.field]
        for error in payload.get("errors", []):
            self.errors[error["extensions"]["code"]] += 1
        if activity is None:
            return
        name = activity["activityId"]
        assert name not in self._now, f"{name} came twice on one connection"
        assert last in {None, activity["cursor"]}
        self._now.add(name)
        if name in self.seen:
            ago = to_datetime(self._connected_at) - to_datetime(Instant(activity["occurredAt"]))
            self.oldest_repeat = max(self.oldest_repeat, ago.total_seconds())
        self.seen[name] += 1
        self.cursor = activity["cursor"]


@dataclass(eq=False)
class World:
    folder: Path
    settings: dict[str, str]
    servers: list[Server] = field(default_factory=list)
    acknowledged: int = 0
    _starts: Any = field(default_factory=count)

    @property
    def urls(self) -> list[str]:
        return [server.url for server in self.servers]

    async def started(self) -> Server:
        folder = self.folder / f"server-{next(self._starts)}"
        return await asyncio.to_thread(start, folder, **self.settings, data_dir=self.folder / "data")

    async def ask(self, query: str, **variables: Any) -> Any:
        """The data of an answer, of whatever server lives."""
        async with httpx.AsyncClient(timeout=30) as client:
            while True:
                with suppress(httpx.TransportError):
                    url = random.choice(self.urls)
                    answer = await client.post(url, json={"query": query, "variables": variables})
                    return answer.json()["data"]
                await asyncio.sleep(0.1)

    async def send(self, mutation: str, **values: Any) -> None:
        kind = f"{mutation[0].upper()}{mutation[1:]}Input!"
        query = f"mutation ($input: {kind}) {{ {mutation}(input: $input) {{ __typename }} }}"
        data = await self.ask(query, input=values)
        self.acknowledged += bool(data)

    async def version_of(self, locker_id: str) -> int:
        data = await self.ask("query ($id: ID!) { locker(lockerId: $id) { version } }", id=locker_id)
        return int(data["locker"]["version"])

    async def prepare(self) -> None:
        for name in OWNERS:
            await self.send("createOwner", ownerId=name, kind="USER", name=name)
        for number, room in enumerate(ROOMS):
            await self.send("createLocation", locationId=room, **places.fresh(f"room-{number}"))
        for name, room in (("fixed", ROOMS[0]), ("moved", ROOMS[0]), ("given", ROOMS[1])):
            await self.send("registerLocker", lockerId=name, ownerId="ada", locationId=room)

    async def open_doors(self) -> None:
        while True:
            about = {"action": "OPEN", "actorId": "x", "result": "SUCCESS"}
            names = random.choices(["fixed", "moved", "given"], k=random.choice([1, 1, 1, 5]))
            events = [{"lockerId": name, "eventId": new_id(), **about} for name in names]
            await self.send("recordAccessEvents", events=events)
            await asyncio.sleep(0.1)

    async def change(self) -> None:
        """Moves one locker to and fro, and gives another away and back."""
        for number in count(1):
            room, taker = ROOMS[number % 2], OWNERS[number % 2]
            version = await self.version_of("moved")
            await self.send("moveLocker", lockerId="moved", newLocationId=room, expectedVersion=version)
            version = await self.version_of("given")
            await self.send("transferLocker", lockerId="given", newOwnerId=taker, expectedVersion=version)
            await self.send("createOwner", ownerId=new_id(), kind="USER", name="x")
            await asyncio.sleep(0.2)


@asynccontextmanager
async def going(*works: Any) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Runs works beside the block; one that fails ends it."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result


async def test_no_client_misses_or_is_told_anything_of_others_however_often_connections_and_servers_end(
    tmp_path: Path, at_store: dict[str, str], plain_client: PlainClient, table: str
) -> None:
    random.seed(SEED)
    world = World(tmp_path, at_store)
    began = utc_now()
    try:
        world.servers += await asyncio.gather(world.started(), world.started())
        await world.prepare()
        tokens = {
            scope.principal: development_token(tmp_path / "data", scope.principal, timedelta(hours=1))
            for scope in SCOPES
        }
        chosen = [SCOPES[number % len(SCOPES)] for number in range(CLIENTS)]
        clients = [
            Client(scope, number % 3 != 2, lambda: world.urls, tokens[scope.principal], cursor_at(scope.place, began))
            for number, scope in enumerate(chosen)
        ]
        async with going(*(client.run() for client in clients)) as running:
            async with going(world.open_doors(), world.open_doors(), world.change()):
                await _break(world, clients)
            expected = await _expected(DynamoStore(plain_client.transport, table), clients)
            async with asyncio.timeout(90):
                while any(wanted - client.seen.keys() for client, wanted in zip(clients, expected, strict=True)):
                    assert not any(task.done() for task in running), [task for task in running if task.done()]
                    await asyncio.sleep(0.1)
        for client, wanted in zip(clients, expected, strict=True):
            assert client.seen.keys() == wanted, client.scope
            assert not client.errors.keys() - {"UNAVAILABLE"}, client.errors
        assert {code for client in clients for code in client.closes} <= {1012}
        told, most = sum(client.seen.total() for client in clients), max(map(len, expected))
        repeats, oldest = told - sum(map(len, expected)), max(client.oldest_repeat for client in clients)
        connections = sum(client.connections for client in clients)
        print(  # noqa: T201
            f"{len(clients)} clients, {connections} connections, {CUTS} cuts, {KILLS} kills, {world.acknowledged} "
            f"changes, up to {most} activities a client; {repeats} came again, from {oldest:.0f} s before at most"
        )
        assert oldest < 60
    finally:
        for server in world.servers:
            if server.process.poll() is None:
                server.end(signal.SIGKILL)


async def _break(world: World, clients: list[Client]) -> None:
    """Cuts connections at random, stops a server in good order and kills others meanwhile; in the end one is left."""
    for number in range(CUTS):
        if number == CUTS // 2:
            stopped = world.servers.pop()
            assert await asyncio.to_thread(stopped.end, signal.SIGTERM) == 0
            world.servers.append(await world.started())
        random.choice(clients).cut()
        await asyncio.sleep(random.uniform(0.05, 0.3))
        if (number + 1) * KILLS // CUTS > number * KILLS // CUTS:
            which = number % 2
            dead = world.servers.pop(which)
            await asyncio.to_thread(dead.end, signal.SIGKILL)
            if number + 1 < CUTS:
                world.servers.insert(which, await world.started())


async def _expected(store: DynamoStore, clients: list[Client]) -> list[set[str]]:
    """The ids that each client must get, by the log itself."""
    activities = [one for shard in range(keys.LOG_SHARDS) for one in await logged(store, shard)]
    return [{one.activity_id for one in activities if client.scope.has(one)} for client in clients]
