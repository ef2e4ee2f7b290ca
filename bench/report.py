"""The report of a run: medians, ratios, tables, JSON."""

from __future__ import annotations

import os
import platform
import subprocess
import textwrap
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.servers import CONTROL, DEVELOPMENT, MERCURIUS, PRODUCTION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.workloads import Workload

__all__ = ["REPLAY", "Cell", "Report", "Sample", "machine", "today"]

REPLAY = "replay"
_TARGETED = ("Q1", "Q2", "Q3", "Q4", "M1", "nodes", "upcoming", "reserve", "unseen")
_TARGETS: tuple[tuple[str, int, str, str, tuple[float, ...]], ...] = (
    (f"requests/s ÷ {MERCURIUS}, at least", 32, MERCURIUS, "per_second", (4, 3.5, 5.5, 4.5, 3, 3, 6, 3, 1.5)),
    (f"requests/s ÷ {CONTROL}, at least", 32, CONTROL, "per_second", (0.9, 0.75, 1, 1.5, 0.7)),
    (f"p50 ÷ {MERCURIUS} at 1 connection, at most", 1, MERCURIUS, "p50", (1, 1, 0.5, 0.5, 1)),
)
"""Some have none for the last requests."""
_FIGURES = ("per_second", "cpu_ms", "p50", "p99", "server_busy", "others_busy")


