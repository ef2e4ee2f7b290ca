"""The report: as text, as a section of docs/reliability.md, and as one HTML page with charts."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from html import escape

from tests.torture.model import OK, Request
from tests.torture.sender import UNKNOWN
from tests.torture.stage import Mark, Result

TITLES = {
    "kills": "Servers are killed",
    "store": "The store is killed",
    "retries": "Conflicts, lost answers, duplicates",
    "throttle": "Every call is throttled",
    "hangs": "Calls hang",
    "clocks": "Clocks five minutes apart",
    "memory": "Memory",
}
_WIDTH, _LEFT, _TOP, _LATENCY, _COUNTS = 960, 60, 12, 170, 80
_BINS = 160
_LONGEST_MS = 30_000
_COLORS = {"median": "#0b6e4f", "99th percentile": "#2f6fab", "slowest": "#8a5fb0"}
_KINDS = {"succeeded": "#57b894", "refused": "#9aa5ad", "outcome unknown": "#d1495b"}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222; }
svg text { font: 11px system-ui, sans-serif; fill: #555; }
svg { width: 100%; height: auto; } pre { white-space: pre-wrap; background: #f4f4f4; padding: 8px; }
.key span { margin-right: 1.5em; } .key i { display: inline-block; width: 10px; height: 10px; margin-right: 5px; }
"""


def text_of(result: Result) -> str:
    """A phase for a terminal."""
    lines = [f"{result.phase}: {_about(result)}"]
    lines += [
        f"  {'holds' if verdict.holds else 'FAILS'}  {verdict.text}: {verdict.measured}".rstrip(": ")
        for verdict in result.verdicts
    ]
    found = Counter((finding.kind, finding.name) for finding in result.findings)
    lines += [f"  found  {count}: {kind} ({name})" for (kind, name), count in found.items()]
    return "\n".join(lines)


def section_of(result: Result) -> str:
    """A phase for docs/reliability.md."""
    rows = [
        f"| {verdict.text} | {verdict.measured or 'yes'}{'' if verdict.holds else ' (**fails**)'} |"
        for verdict in result.verdicts
    ]
    return "\n".join([_about(result), "", "| must hold | measured |", "|---|---|", *rows])


def page_of(results: Sequence[Result]) -> str:
    """All phases as one page that needs nothing else."""
    parts = [
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>SmartLocker under faults</title>",
        f"<style>{_STYLE}</style></head><body><h1>SmartLocker under faults</h1>",
        "<p>Shaded: the time of a fault.</p><p class='key'>",
        *(f"<span><i style='background:{color}'></i>{name}</span>" for name, color in (_COLORS | _KINDS).items()),
        "</p>",
    ]
    for result in results:
        details = [finding.detail for finding in result.findings[:5]]
        shown = escape("\n".join([text_of(result), *details]))
        parts += [f"<h2>{TITLES[result.phase]}</h2>", _chart(result), f"<pre>{shown}</pre>"]
    return "\n".join([*parts, "</body></html>\n"])


def _about(result: Result) -> str:
    figures = ", ".join(f"{count:,} {name}" for name, count in result.figures.items() if count)
    times = sorted(request.seconds * 1000 for request in result.requests)
    latencies = f"median {_quantile(times, 0.5):.0f} ms, 99 % within {_quantile(times, 0.99):,.0f} ms"
    return f"{result.circumstances}. {figures}. Response times: {latencies}, slowest {times[-1]:,.0f} ms."


def _quantile(times: Sequence[float], part: float) -> float:
    return times[min(len(times) - 1, int(len(times) * part))]


def _chart(result: Result) -> str:
    """Response times on a logarithmic axis above, requests per second below."""
    begin = result.requests[0].start
    span = max(request.end for request in result.requests) - begin
    step = span / _BINS
    bins: list[list[Request]] = [[] for _ in range(_BINS + 1)]
    for request in result.requests:
        bins[int((request.end - begin) / step)].append(request)

    def x(seconds: float) -> float:
        return _LEFT + seconds / span * (_WIDTH - _LEFT - 10)

    def y(milliseconds: float) -> float:
        return _TOP + _LATENCY * (1 - math.log10(max(1, milliseconds)) / math.log10(_LONGEST_MS))

    bottom = _TOP + _LATENCY + 20 + _COUNTS
    shapes = [f'<svg viewBox="0 0 {_WIDTH} {bottom + 24}" role="img">']
    shapes += _shades(result.marks, begin, x, bottom)
    for milliseconds, name in ((1, "1 ms"), (10, "10 ms"), (100, "100 ms"), (1000, "1 s"), (10_000, "10 s")):
        shapes += [_text(_LEFT - 6, y(milliseconds) + 4, name, "end"), _line(_LEFT, y(milliseconds), _WIDTH - 10)]
    for name, part in (("slowest", 1.0), ("99th percentile", 0.99), ("median", 0.5)):
        points = " ".join(
            f"{x(number * step):.1f},{y(_quantile(sorted(each.seconds * 1000 for each in found), part)):.1f}"
            for number, found in enumerate(bins)
            if found
        )
        shapes.append(f'<polyline points="{points}" fill="none" stroke="{_COLORS[name]}" stroke-width="1.3"/>')
    most = max(map(len, bins))
    for number, found in enumerate(bins):
        top = float(bottom)
        for kind, count in _counts(found):
            height = count / most * _COUNTS
            top -= height
            shape = f'x="{x(number * step):.1f}" y="{top:.1f}" width="{(_WIDTH - _LEFT) / _BINS:.1f}"'
            shapes.append(f'<rect {shape} height="{height:.1f}" fill="{_KINDS[kind]}"/>' if count else "")
    shapes += [
        _text(_LEFT - 6, bottom - _COUNTS + 8, f"{most / step:,.0f}/s", "end"),
        _line(_LEFT, bottom, _WIDTH - 10),
    ]
    shapes += [
        _text(x(span * part), bottom + 16, f"{span * part:.0f} s", "middle") for part in (0, 0.25, 0.5, 0.75, 0.98)
    ]
    return "\n".join([*shapes, "</svg>"])


def _shades(marks: Iterable[Mark], begin: float, x: Callable[[float], float], bottom: float) -> list[str]:
    return [
        f'<rect x="{x(mark.start - begin):.1f}" y="{_TOP}" width="{max(1, x(mark.end) - x(mark.start)):.1f}" '
        f'height="{bottom - _TOP}" fill="#f5c26b" opacity="0.35"><title>{escape(mark.text)}</title></rect>'
        for mark in marks
    ]


def _counts(requests: Iterable[Request]) -> list[tuple[str, int]]:
    counts = Counter(
        "succeeded" if request.code == OK else "outcome unknown" if request.code in UNKNOWN else "refused"
        for request in requests
    )
    return [(kind, counts[kind]) for kind in _KINDS]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(left: float, y: float, right: float) -> str:
    return f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>'
