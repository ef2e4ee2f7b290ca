"""Charts as SVG, without a plotting library."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import log10
from typing import TYPE_CHECKING

from bench.report import REPLAY, Cell
from bench.servers import CONTROL, DEVELOPMENT, MERCURIUS, PRODUCTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.report import Report

__all__ = ["Series", "comparison_chart", "line_chart"]

_COLORS = {PRODUCTION: "#0b6e4f", DEVELOPMENT: "#57b894", CONTROL: "#5c6670", MERCURIUS: "#2f6fab"}
_OTHER_COLORS = ("#8a5fb0", "#d1495b", "#c98b1b")
_LINE_COLORS = ("#0b6e4f", "#2f6fab", "#d1495b", "#c98b1b")
_WIDTH = 860
_LEFT = 100
_BAR = 11
_GAP = 20
_TOP = 96


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart: its name and its points."""

    name: str
    points: Sequence[tuple[float, float]]


class _Drawing:
    """Collects shapes."""

    def __init__(self, width: float, height: float, title: str, subtitle: str) -> None:
        size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
        self._shapes = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, sans-serif">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
        ]
        self.text(16, 26, title, size=15, weight="600")
        self.text(16, 44, subtitle, color="#555")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        size: int = 11,
        color: str = "#222",
        weight: str = "400",
    ) -> None:
        self._shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
            f'fill="{color}">{escape(text)}</text>'
        )

    def rectangle(self, x: float, y: float, width: float, height: float, color: str) -> None:
        self._shapes.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>')

    def line(self, points: Sequence[tuple[float, float]], color: str, width: float = 1) -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._shapes.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"/>')

    def dot(self, x: float, y: float, color: str) -> None:
        self._shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>')

    def __str__(self) -> str:
        return "\n".join([*self._shapes, "</svg>", ""])


def comparison_chart(report: Report) -> str:
    """Requests per second of every server as multiples of Mercurius with JIT, at the most connections."""
    servers = report.servers()
    connections = max(report.connections(REPLAY))
    others = iter(_OTHER_COLORS)
    colors = {server: _COLORS.get(server) or next(others) for server in servers}
    group = len(servers) * _BAR + _GAP
    drawing = _Drawing(
        _WIDTH,
        _TOP + len(report.workloads) * group + 8,
        f"Requests per second, {MERCURIUS} = 1",
        f"One server process, {connections} connections, replaying store. {report.date}, {report.machine}",
    )
    x = 16.0
    for server in servers:
        drawing.rectangle(x, 58, 10, 10, colors[server])
        drawing.text(x + 14, 67, server)
        x += 26 + 6.2 * len(server)
    ratios = {
        (name, server): report.ratio(REPLAY, name, connections, server, MERCURIUS)
        for name in report.workloads
        for server in servers
    }
    scale = (_WIDTH - _LEFT - 110) / max(ratios.values())
    bottom = _TOP + len(report.workloads) * group - _GAP / 2
    drawing.line([(_LEFT + scale, _TOP - 6), (_LEFT + scale, bottom)], "#999", 0.7)
    for number, (name, title) in enumerate(report.workloads.items()):
        top = _TOP + number * group
        drawing.text(_LEFT, top - 3, title, size=10)
        drawing.text(_LEFT - 8, top + group / 2 - _GAP / 2 + 4, name, anchor="end", size=12, weight="600")
        for place, server in enumerate(servers):
            y = top + place * _BAR
            ratio = ratios[name, server]
            drawing.rectangle(_LEFT, y, ratio * scale, _BAR - 2, colors[server])
            rate = report.figure(Cell(REPLAY, name, connections, server), "per_second")
            drawing.text(
                _LEFT + ratio * scale + 5, y + _BAR - 2.5, f"{ratio:.2f}  ({rate:,.0f}/s)", size=9, color="#555"
            )
    return str(drawing)


def line_chart(title: str, subtitle: str, x_title: str, y_title: str, lines: Sequence[Series]) -> str:
    """Lines over a logarithmic axis, from zero."""
    width, height, left, right, top, bottom = 560.0, 340.0, 56.0, 20.0, 92.0, 46.0
    drawing = _Drawing(width, height, title, subtitle)
    values = sorted({x for series in lines for x, _ in series.points})
    highest = _round_up(max(y for series in lines for _, y in series.points))
    low, high = log10(values[0]), log10(values[-1])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (log10(x) - low) / ((high - low) or 1)
        return left + across * (width - left - right), height - bottom - y / highest * (height - top - bottom)

    for step in range(5):
        y = highest * step / 4
        drawing.line([(left, place(values[0], y)[1]), (width - right, place(values[0], y)[1])], "#ddd", 0.7)
        drawing.text(left - 6, place(values[0], y)[1] + 4, f"{y:g}", anchor="end", size=10)
    for x in values:
        drawing.text(place(x, 0)[0], height - bottom + 16, f"{x:,.0f}", anchor="middle", size=10)
    drawing.text((left + width - right) / 2, height - 10, x_title, anchor="middle")
    drawing.text(16, 84, y_title)
    legend = 16.0
    for series, color in zip(lines, _LINE_COLORS, strict=False):
        drawing.rectangle(legend, 56, 10, 10, color)
        drawing.text(legend + 14, 65, series.name)
        legend += 26 + 6.2 * len(series.name)
        points = [place(x, y) for x, y in series.points]
        drawing.line(points, color, 2)
        for point in points:
            drawing.dot(*point, color)
    return str(drawing)


def _round_up(value: float) -> float:
    """The next number that divides into four even parts."""
    magnitude = 10.0 ** int(log10(value) // 1) if value > 0 else 1.0
    return next(step * magnitude for step in (1, 2, 4, 6, 8, 10, 20) if step * magnitude >= value)
