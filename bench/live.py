"""Subscriptions: latency, idle subscribers, one event to many, and a stream of events: `python -m bench.live`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bench.data import OWNER
from bench.page import write_section
from bench.processes import Cores, ProcessError, end_on_signal, open_client, pinned, process_cpu_seconds
from bench.report import machine, today
from bench.run import ROOT
from bench.servers import LIVE, LIVE_MERCURIUS, PRODUCTION, authorization_of, node_folder, started
from bench.stores import open_embedded, open_stub, post
from bench.workloads import STATUS_OF_LOCKERS, workloads
from loaders.table.clock import utc_now

if TYPE_CHECKING:
    from bench.processes import Client
    from bench.servers import Server
    from domain.times import Instant
    from loaders.table.client import StoreConnection

__all__ = ["main"]

_SUBSCRIPTION = (
    "subscription ($id: ID!) { locationActivity(locationId: $id) {"
    " activityId kind occurredAt lockerId version locker { status } } }"
)
_CREATE_LOCATION = (
    "mutation ($input: CreateLocationInput!) { createLocation(input: $input) {"
    " location { locationId } userErrors { message } } }"
)
_REGISTER_LOCKER = (
    "mutation ($input: RegisterLockerInput!) { registerLocker(input: $input) {"
    " locker { lockerId status version } userErrors { message } } }"
)
_CALLERS = 5
_IDLE = 1000
_STREAM_SUBSCRIBERS = 100
_STREAM_RATE = 200
_SUSTAINED = 0.97
_SUSTAINED_MS = 500
"""The p50 of the second half of a stream that is sustained: events do not pile up."""
_LATENCY_RATE = 20
_LOCKERS = 50
_LINGER_SECONDS = 6.0
_SETTLE_SECONDS = 3.0
_ATTEMPTS = 20
_CONNECTIONS = 4
_LISTENING = ("nobody", "somebody else", "a subscriber of the locker's location")


@dataclass(frozen=True, slots=True)
class _Extent:
    latency_events: int
    idle_seconds: float
    rounds: int
    fan_out_events: int
    stream_seconds: float


_WHOLE = _Extent(600, 30, 4, 6, 5)
_QUICK = _Extent(100, 5, 2, 2, 2)


@dataclass(frozen=True, slots=True)
class _Place:
    """A location with lockers that are changed, and others that are while a mutation is measured."""

    location_id: str
    lockers: list[dict[str, Any]]
    measured: list[str]


class _Subscribers:
    """The process that subscribes and sends changes; see peers/subscribers.mjs."""

    def __init__(self, process: asyncio.subprocess.Process, change: str) -> None:
        self._process = process
        self._change = change

    @classmethod
    async def start(cls, folder: Path, cores: str | None, change: str) -> _Subscribers:
        program = node_folder(folder) / "subscribers.mjs"
        command = [*pinned(cores), "node", str(program)]
        pipe = subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=2**20), change)

    async def open(self, group: str, server: Server, place: _Place, count: int, callers: int = 1) -> None:
        tokens = [authorization_of(server, f"{group}-{number}") for number in range(callers)]
        await self._command(
            command="open",
            group=group,
            port=server.port,
            tokens=tokens,
            count=count,
            query=_SUBSCRIPTION,
            variables={"id": place.location_id},
        )

    async def close(self, group: str) -> None:
        await self._command(command="close", group=group)

    async def change(
        self, server: Server, place: _Place, rate: float, count: int, told: list[str], patience: float = 15
    ) -> dict[str, Any]:
        """The figures of each group, once all its subscribers were told of everything, and the time of the changes."""
        found = await self._command(
            command="change",
            port=server.port,
            headers=server.headers,
            query=self._change,
            changed=place.lockers,
            rate=rate,
            count=count,
            told=told,
            patience=patience * 1000,
        )
        if found["failures"]:
            raise ProcessError(f"{server.name}: {found['failures']}")
        return found

    async def begin(self, server: Server, place: _Place, told: list[str]) -> None:
        """Waits until all subscribers of these groups are told of changes."""
        for _ in range(_ATTEMPTS):
            groups = (await self.change(server, place, 10, 1, told, patience=2))["groups"]
            if all(figures["received"] == figures["expected"] for figures in groups.values()):
                return
        raise ProcessError(f"{server.name}: not all subscribers are told of changes: {groups}")

    def cpu_seconds(self) -> float:
        return process_cpu_seconds(self._process.pid)

    def end(self) -> None:
        if self._process.returncode is None:
            self._process.terminate()

    async def _command(self, **command: Any) -> dict[str, Any]:
        assert self._process.stdin is not None  # noqa: S101  # it was started so
        assert self._process.stdout is not None  # noqa: S101  # as above
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        await self._process.stdin.drain()
        line = await asyncio.wait_for(self._process.stdout.readline(), 180)
        if not line:
            raise ProcessError("the subscribers ended")
        result: dict[str, Any] = json.loads(line)
        return result


def _new_place(server: Server, name: str) -> _Place:
    location = {"code": f"bench-{name}", "name": f"Bench {name}", "timeZone": "Europe/Rome"}
    created = post(server.port, server.headers, _CREATE_LOCATION, {"input": location})["createLocation"]
    location_id = created["location"]["locationId"]
    lockers = []
    for number in range(_LOCKERS):
        locker = {"lockerId": f"{name}-{number:03d}", "alias": "Hall", "ownerId": OWNER, "locationId": location_id}
        registered = post(server.port, server.headers, _REGISTER_LOCKER, {"input": locker})["registerLocker"]
        lockers.append(registered["locker"])
    return _Place(location_id, lockers[_CONNECTIONS:], [locker["lockerId"] for locker in lockers[:_CONNECTIONS]])


class _Bench:
    def __init__(
        self,
        subscribers: _Subscribers,
        load: Client,
        servers: tuple[Server, Server, Server],
        places: tuple[_Place, _Place],
        extent: _Extent,
    ) -> None:
        self._subscribers = subscribers
        self._load = load
        self._own, self._second, self._peer = servers
        self._place, self._peer_place = places
        self._compared = ((self._own, self._place), (self._peer, self._peer_place))
        self._extent = extent

    async def latency(self) -> dict[str, Any]:
        """Of one subscriber on the server that makes the changes, and of one on another server."""
        told = ["same server", "two servers"]
        await self._subscribers.open(told[0], self._own, self._place, 1)
        await self._subscribers.open(told[1], self._second, self._place, 1)
        await self._subscribers.begin(self._own, self._place, told)
        events = self._extent.latency_events
        found = await self._subscribers.change(self._own, self._place, _LATENCY_RATE, events, told)
        for group in told:
            await self._subscribers.close(group)
        return dict(found["groups"])

    async def listening(self, now: Instant) -> dict[str, float]:
        """CPU time of a mutation, by who listens; the second server is the one to which nobody does."""
        (workload,) = (workload for workload in workloads(now) if workload.name == "M1")
        other = _new_place(self._own, "elsewhere")
        costs: dict[str, list[float]] = {who: [] for who in _LISTENING}
        for _ in range(self._extent.rounds):
            for who in _LISTENING:
                server = self._second if who == _LISTENING[0] else self._own
                listens = who != _LISTENING[0]
                if listens:
                    place = self._place if who == _LISTENING[2] else other
                    await self._subscribers.open(who, server, place, 1)
                lockers = [
                    post(server.port, server.headers, STATUS_OF_LOCKERS, {"id": locker_id})["locker"]
                    for locker_id in self._place.measured
                ]
                cpu = server.process.cpu_seconds()
                figures = await self._load.run(
                    who,
                    kind="status",
                    lockers=lockers,
                    port=server.port,
                    path="/graphql",
                    headers=server.headers,
                    query=workload.query,
                    expect=workload.expect,
                    connections=_CONNECTIONS,
                    seconds=1.5,
                )
                costs[who].append((server.process.cpu_seconds() - cpu) / figures.requests * 1000)
                if listens:
                    await self._subscribers.close(who)
        return {who: median(found) for who, found in costs.items()}

    async def idle(self) -> dict[str, dict[str, float]]:
        """Memory and CPU time of many subscribers to whom nothing happens. They stay."""
        found = {}
        for server, place in self._compared:
            await self._subscribers.open("first", server, place, 1)
            await self._subscribers.begin(server, place, ["first"])
            await self._subscribers.close("first")
            await asyncio.sleep(_LINGER_SECONDS)
            alone = await self._busy(server)
            before = server.process.resident_megabytes()
            await self._subscribers.open(server.name, server, place, _IDLE, _CALLERS)
            await self._subscribers.begin(server, place, [server.name])
            await asyncio.sleep(_SETTLE_SECONDS)
            found[server.name] = {
                "megabytes": server.process.resident_megabytes() - before,
                "busy": await self._busy(server),
                "busy without": alone,
            }
        return found

    async def fan_out(self) -> dict[str, dict[str, float]]:
        """One event to all of them: CPU time, and how long until the last one has it."""
        found: dict[str, dict[str, list[float]]] = {
            server.name: {"cpu": [], "last": []} for server, _ in self._compared
        }
        events = self._extent.fan_out_events
        for _ in range(self._extent.rounds):
            for server, place in self._compared:
                cpu = server.process.cpu_seconds()
                made = await self._subscribers.change(server, place, 1, events, [server.name])
                figures = _all_told(made, server.name)
                found[server.name]["cpu"].append((server.process.cpu_seconds() - cpu) / events * 1000)
                found[server.name]["last"].append(figures["max"])
        for server, _ in self._compared:
            await self._subscribers.close(server.name)
        return {name: {figure: median(values) for figure, values in one.items()} for name, one in found.items()}

    async def stream(self) -> dict[str, dict[str, float]]:
        """Many events a second; the same changes without subscribers tell what of it is for them."""
        count = round(_STREAM_RATE * self._extent.stream_seconds)
        rounds: dict[str, list[dict[str, float]]] = {server.name: [] for server, _ in self._compared}
        await asyncio.sleep(_LINGER_SECONDS)
        for number in range(self._extent.rounds * 2):
            has_subscribers = number % 2 == 1
            for server, place in self._compared:
                told = [server.name] if has_subscribers else []
                for group in told:
                    await self._subscribers.open(group, server, place, _STREAM_SUBSCRIBERS)
                    await self._subscribers.begin(server, place, told)
                cpu, client_cpu = server.process.cpu_seconds(), self._subscribers.cpu_seconds()
                made = await self._subscribers.change(server, place, _STREAM_RATE, count, told)
                cpu = server.process.cpu_seconds() - cpu
                sample = {"cpu ms an event": cpu / count * 1000}
                if has_subscribers:
                    figures = _all_told(made, server.name)
                    sample |= {
                        "busy": cpu / made["seconds"],
                        "client busy": (self._subscribers.cpu_seconds() - client_cpu) / made["seconds"],
                        "rate": count / made["seconds"],
                        **{name: figures[name] for name in ("p50", "p99", "secondHalfP50")},
                    }
                    await self._subscribers.close(server.name)
                rounds[server.name].append(sample)
        return {name: _stream_figures(samples) for name, samples in rounds.items()}

    async def _busy(self, server: Server) -> float:
        """The share of a core that it takes."""
        cpu = server.process.cpu_seconds()
        await asyncio.sleep(self._extent.idle_seconds)
        return (server.process.cpu_seconds() - cpu) / self._extent.idle_seconds


def _all_told(made: dict[str, Any], group: str) -> dict[str, float]:
    figures: dict[str, float] = made["groups"][group]
    if figures["received"] != figures["expected"]:
        raise ProcessError(f"{group}: {figures['received']} of {figures['expected']} events came")
    return figures


def _stream_figures(samples: list[dict[str, float]]) -> dict[str, float]:
    alone = median(sample["cpu ms an event"] for sample in samples if "p50" not in sample)
    streams = [sample for sample in samples if "p50" in sample]
    found = {name: median(sample[name] for sample in streams) for name in streams[0]}
    message = (found["cpu ms an event"] - alone) / _STREAM_SUBSCRIBERS * 1000
    return found | {"cpu ms without": alone, "us a message": message}


async def _one_idle(
    connection: StoreConnection, subscribers: _Subscribers, place: _Place, folder: Path, cores: Cores, seconds: float
) -> dict[str, float]:
    """Requests to the store, and the share of a core, for one subscriber to whom nothing happens."""
    async with (
        open_stub(str(connection.endpoint_url), folder, cores) as stub,
        started(LIVE[:1], stub.url, folder / "one", cores.server) as (server,),
    ):
        await asyncio.sleep(_SETTLE_SECONDS)
        found = []
        for subscribes in (False, True):
            if subscribes:
                await subscribers.open("one", server, place, 1)
                await asyncio.sleep(_SETTLE_SECONDS)
            requests, cpu = sum(stub.counts().values()), server.process.cpu_seconds()
            await asyncio.sleep(seconds)
            found.append((sum(stub.counts().values()) - requests, server.process.cpu_seconds() - cpu))
        await subscribers.close("one")
    (requests_without, cpu_without), (requests_with, cpu_with) = found
    return {"requests": (requests_with - requests_without) / seconds, "busy": (cpu_with - cpu_without) / seconds}


async def _run(extent: _Extent) -> dict[str, Any]:
    end_on_signal()
    now, cores = utc_now(), Cores.found()
    (change,) = (workload.query for workload in workloads(now) if workload.name == "M1")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(open_embedded(folder, now, cores))
            own, second, peer = await stack.enter_async_context(
                started(LIVE, str(connection.endpoint_url), folder / "servers", cores.server)
            )
            subscribers = await _Subscribers.start(folder, cores.others, change)
            stack.callback(subscribers.end)
            load = await open_client(cores.others)
            stack.callback(load.end)
            places = _new_place(own, "own"), _new_place(own, "peer")
            bench = _Bench(subscribers, load, (own, second, peer), places, extent)
            found: dict[str, Any] = {}
            for name, part in (
                ("idle", bench.idle),  # before the log is long, whose last part is read again and again
                ("fan_out", bench.fan_out),
                ("latency", bench.latency),
                ("listening", lambda: bench.listening(now)),
                ("stream", bench.stream),
            ):
                found[name] = await part()
                typer.echo(f"{name}: {found[name]}", err=True)
            found["one"] = await _one_idle(connection, subscribers, places[0], folder, cores, extent.idle_seconds)
    return found | {"load": os.getloadavg()[0], "cores": os.cpu_count()}


def _targets(found: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    """The targets: name, target, figure, and whether it is met."""
    same, across = found["latency"]["same server"], found["latency"]["two servers"]
    idle, stream = found["idle"][PRODUCTION], found["stream"][PRODUCTION]
    limits = (
        ("change to client on the same server, p50", 60, same["p50"], "ms"),
        ("change to client on the same server, p99", 500, same["p99"], "ms"),
        ("change to client across two servers, p50", 600, across["p50"], "ms"),
        (f"memory of {_IDLE:,} idle subscribers", 100, idle["megabytes"], "MB"),
        (f"CPU time of {_IDLE:,} idle subscribers", 3, idle["busy"] * 100, "% of a core"),
        (f"CPU time of one event to {_IDLE:,} subscribers", 300, found["fan_out"][PRODUCTION]["cpu"], "ms"),
    )
    is_sustained = stream["rate"] > _STREAM_RATE * _SUSTAINED and stream["secondHalfP50"] < _SUSTAINED_MS
    return [
        *(
            (name, f"below {limit} {unit}", f"{figure:.{1 if figure < 10 else 0}f} {unit}", figure < limit)  # noqa: PLR2004  # two digits
            for name, limit, figure, unit in limits
        ),
        (
            f"{_STREAM_RATE} events a second to {_STREAM_SUBSCRIBERS} subscribers",
            "sustained",
            f"{stream['rate']:.0f} a second, {stream['busy'] * 100:.0f} % of a core",
            is_sustained,
        ),
    ]


def _text(found: dict[str, Any]) -> str:
    targets = _targets(found)
    missed = [name for name, *_, is_met in targets if not is_met]
    fan, stream, idle = found["fan_out"], found["stream"], found["idle"]
    ratio = fan[PRODUCTION]["cpu"] / fan[LIVE_MERCURIUS]["cpu"]
    verdict = "All targets are met" if not missed else f"Missed: {'; '.join(missed)}"
    lines = [
        (
            f"{verdict}. One event to {_IDLE:,} subscribers takes {fan[PRODUCTION]['cpu']:.0f} ms of CPU time, "
            f"{ratio:.2f} times that of {LIVE_MERCURIUS}."
        ),
        "",
        f"{today()}, {machine()}." + (" Other programs kept its cores busy." if found["load"] > found["cores"] else ""),
        "",
        "| figure | target | measured |",
        "|---|---|---|",
        *(f"| {name} | {target} | {figure}{'' if is_met else ' ✗'} |" for name, target, figure, is_met in targets),
        "",
        f"| the same fan-out | {PRODUCTION} | {LIVE_MERCURIUS} |",
        "|---|---|---|",
    ]
    one, many = f"one event to {_IDLE:,}", f"{_STREAM_RATE} events/s to {_STREAM_SUBSCRIBERS}"
    compared = (
        (f"{one}: CPU µs a message", fan, "cpu", 1.0, 1),
        (f"{one}: ms until the last one has it", fan, "last", 1.0, 0),
        (f"{many}: CPU ms an event, with its mutation", stream, "cpu ms an event", 1.0, 2),
        (f"{many}: CPU ms of the same mutation without subscribers", stream, "cpu ms without", 1.0, 2),
        (f"{many}: CPU µs a message", stream, "us a message", 1.0, 1),
        (f"{many}: events/s reached", stream, "rate", 1.0, 0),
        (f"{many}: p50 ms", stream, "p50", 1.0, 0),
        (f"{many}: p99 ms", stream, "p99", 1.0, 0),
        (f"{_IDLE:,} idle subscribers: MB", idle, "megabytes", 1.0, 0),
        (f"{_IDLE:,} idle subscribers: % of a core", idle, "busy", 100.0, 1),
    )
    for name, of_servers, figure, factor, digits in compared:
        values = [f"{of_servers[server][figure] * factor:,.{digits}f}" for server in (PRODUCTION, LIVE_MERCURIUS)]
        lines.append(f"| {name} | {' | '.join(values)} |")
    listening = found["listening"]
    alone = listening[_LISTENING[0]]
    lines += [
        "",
        "| who listens while M1 runs | CPU ms a mutation | more |",
        "|---|---|---|",
        *(f"| {who} | {cost:.2f} | {(cost / alone - 1) * 100:+.0f} % |" for who, cost in listening.items()),
        "",
        (
            f"One idle subscriber costs {found['one']['requests']:.1f} requests to the store a second, and "
            f"{found['one']['busy'] * 100:.1f} % of a core."
        ),
    ]
    return "\n".join(lines)


def main(*, quick: Annotated[bool, typer.Option(help="A short run, which leaves the page as it is.")] = False) -> None:
    """Measures subscriptions, beside those of Mercurius; renews their section of the page."""
    found = asyncio.run(_run(_QUICK if quick else _WHOLE))
    text = _text(found)
    typer.echo(text)
    artefacts = ROOT / "artefacts"
    artefacts.mkdir(exist_ok=True)
    (artefacts / "live.json").write_text(json.dumps(found | {"date": today(), "machine": machine()}, indent=1) + "\n")
    if not quick:
        write_section("live", text)


if __name__ == "__main__":
    typer.run(main)
