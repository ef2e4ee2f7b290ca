"""The part of PromQL that our alerts and panels use, evaluated on pages of `/metrics` that a test has scraped."""

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample
from promql_parser import parse

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]

_AGGREGATIONS: dict[str, Callable[[list[float]], float]] = {"sum": sum, "min": min, "max": max, "count": len}
_COMPARISONS = {">": operator.gt, "<": operator.lt, "==": operator.eq}
_MATCHES: dict[str, Callable[[str, str], bool]] = {
    "MatchOp.Equal": operator.eq,
    "MatchOp.NotEqual": operator.ne,
    "MatchOp.Re": lambda value, pattern: re.fullmatch(pattern, value) is not None,
}


@dataclass(frozen=True)
class Scrape:
    """A page of metrics, and when it was asked for, in seconds."""

    at: float
    page: str

    @cached_property
    def _samples(self) -> list[Sample]:
        return [sample for family in text_string_to_metric_families(self.page) for sample in family.samples]

    def samples(self, selector: Any) -> Vector:
        return {
            frozenset(sample.labels.items()): sample.value
            for sample in self._samples
            if sample.name == selector.name
            and all(
                _MATCHES[str(one.op)](sample.labels.get(one.name, ""), one.value) for one in selector.matchers.matchers
            )
        }


def evaluate(expression: str, scrapes: Sequence[Scrape]) -> Vector:
    """The value of an expression at the last scrape; a rate is that since the first one that has the series."""
    result = _value(parse(expression), scrapes)
    return result if isinstance(result, dict) else {frozenset(): result}


def metrics_of(expression: str) -> set[str]:
    """The names of the metrics that an expression reads."""
    return {node.name for node in _nodes(parse(expression)) if type(node).__name__ == "VectorSelector"}


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    children = [getattr(node, name, None) for name in ("lhs", "rhs", "expr", "vector_selector")]
    for child in (*children, *getattr(node, "args", ())):
        if child is not None:
            yield from _nodes(child)


def _value(node: Any, scrapes: Sequence[Scrape]) -> Any:
    match type(node).__name__:
        case "NumberLiteral":
            return node.val
        case "ParenExpr":
            return _value(node.expr, scrapes)
        case "VectorSelector":
            return scrapes[-1].samples(node)
        case "AggregateExpr":
            return _aggregated(node, _value(node.expr, scrapes))
        case "BinaryExpr":
            return _combined(str(node.op), _value(node.lhs, scrapes), _value(node.rhs, scrapes))
        case "Call":
            return _called(node.func.name, node.args, scrapes)
    raise NotImplementedError(type(node).__name__)


def _aggregated(node: Any, vector: Vector) -> Vector:
    if str(node.op) == "topk":
        return dict(sorted(vector.items(), key=lambda entry: -entry[1])[: int(node.param.val)])
    groups: dict[Labels, list[float]] = {}
    kept = set() if node.modifier is None else set(node.modifier.labels)
    for labels, value in vector.items():
        groups.setdefault(frozenset(pair for pair in labels if pair[0] in kept), []).append(value)
    return {labels: float(_AGGREGATIONS[str(node.op)](values)) for labels, values in groups.items()}


def _combined(sign: str, left: Vector, right: Any) -> Vector:
    if sign == "or":
        return {**right, **left}
    if sign == "/":
        return {labels: value / right[labels] for labels, value in left.items() if right.get(labels)}
    return {labels: value for labels, value in left.items() if _COMPARISONS[sign](value, right)}


def _called(name: str, arguments: Sequence[Any], scrapes: Sequence[Scrape]) -> Vector:
    match name:
        case "rate":
            rates: Vector = {}
            pages = [(one.at, one.samples(arguments[0].vector_selector)) for one in scrapes]
            for labels, value in pages[-1][1].items():
                at, first = next((at, page[labels]) for at, page in pages if labels in page)
                if at < pages[-1][0]:  # a series has a rate from its second sample on
                    rates[labels] = (value - first) / (pages[-1][0] - at)
            return rates
        case "absent":
            return {} if _value(arguments[0], scrapes) else {frozenset(): 1.0}
        case "abs":
            return {labels: abs(value) for labels, value in _value(arguments[0], scrapes).items()}
        case "histogram_quantile":
            return _quantiles(arguments[0].val, _value(arguments[1], scrapes))
    raise NotImplementedError(name)


def _quantiles(share: float, buckets: Vector) -> Vector:
    """As Prometheus does it: within a bucket, values are spread evenly; the last one counts as the bound before it."""
    histograms: dict[Labels, list[tuple[float, float]]] = {}
    for labels, count in buckets.items():
        bound = float(dict(labels)["le"])
        histograms.setdefault(frozenset(pair for pair in labels if pair[0] != "le"), []).append((bound, count))
    found: Vector = {}
    for labels, counts in histograms.items():
        counts.sort()
        rank = share * counts[-1][1]
        below, start = 0.0, 0.0
        for bound, count in counts:
            if count >= rank:
                spread = (rank - below) / (count - below) if count > below else 0.0
                found[labels] = start if math.isinf(bound) else start + (bound - start) * spread
                break
            below, start = count, bound
    return found
