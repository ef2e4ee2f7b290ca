"""Content negotiation as RFC 9110 has it: which of what is offered a client likes best."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["GRAPHQL", "HTML", "IDENTITY", "JSON", "choose_coding", "choose_media_type", "parse_value"]

GRAPHQL = "application/graphql-response+json"
JSON = "application/json"
HTML = "text/html"
IDENTITY = "identity"

# In the order of our own liking.
_CODINGS = ("br", "gzip")
_CHARSETS = frozenset({"utf-8", "utf8"})
# Commas and semicolons within quotes separate nothing. Quotes that are never closed reach to the end: looking for the
# end again from every place would take a hostile header's length squared.
_QUOTED = r'"(?:[^"\\]|\\.?)*(?:"|\Z)'
_ELEMENT = re.compile(rf'(?:[^,"]|{_QUOTED})+', re.DOTALL)
_PART = re.compile(rf'(?:[^;"]|{_QUOTED})+', re.DOTALL)
_WEIGHT = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?")
_EXACT, _OF_A_TYPE, _ANY = 2, 1, 0


class _Fit(NamedTuple):
    """How well something that is offered fits what a client accepts."""

    weight: float
    closeness: int
    is_preferred: bool
    offered: str


def parse_value(text: str) -> tuple[str, dict[str, str]]:
    """The value of a header such as Content-Type, and its parameters; what is no parameter is passed over."""
    value, *parts = [part.strip() for part in _PART.findall(text)] or [""]
    pairs = [part.partition("=") for part in parts]
    return value.lower(), {name.strip().lower(): given.strip().strip('"') for name, sign, given in pairs if sign}


def choose_media_type(accept: str, offered: Sequence[str]) -> str | None:
    """The one of the offered media types that the client likes best; None where it takes none of them.

    Of types liked equally, one that is named goes before one that only a wildcard covers. Of both GraphQL types, the
    newer one goes first where the client names it, plain JSON where it names neither: older clients send a wildcard.

    Args:
        accept: the Accept header; empty, it means anything.
        offered: what there is, in the order of our own liking.
    """
    ranges = [(name, weight) for name, parameters, weight in _elements(accept or "*/*") if _is_readable(parameters)]
    fits = [fit for name in offered if (fit := _fit(name, ranges)) is not None and fit.weight > 0]
    return max(fits, key=lambda fit: fit[:3]).offered if fits else None


def choose_coding(accept_encoding: str, offered: Sequence[str] = _CODINGS) -> str:
    """The offered content coding that the client likes best, or none at all, which is always understood."""
    weights = {name: weight for name, _, weight in _elements(accept_encoding)}
    unnamed = weights.get("*", 0.0)
    best = max(offered, key=lambda coding: weights.get(coding, unnamed))
    weight = weights.get(best, unnamed)
    return best if weight > 0 and weight >= weights.get(IDENTITY, 0.0) else IDENTITY


def _fit(offered: str, ranges: Sequence[tuple[str, float]]) -> _Fit | None:
    """By the closest range alone: `text/*;q=1, text/html;q=0` refuses HTML."""
    closeness = {"*/*": _ANY, f"{offered.partition('/')[0]}/*": _OF_A_TYPE, offered: _EXACT}
    matches = [(closeness[name], weight) for name, weight in ranges if name in closeness]
    if not matches:
        return None
    closest, weight = max(matches)
    return _Fit(weight, closest, offered == (GRAPHQL if closest == _EXACT else JSON), offered)


def _elements(header: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """What a list such as Accept names, each with its parameters and weight; what has no valid weight is left out."""
    for element in _ELEMENT.findall(header):
        name, parameters = parse_value(element)
        weight = parameters.pop("q", "1")
        if name and _WEIGHT.fullmatch(weight):
            yield name, parameters, float(weight)


def _is_readable(parameters: dict[str, str]) -> bool:
    """All that is sent is UTF-8; no other parameter tells one answer from another."""
    return parameters.get("charset", "utf-8").lower() in _CHARSETS
