"""The report: as text, and as a section of docs/reliability.md."""

from collections import Counter
from collections.abc import Sequence

from tests.torture.stage import Result


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


def _about(result: Result) -> str:
    figures = ", ".join(f"{count:,} {name}" for name, count in result.figures.items() if count)
    times = sorted(request.seconds * 1000 for request in result.requests)
    latencies = f"median {_quantile(times, 0.5):.0f} ms, 99 % within {_quantile(times, 0.99):,.0f} ms"
    return f"{result.circumstances}. {figures}. Response times: {latencies}, slowest {times[-1]:,.0f} ms."


def _quantile(times: Sequence[float], part: float) -> float:
    return times[min(len(times) - 1, int(len(times) * part))]
