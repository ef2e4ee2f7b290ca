"""Content negotiation (RFC 9110): the media type and content coding that a client prefers."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

GRAPHQL = "application/graphql-response+json"
JSON = "application/json"
HTML = "text/html"
EVENTS = "text/event-stream"
IDENTITY = "identity"

# In the server's order of preference.
_CODINGS = ("br", "gzip")
# Clients send few different headers, and the same with every request.
_REMEMBERED = 64
_CHARSETS = frozenset({"utf-8", "utf8"})
# Commas and semicolons within quotes do not separate. An unclosed quote extends to the end: searching for its end again
# from every position would take quadratic time.
_QUOTED = r'"(?:[^"\\]|\\.?)*(?:"|\Z)'
_ELEMENT = re.compile(rf'(?:[^,"]|{_QUOTED})+', re.DOTALL)
_PART = re.compile(rf'(?:[^;"]|{_QUOTED})+', re.DOTALL)
_WEIGHT = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?")
_EXACT, _SUBTYPE_WILDCARD, _ANY = 2, 1, 0


def parse_value(text: str) -> tuple[str, dict[str, str]]:
    """The value of a header such as Content-Type and its parameters; malformed parameters are ignored."""
    value, *parts = [part.strip() for part in _PART.findall(text)] or [""]
    pairs = [part.partition("=") for part in parts]
    return value.lower(), {name.strip().lower(): text.strip().strip('"') for name, sign, text in pairs if sign}


@lru_cache(_REMEMBERED)
def choose_media_type(accept: str, offered: tuple[str, ...]) -> str | None:
    """The offered media type that the client prefers; None if it accepts none of them.

    At equal weights, a type that is named wins over one that matches a wildcard. Of the two GraphQL types, the newer
    one wins if the client names it, plain JSON if it names neither: older clients send a wildcard. Without an Accept
    header, the client accepts everything.
    """
    ranges = [(name, weight) for name, parameters, weight in _elements(accept or "*/*") if _is_readable(parameters)]
    best = max(offered, key=lambda name: _match(name, ranges))
    weight, _, _ = _match(best, ranges)
    return best if weight > 0 else None


@lru_cache(_REMEMBERED)
def choose_coding(accept_encoding: str, offered: tuple[str, ...] = _CODINGS) -> str:
    weights = {name: weight for name, _, weight in _elements(accept_encoding)}
    unnamed = weights.get("*", 0.0)
    best = max(offered, key=lambda coding: weights.get(coding, unnamed))
    weight = weights.get(best, unnamed)
    return best if weight > 0 and weight >= weights.get(IDENTITY, 0.0) else IDENTITY


def _match(offered: str, ranges: Sequence[tuple[str, float]]) -> tuple[float, int, bool]:
    """How well a media type matches what the client accepts: weight, closeness, and whether we prefer it.

    By the most specific range only: `text/*;q=1, text/html;q=0` excludes HTML.
    """
    closeness = {"*/*": _ANY, f"{offered.partition('/')[0]}/*": _SUBTYPE_WILDCARD, offered: _EXACT}
    closest, weight = max(
        ((closeness[name], weight) for name, weight in ranges if name in closeness), default=(_ANY, 0.0)
    )
    return weight, closest, offered == (GRAPHQL if closest == _EXACT else JSON)


def _elements(header: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """The elements of a header such as Accept with parameters and weight; those with an invalid weight are ignored."""
    for element in _ELEMENT.findall(header):
        name, parameters = parse_value(element)
        weight = parameters.pop("q", "1")
        if name and _WEIGHT.fullmatch(weight):
            yield name, parameters, float(weight)


def _is_readable(parameters: dict[str, str]) -> bool:
    """Whether the client accepts UTF-8, the only charset of responses; other parameters are ignored."""
    return parameters.get("charset", "utf-8").lower() in _CHARSETS