@dataclass(frozen=True, slots=True)
class Cell:
    """A measured combination: a server, a workload, a store and a number of connections."""

    store: str
    workload: str
    connections: int
    server: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One round of it.

    Times are in milliseconds, operations are those of the store per request. `server_busy` is the share of a core that
    the server took, `others_busy` the share of their cores that client and stub took: where the latter is close to 1,
    they were the limit.
    """

    per_second: float
    cpu_ms: float
    p50: float
    p99: float
    operations: float | None
    requests: int
    server_busy: float
    others_busy: float


class Report:
    """All samples of a run.

    Args:
        workloads: what was asked.
        stub_per_second: how many answers the stub can give by itself.
        is_quick: whether this is the quick form.
    """

    def __init__(self, workloads: Iterable[Workload], stub_per_second: float, *, is_quick: bool) -> None:
        self._titles = {workload.name: workload.title for workload in workloads}
        self.stub_per_second = stub_per_second
        self._is_quick = is_quick
        self._samples: dict[Cell, list[Sample]] = {}
        self.date = today()
        self.machine = machine()

    def add(self, cell: Cell, sample: Sample) -> None:
        """Adds one round."""
        self._samples.setdefault(cell, []).append(sample)

    def figure(self, cell: Cell, name: str) -> float:
        """The median of one figure."""
        return float(median(getattr(sample, name) for sample in self._samples[cell]))

    def spread(self, cell: Cell, name: str) -> str:
        """Half the distance between the least and the greatest value, in per cent of the median; one round has none."""
        values = [getattr(sample, name) for sample in self._samples[cell]]
        middle = median(values)
        return f" ±{(max(values) - min(values)) / 2 / middle:.0%}" if len(values) > 1 and middle else ""

    @property
    def workloads(self) -> dict[str, str]:
        """The workloads, each with its title."""
        return self._titles

    def result(self) -> str:
        """The result in one sentence, at the most connections."""
        connections = max(self.connections(REPLAY))
        times = {
            server: {name: self.ratio(REPLAY, name, connections, PRODUCTION, server) for name in self._titles}
            for server in (MERCURIUS, CONTROL)
        }
        named = [f"{times[MERCURIUS][name]:.2f} ({name}: {self._titles[name]})" for name in _TARGETED[:5]]
        ranges = {server: f"{min(found.values()):.2f} to {max(found.values()):.2f}" for server, found in times.items()}
        sentence = (
            "On one core, with the same store operations, SmartLocker in production answers "
            f"{', '.join(named[:-1])} and {named[-1]} times as many requests a second as {MERCURIUS}; "
            f"over all workloads, {ranges[MERCURIUS]} times as many, and {ranges[CONTROL]} times as many as that "
            f"server with a hand-made client of the store and neither limits nor log "
            f"({self.date}, {connections} connections)."
        )
        return textwrap.fill(sentence, width=130, break_on_hyphens=False)

    def stores(self) -> list[str]:
        """The stores, in the order of their first samples."""
        return list(dict.fromkeys(cell.store for cell in self._samples))

    def connections(self, store: str) -> list[int]:
        """The numbers of connections on a store."""
        return sorted({cell.connections for cell in self._samples if cell.store == store})

    def servers(self) -> list[str]:
        """The servers, SmartLocker first."""
        found = {cell.server for cell in self._samples}
        known = [PRODUCTION, DEVELOPMENT, CONTROL, MERCURIUS]
        return [name for name in known if name in found] + sorted(found - set(known))

    def ratio(self, store: str, workload: str, connections: int, of: str, to: str, name: str = "per_second") -> float:
        """One server's figure as a multiple of another's."""
        own, other = (Cell(store, workload, connections, server) for server in (of, to))
        return self.figure(own, name) / self.figure(other, name)

    def as_json(self) -> dict[str, Any]:
        """Everything, each round included."""
        return {
            "date": self.date,
            "machine": self.machine,
            "quick": self._is_quick,
            "stubAnswersPerSecond": round(self.stub_per_second),
            "workloads": self._titles,
            "cells": [
                asdict(cell)
                | {name: self.figure(cell, name) for name in _FIGURES}
                | {"rounds": [asdict(sample) for sample in samples]}
                for cell, samples in self._samples.items()
            ],
        }

    def tables(self) -> str:
        """Everything as Markdown tables."""
        lines = [f"{self.date}, {self.machine}.", ""]
        lines += [f"- {name}: {title}" for name, title in self._titles.items()]
        busiest = max(self._samples, key=lambda cell: self.figure(cell, "others_busy"))
        lines += [
            "",
            f"The stub gives {self.stub_per_second:,.0f} answers in a second of CPU time.",
            f"Client and stub were busiest, at {self.figure(busiest, 'others_busy'):.0%} of their cores, with",
            f"{busiest.workload} on {busiest.server} at {_connections(busiest.connections)}.",
            "",
        ]
        lines += self._targets()
        for store in self.stores():
            for connections in self.connections(store):
                lines += [f"### {_store_title(store)}, {_connections(connections)}", ""]
                lines += self._measured(store, connections)
                lines += self._ratios(store, connections)
        return "\n".join(lines)

    def _targets(self) -> list[str]:
        """The targets and what was measured, in production; a target that was missed is marked."""
        if {PRODUCTION, MERCURIUS, CONTROL} - set(self.servers()) or not set(_TARGETED) <= set(self._titles):
            return []
        rows = ["### Targets", "", "| production, replaying store | " + " | ".join(_TARGETED) + " |"]
        rows.append("|---" * (len(_TARGETED) + 1) + "|")
        for title, connections, to, figure, targets in _TARGETS:
            cells = []
            for workload, target in zip_longest(_TARGETED, targets):
                if target is None:
                    cells.append("")
                    continue
                found = self.ratio(REPLAY, workload, connections, PRODUCTION, to, figure)
                is_met = found <= target if figure == "p50" else found >= target
                cells.append(f"{found:.2f} of {target:g}{'' if is_met else ' ✗'}")
            rows.append(f"| {title} | " + " | ".join(cells) + " |")
        return [*rows, ""]

    def _names(self, store: str) -> list[str]:
        """The requests that were measured on a store."""
        measured = {cell.workload for cell in self._samples if cell.store == store}
        return [name for name in self._titles if name in measured]

    def _measured(self, store: str, connections: int) -> list[str]:
        rows, names = [], self._names(store)
        for title, text in (
            ("requests/s", self._rate),
            ("CPU ms a request", self._cpu),
            ("p50 / p99 ms", self._latency),
        ):
            rows += _table(
                [title, *names],
                [
                    [server, *(text(Cell(store, name, connections, server)) for name in names)]
                    for server in self.servers()
                ],
            )
        if store == REPLAY:
            operations = [
                [server, *(self._operations(Cell(store, name, connections, server)) for name in names)]
                for server in self.servers()
            ]
            rows += _table(["store operations a request", *names], operations)
        return rows

    def _ratios(self, store: str, connections: int) -> list[str]:
        names = self._names(store)

        def row(title: str, of: str, to: str, name: str = "per_second") -> list[str]:
            return [
                title,
                *(f"{self.ratio(store, workload, connections, of, to, name):.2f}" for workload in names),
            ]

        rows = []
        for own in (PRODUCTION, DEVELOPMENT):
            if own in self.servers():
                rows += [
                    row(f"{own}: requests/s ÷ {MERCURIUS}", own, MERCURIUS),
                    row(f"{own}: requests/s ÷ {CONTROL}", own, CONTROL),
                    row(f"{own}: p50 ÷ {MERCURIUS}", own, MERCURIUS, "p50"),
                ]
        return _table(["ratios", *names], rows)

    def _rate(self, cell: Cell) -> str:
        return f"{self.figure(cell, 'per_second'):,.0f}{self.spread(cell, 'per_second')}"

    def _cpu(self, cell: Cell) -> str:
        return f"{self.figure(cell, 'cpu_ms'):.2f}{self.spread(cell, 'cpu_ms')}"

    def _latency(self, cell: Cell) -> str:
        return f"{self.figure(cell, 'p50'):.1f} / {self.figure(cell, 'p99'):.1f}"

    def _operations(self, cell: Cell) -> str:
        return f"{self.figure(cell, 'operations'):.2f}"


def today() -> str:
    """The date of a run."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def machine() -> str:
    """The processor and the versions, in one line."""
    model = platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S607  # where PATH says
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}, Node {node.removeprefix('v')}"


def _store_title(store: str) -> str:
    return "Replaying store" if store == REPLAY else "Embedded store"


def _connections(count: int) -> str:
    return "1 connection" if count == 1 else f"{count} connections"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    table = [head, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |" for row in table
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:], ""]
